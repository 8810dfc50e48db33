//! What was written shows before the watch shows it.

use quotient_snapshot::PodId;
use quotient_snapshot::time::Timestamp;

use super::{apply, at, index_of};
use quotient_index::Index;

const POD: &str =
    "{kind: Pod, metadata: {name: p, namespace: a, uid: u, resourceVersion: '5'}, spec: {containers: []}}";

fn pod(uid: &str) -> PodId {
    PodId { namespace: "a".into(), name: "p".into(), uid: uid.into() }
}

fn deletion(index: &mut Index) -> Option<Timestamp> {
    let snapshot = index.snapshot(at("12:00:00"));
    snapshot.namespaces.values().flat_map(|state| &state.pods).find_map(|pod| pod.deletion)
}

#[test]
fn an_evicted_pod_is_leaving_until_the_watch_knows_better() {
    let mut index = index_of(POD);
    assert!(!index.pod_evicted(&pod("predecessor"), at("12:00:30")));
    assert!(index.pod_evicted(&pod("u"), at("12:00:30")));
    assert!(!index.pod_evicted(&pod("u"), at("12:00:40")));
    assert_eq!(deletion(&mut index), Some(at("12:00:30")));
    // The eviction's own condition arrives before the deletion does.
    let later = POD.replace("'5'", "'6'").replace("containers: []", "containers: [], priority: 1");
    assert_eq!(apply(&mut index, &later), [true]);
    assert_eq!(deletion(&mut index), Some(at("12:00:30")));
    assert_eq!(index.kept().evictions, 1);
    let deleted = POD.replace("'5'", "'7', deletionTimestamp: 2026-01-01T12:00:31Z");
    assert_eq!(apply(&mut index, &deleted), [true]);
    assert_eq!(deletion(&mut index), Some(at("12:00:31")));
    assert_eq!(index.kept().evictions, 0);
    assert!(!index.pod_eviction_forgotten(&pod("u")));
    assert_eq!(deletion(&mut index), Some(at("12:00:31")));
}

#[test]
fn a_forgotten_eviction_leaves_no_trace() {
    let mut index = index_of(POD);
    let before = index.snapshot(at("12:00:00"));
    assert!(index.pod_evicted(&pod("u"), at("12:00:30")));
    assert!(index.pod_eviction_forgotten(&pod("u")));
    assert_eq!(index.snapshot(at("12:00:00")), before);
}

/// The uids of the pods whose eviction counts as refused at this time.
fn refused(index: &mut Index, time: &str) -> Vec<String> {
    let snapshot = index.snapshot(at(time));
    snapshot.namespaces.values().flat_map(|state| &state.refused).map(ToString::to_string).collect()
}

#[test]
fn a_refused_eviction_counts_for_a_while() {
    let mut index = index_of(POD);
    let before = index.snapshot(at("12:00:00"));
    assert!(!index.eviction_refused(&pod("predecessor"), at("12:00:30")));
    assert!(index.eviction_refused(&pod("u"), at("12:00:30")));
    assert_eq!(index.next_change(at("12:00:00")), Some(at("12:00:30")));
    assert_eq!(refused(&mut index, "12:00:29"), ["u"]);
    // Another refusal counts from then on, and is no news.
    assert!(!index.eviction_refused(&pod("u"), at("12:00:40")));
    assert_eq!(refused(&mut index, "12:00:30"), ["u"]);
    assert_eq!(index.next_change(at("12:00:30")), Some(at("12:00:40")));
    assert!(refused(&mut index, "12:00:40").is_empty());
    assert_eq!(index.next_change(at("12:00:40")), None);
    assert_eq!(index.snapshot(at("12:00:00")), before);
}
