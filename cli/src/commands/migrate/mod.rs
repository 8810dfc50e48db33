//! `migrate`: Queues from the objects of another system.
//!
//! ```text
//!  objects ──a table of fields for each system──► drafts ──► one Queue for each namespace, parent queues ──► manifests
//!                     └─ what is in no table ──► reported
//! ```

mod draft;
mod fields;
mod report;
mod systems;
mod tree;

use std::collections::BTreeSet;

use clap::ValueEnum;

use crate::exit::{ClusterError, CommandError, Outcome};
use crate::objects::Kind;
use crate::output::{Answer, OutputArgs, document, note};
use crate::snapshot::Snapshot;
use crate::source::{ConnectionArgs, Scope, SourceArgs};

use draft::Reading;
use fields::{Fields, Objects, Part};
pub(crate) use report::{Migration, MigrationText};
pub(crate) use systems::{KUEUE_QUEUE_NAME, system_of_sign};
use tree::{Drafts, Places};

/// What is migrated.
#[derive(Debug, clap::Args)]
pub(crate) struct MigrateArgs {
    /// The other system.
    #[arg(value_name = "SYSTEM", value_enum)]
    pub(crate) system: SystemName,

    /// What a plain bound becomes: guaranteed amounts, which are lent while there is no demand, or a limit.
    #[arg(long, value_name = "PART", value_enum, default_value_t = Part::Guaranteed)]
    pub(crate) quotas_as: Part,

    /// The namespace of parent queues; no tenant should own it.
    #[arg(long, value_name = "NAMESPACE", default_value = "org")]
    pub(crate) parents_in: String,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// `table` prints manifests with comments, `json` and `yaml` a document with the fields that have no equivalent.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// A system that shares out clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SystemName {
    /// ResourceQuotas and LimitRanges that an administrator sets.
    Resourcequota,
    Kueue,
    Volcano,
    /// KAI Scheduler.
    Kai,
    Yunikorn,
    /// Hierarchical Namespaces.
    Hnc,
    Capsule,
}

/// Reads, translates and prints.
pub(crate) async fn run(args: &MigrateArgs, connection: &ConnectionArgs) -> Result<Outcome, CommandError> {
    let system = args.system.system();
    let mut kinds = vec![Kind::Namespace.api()];
    kinds.extend(system.kinds);
    let mut snapshot = args.source.read(connection, &Scope { kinds, namespace: None }, &[]).await?;
    snapshot.write_out();
    snapshot.warn_of_missing();
    let migration = match migrate(args, &snapshot) {
        // Objects that may not be listed may be there.
        Err(error) => {
            ClusterError::missing(snapshot.missing.iter())?;
            return Err(error);
        }
        Ok(migration) => migration,
    };
    let (as_of, text) = (snapshot.as_of.unwrap_or_default(), MigrationText::of(&migration));
    let document = document("Migration", as_of, &snapshot.source, text);
    let answer =
        Answer { table: &|_| migration.manifests(), document: || document, names: migration.names() };
    answer.print(args.output.output)?;
    note(&migration.summary());
    Ok(Outcome::Fine)
}

/// The Queues for the objects of the snapshot.
pub(crate) fn migrate(args: &MigrateArgs, snapshot: &Snapshot) -> Result<Migration, CommandError> {
    let system = args.system.system();
    let objects = Objects::of(snapshot);
    let fields = Fields::parse(system.fields).map_err(|error| CommandError::Other(error.into()))?;
    let mut drafts = Drafts::new();
    (system.draft)(&mut drafts, &objects, &Reading { fields, bound: args.quotas_as })?;
    if drafts.is_empty() {
        let (name, source) = (system.name, &snapshot.source);
        return Err(format!(
            "migrate {name}: {source} has no object of it; save the objects to a file and name it with -f"
        )
        .into());
    }
    let known: BTreeSet<String> =
        objects.of_kind("", "Namespace").map(|object| object.name.to_owned()).collect();
    // A file may leave namespaces out that exist.
    let known = Some(known).filter(|known| !known.is_empty());
    Ok(tree::migration(system.name, drafts, &Places { parents: args.parents_in.clone(), known }))
}
