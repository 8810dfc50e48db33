//! Events of Queues: in which words.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use quotient_crds::names::LIMIT_RANGE;
use quotient_engine::amounts::{Amounts, Bounds};
use quotient_engine::names::{PodName, QueueName};

use super::Notice;
use super::notice::Regarding;
use crate::message::{amounts_of, listed, message};

/// What was done to a quota that we wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Its amounts, its annotations or its owner are not what we wrote.
    Edited {
        /// The manager that wrote its amounts last, as the API server remembers it, if not Quotient.
        by: Option<Arc<str>>,
    },
    /// It is gone, or another one is in its place.
    Deleted,
}

impl Change {
    /// The name in metrics.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Edited { .. } => "Edited",
            Self::Deleted => "Deleted",
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edited { by: Some(by) } => write!(formatter, "edited by {by}"),
            Self::Edited { by: None } => formatter.write_str("edited by another writer"),
            Self::Deleted => formatter.write_str("deleted by another writer"),
        }
    }
}

impl Notice {
    /// The quota of `queue` was written: what it allowed `before`, if there was one, and what it allows now.
    pub(super) fn quota_written(
        queue: QueueName,
        before: Option<&Bounds>,
        after: &Bounds,
        lowers: bool,
    ) -> Self {
        let (reason, verb) = match before {
            None => ("QuotaCreated", "Created"),
            Some(_) if lowers => ("QuotaLowered", "Changed"),
            Some(_) => ("QuotaRaised", "Changed"),
        };
        let note = if after.is_empty() {
            "Deleted the quota because the Queue is in Gate mode and has no limit.".to_owned()
        } else {
            format!("{verb} the quota: {}.", changes(before, after))
        };
        Self::normal(Regarding::Queue(queue), reason, "WriteQuota", note)
    }

    /// The quota of `queue` was restored after an edit by another writer: what it allowed then, if there was one, and what it
    /// allows now.
    pub(crate) fn quota_repaired(
        queue: QueueName,
        change: &Change,
        before: Option<&Bounds>,
        after: &Bounds,
    ) -> Self {
        let note = message([
            format!("Restored the quota because it was {change}: {}.", changes(before, after)),
            "Change limit or weight of the Queue instead.".to_owned(),
        ]);
        Self::warning(Regarding::Queue(queue), "QuotaRepaired", "WriteQuota", note)
    }

    /// Pods are to be evicted for `queue`: so many of each queue that loses them. Its quota allows a part of what it deserves in
    /// whole pods, or all of it where a pod of the queue fits on no node.
    pub(super) fn reclaim_planned(
        queue: QueueName,
        (allocated, deserved): (&Amounts, &Amounts),
        pods: &BTreeMap<&QueueName, usize>,
    ) -> Self {
        let total: usize = pods.values().sum();
        let are = if total == 1 { "pod of other queues is" } else { "pods of other queues are" };
        let lacking = deserved.less(allocated);
        let (why, next) = if lacking.is_empty() {
            ("no node has room for a pod of the queue".to_owned(), "The pod starts as they end.")
        } else {
            let part = |amounts| amounts_of(amounts, lacking.resources());
            let why = format!("the quota allows {} of the deserved {}", part(allocated), part(deserved));
            (why, "The quota rises as they end.")
        };
        let losers: Vec<String> =
            pods.iter().map(|(queue, count)| format!("{} ({count})", queue.in_words())).collect();
        let note = message([
            format!("{total} {are} evicted because {why}."),
            next.to_owned(),
            format!("They are pods of {}.", losers.join(", ")),
        ]);
        Self::normal(Regarding::Queue(queue), "ReclaimPlanned", "Reclaim", note)
    }

    /// Pods of `queue` that were long past their deadline were deleted without grace.
    pub(crate) fn force_deleted(queue: QueueName, pods: &[PodName]) -> Self {
        let noun = if pods.len() == 1 { "pod" } else { "pods" };
        let names: Vec<&str> = pods.iter().map(PodName::as_str).collect();
        let note = message([
            format!(
                "Evicted {} {noun} without grace because eviction.forceAfterSeconds have passed since the deadline.",
                pods.len()
            ),
            format!("Names: {}.", names.join(", ")),
            "A pod that stays has a finalizer; remove it, or delete its lost node.".to_owned(),
        ]);
        Self::warning(Regarding::Queue(queue), "ForceDeleted", "Evict", note)
    }

    /// What the containers of `queue` request that do not say it was written; no `defaults` if there are to be none any more.
    pub(crate) fn default_requests_written(queue: QueueName, defaults: &Bounds) -> Self {
        let note = if defaults.is_empty() {
            format!(
                "Removed the LimitRange {LIMIT_RANGE} because the Queue has no default requests, or other LimitRanges have \
                 them."
            )
        } else {
            format!("New containers without requests get {} (LimitRange {LIMIT_RANGE}).", listed(defaults))
        };
        Self::normal(Regarding::Queue(queue), "DefaultRequestsWritten", "WriteLimitRange", note)
    }

    /// It could not be written: why, and what to do.
    pub(crate) fn default_requests_refused(queue: QueueName, why: &str) -> Self {
        let note = format!("The default requests are not enforced: {why}");
        Self::warning(Regarding::Queue(queue), "DefaultRequestsRefused", "WriteLimitRange", note)
    }
}

/// `cpu from 3 to 2, memory 1Gi, nvidia.com/gpu 4 removed`: the amounts that differ.
fn changes(before: Option<&Bounds>, after: &Bounds) -> String {
    let changes =
        after.iter().filter_map(|(resource, amount)| match before.and_then(|before| before.get(resource)) {
            Some(former) if former == amount => None,
            Some(former) => {
                Some(format!("{resource} from {} to {}", resource.format(former), resource.format(amount)))
            }
            None => Some(format!("{resource} {}", resource.format(amount))),
        });
    let gone =
        before.into_iter().flat_map(Bounds::iter).filter(|(resource, _)| after.get(resource).is_none());
    let gone = gone.map(|(resource, former)| format!("{resource} {} removed", resource.format(former)));
    let changes: Vec<String> = changes.chain(gone).collect();
    if changes.is_empty() { "no amount".to_owned() } else { changes.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::plan::cpu;
    use expect_test::expect;
    use quotient_engine::amounts::{Amount, Resource};

    fn bounds(pairs: &[(&str, i128)]) -> Bounds {
        pairs.iter().map(|(name, units)| (Resource::from_name(name), Amount::new(*units))).collect()
    }

    #[test]
    fn what_changed_is_told_and_what_does_not_fit_is_left_out() {
        let queue = || QueueName::new("a", "team");
        let before = bounds(&[("cpu", 3000), ("memory", 1 << 30), ("nvidia.com/gpu", 4)]);
        let after = bounds(&[("cpu", 2000), ("memory", 1 << 30)]);
        let many: Vec<QueueName> =
            (0..40).map(|at| QueueName::new("a", format!("team-{at}").as_str())).collect();
        let many: BTreeMap<&QueueName, usize> = many.iter().map(|queue| (queue, 1)).collect();
        let notices = [
            Notice::quota_written(queue(), Some(&before), &after, true),
            Notice::quota_repaired(queue(), &Change::Deleted, None, &bounds(&[("cpu", 2000)])),
            Notice::reclaim_planned(queue(), (&cpu(1000), &cpu(3000)), &many),
            // A pod that exists and fits on no node is within the quota.
            Notice::reclaim_planned(queue(), (&cpu(3000), &cpu(3000)), &many),
        ];
        expect![[r#"
            QuotaLowered on Queue team: Changed the quota: cpu from 3 to 2, nvidia.com/gpu 4 removed.
            QuotaRepaired on Queue team: Restored the quota because it was deleted by another writer: cpu 2. Change limit or weight of the Queue instead.
            ReclaimPlanned on Queue team: 40 pods of other queues are evicted because the quota allows cpu 1 of the deserved cpu 3. The quota rises as they end.
            ReclaimPlanned on Queue team: 40 pods of other queues are evicted because no node has room for a pod of the queue. The pod starts as they end.
        "#]].assert_eq(&notices.iter().map(|notice| notice.printed() + "\n").collect::<String>());
    }
}
