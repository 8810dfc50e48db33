//! Quotas that other writers change.

use std::collections::BTreeMap;
use std::time::Duration;

use quotient_engine::names::{QueueName, QueueUid};
use quotient_index::quotas::ObservedQuota;
use tokio::time::Instant;

use crate::events::Change;

/// What was written last, and when quotas that others change were put right.
///
/// Two that correct each other would write for ever, so the same quota is put right once at once and then only now and
/// then. This delays nothing that keeps the cluster safe: until it is written a quota counts as what it allows.
///
/// Only a hint: after a restart the first change is put right at once again.
#[derive(Debug)]
pub(super) struct Drift {
    interval: Duration,
    written: BTreeMap<QueueName, ObservedQuota>,
    repaired: BTreeMap<QueueName, Instant>,
    /// The quotas that had to wait in this cycle: until when, and what was done to them.
    waiting: BTreeMap<QueueName, (Instant, Change)>,
    /// The quotas that were seen without the owner that they had, and until when they are left as they are.
    orphaned: BTreeMap<QueueName, Instant>,
}

/// How long a quota that has lost its owner is left as it is. The garbage collector takes the reference away from what is to
/// outlive a deleted Queue, and the view may show that before it shows that the Queue goes.
const ORPHANED: Duration = Duration::from_secs(1);

/// What others must not change about a quota.
fn content(ObservedQuota { uid, generation, hard, owner, .. }: &ObservedQuota) -> impl PartialEq {
    (uid, generation, hard, owner)
}

impl Drift {
    /// Puts one quota right at most every `interval`.
    pub(super) const fn new(interval: Duration) -> Self {
        Self {
            interval,
            written: BTreeMap::new(),
            repaired: BTreeMap::new(),
            waiting: BTreeMap::new(),
            orphaned: BTreeMap::new(),
        }
    }

    /// Forgets Queues that are gone, and what waits. `uid` says which Queue has a name now: garbage collection deletes the quota
    /// of a former one, and that is no edit.
    pub(super) fn begin<'a>(&mut self, now: Instant, uid: impl Fn(&QueueName) -> Option<&'a QueueUid>) {
        let interval = self.interval;
        self.written
            .retain(|queue, written| uid(queue).is_some_and(|uid| written.owner.as_ref() == Some(uid)));
        self.repaired.retain(|_, at| now.saturating_duration_since(*at) < interval);
        self.waiting.clear();
        self.orphaned.retain(|queue, _| uid(queue).is_some());
    }

    /// Whether the quota of `queue`, which is `observed` now, lost its owner a moment ago.
    pub(super) fn is_orphaned(
        &mut self,
        queue: &QueueName,
        observed: Option<&ObservedQuota>,
        now: Instant,
    ) -> bool {
        let had_owner = self.written.get(queue).is_some_and(|written| written.owner.is_some());
        if !had_owner || observed.is_none_or(|quota| quota.owner.is_some()) {
            self.orphaned.remove(queue);
            return false;
        }
        let until =
            *self.orphaned.entry(queue.clone()).or_insert_with(|| now.checked_add(ORPHANED).unwrap_or(now));
        if until <= now {
            self.orphaned.remove(queue);
        }
        now < until
    }

    /// What another writer did to the quota of `queue` since we wrote it; it is `observed` now.
    pub(super) fn change(&self, queue: &QueueName, observed: Option<&ObservedQuota>) -> Option<Change> {
        let written = self.written.get(queue)?;
        match observed {
            Some(observed) if observed.uid == written.uid => {
                // Another stamp is another operator's, and no edit.
                if observed.generation.is_some() && observed.generation != written.generation {
                    return None;
                }
                let by = observed.edited_by.clone();
                (content(written) != content(observed)).then_some(Change::Edited { by })
            }
            _ => Some(Change::Deleted),
        }
    }

    /// Whether the quota of `queue` has to wait after `change`, because it was put right a short while ago.
    pub(super) fn has_to_wait(&mut self, queue: &QueueName, change: &Change, now: Instant) -> bool {
        let due = self.repaired.get(queue).and_then(|at| at.checked_add(self.interval));
        let Some(due) = due.filter(|due| now < *due) else { return false };
        self.waiting.insert(queue.clone(), (due, change.clone()));
        true
    }

    /// We wrote the quota of `queue`, and it is `observed`; `repairs` if another writer had changed it.
    pub(super) fn wrote(
        &mut self,
        queue: &QueueName,
        observed: Option<&ObservedQuota>,
        repairs: bool,
        now: Instant,
    ) {
        match observed {
            Some(observed) => self.written.insert(queue.clone(), observed.clone()),
            None => self.written.remove(queue),
        };
        if repairs {
            self.repaired.insert(queue.clone(), now);
        }
    }

    /// The quota of `queue` is unknown by now.
    pub(super) fn lost_sight(&mut self, queue: &QueueName) {
        self.written.remove(queue);
    }

    /// When the first of those that had to wait may be put right.
    pub(super) fn next(&self) -> Option<Instant> {
        self.waiting.values().map(|(due, _)| *due).chain(self.orphaned.values().copied()).min()
    }

    /// The quotas that other writers change faster than they are restored, in words for their Queues.
    pub(super) fn contested(&self) -> BTreeMap<QueueName, String> {
        let seconds = self.interval.as_secs();
        let message = |change: &Change| {
            format!(
                "the quota was {change} again and differs from the plan; it is restored every {seconds} s at \
                 most, and until then counts as what it allows"
            )
        };
        self.waiting.iter().map(|(queue, (_, change))| (queue.clone(), message(change))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quotient_engine::amounts::{Amount, Bounds, Resource};
    use quotient_engine::ledger::Generation;
    use quotient_index::quotas::QuotaUid;

    const INTERVAL: Duration = Duration::from_secs(30);

    fn queue() -> QueueName {
        QueueName::new("a", "team")
    }

    fn quota(uid: &str, generation: u64, cpu: i128) -> ObservedQuota {
        let hard: Bounds = [(Resource::Cpu, Amount::new(cpu))].into_iter().collect();
        ObservedQuota {
            uid: QuotaUid::new(uid),
            resource_version: None,
            generation: Some(Generation::new(generation)),
            ours: true,
            owner: Some("q".into()),
            enforced: hard.clone(),
            charged: Bounds::new(),
            hard,
            marked: false,
            enforces_mark: false,
            edited_by: Some("kubectl-edit".into()),
        }
    }

    fn drift() -> Drift {
        let mut drift = Drift::new(INTERVAL);
        drift.wrote(&queue(), Some(&quota("1", 7, 4000)), false, Instant::now());
        drift
    }

    #[test]
    fn what_others_do_is_told_from_what_we_do() {
        let drift = drift();
        let change = |observed: Option<&ObservedQuota>| drift.change(&queue(), observed);
        let edited = Some(Change::Edited { by: Some("kubectl-edit".into()) });
        assert_eq!(change(Some(&quota("1", 7, 4000))), None);
        assert_eq!(change(Some(&quota("1", 7, 9000))), edited);
        // With another stamp it was written by another operator.
        assert_eq!(change(Some(&quota("1", 8, 9000))), None);
        assert_eq!(change(Some(&ObservedQuota { generation: None, ..quota("1", 7, 4000) })), edited);
        assert_eq!(change(Some(&ObservedQuota { owner: None, ..quota("1", 7, 4000) })), edited);
        assert_eq!(change(Some(&quota("2", 7, 4000))), Some(Change::Deleted));
        assert_eq!(change(None), Some(Change::Deleted));
        // Of what we did not write nothing is known.
        assert_eq!(drift.change(&QueueName::new("b", "team"), None), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_quota_that_lost_its_owner_waits_until_its_queue_may_be_seen_to_go() {
        let mut drift = drift();
        let start = Instant::now();
        let orphan = ObservedQuota { owner: None, ..quota("1", 7, 4000) };
        let mut is_orphaned = |millis| {
            let is = drift.is_orphaned(&queue(), Some(&orphan), start + Duration::from_millis(millis));
            (is, drift.next().map(|at| at.duration_since(start).as_millis()))
        };
        assert_eq!(is_orphaned(0), (true, Some(1000)));
        assert_eq!(is_orphaned(999), (true, Some(1000)));
        assert_eq!(is_orphaned(1000), (false, None));
        assert!(!drift.is_orphaned(&queue(), Some(&quota("1", 7, 9000)), start));
        assert!(!drift.is_orphaned(&queue(), None, start));
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_put_right_at_once_and_then_now_and_then() {
        let mut drift = drift();
        let uid = QueueUid::from("q");
        let start = Instant::now();
        let mut repairs = Vec::new();
        for second in 0..100 {
            let now = start + Duration::from_secs(second);
            drift.begin(now, |_| Some(&uid));
            // Another writer changes it every ten seconds, and it stays changed until it is restored.
            if second % 10 == 0 {
                drift.wrote(&queue(), Some(&quota("1", 7, 4000)), false, now);
            }
            if drift.change(&queue(), Some(&quota("1", 7, 9000))).is_some()
                && !drift.has_to_wait(&queue(), &Change::Deleted, now)
            {
                repairs.push(second);
                drift.wrote(&queue(), Some(&quota("1", 7, 4000)), true, now);
            } else {
                assert_eq!(drift.next(), Some(start + Duration::from_secs(repairs.last().unwrap() + 30)));
            }
        }
        assert_eq!(repairs, [0, 30, 60, 90]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_gone_or_unsure_is_forgotten() {
        let mut drift = drift();
        drift.lost_sight(&queue());
        assert_eq!(drift.change(&queue(), None), None);
        let mut drift = self::drift();
        drift.begin(Instant::now(), |_| None);
        assert_eq!(drift.change(&queue(), None), None);
        // Another Queue of the same name never had that quota.
        let mut drift = self::drift();
        let [same, successor] = ["q", "r"].map(QueueUid::from);
        drift.begin(Instant::now(), |_| Some(&same));
        assert_eq!(drift.change(&queue(), None), Some(Change::Deleted));
        drift.begin(Instant::now(), |_| Some(&successor));
        assert_eq!(drift.change(&queue(), None), None);
    }
}
