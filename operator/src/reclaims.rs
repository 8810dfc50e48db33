//! The pods of a queue that were evicted last, as its status lists them.
//!
//! The list is a record for people and not an account: it lives in the status, so a new leader goes on with what the
//! former one wrote. What this process evicted is kept here and joins what the status lists.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use k8s_openapi::jiff::Timestamp;
use quotient_crds::{MAX_RECENT_RECLAIMS, RecentReclaim, WorkloadReference, stored_time};
use quotient_engine::names::QueueUid;
use quotient_engine::plan::Eviction;

use crate::lock::lock;
use crate::message::{count, texts};

/// The last evictions of every queue by this process, newest first. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct RecentReclaims(Arc<Mutex<BTreeMap<QueueUid, Arc<Vec<RecentReclaim>>>>>);

impl RecentReclaims {
    /// The API server accepted `eviction` of a pod of `queue` at `now`.
    pub(crate) fn record(&self, queue: &QueueUid, eviction: &Eviction, now: Timestamp) {
        let mut all = lock(&self.0);
        let recent = all.entry(queue.clone()).or_default();
        *recent = Arc::new(merged(&[entry(eviction, now)], recent));
    }

    /// Those of `queue`.
    pub(crate) fn of(&self, queue: &QueueUid) -> Arc<Vec<RecentReclaim>> {
        lock(&self.0).get(queue).cloned().unwrap_or_default()
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
        let recent = reclaims.of(&queue());
        assert_eq!(recent.len(), MAX_RECENT_RECLAIMS);
        assert_eq!((&*recent[0].uid, &*recent[1].uid, &*recent[19].uid), ("29", "28", "10"));
        // What is older than a full list is left out.
        let late = RecentReclaims::default();
        late.record(&queue(), &eviction("late"), at(1));
        assert_eq!(merged(&late.of(&queue()), &recent), *recent);
    }
}
