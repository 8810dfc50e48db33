//! Disruption budgets and refused evictions as stories: data for the plan, not surprises for its executor.

use expect_test::expect;
use quotient_advance::settle;

use crate::story::full::reclaims;
use crate::story::{self, explains, plays};

/// What is told where `b` gets nothing of so many cpu.
fn blocked(cpu: u32, more: &str) -> String {
    format!("b: deserved {cpu}c, allocated 0c, used 0c, preempting 0c (Blocked), lacks {cpu}c; {more}")
}

#[test]
fn no_plan_goes_beyond_a_budget_and_others_take_the_place() {
    reclaims(
        "fixed=cpu:3",
        "budget a/web allowed=1 selects=app:web; web-1..3 started=70+10 labels=app:web; db-1..3",
        "web-3; db-3..2; web-1..2 kept: Budget",
    );
}

#[test]
fn a_budget_without_requirements_protects_everything() {
    reclaims(
        "fixed=cpu:1",
        "budget a/all allowed=0; web-1 labels=app:web; db-1",
        &blocked(1, "db-1 kept: Budget; web-1 kept: Budget"),
    );
}

/// Pods that run and are not Ready, where the budget lets them go.
#[test]
fn a_budget_protects_unready_pods_only_if_it_says_so() {
    let victims = |budget: &str| {
        let story = format!(
            "node n1 cpu=4
             queue a request=all
             queue b fixed=cpu:2
             budget a/web allowed=0 {budget}
             pod a/web-1..4 cpu=1 node=n1 started=70+10 owner=web stuck=200"
        );
        let (_, plan) = settle(&story::parse(&story));
        // What the plan wants to go goes.
        assert!(!story::play(&story).contains("does not come to rest"));
        plan.evictions.len() + plan.waiting.len()
    };
    assert_eq!((victims(""), victims("letsUnreadyGo")), (0, 2));
}

#[test]
fn a_budget_of_another_namespace_protects_no_pod() {
    reclaims("fixed=cpu:1", "budget b/all allowed=0; web-1..2", "web-2");
}

#[test]
fn a_pod_that_two_budgets_protect_never_goes() {
    reclaims(
        "fixed=cpu:1",
        "budget a/web allowed=9 selects=app:web; budget a/tier allowed=9 selects=tier:front
         both started=90 labels=app:web,tier:front; one labels=app:web priority=9",
        "one; both kept: Budget",
    );
}

#[test]
fn pods_that_have_not_started_ignore_budgets() {
    reclaims(
        "fixed=cpu:2",
        "budget a/all allowed=0; web-1..2 started=70; web-3..4 pending node=n1",
        "web-4..3",
    );
}

#[test]
fn a_pod_whose_eviction_was_refused_is_passed_over() {
    reclaims("fixed=cpu:1", "web-1..2; web-3 started=90 refused", "web-2; web-3 kept: EvictionRefused");
}

#[test]
fn a_claim_that_refused_evictions_keep_waiting_is_blocked() {
    reclaims(
        "fixed=cpu:1",
        "web-1..2 refused",
        &blocked(1, "web-1..2 kept: EvictionRefused; later evict a/web-2 for b: Reclaimed"),
    );
}

#[test]
fn a_known_ask_that_budgets_keep_waiting_is_blocked() {
    let told = blocked(1, "1 pods of ReplicaSet train, 1c each: Blocked; web-1..2 kept: Budget");
    let web = "budget a/web allowed=0 selects=app:web; web-1..2 labels=app:web";
    reclaims("fixed=cpu:1", &format!("{web}; owner b/train cpu=1"), &told);
    // Or whose only node they keep.
    let zone = "node n1 labels=zone:a; db-1..2 node=n2; owner b/train cpu=1 selector=zone:a";
    reclaims("fixed=cpu:1", &format!("{web}; {zone}"), &told);
}

#[test]
fn another_node_is_freed_where_budgets_keep_the_cheapest() {
    reclaims(
        "fixed=cpu:2",
        "budget a/web allowed=1 selects=app:web; web-1..2 started=80 labels=app:web priority=-9
         db-1..2 node=n2; owner b/train cpu=2",
        "db-2..1",
    );
}

#[test]
fn budgets_are_used_up_across_the_asks_of_one_plan() {
    reclaims(
        "fixed=cpu:4",
        "budget a/web allowed=1 selects=app:web; web-1..2 cpu=2 node=n1+1 started=80 labels=app:web
         db-1 cpu=2 node=n3 priority=9; owner b/train replicas=2 cpu=2",
        "web-2; db-1; web-1 kept: Budget",
    );
}

#[test]
fn a_gang_goes_only_if_its_budget_lets_all_of_it_go() {
    reclaims(
        "fixed=cpu:2",
        "budget a/g allowed=1 selects=app:g; g-1..2 started=80 gang=g min=2 labels=app:g; h-1..2 gang=h min=2",
        "h-2..1; g-1..2 kept: Budget",
    );
}

#[test]
fn the_surplus_that_follows_a_gang_counts_in_its_budget_too() {
    let gang = "budget a/g allowed=1 selects=app:g; small started=90 gang=g min=1 labels=app:g";
    reclaims(
        "fixed=cpu:3",
        &format!("{gang}; large cpu=4 gang=g min=1 labels=app:g"),
        "b: deserved 3c, allocated 0c, used 0c, preempting 1c (Blocked), lacks 3c; small; large kept: Budget",
    );
    // Also from another node.
    let large = "large cpu=3 node=n2 gang=g min=1 labels=app:g";
    let asks = "node n2 labels=zone:a; owner b/train cpu=3 selector=zone:a";
    reclaims(
        "fixed=cpu:6",
        &format!("{gang} cpu=3; {large}; {asks}; budget a/g allowed=2 selects=app:g"),
        "small; large",
    );
    reclaims(
        "fixed=cpu:6",
        &format!("{gang} cpu=3; {large}; {asks}"),
        "b: deserved 6c, allocated 0c, used 0c, preempting 3c (Blocked), lacks 6c; \
         1 pods of ReplicaSet train, 3c each: Blocked; small; large kept: Budget",
    );
}

#[test]
fn what_a_budget_allows_goes_first_and_the_rest_when_it_recovers() {
    plays(
        "node n1 cpu=4
         queue a request=all
         queue b fixed=cpu:2
         budget a/web allowed=1 selects=app:web
         pod a/web-1..4 cpu=1 node=n1 started=60+10 owner=web labels=app:web
         then after=60
         budget a/web allowed=1 selects=app:web",
        &expect![[r#"
            step 1: capacity 4c
              a: deserved 2c, allocated 2c, used 4c
              b: deserved 2c, allocated 0c, used 0c, preempting 1c (Blocked), lacks 2c
              evict a/web-4 for b: Reclaimed
            step 2: capacity 4c
              a: deserved 2c, allocated 2c, used 3c
              b: deserved 2c, allocated 1c, used 0c, preempting 0c (Blocked), lacks 1c
            then, 60 s later
            step 3: capacity 4c
              b: deserved 2c, allocated 1c, used 0c, preempting 1c (WaitingForPreemption)
              evict a/web-3 for b: Reclaimed
            step 4: capacity 4c
              a: deserved 2c, allocated 2c, used 2c
              b: deserved 2c, allocated 2c, used 0c
        "#]],
    );
}

/// Of what a lacks, one pod of b makes room for a pod; a budget keeps the other one.
const LACKS_ONE_MORE: &str = "node n0 cpu=3
     node n1 cpu=12
     queue a request=all guaranteed=cpu:8750m
     queue b weight=0
     queue c weight=0 guaranteed=cpu:15
     owner a/big replicas=5 cpu=2 pods=big-1..3 node=n1
     pod b/web-1..2 cpu=1 node=n0 owner=web
     budget b/all allowed=1
     pod c/c-1 cpu=6 node=n1 owner=c";

#[test]
fn an_ask_needs_of_a_promise_only_what_its_quota_has_no_room_for() {
    explains(
        LACKS_ONE_MORE,
        &expect![[r#"
            a: deserved 9c, allocated 7c, used 6c, preempting 1c (Blocked), lacks 3c
            2 pods of ReplicaSet big, 2c each: Blocked
            evict b/web-2 for a: Reclaimed
            spare b/web-1: Budget
        "#]],
    );
}

#[test]
fn what_a_budget_keeps_from_an_ask_is_said_although_no_pod_goes_for_it() {
    explains(
        &format!("{LACKS_ONE_MORE}\npod c/c-2 cpu=250m gpu=1 pending owner=c"),
        &expect![[r#"
            a: deserved 8750mc, allocated 6750mc, used 6c, preempting 0c (Blocked), lacks 2750mc
            2 pods of ReplicaSet big, 2c each: Blocked
            pod c-2, 250mc: SetAside
            spare b/web-1: Budget
        "#]],
    );
}
