//! What about a sequence of plans and writes is news.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use quotient_engine::amounts::Bounds;
use quotient_engine::names::QueueName;
use quotient_engine::plan::Plan;
use tokio::time::Instant;

use super::jobs::Jobs;
use super::{Notice, Reclaimed, Subject};

/// How long one workload or bare pod gets no second notice of what would happen to it.
const WITHHELD_INTERVAL: Duration = Duration::from_secs(600);

/// Remembers what was reported, so that the same is not reported every cycle.
///
/// Only a hint: after a restart something may be reported twice.
#[derive(Debug, Default)]
pub(super) struct Transitions {
    /// Queues for which pods are being evicted.
    gainers: BTreeSet<QueueName>,
    /// When each workload and bare pod got a notice of what would happen to it, for as long as it gets no second one.
    withheld: BTreeMap<Subject, Instant>,
    /// Queues whose quota rises in steps: what it allowed before the first.
    rising: BTreeMap<QueueName, (Option<Bounds>, Bounds)>,
    /// QueueJobs.
    pub(super) jobs: Jobs,
}

impl Transitions {
    /// What is news about `plan`.
    pub(super) fn of_plan(&mut self, plan: &Plan) -> Vec<Notice> {
        let mut news = self.raised(plan);
        news.extend(self.jobs.news(plan));
        news.extend(self.planned(plan));
        news.extend(self.withheld(plan, Instant::now()));
        news
    }

    /// The reclaims that begin with `plan`.
    pub(super) fn planned(&mut self, plan: &Plan) -> Vec<Notice> {
        let mut victims: BTreeMap<&QueueName, BTreeMap<&QueueName, usize>> = BTreeMap::new();
        for eviction in plan.evictions.iter().chain(&plan.waiting) {
            let Some(beneficiary) = &eviction.beneficiary else { continue };
            let pods = victims.entry(beneficiary).or_default().entry(&eviction.queue).or_default();
            *pods = pods.saturating_add(1);
        }
        let begun = victims.iter().filter(|(queue, _)| !self.gainers.contains(**queue));
        let news: Vec<Notice> = begun
            .filter_map(|(queue, pods)| {
                let decided = plan.queues.get(*queue)?;
                let amounts = (&decided.allocated, &decided.target);
                Some(Notice::reclaim_planned((*queue).clone(), amounts, pods))
            })
            .collect();
        // It goes on until nothing is outstanding, even while no further pod is needed.
        self.gainers.retain(|queue| plan.queues.get(queue).is_some_and(|queue| !queue.lacking.is_empty()));
        self.gainers.extend(victims.into_keys().cloned());
        news
    }

    /// What `plan` would evict, for the workloads and bare pods that got no notice of it in the last ten minutes.
    pub(super) fn withheld(&mut self, plan: &Plan, now: Instant) -> Vec<Notice> {
        self.withheld.retain(|_, noticed| now.saturating_duration_since(*noticed) < WITHHELD_INTERVAL);
        let mut news = Vec::new();
        for reclaimed in Reclaimed::by_subject(&plan.withheld) {
            if let Entry::Vacant(entry) = self.withheld.entry(reclaimed.subject.clone()) {
                entry.insert(now);
                news.push(reclaimed.would_notice());
            }
        }
        news
    }

    /// The rises that have ended with `plan`.
    pub(super) fn raised(&mut self, plan: &Plan) -> Vec<Notice> {
        let settled = |queue: &QueueName| {
            plan.queues
                .get(queue)
                .is_none_or(|queue| queue.quota_write.is_none() && queue.preempting.is_empty())
        };
        let ended: Vec<QueueName> = self.rising.keys().filter(|queue| settled(queue)).cloned().collect();
        let rises = ended.into_iter().filter_map(|queue| {
            let (before, after) = self.rising.remove(&queue)?;
            let moved = before.as_ref() != Some(&after);
            moved.then(|| Notice::quota_written(queue, before.as_ref(), &after, false))
        });
        rises.collect()
    }

    /// What is reported now of a quota that was written: a lowered one at once, for pods may have to leave; a raised one when it
    /// has stopped rising, because a share that is got back comes in many small steps.
    pub(super) fn quota_written(
        &mut self,
        queue: QueueName,
        before: Option<Bounds>,
        after: Bounds,
        lowers: bool,
    ) -> Option<Notice> {
        if lowers {
            self.rising.remove(&queue);
            return Some(Notice::quota_written(queue, before.as_ref(), &after, lowers));
        }
        let rise = self.rising.entry(queue).or_insert_with(|| (before, after.clone()));
        rise.1 = after;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::plan::{cpu, eviction};
    use quotient_engine::amounts::Amounts;
    use quotient_engine::plan::{Eviction, PodId, QueuePlan};
    use quotient_engine::snapshot::Workload;

    fn gainer() -> QueueName {
        QueueName::new("b", "batch")
    }

    fn plan(preempting: i128, victims: usize) -> Plan {
        let short: Amounts = cpu(preempting);
        let queue = QueuePlan {
            uid: "1".into(),
            preempting: short.clone(),
            lacking: short,
            quota_in_force: true,
            ..QueuePlan::default()
        };
        let evicted = |number: usize| {
            let uid = number.to_string().as_str().into();
            let pod = PodId { namespace: "a".into(), name: "web".into(), uid };
            Eviction { pod, beneficiary: Some(gainer()), ..eviction("web") }
        };
        Plan {
            queues: [(gainer(), queue)].into(),
            evictions: (0..victims).map(evicted).collect(),
            ..Plan::default()
        }
    }

    fn write(transitions: &mut Transitions, before: i128, after: i128) -> Option<Notice> {
        transitions.quota_written(gainer(), Some(cpu(before)), cpu(after), after < before)
    }

    fn printed(news: &[Notice]) -> Vec<String> {
        news.iter().map(Notice::printed).collect()
    }

    #[test]
    fn a_reclaim_is_reported_once() {
        let mut transitions = Transitions::default();
        let news = transitions.planned(&plan(2000, 2));
        assert!(matches!(&*news, [one] if one.note.ends_with("They are pods of a/team (2).")), "{news:?}");
        assert_eq!(transitions.planned(&plan(2000, 2)), []);
        assert_eq!(transitions.planned(&plan(1000, 0)), []);
        assert_eq!(transitions.planned(&plan(1000, 1)), []);
        assert_eq!(transitions.planned(&plan(0, 0)), []);
        assert_eq!(transitions.planned(&plan(2000, 1)).len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_withheld_is_reported_once_in_ten_minutes() {
        let workload = |name: &str| Workload { uid: name.into(), name: name.into(), ..Workload::default() };
        let of = |name: &str, at: usize| {
            let mut evictions = plan(0, at).evictions;
            for one in &mut evictions {
                one.workload = Some(workload(name));
            }
            evictions
        };
        let withheld = |evictions: Vec<Eviction>| Plan { withheld: evictions, ..Plan::default() };
        let mut transitions = Transitions::default();
        let start = Instant::now();
        let mut reported = Vec::new();
        for second in (0..1_500).step_by(100) {
            let both =
                withheld([of("web", 3), if second >= 300 { of("db", 1) } else { Vec::new() }].concat());
            for news in transitions.withheld(&both, start + Duration::from_secs(second)) {
                reported.push(format!("{second} {}", news.printed().split(" would").next().unwrap()));
            }
        }
        let expected = [(0, "web: 3 pods"), (300, "db: 1 pod"), (600, "web: 3 pods"), (900, "db: 1 pod")];
        let expected = expected.into_iter().chain([(1200, "web: 3 pods")]);
        let expected = expected.map(|(second, what)| format!("{second} WouldReclaim on  {what}"));
        assert_eq!(reported, expected.collect::<Vec<_>>());
        // Bare pods are reported one by one, and nothing is remembered for longer than it counts.
        let later = start + Duration::from_secs(9_000);
        assert_eq!(transitions.withheld(&withheld(plan(0, 2).evictions), later).len(), 2);
        assert_eq!(transitions.withheld.len(), 2);
    }

    #[test]
    fn a_rise_is_reported_when_it_has_ended() {
        let mut transitions = Transitions::default();
        assert_eq!(write(&mut transitions, 1000, 2000), None);
        assert_eq!(transitions.raised(&plan(1000, 0)), []);
        assert_eq!(write(&mut transitions, 2000, 3000), None);
        let news = transitions.raised(&plan(0, 0));
        assert_eq!(printed(&news), ["QuotaRaised on Queue batch: Changed the quota: cpu from 1 to 3."]);
        assert_eq!(transitions.raised(&plan(0, 0)), []);
    }

    #[test]
    fn a_fall_is_reported_at_once() {
        let mut transitions = Transitions::default();
        assert!(write(&mut transitions, 3000, 2000).is_some());
        assert_eq!(transitions.raised(&plan(0, 0)), []);
    }
}
