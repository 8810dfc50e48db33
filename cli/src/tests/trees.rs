//! Parents, fences and labels, from manifests to printed steps.

use expect_test::{Expect, expect, expect_file};

use super::{check, example, played};
use crate::manifests;
use crate::output::Format;

const NODE: &str = "
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 8, memory: 8Gi}}
";

/// Checks the steps of these documents on one node of 8 cpu and 8Gi.
fn check_on_node(documents: &str, expected: &Expect) {
    check(&format!("{NODE}---{documents}"), expected);
}

/// The steps of the same example for people are in `examples/tree.txt`.
#[test]
fn programs_read_a_guarantee_that_comes_back_and_a_fence_that_holds() {
    let cluster = manifests::read(&[example("tree")], None).unwrap();
    expect_file!["./tree.json"].assert_eq(&played(&cluster, Format::Json));
}

#[test]
fn children_stand_below_their_parents_whatever_their_names() {
    check_on_node(
        "
apiVersion: quotient.dev/v1alpha1
kind: Queue
metadata: {name: z, namespace: org}
spec: {children: {namespaces: {from: All}}}
---
apiVersion: quotient.dev/v1alpha1
kind: Queue
metadata: {name: y, namespace: org}
spec: {children: {}, parentRef: {name: z}, limit: {cpu: 3}}
---
apiVersion: quotient.dev/v1alpha1
kind: Queue
metadata: {name: governs, namespace: org}
spec: {parentRef: {name: y}}
---
apiVersion: quotient.dev/v1alpha1
kind: Queue
metadata: {name: a, namespace: a}
spec: {parentRef: {namespace: org, name: z}, weight: 3}
---
apiVersion: quotient.dev/v1alpha1
kind: Queue
metadata: {name: root, namespace: b}
spec: {}
",
        &expect![[r#"
            Step 1  capacity 8c 8Gi
              QUEUE            WEIGHT  DEMAND  DESERVED  ALLOCATED   USED  PREEMPTING
              b/root           1       0       0         1.3c 1.3Gi  0     0
              org/z            1       0       0         2.6c 2.6Gi  0     0
                a/a            3       0       0         1.3c 1.3Gi  0     0
                org/y          1       0       0         1.3c 1.3Gi  0     0
                  org/governs  1       0       0         1.3c 1.3Gi  0     0

            Stable: nothing more would happen.
        "#]],
    );
}

/// Also one that no manifest describes has the label of its name.
#[test]
fn namespaces_are_accepted_by_their_labels() {
    check_on_node(
        "
apiVersion: quotient.dev/v1alpha1
kind: Queue
metadata: {name: named, namespace: org}
spec:
  children:
    namespaces:
      from: Selector
      selector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [b, c]}]}
---
{apiVersion: v1, kind: Namespace, metadata: {name: b, labels: {tier: silver}}}
---
{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: q, namespace: b}, spec: {parentRef: {namespace: org, name: named}}}
---
{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: q, namespace: c}, spec: {parentRef: {namespace: org, name: named}}}
---
{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: q, namespace: d}, spec: {parentRef: {namespace: org, name: named}}}
",
        &expect![[r#"
            Step 1  capacity 8c 8Gi
              QUEUE      WEIGHT  DEMAND  DESERVED  ALLOCATED  USED  PREEMPTING
              org/named  1       0       0         4c 4Gi     0     0
                b/q      1       0       0         2c 2Gi     0     0
                c/q      1       0       0         2c 2Gi     0     0
              stalled  d/q  ParentNotAccepting: org/named does not accept Queues of this namespace: its spec.children.namespaces has to allow it

            Stable: nothing more would happen.
        "#]],
    );
}
