//! What leaves for a starved queue: pods that end, or that the next decision evicts.

use std::collections::BTreeSet;

use quotient_engine::plan::Eviction;
use quotient_engine::snapshot::Pod;

use super::QueueView;
use crate::manifests::Cluster;
use crate::output::{counted, list};

/// How long ago an eviction may be for which a pod still ends, in seconds.
const LONGEST: i64 = 900;

/// Pods that leave for one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leaving {
    pods: usize,
    /// The queues that lose them, in words.
    from: BTreeSet<String>,
    /// Whether their evictions have begun.
    is_ending: bool,
    /// Of the pod that ends last, the seconds of its grace that have passed, and all of them; none if that is not known.
    grace: Option<(i64, i64)>,
}

/// What leaves for `view`, as far as it can be seen: by the plan, or by the evictions that statuses remember.
pub(crate) fn leaving(view: &QueueView, views: &[QueueView], cluster: &Cluster) -> Option<Leaving> {
    ending(view, views, cluster).or_else(|| planned(view, cluster))
}

fn ending(view: &QueueView, views: &[QueueView], cluster: &Cluster) -> Option<Leaving> {
    let (now, name) = (cluster.snapshot.now.millis(), view.name.to_string());
    let (mut from, mut uids, mut reported) = (BTreeSet::new(), BTreeSet::new(), 0_usize);
    for giver in views {
        let is_recent = |millis: i64| now.saturating_sub(millis) < LONGEST.saturating_mul(1000);
        let reclaims = giver.status.recent_reclaims.iter();
        let for_it = reclaims
            .filter(|one| one.beneficiary.as_ref() == Some(&name) && is_recent(one.time.0.as_millisecond()));
        let before = uids.len();
        uids.extend(for_it.map(|one| one.uid.as_str()));
        let ending = giver.status.pods.map(|pods| pods.terminating).unwrap_or_default();
        if uids.len() > before && ending > 0 {
            from.insert(giver.name.in_words());
            reported = reported.saturating_add(usize::try_from(ending).unwrap_or_default());
        }
    }
    let pods = cluster.snapshot.namespaces.values().flat_map(|state| &state.pods);
    let theirs = pods.filter(|pod| uids.contains(pod.uid.as_str()));
    let graces: Vec<(i64, i64)> = theirs.filter_map(|pod| grace(pod, now)).collect();
    let last = graces.iter().max_by_key(|(passed, whole)| whole.saturating_sub(*passed)).copied();
    (!from.is_empty()).then_some(Leaving { pods: reported, from, is_ending: true, grace: last })
}

/// Of a terminating pod, the seconds of its grace that have passed, and all of them.
fn grace(pod: &Pod, now: i64) -> Option<(i64, i64)> {
    let (deadline, whole) = (pod.deletion?.millis(), i64::from(pod.deletion_seconds));
    let left = deadline.saturating_sub(now).div_euclid(1000).max(0);
    Some((whole.saturating_sub(left).max(0), whole))
}

fn planned(view: &QueueView, cluster: &Cluster) -> Option<Leaving> {
    let plan = cluster.plan()?;
    let all = plan.evictions.iter().chain(&plan.waiting);
    let for_it: Vec<&Eviction> =
        all.filter(|eviction| eviction.beneficiary.as_ref() == Some(&view.name)).collect();
    let whole = for_it.iter().filter_map(|eviction| cluster.grace_of(eviction)).max();
    (!for_it.is_empty()).then(|| Leaving {
        pods: for_it.len(),
        from: for_it.iter().map(|eviction| eviction.queue.in_words()).collect(),
        is_ending: false,
        grace: whole.map(|whole| (0, whole.into())),
    })
}

impl Leaving {
    /// `batch, web`.
    pub(crate) fn from(&self) -> String {
        list(&self.from)
    }

    /// How many seconds of the grace of the last pod are left, as far as that is known: one past its deadline may stay for ever.
    pub(crate) fn seconds_left(&self) -> Option<i64> {
        let left = self.grace.map(|(passed, whole)| whole.saturating_sub(passed));
        left.filter(|left| *left > 0 || !self.is_ending)
    }

    /// Of pods that end, what has passed of their grace, in these words.
    fn progress(&self, words: impl Fn(i64, i64) -> String) -> String {
        self.grace.filter(|_| self.is_ending).map(|(passed, whole)| words(passed, whole)).unwrap_or_default()
    }

    const fn state(&self) -> &'static str {
        if self.is_ending { "terminating" } else { "evicted next" }
    }

    /// `2 pods terminating, 18 s of 30 s`.
    pub(crate) fn short(&self) -> String {
        let grace = self.progress(|passed, whole| format!(", {passed} s of {whole} s"));
        format!("{} {}{grace}", counted(self.pods, "pod", "pods"), self.state())
    }

    /// `3 pods of ml-train are terminating (22 s of 30 s grace)`.
    pub(crate) fn sentence(&self) -> String {
        let grace = self.progress(|passed, whole| format!(" ({passed} s of {whole} s grace)"));
        let are = if self.pods == 1 { "is" } else { "are" };
        let (pods, state) = (counted(self.pods, "pod", "pods"), self.state());
        format!("{pods} of {} {are} {state}{grace}", self.from())
    }
}
