//! What a snapshot shows of Queues, and what the operator can look up.

use expect_test::expect;
use quotient_snapshot::Mode;
use quotient_snapshot::names::{Namespace, QueueName};

use super::{apply, at, check, index_of};

#[test]
fn a_spec_as_the_engine_reads_it() {
    check(
        "
kind: Queue
metadata: {name: all, namespace: a, uid: u-1, creationTimestamp: 2026-01-01T10:00:00Z}
spec:
  weight: 2
  request: {cpu: 4999900u, memory: 10Gi, nvidia.com/gpu: 0}
  guaranteed: {cpu: 100u}
  limit: {cpu: 20000900u, nvidia.com/gpu: 4}
---
kind: Queue
metadata: {name: nothing, namespace: a}
spec: {}
---
kind: Queue
metadata: {name: empty-request, namespace: b}
spec: {weight: 0, request: {}}
",
        &expect![[r#"
            namespace a
              queue all: uid u-1, created 10:00:00, weight 2, request {cpu 5, memory 10Gi, nvidia.com/gpu 0}, guaranteed {cpu 1m}, limit {cpu 20, nvidia.com/gpu 4}
              queue nothing: uid a/nothing
            namespace b
              queue empty-request: uid b/empty-request, weight 0
        "#]],
    );
}

#[test]
fn a_place_in_the_tree() {
    check(
        "
kind: Queue
metadata: {name: research, namespace: org}
spec:
  parentRef: {name: company}
  children:
    namespaces:
      from: Selector
      selector:
        matchLabels: {org: research}
        matchExpressions:
        - {key: tier, operator: In, values: [gold, silver]}
        - {key: tier, operator: NotIn, values: [silver]}
        - {key: open, operator: Exists}
        - {key: closed, operator: DoesNotExist, values: []}
  reclaim: {from: Subtree}
  eviction: {gangs: Never, maxGraceSeconds: 0, forceAfterSeconds: 600}
---
kind: Queue
metadata: {name: company, namespace: org}
spec: {children: {namespaces: {from: All}}, eviction: {policy: Never}}
---
kind: Queue
metadata: {name: open, namespace: org}
spec: {children: {namespaces: {from: Selector, selector: {}}}}
---
kind: Queue
metadata: {name: same, namespace: org}
spec: {children: {}}
---
kind: Queue
metadata: {name: team, namespace: a}
spec:
  parentRef: {namespace: org, name: research}
  eviction: {lastReplica: Never, minRuntimeSeconds: 600}
",
        &expect![[r#"
            namespace a
              queue team: uid a/team, parent {namespace org, name research}, eviction {min_runtime_seconds 600, last_replica Never}
            namespace org
              queue company: uid org/company, children All, eviction {policy Never}
              queue open: uid org/open, children Selector []
              queue research: uid org/research, parent {namespace org, name company}, children Selector [In [org, [research]], In [tier, [gold, silver]], NotIn [tier, [silver]], Exists open, DoesNotExist closed], reclaim {from Subtree}, eviction {gangs Never, max_grace_seconds 0, force_after_seconds 600}
              queue same: uid org/same, children Same
        "#]],
    );
}

#[test]
fn a_mode_and_a_pause_are_read_also_where_the_rest_is_invalid() {
    let yaml = "
kind: Queue
metadata: {name: q, namespace: a}
spec: {mode: Observe, pausedUntil: '2026-01-01T13:00:00+01:00'}
---
kind: Queue
metadata: {name: q, namespace: b}
spec: {mode: Quota, weight: -1}
";
    check(
        yaml,
        &expect![[r#"
            namespace a
              queue q: uid a/q, mode Observe, paused_until 12:00:00
            namespace b
              queue q: uid b/q, invalid spec.weight is -1: write 0 to 1000000, weight 0, mode Quota
        "#]],
    );
    let mut index = index_of(yaml);
    let snapshot = index.snapshot(at("12:00:00"));
    let invalid = &snapshot.namespaces[&Namespace::from("b")].queues[0];
    assert_eq!((invalid.mode, invalid.invalid.is_some()), (Mode::Quota, true));
}

#[test]
fn an_invalid_parent_is_still_no_leaf() {
    check(
        "
kind: Queue
metadata: {name: parent, namespace: a}
spec: {children: {namespaces: {from: All, selector: {}}}, limit: {cpu: five}}
---
kind: Queue
metadata: {name: selector, namespace: b}
spec:
  parentRef: {name: ''}
  children:
    namespaces:
      from: Selector
      selector: {matchExpressions: [{key: k, operator: In}, {key: k, operator: Exists, values: [v]}]}
  eviction: {minRuntimeSeconds: -1}
---
kind: Queue
metadata: {name: no-selector, namespace: c}
spec: {children: {namespaces: {from: Selector}}, eviction: {minRuntimeSeconds: 2592001}}
",
        &expect![[r#"
            namespace a
              queue parent: uid a/parent, invalid read spec.limit.cpu: read quantity "five": it does not begin with a number; a quantity looks like 2, 1500m or 9Gi; spec.children.namespaces.selector counts only with from: Selector: write that, or leave selector out, weight 0, children Same
            namespace b
              queue selector: uid b/selector, invalid spec.parentRef.name is empty: write the name of the parent queue; spec.children.namespaces.selector: In of "k" needs values: write at least one; spec.children.namespaces.selector: Exists of "k" takes no values: leave values out; spec.eviction.minRuntimeSeconds is -1: write 0 to 2592000, weight 0, children Same
            namespace c
              queue no-selector: uid c/no-selector, invalid spec.children.namespaces.from is Selector, but there is no selector: write one, such as {matchLabels: {org: research}}; spec.eviction.minRuntimeSeconds is 2592001: write 0 to 2592000, weight 0, children Same
        "#]],
    );
}

#[test]
fn mistakes_are_explained_to_the_administrator() {
    check(
        "
kind: Queue
metadata: {name: amounts, namespace: a}
spec: {request: {cpu: five}, guaranteed: {memory: -1Gi}, limit: {cpu: 1e25}}
---
kind: Queue
metadata: {name: names, namespace: a}
spec: {request: {gpu: 1}, limit: {ephemeral-storage: 1Gi}}
---
kind: Queue
metadata: {name: type, namespace: a, uid: u-3}
spec: {weight: heavy}
---
kind: Queue
metadata: {name: weight, namespace: a}
spec: {weight: -1}
",
        &expect![[r#"
            namespace a
              queue amounts: uid a/amounts, invalid read spec.request.cpu: read quantity "five": it does not begin with a number; a quantity looks like 2, 1500m or 9Gi; read spec.guaranteed.memory: "-1Gi" is negative; write 0 or more; read spec.limit.cpu: "1e+25" is beyond 2^63; if no bound is meant, leave the resource out, weight 0
              queue names: uid a/names, invalid spec.request names "gpu", of which there are no shares: use cpu, memory or an extended resource such as nvidia.com/gpu; spec.limit names "ephemeral-storage", of which there are no shares: use cpu, memory or an extended resource such as nvidia.com/gpu, weight 0
              queue type: uid u-3, invalid the Queue cannot be read: spec.weight: invalid type: string "heavy", expected i32; correct the field and apply it again, weight 0
              queue weight: uid a/weight, invalid spec.weight is -1: write 0 to 1000000, weight 0
        "#]],
    );
}

#[test]
fn what_the_operator_writes_changes_no_decision() {
    let mut index = index_of(
        "{kind: Queue, metadata: {name: q, namespace: a, uid: u, resourceVersion: '7', generation: 1}, spec: {}}",
    );
    let before = index.snapshot(at("12:00:00"));
    let reply = "
kind: Queue
metadata: {name: q, namespace: a, uid: u, resourceVersion: '8', generation: 1}
spec: {}
status: {observedGeneration: 1, used: {cpu: 1}}
";
    assert_eq!(apply(&mut index, reply), [false]);
    assert_eq!(index.snapshot(at("12:00:00")), before);
    let observed = index.observed_queue(&QueueName::new("a", "q")).unwrap();
    assert_eq!(observed.resource_version.as_ref().unwrap().as_str(), "8");
    assert_eq!(observed.status.as_ref().unwrap().observed_generation, Some(1));
}

#[test]
fn a_new_generation_is_news_even_if_it_means_the_same() {
    let queue = |generation: i64, cpu: &str| {
        format!(
            "{{kind: Queue, metadata: {{name: q, namespace: a, uid: u, generation: {generation}}}, \
             spec: {{limit: {{cpu: {cpu}}}}}}}"
        )
    };
    let mut index = index_of(&queue(1, "1"));
    assert_eq!(apply(&mut index, &queue(1, "1")), [false]);
    assert_eq!(apply(&mut index, &queue(2, "1000m")), [true]);
    assert_eq!(index.observed_queue(&QueueName::new("a", "q")).unwrap().generation, Some(2));
}

#[test]
fn claims_and_what_is_reclaimed_for_them() {
    check(
        "
kind: Queue
metadata: {name: claims, namespace: a}
spec:
  request: {cpu: 100u, memory: 2Gi}
  reclaim: {afterSeconds: 300}
---
kind: Queue
metadata: {name: observed, namespace: b}
spec: {request: {}, reclaim: {from: None}}
---
kind: Queue
metadata: {name: wrong, namespace: c}
spec:
  request: {gpu: 1, cpu: much}
  reclaim: {afterSeconds: -1}
  eviction: {maxGraceSeconds: 86401, forceAfterSeconds: -5}
status: {demand: {cpu: 1}}
",
        &expect![[r#"
            namespace a
              queue claims: uid a/claims, request {cpu 1m, memory 2Gi}, reclaim {after_seconds 300}
            namespace b
              queue observed: uid b/observed, reclaim {from None}
            namespace c
              queue wrong: uid c/wrong, invalid read spec.request.cpu: read quantity "much": it does not begin with a number; a quantity looks like 2, 1500m or 9Gi; spec.request names "gpu", of which there are no shares: use cpu, memory or an extended resource such as nvidia.com/gpu; spec.reclaim.afterSeconds is -1: write 0 to 86400; spec.eviction.maxGraceSeconds is 86401: write 0 to 86400; spec.eviction.forceAfterSeconds is -5: write 0 to 86400, weight 0
        "#]],
    );
}
