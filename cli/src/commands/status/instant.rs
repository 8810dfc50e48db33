//! The queues of one instant, ready to be shown.

use quotient_engine::plan::Plan;

use super::args::StatusArgs;
use crate::commands::simulate::at_rest;
use crate::exit::CommandError;
use crate::manifests::Cluster;
use crate::queues::{QueueView, Selected, resource_names, select, views};
use crate::snapshot::Snapshot;
use crate::source::ConnectionArgs;

/// The queues of one instant.
pub(crate) struct Status {
    pub(crate) cluster: Cluster,
    /// None where not everything that decisions depend on was read.
    pub(crate) plan: Option<Plan>,
    /// Those that are shown.
    pub(crate) views: Vec<QueueView>,
    /// All of them, as far as they were read.
    pub(super) all: Vec<QueueView>,
    /// The resource that is asked about.
    pub(crate) selected: Option<Selected>,
}

impl Status {
    pub(crate) fn of(
        snapshot: &Snapshot,
        args: &StatusArgs,
        connection: &ConnectionArgs,
    ) -> Result<Self, CommandError> {
        let cluster = at_rest(Cluster::of(snapshot, None)?);
        let plan = cluster.plan();
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
        let is_wanted = |view: &&QueueView| {
            let in_namespace = args.all_namespaces
                || connection.namespace.as_ref().is_none_or(|wanted| view.name.namespace.as_str() == wanted);
            in_namespace
                && args.selector.selects(view)
                && (args.queues.is_empty() || args.queues.iter().any(|wanted| view.is_called(wanted)))
        };
        let views = all.iter().filter(is_wanted).cloned().collect();
        Ok(Self { cluster, plan, views, all, selected })
    }
}
