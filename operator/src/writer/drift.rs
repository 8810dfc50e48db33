//! Quotas that other writers change.

use std::collections::BTreeMap;
use std::time::Duration;

use quotient_engine::names::{QueueName, QueueUid};
use quotient_index::quotas::ObservedQuota;
use tokio::time::Instant;

use super::restores::Restores;
use crate::events::Change;

/// What was written last, and what others did to it.
///
/// That a restore waits delays nothing that keeps the cluster safe: until it is written a quota counts as what it allows.
#[derive(Debug)]
pub(super) struct Drift {
    restores: Restores,
    written: BTreeMap<QueueName, ObservedQuota>,
    /// What was done to the quotas that are to be restored, and until when that has to wait.
    changes: BTreeMap<QueueName, (Change, Option<Instant>)>,
}

/// What others must not change about a quota.
fn content(ObservedQuota { uid, generation, hard, owner, .. }: &ObservedQuota) -> impl PartialEq {
    (uid, generation, hard, owner)
}

impl Drift {
    /// Puts one quota right at most every `interval`.
    pub(super) const fn new(interval: Duration) -> Self {
        Self { restores: Restores::new(interval), written: BTreeMap::new(), changes: BTreeMap::new() }
    }

    /// Forgets Queues that are gone, and what waits. `uid` says which Queue has a name now: garbage collection deletes the quota
    /// of a former one, and that is no edit.
    pub(super) fn begin<'a>(&mut self, now: Instant, uid: impl Fn(&QueueName) -> Option<&'a QueueUid>) {
        self.written
            .retain(|queue, written| uid(queue).is_some_and(|uid| written.owner.as_ref() == Some(uid)));
        self.restores.begin(now);
        self.changes.clear();
    }

    /// Until when the quota of `queue`, which is `observed` now, is left as it is: it lost its owner a moment ago, or was put
    /// right a short while ago and is changed again.
    pub(super) fn waits_until(
        &mut self,
        queue: &QueueName,
        observed: Option<&ObservedQuota>,
        now: Instant,
    ) -> Option<Instant> {
        let had_owner = self.written.get(queue).is_some_and(|written| written.owner.is_some());
        let lost_owner = had_owner && observed.is_some_and(|quota| quota.owner.is_none());
        if let Some(until) = self.restores.orphaned_until(queue, lost_owner, now) {
            return Some(until);
        }
        let change = self.change(queue, observed)?;
        let until = self.restores.rests_until(queue, now);
        self.changes.insert(queue.clone(), (change, until));
        until
    }

    /// What another writer did to the quota of `queue` since we wrote it; it is `observed` now.
    fn change(&self, queue: &QueueName, observed: Option<&ObservedQuota>) -> Option<Change> {
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

    /// We wrote the quota of `queue`, and it is `observed`. Returns what that has undone.
    pub(super) fn wrote(
        &mut self,
        queue: &QueueName,
        observed: Option<&ObservedQuota>,
        now: Instant,
    ) -> Option<Change> {
        match observed {
            Some(observed) => self.written.insert(queue.clone(), observed.clone()),
            None => self.written.remove(queue),
        };
        let (change, _) = self.changes.remove(queue)?;
        self.restores.restored(queue, now);
        Some(change)
    }

    /// The quota of `queue` is unknown by now.
    pub(super) fn lost_sight(&mut self, queue: &QueueName) {
        self.written.remove(queue);
    }

    /// The quotas that other writers change faster than they are restored, in words for their Queues.
    pub(super) fn contested(&self) -> BTreeMap<QueueName, String> {
        let seconds = self.restores.interval.as_secs();
        let message = |change: &Change| {
            format!(
                "the quota was {change} again and differs from the plan; it is restored every {seconds} s at \
                 most, and until then counts as what it allows"
            )
        };
        let waiting = self.changes.iter().filter(|(_, (_, until))| until.is_some());
        waiting.map(|(queue, (change, _))| (queue.clone(), message(change))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::plan::cpu;
    use quotient_engine::amounts::Bounds;
    use quotient_engine::ledger::Generation;
    use quotient_index::quotas::QuotaUid;

    const INTERVAL: Duration = Duration::from_secs(30);

    fn queue() -> QueueName {
        QueueName::new("a", "team")
    }

    fn quota(uid: &str, generation: u64, milli: i128) -> ObservedQuota {
        let hard: Bounds = cpu(milli);
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
        drift.wrote(&queue(), Some(&quota("1", 7, 4000)), Instant::now());
        drift
    }

    #[test]
    fn what_others_do_is_told_from_what_we_do() {
        let drift = drift();
        let ours = || quota("1", 7, 4000);
        let edited = || Some(Change::Edited { by: Some("kubectl-edit".into()) });
        for (observed, expected) in [
            (Some(ours()), None),
            (Some(quota("1", 7, 9000)), edited()),
            // With another stamp it was written by another operator.
            (Some(quota("1", 8, 9000)), None),
            (Some(ObservedQuota { generation: None, ..ours() }), edited()),
            (Some(ObservedQuota { owner: None, ..ours() }), edited()),
            (Some(quota("2", 7, 4000)), Some(Change::Deleted)),
            (None, Some(Change::Deleted)),
        ] {
            assert_eq!(drift.change(&queue(), observed.as_ref()), expected, "{observed:?}");
        }
        // Of what we did not write nothing is known.
        assert_eq!(drift.change(&QueueName::new("b", "team"), None), None);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_edited_every_ten_seconds_is_restored_every_thirty() {
        let mut drift = drift();
        let (start, edited) = (Instant::now(), quota("1", 7, 9000));
        let mut observed = quota("1", 7, 4000);
        let mut written = Vec::new();
        for second in 0..120 {
            if second % 10 == 5 {
                observed = edited.clone();
            }
            let now = start + Duration::from_secs(second);
            drift.begin(now, |_| edited.owner.as_ref());
            let until = drift.waits_until(&queue(), Some(&observed), now);
            if observed.hard == edited.hard && until.is_none() {
                written.push(second);
                observed = quota("1", 7, 4000);
                let undone = drift.wrote(&queue(), Some(&observed), now);
                assert_eq!(undone, Some(Change::Edited { by: Some("kubectl-edit".into()) }));
            }
            if second == 20 {
                let message = &drift.contested()[&queue()];
                assert!(message.contains("edited by kubectl-edit") && message.contains("30 s"), "{message}");
                assert_eq!(until, Some(start + Duration::from_secs(35)));
            }
        }
        // The first edit is restored at once.
        assert_eq!(written, [5, 35, 65, 95]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_quota_that_lost_its_owner_waits_until_its_queue_may_be_seen_to_go() {
        let mut drift = drift();
        let start = Instant::now();
        let orphan = ObservedQuota { owner: None, ..quota("1", 7, 4000) };
        let mut waits = |observed: Option<&ObservedQuota>, millis| {
            let until = drift.waits_until(&queue(), observed, start + Duration::from_millis(millis));
            until.map(|until| until.duration_since(start).as_millis())
        };
        assert_eq!([0, 999, 1000].map(|millis| waits(Some(&orphan), millis)), [Some(1000), Some(1000), None]);
        assert_eq!(waits(Some(&quota("1", 7, 9000)), 0), None);
        assert_eq!(waits(None, 0), None);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_gone_or_unsure_is_forgotten() {
        // Another Queue of the same name never had that quota.
        let [same, successor] = ["q", "r"].map(QueueUid::from);
        for (uid, expected) in [(None, None), (Some(&same), Some(Change::Deleted)), (Some(&successor), None)]
        {
            let mut drift = drift();
            drift.begin(Instant::now(), |_| uid);
            assert_eq!(drift.change(&queue(), None), expected, "{uid:?}");
        }
        let mut drift = drift();
        drift.lost_sight(&queue());
        assert_eq!(drift.change(&queue(), None), None);
    }
}
