//! Candidates against one Lease, with time that passes only when everything waits.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube::Client;
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Elector, Leadership, LeaseError, LeaseSettings};
use crate::clock::Clock;
use crate::health::Heartbeat;
use crate::identity::Identity;
use crate::tests::api::{OneObject, Reply, client};

/// One Lease, and who cannot reach it.
#[derive(Clone, Default)]
struct Store {
    lease: OneObject,
    unreachable: Arc<Mutex<Vec<String>>>,
}

impl Store {
    fn client(&self, identity: &str) -> Client {
        let (store, identity) = (self.clone(), identity.to_owned());
        let is_cut_off = move || store.unreachable.lock().unwrap().contains(&identity);
        let lease = self.lease.clone();
        client(move |asked| if is_cut_off() { Reply::Silence } else { lease.answer(asked) }).0
    }

    fn cut_off(&self, identity: &str) {
        self.unreachable.lock().unwrap().push(identity.to_owned());
    }

    fn spec(&self, field: &str) -> Value {
        self.lease.get().unwrap()["spec"][field].clone()
    }
}

struct Candidate {
    leadership: Leadership,
    stop: CancellationToken,
    task: JoinHandle<Result<(), LeaseError>>,
}

pub(super) fn settings() -> LeaseSettings {
    LeaseSettings {
        namespace: "home".to_owned(),
        name: "quotient-operator".to_owned(),
        duration: Duration::from_secs(15),
        renew_deadline: Duration::from_secs(10),
        retry: Duration::from_secs(2),
    }
}

fn candidate(store: &Store, identity: &str) -> Candidate {
    let beat = Heartbeat::new("the lease", Duration::from_secs(60));
    let (elector, leadership) =
        Elector::new(store.client(identity), settings(), Identity::new(identity), Clock::wall(), beat);
    let stop = CancellationToken::new();
    let task = tokio::spawn(elector.run(stop.clone()));
    Candidate { leadership, stop, task }
}

/// One that leads, and one that begins a second later.
async fn two() -> (Store, Candidate, Candidate) {
    let store = Store::default();
    let first = candidate(&store, "first");
    seconds(1).await;
    let second = candidate(&store, "second");
    (store, first, second)
}

async fn seconds(count: u64) {
    tokio::time::sleep(Duration::from_secs(count)).await;
}

#[tokio::test(start_paused = true)]
async fn the_first_leads_and_the_second_waits() {
    let (store, first, second) = two().await;
    seconds(3600).await;
    assert!(first.leadership.is_held() && !second.leadership.is_held());
    assert_eq!(store.spec("holderIdentity"), "first");
    assert_eq!(store.spec("leaseDurationSeconds"), 15);
    assert_eq!(store.spec("leaseTransitions"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_released_lease_is_taken_within_one_look() {
    let (store, first, second) = two().await;
    seconds(60).await;
    first.stop.cancel();
    first.task.await.unwrap().unwrap();
    assert!(!first.leadership.is_held());
    seconds(3).await;
    assert!(second.leadership.is_held());
    assert_eq!(store.spec("leaseTransitions"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_is_cut_off_gives_up_before_another_takes_over() {
    let (store, first, second) = two().await;
    seconds(60).await;
    store.cut_off("first");
    for _ in 0..400 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(!(first.leadership.is_held() && second.leadership.is_held()), "two leaders");
        if second.leadership.is_held() {
            break;
        }
    }
    assert!(second.leadership.is_held());
    assert!(matches!(first.task.await.unwrap(), Err(LeaseError::Expired { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_slept_does_not_lead_when_it_wakes() {
    let store = Store::default();
    let first = candidate(&store, "first");
    seconds(1).await;
    assert!(first.leadership.is_held());
    // Time passes and no task of this process runs.
    tokio::time::advance(Duration::from_secs(40)).await;
    assert!(!first.leadership.is_held());
}

#[tokio::test(start_paused = true)]
async fn a_leader_whose_lease_was_taken_ends() {
    let store = Store::default();
    let first = candidate(&store, "first");
    seconds(1).await;
    let mut lease = store.lease.get().unwrap();
    lease["spec"]["holderIdentity"] = "intruder".into();
    lease["metadata"]["resourceVersion"] = "1000".into();
    store.lease.set(Some(lease));
    seconds(5).await;
    assert!(!first.leadership.is_held());
    let error = first.task.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "renew lease home/quotient-operator: intruder holds it now");
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_a_human_deletes_is_made_anew() {
    let store = Store::default();
    let first = candidate(&store, "first");
    seconds(1).await;
    store.lease.set(None);
    seconds(5).await;
    assert!(first.leadership.is_held());
    assert_eq!(store.spec("holderIdentity"), "first");
}

/// A backup that is restored shows everything as it was, and watches do not notice.
#[tokio::test(start_paused = true)]
async fn a_lease_that_is_older_than_before_ends_every_replica() {
    let (store, first, second) = two().await;
    seconds(10).await;
    let backup = store.lease.get();
    seconds(60).await;
    store.lease.set(backup);
    seconds(5).await;
    assert!(!first.leadership.is_held() && !second.leadership.is_held());
    for replica in [first, second] {
        assert!(matches!(replica.task.await.unwrap(), Err(LeaseError::WentBack { .. })));
    }
}
