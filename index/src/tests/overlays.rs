//! What was written shows before the watch shows it.

use k8s_openapi::api::core::v1::Pod;
use quotient_engine::amounts::{Amount, Bounds, Resource};
use quotient_engine::names::Namespace;
use quotient_engine::plan::PodId;
use quotient_engine::time::Timestamp;

use super::{apply, at, index_of};
use crate::quotas::ObservedQuota;
use crate::{Index, Keeps};

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
    assert!(index.pod_evicted(&pod("u"), at("12:00:30")));
    assert!(!index.pod_evicted(&pod("u"), at("12:00:40")));
    assert_eq!(deletion(&mut index), Some(at("12:00:30")));
    // The eviction's own condition arrives before the deletion does.
    let later = POD.replace("'5'", "'6'").replace("containers: []", "containers: [], priority: 1");
    assert_eq!(apply(&mut index, &later), [true]);
    assert_eq!(deletion(&mut index), Some(at("12:00:30")));
    assert_eq!(index.unseen_evictions().count(), 1);
    let deleted = POD.replace("'5'", "'7', deletionTimestamp: 2026-01-01T12:00:31Z");
    assert_eq!(apply(&mut index, &deleted), [true]);
    assert_eq!(deletion(&mut index), Some(at("12:00:31")));
    assert_eq!(index.unseen_evictions().count(), 0);
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

#[test]
fn an_eviction_concerns_one_life_of_a_pod() {
    let mut index = index_of(POD);
    assert!(!index.pod_evicted(&pod("predecessor"), at("12:00:30")));
    assert!(!index.pod_evicted(&PodId { namespace: "b".into(), ..pod("u") }, at("12:00:30")));
    assert!(index.pod_evicted(&pod("u"), at("12:00:30")));
    // The deletion was missed; the successor is not leaving.
    apply(&mut index, &POD.replace("uid: u", "uid: successor").replace("'5'", "'9'"));
    assert_eq!(deletion(&mut index), None);
    assert_eq!(index.unseen_evictions().count(), 0);
}

#[test]
fn a_pod_that_is_gone_is_no_unseen_eviction() {
    let mut index = index_of(POD);
    index.pod_evicted(&pod("u"), at("12:00:30"));
    assert!(Keeps::<Pod>::delete(&mut index, "a", "p", "u"));
    assert_eq!(index.unseen_evictions().count(), 0);
    let mut index = index_of(POD);
    index.pod_evicted(&pod("u"), at("12:00:30"));
    Keeps::<Pod>::relist_begin(&mut index);
    assert!(Keeps::<Pod>::relist_finish(&mut index));
    assert_eq!(index.unseen_evictions().count(), 0);
}

fn cpu(cores: i128) -> Bounds {
    [(Resource::Cpu, Amount::new(cores * 1000))].into_iter().collect()
}

/// The quota at a version, with a generation.
fn quota(version: &str, generation: u64, cores: i128) -> String {
    format!(
        "{{kind: ResourceQuota, metadata: {{name: quotient, namespace: a, uid: u, resourceVersion: '{version}', \
         annotations: {{quotient.dev/generation: '{generation}'}}}}, spec: {{hard: {{cpu: {cores}}}}}}}"
    )
}

fn observed(index: &Index) -> std::sync::Arc<ObservedQuota> {
    index.observed_quota(&"a".into()).unwrap().clone()
}

/// The most that admission may let in, in cores, and whether a write is still on its way.
fn ceiling(index: &mut Index) -> (i128, bool) {
    let snapshot = index.snapshot(at("12:00:00"));
    let quota = snapshot.namespaces.values().find_map(|state| state.quota.clone()).unwrap_or_default();
    (quota.ceiling(&Resource::Cpu).units() / 1000, !quota.unconfirmed.is_empty())
}

#[test]
fn a_lost_write_counts_until_the_quota_has_moved_on() {
    let namespace = Namespace::from("a");
    let mut index = index_of(&quota("5", 1, 3));
    let base = observed(&index);
    assert!(index.quota_written(&namespace, &cpu(7), Some(&base)));
    // The second try of another amount changes the most that may come only if it is more.
    assert!(!index.quota_written(&namespace, &cpu(6), Some(&base)));
    assert_eq!(ceiling(&mut index), (7, true));
    assert!(index.quota_is_unconfirmed(&namespace));
    // Admission moves the version with every pod that it counts; that says nothing about the write.
    assert_eq!(apply(&mut index, &quota("6", 1, 3)), [false]);
    assert_eq!(ceiling(&mut index), (7, true));
    // Another generation does, whoever wrote it: ours has lost.
    assert_eq!(apply(&mut index, &quota("7", 2, 3)), [true]);
    assert_eq!(ceiling(&mut index), (3, false));
    assert!(!index.quota_is_unconfirmed(&namespace));
}

#[test]
fn a_write_that_was_seen_to_land_or_lose_before_its_answer_was_lost_counts_no_more() {
    let namespace = Namespace::from("a");
    let mut index = index_of(&quota("5", 1, 3));
    let base = observed(&index);
    apply(&mut index, &quota("6", 2, 7));
    assert!(!index.quota_written(&namespace, &cpu(7), Some(&base)));
    assert!(!index.quota_written(&namespace, &cpu(9), None));
    assert_eq!(ceiling(&mut index), (7, false));
}

#[test]
fn a_write_for_a_quota_that_was_replaced_counts_no_more() {
    let namespace = Namespace::from("a");
    let mut index = index_of(&quota("5", 1, 3));
    let base = observed(&index);
    assert!(index.quota_written(&namespace, &cpu(7), Some(&base)));
    apply(&mut index, &quota("9", 1, 2).replace("uid: u", "uid: successor"));
    assert_eq!(ceiling(&mut index), (2, false));
}

#[test]
fn a_write_that_failed_counts_no_more() {
    let namespace = Namespace::from("a");
    let mut index = index_of(&quota("5", 1, 3));
    let base = observed(&index);
    assert!(index.quota_written(&namespace, &cpu(7), Some(&base)));
    assert!(index.quota_confirmed(&namespace));
    assert!(!index.quota_confirmed(&namespace));
    assert_eq!(ceiling(&mut index), (3, false));
}

#[test]
fn a_lost_create_counts_until_there_is_a_quota() {
    let namespace = Namespace::from("a");
    let mut index = Index::new(crate::IndexSettings::default());
    assert!(index.quota_written(&namespace, &cpu(7), None));
    assert_eq!(ceiling(&mut index), (7, true));
    assert_eq!(apply(&mut index, &quota("9", 1, 2)), [true]);
    assert_eq!(ceiling(&mut index), (2, false));
    // Without a quota in the end, nothing of the namespace is left.
    let mut index = Index::new(crate::IndexSettings::default());
    index.quota_written(&namespace, &cpu(7), None);
    index.quota_confirmed(&namespace);
    assert!(index.snapshot(at("12:00:00")).namespaces.is_empty());
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

#[test]
fn a_refusal_concerns_one_life_of_a_pod() {
    let mut index = index_of(POD);
    assert!(!index.eviction_refused(&pod("predecessor"), at("12:00:30")));
    assert!(!index.eviction_refused(&PodId { namespace: "b".into(), ..pod("u") }, at("12:00:30")));
    assert_eq!(index.next_change(at("12:00:00")), None);
    assert!(index.eviction_refused(&pod("u"), at("12:00:30")));
    // What else happens to the pod makes no difference.
    apply(&mut index, &POD.replace("'5'", "'6'").replace("containers: []", "containers: [], priority: 1"));
    assert_eq!(refused(&mut index, "12:00:00"), ["u"]);
    // The deletion was missed.
    apply(&mut index, &POD.replace("uid: u", "uid: successor").replace("'5'", "'9'"));
    assert!(refused(&mut index, "12:00:00").is_empty());
    assert_eq!(index.next_change(at("12:00:00")), None);
}

#[test]
fn a_pod_that_is_gone_is_not_refused() {
    let other = POD.replace("name: p", "name: q").replace("uid: u", "uid: v");
    let mut index = index_of(&[POD, &other].join("\n---\n"));
    index.eviction_refused(&pod("u"), at("12:00:30"));
    assert!(Keeps::<Pod>::delete(&mut index, "a", "p", "u"));
    assert!(refused(&mut index, "12:00:00").is_empty());
    assert_eq!(index.next_change(at("12:00:00")), None);
}
