//! What one decision leaves to the next: told by the status, and known first-hand.

use quotient_snapshot::names::QueueName;
use quotient_snapshot::{Remembered, Snapshot};

use super::{apply, at, index_of, story};
use quotient_index::Index;

fn queue(version: u32, uid: &str, status: &str) -> String {
    format!(
        "{{kind: Queue, metadata: {{name: q, namespace: a, uid: {uid}, resourceVersion: '{version}', generation: 1}}, \
         spec: {{}}, status: {status}}}"
    )
}

fn memory(index: &mut Index) -> String {
    memory_in(&index.snapshot(at("12:00:00")))
}

fn memory_in(snapshot: &Snapshot) -> String {
    let remembered = &snapshot.namespaces[&"a".into()].queues[0].remembered;
    story::told(remembered, &Remembered::default())
}

fn short_since(time: &str) -> Remembered {
    Remembered { short_since: Some(at(time)), ..Remembered::default() }
}

fn name() -> QueueName {
    QueueName::new("a", "q")
}

const TOLD: &str = "{demand: {cpu: 4500m, memory: 9Gi, pods: 3}, \
    demandFalling: {memory: 2026-01-01T11:59:40Z, pods: 2026-01-01T11:59:40Z}, \
    setAside: [{kind: Job, name: train, uid: j-1, revision: 3, since: 2026-01-01T11:50:00Z, times: 2, nodes: 9}, \
               {kind: Pod, name: p, uid: p-1, since: 2026-01-01T11:51:00Z, lackedRoom: true}], \
    notCreatedSince: {s-1: 2026-01-01T11:57:00Z}, shortSince: 2026-01-01T11:58:00Z, \
    windows: {cpu: {size: 4, target: 3500m, used: 2026-01-01T11:57:00Z}, pods: {size: 1, target: 1, used: 2026-01-01T11:57:00Z}}}";

#[test]
fn a_status_is_read() {
    let mut index = index_of(&queue(1, "u", TOLD));
    assert_eq!(
        memory(&mut index),
        "demand {cpu 4500m, memory 9Gi}, falling {memory 11:59:40}, set_aside {j-1 {kind Job, name train, revision 3, \
         since 11:50:00, times 2, nodes 9, lacked_room false}, p-1 {kind Pod, name p, revision 0, since 11:51:00, times 0, \
         nodes 0, lacked_room}}, waiting {s-1 11:57:00}, not_created {s-1 11:57:00}, short_since 11:58:00, \
         windows {cpu {size 4000, target 3500, used 11:57:00}}"
    );
    // What no operator can have written is forgotten.
    let mut index = index_of(&queue(1, "u", "{demand: {cpu: lots, memory: 1Gi}}"));
    assert_eq!(memory(&mut index), "demand {memory 1Gi}");
}

#[test]
fn what_is_known_first_hand_goes_before_the_status() {
    let mut index = index_of(&queue(1, "u", TOLD));
    let handed_out = index.snapshot(at("12:00:00"));
    assert!(index.remember(&name(), short_since("11:59:00")));
    assert!(!index.remember(&name(), short_since("11:59:00")));
    assert_eq!(memory(&mut index), "short_since 11:59:00");
    // An older state of the status still arrives, then the one that was written.
    assert_eq!(apply(&mut index, &queue(2, "u", "{}")), [false]);
    assert_eq!(memory(&mut index), "short_since 11:59:00");
    let changed =
        queue(3, "u", "{}").replace("generation: 1", "generation: 2").replace("Observed", "Declared");
    assert_eq!(apply(&mut index, &changed), [true]);
    assert_eq!(memory(&mut index), "short_since 11:59:00");
    // Nothing to remember is also something.
    assert!(index.remember(&name(), Remembered::default()));
    apply(&mut index, &queue(4, "u", TOLD));
    assert_eq!(memory(&mut index), "");
    // What was handed out stays as it was.
    assert!(memory_in(&handed_out).starts_with("demand {cpu 4500m"));
}
