//! What is printed for programs, and details of what is printed for people.

use expect_test::expect;

use super::{check, example, played, read};
use crate::commands::simulate::{render, simulate};
use crate::manifests;
use crate::output::Format;
use crate::output::Style;

#[test]
fn one_step_is_shown_unless_more_are_asked_for() {
    let cluster = manifests::read(&[example("newcomer")], None).unwrap();
    let text = render(&cluster, &simulate(&cluster, false), Format::Table, false, Style::Plain).unwrap();
    assert!(text.ends_with("\nNot stable: more would happen; --until-stable shows it.\n"), "{text}");
    assert!(!text.contains("Step 2"), "{text}");
    let cluster = manifests::read(&[example("two-queues")], None).unwrap();
    let text = render(&cluster, &simulate(&cluster, false), Format::Table, false, Style::Plain).unwrap();
    assert!(text.ends_with("\nStable: nothing more would happen.\n"), "{text}");
}

#[test]
fn queues_without_a_share_are_shown_with_what_to_do() {
    check(
        "
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 2}}
---
apiVersion: quotient.dev/v1alpha1
kind: Queue
metadata: {name: bounds, namespace: b}
spec: {guaranteed: {cpu: 2}, limit: {cpu: 1}}
---
apiVersion: quotient.dev/v1alpha1
kind: Queue
metadata: {name: newer, namespace: a, creationTimestamp: 2026-01-02T00:00:00Z}
spec: {}
---
apiVersion: quotient.dev/v1alpha1
kind: Queue
metadata: {name: older, namespace: a, creationTimestamp: 2026-01-01T00:00:00Z}
spec: {}
",
        &expect![[r#"
            Step 1  capacity 2c
              QUEUE    WEIGHT  DEMAND  DESERVED  ALLOCATED  USED  PREEMPTING
              a/older  1       0       0         1c         0     0
              stalled  a/newer   NamespaceTaken: this namespace is governed by the older Queue older: delete one of the two, one namespace has one Queue
              stalled  b/bounds  GuaranteedAboveLimit: spec.guaranteed asks for cpu 2 but spec.limit allows 1: lower the one or raise the other

            Stable: nothing more would happen.
        "#]],
    );
}

#[test]
fn programs_learn_of_stalled_queues_beside_the_steps() {
    let queue = |name: &str, time: &str| {
        format!(
            "{{apiVersion: quotient.dev/v1alpha1, kind: Queue, spec: {{}}, \
             metadata: {{name: {name}, namespace: a, creationTimestamp: 2026-01-01T00:00:{time}Z}}}}"
        )
    };
    let files = [("1.yaml", &*queue("older", "00")), ("2.yaml", &*queue("newer", "01"))];
    let printed = played(&read(&files).unwrap(), Format::Json);
    let document: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let stalled = document["stalled"][0].as_str().unwrap();
    assert!(stalled.starts_with("a/newer (NamespaceTaken: "), "{stalled}");
}

#[test]
fn a_cluster_without_queues_is_no_mistake() {
    check(
        "{apiVersion: v1, kind: Namespace, metadata: {name: a}}",
        &expect![[r#"
        Step 1  capacity 0
          no Queue has a share

        Stable: nothing more would happen.
    "#]],
    );
    assert_eq!(
        read(&[("a.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: a}}")]).unwrap().warnings.len(),
        0
    );
}
