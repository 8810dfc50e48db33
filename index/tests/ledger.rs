//! What was granted shows beside what is seen.

use k8s_openapi::api::core::v1::{Namespace as Object, ResourceQuota};
use quotient_snapshot::GrantGate;
use quotient_snapshot::amounts::{Amount, Bounds, Resource};
use quotient_snapshot::ledger::{Entry, Generation, Ledger};

use super::{apply, at, index_of, namespace_a, printed};
use quotient_index::pods::LeanPod;
use quotient_index::{Decoded, Index, IndexSettings, ResourceVersion};

const QUEUE: &str = "{kind: Queue, metadata: {name: q, namespace: a, uid: q}, spec: {}}";

const NAMESPACE: &str = "{kind: Namespace, metadata: {name: a, uid: n, resourceVersion: '1'}}";

fn cpu(cores: i128) -> Bounds {
    [(Resource::Cpu, Amount::new(cores * 1000))].into_iter().collect()
}

/// A ledger that granted `a` 3 cpu in generation 5, and 8 at some time before.
fn ledger() -> Ledger {
    let generation = Generation::new(5);
    let entry =
        Entry { granted: cpu(3), largest: cpu(8), generation, changed: at("11:59:00"), ..Entry::default() };
    Ledger { generation, entries: [("a".into(), entry)].into(), ..Ledger::default() }
}

/// The quota at a version, stamped with a generation.
fn quota(version: &str, generation: u64, hard: i128, enforced: i128) -> String {
    format!(
        "{{kind: ResourceQuota, metadata: {{name: quotient, namespace: a, uid: u, resourceVersion: '{version}', \
         annotations: {{quotient.dev/generation: '{generation}'}}}}, spec: {{hard: {{cpu: {hard}}}}}, \
         status: {{hard: {{cpu: {enforced}}}}}}}"
    )
}

/// Only this quota is shown.
fn shows(index: &mut Index, quota: &str) {
    assert_eq!(printed(index), format!("namespace a\n  {quota}\n"));
}

#[test]
fn without_a_ledger_a_quota_says_what_was_granted() {
    let mut index = index_of(&quota("5", 4, 8, 8));
    shows(&mut index, "quota hard {cpu 8}, enforced {cpu 8}");
}

#[test]
fn what_may_land_counts_until_the_stamp_is_seen_and_in_force() {
    let mut index = index_of(&quota("5", 4, 8, 8));
    assert!(index.set_ledger(Some(ledger().into())));
    assert!(!index.set_ledger(Some(ledger().into())));
    shows(
        &mut index,
        "quota hard {cpu 8}, enforced {cpu 8}, ours, granted {cpu 3}, unconfirmed {cpu 8}, unstamped",
    );
    // Admission moves the version with every pod that it counts; that says nothing about writes.
    assert_eq!(apply(&mut index, &quota("6", 4, 8, 8)), [false]);
    assert_eq!(apply(&mut index, &quota("7", 5, 3, 8)), [true]);
    shows(&mut index, "quota hard {cpu 3}, enforced {cpu 8}, ours, granted {cpu 3}, unconfirmed {cpu 8}");
    assert_eq!(apply(&mut index, &quota("8", 5, 3, 3)), [true]);
    shows(&mut index, "quota hard {cpu 3}, enforced {cpu 3}, ours, granted {cpu 3}");
    // The stamp of another writer is news whatever comes with it: the ledger may be older than we know.
    assert_eq!(apply(&mut index, &quota("9", 6, 3, 3)), [true]);
    apply(&mut index, QUEUE);
    assert_eq!(index.newest_stamp(), Some(Generation::new(6)));
}

#[test]
fn a_create_may_land_whether_its_namespace_is_seen_or_not() {
    let mut index = Index::new(quotient_index::IndexSettings::default());
    let on_its_way = "quota ours, granted {cpu 3}, unconfirmed {cpu 8}, unstamped, drifted";
    // The list of namespaces may be older than the ledger.
    assert!(index.set_ledger(Some(ledger().into())));
    shows(&mut index, on_its_way);
    apply(&mut index, NAMESPACE);
    shows(&mut index, on_its_way);
    // Seen and gone again: it may be created again.
    apply(&mut index, &quota("8", 5, 3, 3));
    assert!(index.delete::<ResourceQuota>(&(), "a", "quotient", "u"));
    shows(&mut index, on_its_way);
    // A namespace that is gone is asked about, and takes everything with it once its entry ends.
    index.delete::<Object>(&(), "", "a", "n");
    shows(&mut index, on_its_way);
    assert_eq!(index.entries_without_queue(), ["a".into()]);
    index.confirm_vacant(&"a".into());
    assert!(index.set_ledger(Some(Ledger::default().into())));
    assert_eq!(printed(&mut index), "");
}

#[test]
fn a_namespace_of_an_entry_is_vacant_once_that_is_confirmed() {
    let queue = "{kind: Queue, metadata: {name: q, namespace: a, uid: q}, spec: {}}";
    let mut index = index_of(&format!("{NAMESPACE}\n---\n{queue}"));
    let vacant = |index: &mut Index| {
        let doubtful: Vec<_> = index.entries_without_queue().into_iter().collect();
        (namespace_a(index).vacant, doubtful.len())
    };
    index.set_ledger(Some(ledger().into()));
    index.confirm_vacant(&"a".into());
    assert_eq!(vacant(&mut index), (false, 0));
    assert!(index.delete::<quotient_crds::Queue>(&(), "a", "q", "q"));
    assert_eq!(vacant(&mut index), (false, 1));
    index.confirm_vacant(&"a".into());
    assert_eq!(vacant(&mut index), (true, 0));
    // The writer of another ledger may have seen another Queue.
    index.doubt_vacancies();
    assert_eq!(vacant(&mut index), (false, 1));
    index.confirm_vacant(&"a".into());
    apply(&mut index, &queue.replace("uid: q", "uid: r"));
    assert_eq!(vacant(&mut index), (false, 0));
    // A namespace without an entry is of no concern.
    assert!(index.delete::<quotient_crds::Queue>(&(), "a", "q", "r"));
    index.set_ledger(Some(Ledger::default().into()));
    assert_eq!(index.entries_without_queue().len(), 0);
}

#[test]
fn a_namespace_with_gated_pods_is_asked_about_again_once_that_is_in_doubt() {
    let pod = "{kind: Pod, metadata: {name: p, namespace: a, uid: p}, \
               spec: {containers: [], schedulingGates: [{name: quotient.dev/share}]}}";
    let mut index = index_of(&format!("{NAMESPACE}\n---\n{pod}"));
    let doubtful = |index: &mut Index| index.entries_without_queue().len();
    assert_eq!(doubtful(&mut index), 1);
    index.confirm_vacant(&"a".into());
    assert_eq!(doubtful(&mut index), 0);
    // The answer to a write of the ledger was lost, and its entry with it.
    index.doubt_vacancies();
    assert_eq!(doubtful(&mut index), 1);
}

#[test]
fn a_queue_proves_its_namespace() {
    let mut index = Index::new(quotient_index::IndexSettings::default());
    index.set_ledger(Some(ledger().into()));
    apply(&mut index, QUEUE);
    let state = namespace_a(&mut index);
    assert_eq!(state.quota.as_ref().map(|quota| quota.unconfirmed.clone()), Some(cpu(8)));
}

#[test]
fn a_quota_without_an_entry_has_yet_to_be_written() {
    let mut index = index_of(&quota("5", 4, 8, 8));
    index.set_ledger(Some(Ledger::default().into()));
    shows(&mut index, "quota hard {cpu 8}, enforced {cpu 8}, unstamped");
}

#[test]
fn a_quota_of_an_unmanaged_namespace_says_nothing_of_what_was_granted() {
    let parent = "{kind: Queue, metadata: {name: parent, namespace: a, uid: p}, spec: {children: {namespaces: {from: All}}}}";
    let mut index = index_of(&format!("{}\n---\n{parent}", quota("5", 1 << 62, 8, 8)));
    assert_eq!(index.newest_stamp(), None);
    let rebuilt = Ledger::rebuild(index.quotas_seen(), at("12:00:00"));
    assert_eq!((rebuilt.generation, rebuilt.entries.len()), (Generation::new(1), 0));
    apply(&mut index, QUEUE);
    assert_eq!(index.newest_stamp(), Some(Generation::new(1 << 62)));
}

/// The ledger goes on after the latest stamp, and what it writes then is still read: otherwise it would write all quotas for
/// ever.
#[test]
fn a_stamp_is_believed_up_to_a_bound_and_as_far_as_the_ledger_has_counted() {
    let stamped = |stamp: u64| index_of(&format!("{QUEUE}\n---\n{}", quota("5", stamp, 8, 8)));
    let bound = 1 << 62;
    assert_eq!(stamped(bound).newest_stamp(), Some(Generation::new(bound)));
    let mut beyond = stamped(bound + 1);
    assert_eq!(beyond.newest_stamp(), None);
    let rebuilt = Ledger::rebuild(stamped(bound).quotas_seen(), at("12:00:00"));
    let next = rebuilt.generation;
    assert!(next > Generation::new(bound + 1));
    beyond.set_ledger(Some(rebuilt.into()));
    assert_eq!(beyond.newest_stamp(), Some(Generation::new(bound + 1)));
    assert_eq!(stamped(next.number()).newest_stamp(), None, "without the ledger");
    assert_eq!(Generation::from_stamp(&next.to_string()), Some(next), "what it writes is read");
}

#[test]
fn a_quota_of_our_name_and_label_is_not_ours_where_nothing_was_granted() {
    let labeled = quota("5", 4, 1000, 1000)
        .replace("uid: u,", "uid: u, labels: {app.kubernetes.io/managed-by: quotient},");
    let mut index = index_of(&labeled);
    let ours = |index: &mut Index| {
        let state = namespace_a(index);
        state.quota.as_ref().is_some_and(|quota| quota.ours)
    };
    index.set_ledger(Some(Ledger::default().into()));
    assert!(!ours(&mut index));
    index.set_ledger(Some(ledger().into()));
    assert!(ours(&mut index), "the ledger granted it");
    index.set_ledger(Some(Ledger::default().into()));
    apply(&mut index, QUEUE);
    assert!(ours(&mut index), "a Queue governs its namespace");
}

#[test]
fn a_ledger_that_is_made_up_holds_growth_until_all_quotas_bear_its_stamp() {
    let mut index = index_of(&format!("{QUEUE}\n---\n{}", quota("5", 4, 8, 8)));
    let rebuilt = Ledger::rebuild(index.quotas_seen(), at("12:00:00"));
    assert_eq!(rebuilt.generation, Generation::new((1 << 20) + 5));
    index.set_ledger(Some(rebuilt.into()));
    assert_eq!(index.snapshot(at("12:00:00")).grant_gate, GrantGate::Held);
    apply(&mut index, &quota("6", (1 << 20) + 5, 8, 8));
    assert_eq!(index.snapshot(at("12:00:00")).grant_gate, GrantGate::Allowed);
}

fn pod(name: &str, version: u64) -> LeanPod {
    let text = format!(
        r#"{{"metadata": {{"name": "{name}", "namespace": "a", "uid": "{name}", "resourceVersion": "{version}"}}}}"#
    );
    serde_json::from_str(&text).unwrap()
}

/// An index with a Queue in Gate mode and a ledger of another leader that stands at version 20.
fn inherited() -> Index {
    let mut index = Index::new(IndexSettings { gate_mode: true, ..IndexSettings::default() });
    apply(&mut index, "{kind: Queue, metadata: {name: q, namespace: a, uid: q}, spec: {admission: Gate}}");
    index.set_ledger(Some(ledger().inherited().into()));
    index.await_pods(&ResourceVersion::new("20"), at("12:10:00"));
    index
}

fn gate(index: &mut Index, time: &str) -> GrantGate {
    index.snapshot(at(time)).grant_gate
}

#[test]
fn in_gate_mode_growth_waits_for_pods_as_new_as_a_ledger_of_another_leader() {
    let mut index = inherited();
    assert_eq!(gate(&mut index, "12:00:00"), GrantGate::Held);
    index.apply::<LeanPod>(&pod("p", 19));
    assert_eq!(gate(&mut index, "12:00:00"), GrantGate::Held);
    // The reply to a write of our own overtakes the watch.
    index.apply_reply(&Decoded(Ok(pod("p", 25))));
    assert_eq!(gate(&mut index, "12:00:00"), GrantGate::Held);
    assert!(index.seen_up_to::<LeanPod>(&ResourceVersion::new("20")), "a bookmark");
    assert_eq!(gate(&mut index, "12:00:00"), GrantGate::Allowed);
    assert!(!index.seen_up_to::<LeanPod>(&ResourceVersion::new("21")));
}

#[test]
fn a_list_of_pods_is_as_new_as_its_newest_pod_once_it_has_ended() {
    let mut index = inherited();
    index.relist_begin::<LeanPod>(&());
    index.apply::<LeanPod>(&pod("p", 21));
    assert_eq!(gate(&mut index, "12:00:00"), GrantGate::Held, "a pod of a later name is not listed yet");
    index.apply::<LeanPod>(&pod("q", 3));
    index.relist_finish::<LeanPod>(&());
    assert_eq!(gate(&mut index, "12:00:00"), GrantGate::Allowed);
}

#[test]
fn growth_waits_for_pods_only_in_gate_mode_and_as_long_as_another_leader_may_act() {
    let mut index = inherited();
    assert_eq!(index.next_change(at("12:00:00")), Some(at("12:10:00")));
    assert_eq!(gate(&mut index, "12:10:00"), GrantGate::Allowed);
    index.await_pods(&ResourceVersion::new("30"), at("12:20:00"));
    assert_eq!(gate(&mut index, "12:10:00"), GrantGate::Held);
    apply(&mut index, QUEUE);
    assert_eq!(gate(&mut index, "12:10:00"), GrantGate::Allowed, "the quota tells of pods in Quota mode");
}
