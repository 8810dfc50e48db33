//! `status`: which queue has, uses and lacks what.

mod args;
mod findings;
mod header;
mod report;
mod rows;

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use quotient_advance::settle;
use quotient_engine::plan::Plan;

use crate::commands::simulate::at_rest;
use crate::exit::{CommandError, Outcome};
use crate::manifests::Cluster;
use crate::output::{Answer, Format, Screen, columns, document, print};
use crate::queues::{QueueView, Selected, in_tree_order, resource_names, select, views};
use crate::snapshot::Snapshot;
use crate::source::{ConnectionArgs, Live, Scope};

pub(crate) use args::StatusArgs;
pub(crate) use findings::{Finding, findings, needs_a_person};
use header::header;
use report::report;
use rows::Row;

/// How often a live status is read again.
const INTERVAL: Duration = Duration::from_secs(2);

/// The queues of one instant, ready to be shown.
pub(crate) struct Status {
    pub(crate) cluster: Cluster,
    /// None where not everything that decisions depend on was read.
    pub(crate) plan: Option<Plan>,
    /// Those that are shown.
    pub(crate) views: Vec<QueueView>,
    /// The resource that is asked about.
    pub(crate) selected: Option<Selected>,
}

/// Reads and prints; again and again if that is asked for.
pub(crate) async fn run(
    args: &StatusArgs,
    connection: &ConnectionArgs,
    screen: Screen,
) -> Result<Outcome, CommandError> {
    let began = Instant::now();
    let mut printed = String::new();
    loop {
        let mut status = Status::of(&read(args, connection).await?, args, connection)?;
        if printed.is_empty() {
            status.cluster = status.cluster.warned();
        }
        let found = findings(&status);
        let outcome = Outcome::of(found.iter().any(Finding::is_serious));
        let text = text(&status, &found, args.output.output, screen)?;
        if is_news(&text, &printed) && (!args.wait || args.watch) {
            let clear = if args.watch && io::stdout().is_terminal() { CLEAR } else { "" };
            print(&format!("{clear}{text}")).map_err(anyhow::Error::from)?;
        }
        printed.clone_from(&text);
        let is_settled = !found.iter().any(|finding| finding.is_waited_for);
        let is_over = if args.wait { is_settled } else { !args.watch };
        if is_over {
            if args.wait && !args.watch {
                print(&text).map_err(anyhow::Error::from)?;
            }
            return Ok(outcome);
        }
        if args.wait && began.elapsed() >= args.timeout {
            print(&text).map_err(anyhow::Error::from)?;
            let seconds = args.timeout.as_secs();
            return Err(CommandError::TimedOut(format!(
                "queues are still starved or stalled after {seconds} s"
            )));
        }
        if !args.source.is_live() {
            return Ok(outcome);
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Moves to the corner of the screen and clears it.
const CLEAR: &str = "\u{1b}[H\u{1b}[2J";

/// Whether more than the first line differs, which tells how long ago the Lease was renewed.
fn is_news(text: &str, printed: &str) -> bool {
    printed.is_empty() || text.lines().skip(1).ne(printed.lines().skip(1))
}

/// The Queues and the nodes; of a cluster nothing more, so that large ones answer as fast.
async fn read(args: &StatusArgs, connection: &ConnectionArgs) -> Result<Snapshot, CommandError> {
    if let Some(snapshot) = args.source.read_files()? {
        return Ok(snapshot);
    }
    let live = Live::connect(connection).await?;
    let kinds = ["queues", "nodes"];
    let of_one = connection.namespace.as_deref().filter(|_| !args.all_namespaces);
    let mut snapshot = live.snapshot(&Scope::of(&kinds, of_one)).await?;
    let lacks_queues =
        |snapshot: &Snapshot| snapshot.missing.iter().any(|missing| missing.resource.starts_with("queues."));
    if lacks_queues(&snapshot) && of_one.is_none() && !args.all_namespaces {
        eprintln!("You may not list Queues in all namespaces; these are of namespace {}.", live.namespace);
        snapshot = live.snapshot(&Scope::of(&kinds, Some(&live.namespace))).await?;
    }
    if let Some(missing) = snapshot.missing.iter().find(|missing| missing.resource.starts_with("queues.")) {
        // The list names the right that is missing.
        live.list(
            crate::source::kind("queues"),
            missing.namespace.as_deref(),
            &crate::source::Selection::default(),
        )
        .await?;
    }
    Ok(snapshot)
}

impl Status {
    pub(crate) fn of(
        snapshot: &Snapshot,
        args: &StatusArgs,
        connection: &ConnectionArgs,
    ) -> Result<Self, CommandError> {
        let cluster = at_rest(Cluster::of(snapshot, None)?);
        let plan = cluster.is_complete.then(|| settle(&cluster.snapshot).1);
        let all = views(&cluster, plan.as_ref());
        let selected = match &args.resource {
            Some(name) => Some(select(name, &resource_names(&all)).map_err(CommandError::Usage)?),
            None => None,
        };
        if let Some(unknown) =
            args.queues.iter().find(|wanted| !all.iter().any(|view| view.is_called(wanted)))
        {
            return Err(CommandError::Usage(format!("there is no Queue {unknown}")));
        }
        let is_wanted = |view: &QueueView| {
            let in_namespace = args.all_namespaces
                || connection.namespace.as_ref().is_none_or(|wanted| view.name.namespace.as_str() == wanted);
            in_namespace
                && args.selector.selects(view)
                && (args.queues.is_empty() || args.queues.iter().any(|wanted| view.is_called(wanted)))
        };
        let views = all.into_iter().filter(is_wanted).collect();
        Ok(Self { cluster, plan, views, selected })
    }
}

/// The status as it is printed.
pub(crate) fn text(
    status: &Status,
    found: &[Finding],
    format: Format,
    screen: Screen,
) -> Result<String, CommandError> {
    let names = status.views.iter().map(|view| format!("queue.quotient.dev/{}", view.name));
    let answer = Answer {
        table: &|is_wide| table(status, found, is_wide, screen),
        document: &document(
            "Status",
            status.cluster.snapshot.now,
            &status.cluster.source,
            report(status, found),
        ),
        names: names.collect(),
    };
    Ok(answer.text(format)?)
}

fn table(status: &Status, found: &[Finding], is_wide: bool, screen: Screen) -> String {
    let mut lines = header(status, screen);
    lines.push(String::new());
    if status.views.is_empty() {
        lines.push("There is no Queue. Create one: kubectl quotient init --from-usage".to_owned());
    } else {
        let rows: Vec<Row<'_>> =
            in_tree_order(&status.views).into_iter().map(|(depth, view)| Row { depth, view }).collect();
        lines.extend(columns(&rows::cells(status, &rows, is_wide, screen), screen.style));
    }
    if !found.is_empty() {
        lines.push(String::new());
        lines.extend(findings::lines(found, screen));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// What is printed for programs, as a JSON schema.
#[cfg(test)]
pub(crate) fn schema() -> schemars::Schema {
    schemars::schema_for!(crate::output::Document<report::Report>)
}
