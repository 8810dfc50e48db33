//! One Queue with its status, Queues in the order of their tree, and `-l`, which selects them by their labels.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube::core::{Selector, SelectorExt as _};
use quotient_crds::{ConditionType, Queue, QueueStatus, ResourceMap};
use quotient_engine::amounts::{Amounts, Resource};
use quotient_engine::names::QueueName;
use quotient_engine::reasons::ShortReason;
use quotient_engine::time::Timestamp;
use quotient_index::timestamp;
use quotient_operator::label_selector::parse;
use quotient_operator::status::{Circumstances, Overview, compose};

use super::amounts;
use crate::manifests::Cluster;
use crate::objects::Object;
use crate::output::duration;

/// A Queue as its administrator wrote it, and what became of it.
#[derive(Clone, Debug)]
pub(crate) struct QueueView {
    pub(crate) name: QueueName,
    pub(crate) queue: Arc<Queue>,
    pub(crate) status: Arc<QueueStatus>,
    /// Whether the operator wrote the status; else it was computed as the operator would.
    pub(crate) is_reported: bool,
}

/// Why and since when a queue is starved.
#[derive(Clone, Debug)]
pub(crate) struct Starvation<'a> {
    pub(crate) reason: &'a str,
    pub(crate) message: &'a str,
    /// None if it is not known.
    pub(crate) seconds: Option<i64>,
}

impl Starvation<'_> {
    /// ` for 40 s`; empty if it is not known.
    pub(crate) fn since(&self) -> String {
        self.seconds.map(|seconds| format!(" for {}", duration(seconds))).unwrap_or_default()
    }
}

/// What ends that pods cannot start for a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Remedy {
    /// Time alone.
    Time,
    /// Time, or what the message of the reason names.
    PerhapsAPerson,
    /// A person alone.
    Person,
}

impl Remedy {
    /// That of a reason that the operator reports.
    pub(crate) fn of(reason: &str) -> Self {
        match ShortReason::ALL.iter().find(|known| known.name() == reason) {
            Some(
                ShortReason::PodsRejected
                | ShortReason::UnitAboveShare
                | ShortReason::NoNodeFits
                | ShortReason::AboveLimit
                | ShortReason::RolloutNeedsRoom
                | ShortReason::ForeignQuota
                | ShortReason::GangIncomplete,
            ) => Self::Person,
            Some(
                ShortReason::Blocked
                | ShortReason::StuckTerminating
                | ShortReason::QuotaControllerSilent
                | ShortReason::PodsNotCreated
                | ShortReason::SetAside,
            ) => Self::PerhapsAPerson,
            _ => Self::Time,
        }
    }
}

/// The Queues of `cluster`. A status that the operator wrote is taken as it is; without one, what its plan says.
pub(crate) fn views(cluster: &Cluster) -> Vec<QueueView> {
    let overview = cluster.plan().map(Overview::of);
    let queues = cluster.objects.iter().filter_map(|object| match object {
        Object::Queue(queue) => Some(queue),
        _ => None,
    });
    let mut views: Vec<QueueView> = queues.map(|queue| view(queue, cluster, overview.as_ref())).collect();
    views.sort_by(|one, other| one.name.cmp(&other.name));
    views
}

fn view(queue: &Arc<Queue>, cluster: &Cluster, overview: Option<&Overview<'_>>) -> QueueView {
    let metadata = &queue.metadata;
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let name = QueueName::new(text(&metadata.namespace).as_str(), text(&metadata.name).as_str());
    let is_reported = |status: &&QueueStatus| cluster.is_observed && !status.conditions.is_empty();
    let reported = queue.status.as_ref().filter(is_reported).cloned();
    let is_reported = reported.is_some();
    let time = jiff::Timestamp::from_millisecond(cluster.snapshot.now.millis()).unwrap_or_default();
    // A computed status is that of a cluster whose quotas are enforced.
    let enforced = Circumstances::default();
    let computed = || compose(overview?, &name, metadata.generation, None, &enforced, time);
    let status = Arc::new(reported.or_else(computed).unwrap_or_default());
    QueueView { name, queue: Arc::clone(queue), status, is_reported }
}

/// The Queue that governs the pods of a namespace: of several the oldest.
pub(crate) fn governing<'v>(views: &'v [QueueView], namespace: &str) -> Option<&'v QueueView> {
    let here = views.iter().filter(|view| view.name.namespace.as_str() == namespace && !view.is_parent());
    here.min_by_key(|view| {
        let metadata = &view.queue.metadata;
        (metadata.creation_timestamp.clone(), metadata.uid.clone())
    })
}

impl QueueView {
    /// What its pods use.
    pub(crate) fn used(&self) -> Amounts {
        amounts(self.status.used.as_ref())
    }

    /// Its deserved share.
    pub(crate) fn deserved(&self) -> Amounts {
        amounts(self.status.deserved.as_ref())
    }

    /// What its quota allows.
    pub(crate) fn allocated(&self) -> Amounts {
        amounts(self.status.allocated.as_ref())
    }

    /// What it has a share of among these requests: with `--resources` only some resources are shared.
    pub(crate) fn shared(&self, requests: &Amounts) -> Amounts {
        let deserved = self.status.deserved.iter().flat_map(ResourceMap::iter);
        let shared: BTreeSet<Resource> = deserved.map(|(name, _)| Resource::from_name(name)).collect();
        requests.only(|resource, _| shared.contains(resource))
    }

    /// Its weight.
    pub(crate) fn weight(&self) -> i32 {
        self.queue.spec.weight
    }

    /// Whether it groups other queues.
    pub(crate) fn is_parent(&self) -> bool {
        self.queue.spec.children.is_some()
    }

    /// The queue that it takes its share from.
    pub(crate) fn parent(&self) -> Option<QueueName> {
        let parent = self.queue.spec.parent_ref.as_ref()?;
        let namespace = parent.namespace.as_deref().unwrap_or_else(|| self.name.namespace.as_str());
        Some(QueueName::new(namespace, parent.name.as_str()))
    }

    /// The state in one word, as the column of `kubectl get` has it.
    pub(crate) fn state(&self) -> &str {
        let state = self.status.summary.as_ref().and_then(|summary| summary.state.as_deref());
        state.unwrap_or("Unknown")
    }

    /// Reason and message of a condition that is True, or False if `status` says so.
    pub(crate) fn condition(&self, condition: ConditionType, status: &str) -> Option<(&str, &str)> {
        let found = self.status.condition(condition).filter(|found| found.status == status)?;
        Some((found.reason.as_str(), found.message.as_str()))
    }

    /// Whether the operator has not reported on it, and nothing is computed in place of a report.
    pub(crate) fn is_unknown(&self) -> bool {
        self.status.conditions.is_empty()
    }

    /// Whether the operator has not seen the last change of its spec.
    pub(crate) fn is_outdated(&self) -> bool {
        self.status.observed_generation < self.queue.metadata.generation
    }

    /// Why it has no share, if so.
    pub(crate) fn stalled(&self) -> Option<(&str, &str)> {
        self.condition(ConditionType::Stalled, "True")
    }

    /// Why Quotient leaves its quota as it is, if a mode or a pause is the cause.
    pub(crate) fn quota_left_alone(&self) -> Option<&str> {
        let (reason, message) = self.condition(ConditionType::QuotaSynced, "False")?;
        matches!(reason, "ObserveMode" | "Paused").then_some(message)
    }

    /// Why it has less than it deserves, if so.
    pub(crate) fn starved(&self, now: Timestamp) -> Option<Starvation<'_>> {
        let (reason, message) = self.condition(ConditionType::Starved, "True")?;
        let since = self.status.short_since.as_ref();
        let seconds = since.map(|since| now.millis_since(timestamp(since)).div_euclid(1000).max(0));
        Some(Starvation { reason, message, seconds: seconds.filter(|_| self.is_reported) })
    }

    /// Whether `wanted` names it: by name, or by namespace and name.
    pub(crate) fn is_called(&self, wanted: &str) -> bool {
        match wanted.split_once('/') {
            Some((namespace, name)) => *self.name.name == *name && self.name.namespace.as_str() == namespace,
            None => *self.name.name == *wanted,
        }
    }
}

/// A queue with its name and the name of its parent.
pub(crate) type InTree<'q, Q> = (&'q QueueName, Option<QueueName>, Q);

/// Every queue with its depth, parents before their children, siblings as they come. A queue whose parent is not among them
/// stands at the top.
pub(crate) fn in_tree_order<Q>(queues: Vec<InTree<'_, Q>>) -> Vec<(usize, Q)> {
    let known: BTreeSet<&QueueName> = queues.iter().map(|(name, ..)| *name).collect();
    let mut children: BTreeMap<Option<QueueName>, Vec<(&QueueName, Q)>> = BTreeMap::new();
    for (name, parent, queue) in queues {
        let parent = parent.filter(|parent| known.contains(parent) && parent != name);
        children.entry(parent).or_default().push((name, queue));
    }
    let mut ordered = Vec::new();
    // A stack, because trees may be deeper than the call stack; reversed, because it gives the last one first.
    let mut waiting: Vec<(usize, (&QueueName, Q))> = Vec::new();
    let mut next = Some((0_usize, None));
    while let Some((depth, parent)) = next {
        let siblings = children.remove(&parent).unwrap_or_default();
        waiting.extend(siblings.into_iter().rev().map(|queue| (depth, queue)));
        next = waiting.pop().map(|(depth, (name, queue))| {
            ordered.push((depth, queue));
            (depth.saturating_add(1), Some(name.clone()))
        });
    }
    // Queues in a circle have no top.
    ordered.extend(children.into_values().flatten().map(|(_, queue)| (0, queue)));
    ordered
}

/// The flag `-l`.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct SelectorArgs {
    /// Only Queues with these labels, such as `org=research,tier!=free` or `org in (research, web)`.
    #[arg(short = 'l', long = "selector", value_name = "SELECTOR", value_parser = parse)]
    selector: Option<Selector>,
}

impl SelectorArgs {
    /// Whether the Queue has the labels.
    pub(crate) fn selects(&self, view: &QueueView) -> bool {
        let labels = view.queue.metadata.labels.clone().unwrap_or_default();
        self.selector.as_ref().is_none_or(|selector| selector.matches(&labels))
    }

    /// As the API takes it; empty for all.
    pub(crate) fn text(&self) -> String {
        self.selector.as_ref().map(ToString::to_string).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `-l` goes to the API server as it is read.
    #[test]
    fn requirements_are_written_as_kubectl_writes_them() {
        let written = |text: &str| parse(text).map(|selector| selector.to_string());
        for text in
            ["a=b", "a!=b", "a in (b,c)", "a notin (b)", "example.com/a", "!a", "a=b,c in (d,e),!f", ""]
        {
            assert_eq!(written(text), Ok(text.to_owned()));
        }
    }
}
