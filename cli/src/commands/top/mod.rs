//! `top`: which queue, namespace or workload uses most.

mod args;
mod rows;

use serde::Serialize;

use crate::commands::simulate::at_rest;
use crate::exit::{ClusterError, CommandError, Outcome};
use crate::manifests::Cluster;
use crate::output::{Answer, INTERVAL, Screen, Watch, columns, document, joined, titles};
use crate::queues::{Selected, resource_names, select, views};
use crate::source::{ConnectionArgs, Scope};

pub(crate) use args::{TopArgs, What};
use rows::{Row, of_namespaces, of_queues, of_workloads};

/// For programs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Report<'a> {
    rows: &'a [Row],
}

/// Reads, sorts and prints; again and again if that is asked for.
pub(crate) async fn run(
    args: &TopArgs,
    connection: &ConnectionArgs,
    screen: Screen,
) -> Result<Outcome, CommandError> {
    let scope = Scope::of(args.what.kinds(), connection.namespace.as_deref());
    let mut watch = Watch::default();
    let mut is_first = true;
    loop {
        let snapshot = args.source.read(connection, &scope).await?;
        if args.source.is_live() {
            ClusterError::require(&snapshot.missing, &["queues", "pods"])?;
        }
        let mut cluster = at_rest(Cluster::of(&snapshot, None)?);
        if std::mem::take(&mut is_first) {
            for missing in &snapshot.missing {
                eprintln!("warning: {} are missing: you may not list them", missing.resource);
            }
            cluster = cluster.warned();
        }
        let (rows, selected) = top(&cluster, args, connection.namespace.as_deref())?;
        let table = || text(&rows, args.what, selected.as_ref(), screen);
        let answer = Answer {
            table: &|_| table(),
            document: &document("Top", cluster.snapshot.now, &cluster.source, Report { rows: &rows }),
            names: rows.iter().map(|row| row.name.clone()).collect(),
        };
        if !args.watch {
            answer.print(args.output.output)?;
            return Ok(Outcome::Fine);
        }
        watch.show(&answer.text(args.output.output)?, table())?;
        if !args.source.is_live() {
            return Ok(Outcome::Fine);
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// The rows, and the resource that is asked about.
pub(crate) fn top(
    cluster: &Cluster,
    args: &TopArgs,
    namespace: Option<&str>,
) -> Result<(Vec<Row>, Option<Selected>), CommandError> {
    let plan = cluster.plan();
    let mut views = views(cluster, plan.as_ref());
    views.retain(|view| args.selector.selects(view));
    let is_wanted = |name: &str| namespace.is_none_or(|wanted| wanted == name);
    let mut rows = match args.what {
        What::Queues => of_queues(&views),
        What::Namespaces => of_namespaces(cluster, &views),
        What::Workloads => of_workloads(cluster, &views),
    };
    let is_selected = |row: &Row| args.selector.text().is_empty() || row.is_managed();
    rows.retain(|row| is_wanted(&row.namespace) && is_selected(row));
    let selected = match &args.resource {
        Some(name) => {
            let mut known = resource_names(&views);
            known.extend(rows.iter().flat_map(|row| row.used.resources().cloned()));
            known.sort();
            known.dedup();
            Some(select(name, &known).map_err(CommandError::Usage)?)
        }
        None => None,
    };
    rows::sort(&mut rows, args.sort, selected.as_ref(), cluster);
    if args.limit > 0 {
        rows.truncate(args.limit);
    }
    Ok((rows, selected))
}

/// The table.
pub(crate) fn text(rows: &[Row], what: What, selected: Option<&Selected>, screen: Screen) -> String {
    let names: &[&str] = match what {
        What::Queues => &["QUEUE", "PODS", "USED", "DESERVED", "OVER", "BORROWED", "LENT"],
        What::Namespaces => &["NAMESPACE", "QUEUE", "PODS", "USED"],
        What::Workloads => &["WORKLOAD", "NAMESPACE", "QUEUE", "PODS", "USED"],
    };
    let mut table = vec![titles(names)];
    table.extend(rows.iter().map(|row| row.cells(what, selected)));
    joined(columns(&table, screen.style))
}
