//! `replay`: the plan of a recorded decision, computed again, and what it had been with another setting.

mod alternative;
mod report;

use quotient_engine::plan::Plan;
use quotient_engine::planner::plan;
use quotient_engine::snapshot::Snapshot;
use quotient_operator::decisions::{Decision, read, text};

use crate::Session;
use crate::commands::diff::setting;
use crate::exit::{CommandError, Outcome};
use crate::output::{Answer, OutputArgs, document};
use crate::snapshot::Setting;
use crate::source::ConnectionArgs;

use alternative::changed;
pub(crate) use report::ReplayText;

/// Which decision.
#[derive(Debug, clap::Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct ReplayArgs {
    /// The decision: a file, or the address from which the operator serves it.
    #[arg(value_name = "FILE|URL")]
    pub(crate) record: String,

    /// Compute also what had been decided with another value of a field of a Queue. May be given several times.
    #[arg(long, value_name = "queue/[NAMESPACE/]NAME.FIELD=VALUE", value_parser = setting)]
    pub(crate) with: Vec<Setting>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

const ABOUT: &str = "\
Compute a recorded decision again: the same plan, byte for byte, with the pods that it evicted, their ranks, and the candidates that a \
rule kept.

The operator keeps the last decisions that evicted pods, each with everything that it was made from, at most 20 and 4 MiB. They are \
served beside the metrics: /decisions lists them, /decisions/NUMBER and /decisions/latest return a record. A record names the pods of \
all teams, so it needs the right to list all pods besides that to read the metrics.

Exit code 1 if the plan differs. Only the version that decided computes the same plan.";

const EXAMPLES: &str = "\
Examples:
  # The last decision, through a forwarded port: kubectl -n quotient-system port-forward deployment/quotient 8443
  kubectl quotient replay https://localhost:8443/decisions/latest

  # The same from a file
  kubectl quotient replay decision

  # Had the queue been guaranteed more
  kubectl quotient replay decision --with queue/team-a.guaranteed.cpu=4";

/// A decision, computed again.
#[derive(Debug)]
pub(crate) struct Replay {
    pub(crate) decision: Decision,
    /// What it was made from.
    pub(crate) snapshot: Snapshot,
    pub(crate) plan: Plan,
    /// Whether it is the recorded plan.
    pub(crate) is_identical: bool,
    /// What had been decided, in the words of the settings.
    pub(crate) alternative: Option<(Vec<String>, Plan)>,
}

/// Reads, computes and prints.
pub(crate) async fn run(args: &ReplayArgs, session: Session<'_>) -> Result<Outcome, CommandError> {
    let replay = Replay::read(&args.record, session.connection, &args.with).await?;
    let answer = Answer {
        table: &|_| replay.table(session.screen),
        document: &document("Replay", replay.decision.as_of(), &args.record, ReplayText::of(&replay)),
        names: replay.decision.evictions.iter().map(|evicted| format!("pod/{}", evicted.pod)).collect(),
    };
    answer.print(args.output.output)?;
    Ok(Outcome::of(!replay.is_identical))
}

impl Replay {
    /// Reads a file, or asks the operator, and computes the decision.
    pub(crate) async fn read(
        record: &str,
        connection: &ConnectionArgs,
        settings: &[Setting],
    ) -> Result<Self, CommandError> {
        let file = if record.starts_with("https://") || record.starts_with("http://") {
            connection.fetch(record).await?
        } else {
            std::fs::read(record).map_err(|error| format!("read {record}: {error}"))?
        };
        Self::of(&file, settings).map_err(|error| match error {
            CommandError::Usage(message) => CommandError::Usage(format!("replay {record}: {message}")),
            other => other,
        })
    }

    /// The decision that evicted `pod`, `namespace/name`, among those that the operator serves at `list`; none if it keeps none.
    pub(crate) async fn find(
        list: &str,
        pod: &str,
        connection: &ConnectionArgs,
    ) -> Result<Option<Self>, CommandError> {
        let decisions = connection.fetch(list).await?;
        let decisions: Vec<Decision> =
            serde_json::from_slice(&decisions).map_err(|error| format!("read {list}: {error}"))?;
        let evicts = |decision: &&Decision| decision.evictions.iter().any(|evicted| evicted.pod == pod);
        let Some(decision) = decisions.iter().find(evicts) else { return Ok(None) };
        Self::read(&format!("{list}/{}", decision.number), connection, &[]).await.map(Some)
    }

    /// Computes the decision of this record, and what it had been with `settings`.
    pub(crate) fn of(file: &[u8], settings: &[Setting]) -> Result<Self, CommandError> {
        let (decision, inputs) = read(file).map_err(|error| error.to_string())?;
        let again = plan(&inputs.snapshot);
        let is_identical = text(&again) == inputs.plan;
        let alternative = if settings.is_empty() {
            None
        } else {
            let (changes, snapshot) = changed(&inputs.snapshot, settings)?;
            Some((changes, plan(&snapshot)))
        };
        Ok(Self { decision, snapshot: inputs.snapshot, plan: again, is_identical, alternative })
    }
}
