//! Disruption budgets and refused evictions as stories: data for the plan, not surprises for its executor.

use expect_test::expect;
use quotient_advance::settle;

use crate::story::{self, explains, plays};

#[test]
fn no_plan_goes_beyond_a_budget_and_others_take_the_place() {
    explains(
        "node n1 cpu=6
         queue a request=all
         queue b fixed=cpu:3
         budget a/web allowed=1 selects=app:web
         pod a/web-1..3 cpu=1 node=n1 started=70+10 owner=web labels=app:web
         pod a/db-1..3 cpu=1 node=n1 started=10+10 owner=db",
        &expect![[r#"
            evict a/web-3 for b: Reclaimed
            evict a/db-3..2 for b: Reclaimed
            spare a/web-2: Budget
        "#]],
    );
}

#[test]
fn a_budget_without_requirements_protects_everything() {
    explains(
        "node n1 cpu=2
         queue a request=all
         queue b fixed=cpu:1
         budget a/all allowed=0
         pod a/web-1 cpu=1 node=n1 started=70 owner=web labels=app:web
         pod a/db-1 cpu=1 node=n1 started=10 owner=db",
        &expect![[r#"
            b: deserved 1c, allocated 0c, used 0c, preempting 0c (Blocked), lacks 1c
            spare a/db-1: Budget
            spare a/web-1: Budget
        "#]],
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
    explains(
        "node n1 cpu=2
         queue a request=all
         queue b fixed=cpu:1
         budget b/all allowed=0
         pod a/web-1..2 cpu=1 node=n1 started=70+10 owner=web",
        &expect!["evict a/web-2 for b: Reclaimed"],
    );
}

#[test]
fn a_pod_that_two_budgets_protect_never_goes() {
    explains(
        "node n1 cpu=3
         queue a request=all
         queue b fixed=cpu:1
         budget a/web allowed=9 selects=app:web
         budget a/tier allowed=9 selects=tier:front
         pod a/both cpu=1 node=n1 started=90 owner=web labels=app:web,tier:front
         pod a/one cpu=1 node=n1 started=10 owner=web labels=app:web priority=9
         pod a/last cpu=1 node=n1 started=1 owner=web labels=app:web priority=9",
        &expect![[r#"
            evict a/one for b: Reclaimed
            spare a/both: Budget
        "#]],
    );
}

#[test]
fn pods_that_have_not_started_ignore_budgets() {
    explains(
        "node n1 cpu=4
         queue a request=all
         queue b fixed=cpu:2
         budget a/web allowed=0 selects=app:web
         pod a/web-1..2 cpu=1 node=n1 started=70+10 owner=web labels=app:web
         pod a/web-3..4 cpu=1 pending node=n1 created=80+10 owner=web labels=app:web",
        &expect!["evict a/web-4..3 for b: Reclaimed"],
    );
}

#[test]
fn a_pod_whose_eviction_was_refused_is_passed_over() {
    explains(
        "node n1 cpu=4
         queue a request=all
         queue b fixed=cpu:1
         pod a/web-1..2 cpu=1 node=n1 started=70+10 owner=web
         pod a/web-3 cpu=1 node=n1 started=90 owner=web refused
         pod a/web-4 cpu=1 node=n1 started=60 owner=web",
        &expect![[r#"
            evict a/web-2 for b: Reclaimed
            spare a/web-3: EvictionRefused
        "#]],
    );
}

#[test]
fn a_claim_that_refused_evictions_keep_waiting_is_blocked() {
    explains(
        "node n1 cpu=2
         queue a request=all
         queue b fixed=cpu:1
         pod a/web-1..2 cpu=1 node=n1 started=70+10 owner=web refused",
        &expect![[r#"
            b: deserved 1c, allocated 0c, used 0c, preempting 0c (Blocked), lacks 1c
            spare a/web-1..2: EvictionRefused
            later evict a/web-2 for b: Reclaimed
        "#]],
    );
}

#[test]
fn a_known_ask_that_budgets_keep_waiting_is_blocked() {
    explains(
        "node n1 cpu=2
         queue a request=all
         queue b fixed=cpu:1
         budget a/web allowed=0 selects=app:web
         pod a/web-1..2 cpu=1 node=n1 started=70+10 owner=web labels=app:web
         owner b/train replicas=1 cpu=1",
        &expect![[r#"
            b: deserved 1c, allocated 0c, used 0c, preempting 0c (Blocked), lacks 1c
            1 pods of ReplicaSet train, 1c each: Blocked
            spare a/web-1..2: Budget
        "#]],
    );
}

#[test]
fn a_known_ask_whose_only_node_budgets_keep_is_blocked() {
    explains(
        "node n1 cpu=2 labels=zone:a
         node n2 cpu=2
         queue a request=all
         queue b fixed=cpu:1
         budget a/web allowed=0 selects=app:web
         pod a/web-1..2 cpu=1 node=n1 started=70+10 owner=web labels=app:web
         pod a/db-1..2 cpu=1 node=n2 started=70+10 owner=db
         owner b/train replicas=1 cpu=1 selector=zone:a",
        &expect![[r#"
            b: deserved 1c, allocated 0c, used 0c, preempting 0c (Blocked), lacks 1c
            1 pods of ReplicaSet train, 1c each: Blocked
            spare a/web-1..2: Budget
        "#]],
    );
}

#[test]
fn another_node_is_freed_where_budgets_keep_the_cheapest() {
    explains(
        "node n1..2 cpu=2
         queue a request=all
         queue b fixed=cpu:2
         budget a/web allowed=1 selects=app:web
         pod a/web-1..2 cpu=1 node=n1 started=80+10 owner=web labels=app:web priority=-9
         pod a/db-1..2 cpu=1 node=n2 started=10+10 owner=db
         pod a/db-3 cpu=0 node=n2 started=1 owner=db priority=9
         owner b/train replicas=1 cpu=2",
        &expect!["evict a/db-2..1 for b: Reclaimed"],
    );
}

#[test]
fn budgets_are_used_up_across_the_asks_of_one_plan() {
    explains(
        "node n1..3 cpu=2
         queue a weight=0 request=all
         queue b fixed=cpu:4
         budget a/web allowed=1 selects=app:web
         pod a/web-1..2 cpu=2 node=n1+1 started=80+10 owner=web labels=app:web
         pod a/db-1 cpu=2 node=n3 started=10 owner=db priority=9
         pod a/db-2 cpu=0 node=n3 started=1 owner=db priority=9
         owner b/train replicas=2 cpu=2",
        &expect![[r#"
            evict a/web-2 for b: Reclaimed
            evict a/db-1 for b: Reclaimed
        "#]],
    );
}

#[test]
fn a_gang_goes_only_if_its_budget_lets_all_of_it_go() {
    explains(
        "node n1 cpu=4
         queue a request=all
         queue b fixed=cpu:2
         budget a/g allowed=1 selects=app:g
         pod a/g-1..2 cpu=1 node=n1 started=80+10 owner=g gang=g min=2 labels=app:g
         pod a/h-1..2 cpu=1 node=n1 started=10+10 owner=h gang=h min=2",
        &expect![[r#"
            evict a/h-2..1 for b: Reclaimed
            spare a/g-1..2: Budget
        "#]],
    );
}

#[test]
fn the_surplus_that_follows_a_gang_counts_in_its_budget_too() {
    explains(
        "node n1 cpu=5
         queue a fixed=cpu:2
         queue b fixed=cpu:3
         budget a/g allowed=1 selects=app:g
         pod a/small cpu=1 node=n1 started=90 owner=g gang=g min=1 labels=app:g
         pod a/large cpu=4 node=n1 started=10 owner=g gang=g min=1 labels=app:g",
        &expect![[r#"
            b: deserved 3c, allocated 0c, used 0c, preempting 1c (Blocked), lacks 3c
            evict a/small for b: Reclaimed
            spare a/large: Budget
        "#]],
    );
}

#[test]
fn the_surplus_that_follows_a_gang_from_another_node_counts_in_its_budget_too() {
    let printed = story::explain(
        "node n1 cpu=3 labels=zone:a
         node n2 cpu=3
         queue a request=all
         queue b fixed=cpu:3
         budget a/g allowed=1 selects=app:g
         pod a/small cpu=3 node=n2 started=90 owner=g gang=g min=1 labels=app:g
         pod a/large cpu=3 node=n1 started=10 owner=g gang=g min=1 labels=app:g
         owner b/train replicas=1 cpu=3 selector=zone:a",
    );
    assert!(!printed.contains("evict"), "{printed}");
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
