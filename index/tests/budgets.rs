//! What a snapshot shows of PodDisruptionBudgets.

use std::sync::Arc;

use expect_test::expect;
use quotient_snapshot::{Budget, PodId};

use super::{QUEUE, check, index_of, namespace_a};

fn budget(name: &str, spec: &str, allowed: i32) -> String {
    format!(
        "
kind: PodDisruptionBudget
metadata: {{name: {name}, namespace: a, generation: 2}}
spec: {spec}
status: {{observedGeneration: 2, disruptionsAllowed: {allowed}, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3}}
---
"
    )
}

#[test]
fn budgets_protect_by_label() {
    check(
        &[
            QUEUE,
            &budget("labels", "{minAvailable: 2, selector: {matchLabels: {app: web, tier: front}}}", 1),
            &budget(
                "expressions",
                "{selector: {matchExpressions: [{key: app, operator: In, values: [web, api]}, \
                 {key: app, operator: NotIn, values: [db]}, {key: app, operator: Exists}, \
                 {key: debug, operator: DoesNotExist}]}}",
                2,
            ),
            &budget("everything", "{maxUnavailable: 0, selector: {}}", 0),
            &budget("nothing", "{maxUnavailable: 0}", 0),
            &budget(
                "unknown",
                "{selector: {matchExpressions: [{key: app, operator: Like, values: [w]}]}}",
                0,
            ),
            &budget("overdrawn", "{selector: {}}", -1),
        ]
        .concat(),
        &expect![[r#"
            namespace a
              queue q: uid a/q
              budget everything: lets_unready_go
              budget expressions: lets_unready_go, selector [In [app, [web, api]], NotIn [app, [db]], Exists app, DoesNotExist debug], allowed 2
              budget labels: lets_unready_go, selector [In [app, [web]], In [tier, [front]]], allowed 1
              budget overdrawn: lets_unready_go
        "#]],
    );
}

/// What is shown of the one budget that is `written`.
fn the_budget(written: &str) -> Budget {
    namespace_a(&mut index_of(&[QUEUE, written].concat())).budgets[0].clone()
}

#[test]
fn the_budgets_of_a_pod_are_named_while_it_is_that_pod() {
    let pod = "{kind: Pod, metadata: {name: p, namespace: a, uid: p, labels: {app: web}}, spec: {containers: []}}\n---\n";
    let selects = |app: &str| format!("{{selector: {{matchLabels: {{app: {app}}}}}}}");
    let index = index_of(
        &[QUEUE, pod, &budget("web", &selects("web"), 0), &budget("other", &selects("other"), 0)].concat(),
    );
    let budgets =
        |uid: &str| index.budgets_of(&PodId { namespace: "a".into(), name: "p".into(), uid: uid.into() });
    assert_eq!(budgets("p"), [Arc::from("web")]);
    assert_eq!(budgets("another"), [] as [Arc<str>; 0]);
}

/// As the API server decides on an eviction.
#[test]
fn pods_that_are_not_ready_go_by_policy_or_while_enough_are_healthy() {
    let lets_go = |spec: &str, status: &str| {
        let object = format!(
            "{{kind: PodDisruptionBudget, metadata: {{name: b, namespace: a}}, spec: {{selector: {{}}{spec}}}, status: {status}}}"
        );
        the_budget(&object).lets_unready_go
    };
    let healthy = |current: u32, desired: u32| {
        format!(
            "{{disruptionsAllowed: 0, currentHealthy: {current}, desiredHealthy: {desired}, expectedPods: 3}}"
        )
    };
    assert!(lets_go(", unhealthyPodEvictionPolicy: AlwaysAllow", &healthy(1, 2)));
    assert!(lets_go(", unhealthyPodEvictionPolicy: IfHealthyBudget", &healthy(2, 2)));
    assert!(lets_go("", &healthy(2, 2)));
    assert!(!lets_go("", &healthy(1, 2)));
    assert!(!lets_go("", &healthy(0, 0)));
    assert!(!lets_go("", "{}"));
}

#[test]
fn a_budget_that_was_not_computed_yet_allows_nothing() {
    let seen = budget("b", "{selector: {}}", 3);
    let changed = seen.replace("generation: 2}", "generation: 3}");
    let new =
        "{kind: PodDisruptionBudget, metadata: {name: b, namespace: a}, spec: {selector: {}}}".to_owned();
    for (written, allowed) in [(seen, 3), (changed, 0), (new, 0)] {
        assert_eq!(the_budget(&written).allowed, allowed, "{written}");
    }
}
