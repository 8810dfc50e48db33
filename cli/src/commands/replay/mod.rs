//! `replay`: the plan of a recorded decision, computed again, and what it had been with another setting.

mod alternative;
mod report;

use clap::ValueHint;
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
pub(crate) struct ReplayArgs {
    /// The decision: a file, or the address from which the operator serves it.
    #[arg(value_name = "FILE|URL", value_hint = ValueHint::FilePath)]
    pub(crate) record: String,

    /// Compute also what had been decided with another value of a field of a Queue. May be given several times.
    #[arg(long, value_name = "queue/[NAMESPACE/]NAME.FIELD=VALUE", value_parser = setting)]
    pub(crate) with: Vec<Setting>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

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
        document: || document("Replay", replay.decision.as_of(), &args.record, ReplayText::of(&replay)),
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
