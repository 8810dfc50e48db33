//! The pods of a queue that were evicted last, as its status lists them.
//!
//! The list is a record for people and not an account: it lives in the status, so a new leader goes on with what the
//! former one wrote. What was evicted since is kept here until the status shows it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use k8s_openapi::jiff::Timestamp;
use quotient_crds::{MAX_RECENT_RECLAIMS, RecentReclaim, WorkloadReference, stored_time};
use quotient_engine::names::QueueUid;
use quotient_engine::plan::Eviction;

use crate::lock::lock;
use crate::message::{count, texts};

/// The evictions of every queue that its status does not show yet, newest first. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct RecentReclaims(Arc<Mutex<BTreeMap<QueueUid, Vec<RecentReclaim>>>>);

impl RecentReclaims {
    /// The API server accepted `eviction` of a pod of `queue` at `now`.
    pub(crate) fn record(&self, queue: &QueueUid, eviction: &Eviction, now: Timestamp) {
        let mut all = lock(&self.0);
        let unsaved = all.entry(queue.clone()).or_default();
        *unsaved = merged(&[entry(eviction, now)], unsaved);
    }

    /// Whether there is something of `queue` that was not seen in its status.
    pub(crate) fn has_unsaved(&self, queue: &QueueUid) -> bool {
        lock(&self.0).contains_key(queue)
    }

    /// What is to be added to the `stored` list of `queue`. What it shows already is forgotten.
    pub(crate) fn unsaved(&self, queue: &QueueUid, stored: &[RecentReclaim]) -> Vec<RecentReclaim> {
        let mut all = lock(&self.0);
        let Some(unsaved) = all.get_mut(queue) else { return Vec::new() };
        let full = merged(unsaved, stored);
        unsaved.retain(|one| full.contains(one) && !stored.contains(one));
        let left = unsaved.clone();
        if left.is_empty() {
            all.remove(queue);
        }
        left
    }

    /// Forgets the queues that are gone.
    pub(crate) fn retain(&self, exists: impl Fn(&QueueUid) -> bool) {
        lock(&self.0).retain(|queue, _| exists(queue));
    }
}

/// Both lists as one, newest first, every pod once and no more than a status shows.
pub(crate) fn merged(newer: &[RecentReclaim], older: &[RecentReclaim]) -> Vec<RecentReclaim> {
    let mut all: Vec<RecentReclaim> = newer.to_vec();
    for one in older {
        if all.iter().all(|known| known.uid != one.uid) {
            all.push(one.clone());
        }
    }
    all.sort_by_key(|one| std::cmp::Reverse(one.time.0));
    all.truncate(MAX_RECENT_RECLAIMS);
    all
}

fn entry(eviction: &Eviction, now: Timestamp) -> RecentReclaim {
    RecentReclaim {
        time: stored_time(now),
        pod: eviction.pod.name.to_string(),
        uid: eviction.pod.uid.to_string(),
        workload: eviction.workload.as_ref().map(|workload| WorkloadReference {
            kind: workload.kind.to_string(),
            name: workload.name.to_string(),
        }),
        beneficiary: eviction.beneficiary.as_ref().map(ToString::to_string),
        amounts: texts(eviction.requests.iter()),
        rank: eviction.rank.map(count),
        reason: eviction.reason.name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::plan::{self, cpu};
    use quotient_engine::names::QueueName;
    use quotient_engine::plan::PodId;
    use quotient_engine::snapshot::Workload;
    use serde_json::json;

    fn eviction(uid: &str) -> Eviction {
        Eviction {
            pod: PodId { namespace: "a".into(), name: format!("web-{uid}").as_str().into(), uid: uid.into() },
            workload: Some(Workload { kind: "Deployment".into(), name: "web".into(), ..Workload::default() }),
            beneficiary: Some(QueueName::new("b", "batch")),
            requests: cpu(1500),
            ..plan::eviction(uid)
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::new(second, 123_456_789).unwrap()
    }

    fn queue() -> QueueUid {
        QueueUid::from("q-1")
    }

    #[test]
    fn an_entry_names_everything() {
        assert_eq!(
            serde_json::to_value(entry(&eviction("1"), at(10))).unwrap(),
            json!({
                "time": "1970-01-01T00:00:10Z", "pod": "web-1", "uid": "1",
                "workload": {"kind": "Deployment", "name": "web"}, "beneficiary": "b/batch",
                "amounts": {"cpu": "1500m"}, "rank": 1, "reason": "Reclaimed",
            })
        );
        let bare = Eviction { workload: None, beneficiary: None, rank: None, ..eviction("1") };
        let bare = serde_json::to_value(entry(&bare, at(10))).unwrap();
        assert_eq!(["workload", "beneficiary", "rank"].map(|name| bare.get(name)), [None; 3]);
    }

    #[test]
    fn the_newest_come_first_and_only_so_many_are_kept() {
        let reclaims = RecentReclaims::default();
        for number in 0..30 {
            reclaims.record(&queue(), &eviction(&number.to_string()), at(number / 2));
        }
        let unsaved = reclaims.unsaved(&queue(), &[]);
        assert_eq!(unsaved.len(), MAX_RECENT_RECLAIMS);
        assert_eq!((&*unsaved[0].uid, &*unsaved[1].uid, &*unsaved[19].uid), ("29", "28", "10"));
    }

    #[test]
    fn what_is_older_than_a_full_list_is_not_waited_for() {
        let full: Vec<RecentReclaim> =
            (0..20).map(|number| entry(&eviction(&number.to_string()), at(100))).collect();
        let reclaims = RecentReclaims::default();
        reclaims.record(&queue(), &eviction("late"), at(50));
        assert_eq!(reclaims.unsaved(&queue(), &full), []);
        assert!(!reclaims.has_unsaved(&queue()));
    }
}
