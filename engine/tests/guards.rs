//! What is not done while what is seen cannot be trusted, and where others decide.

use std::sync::Arc;

use proptest::prelude::*;
use quotient_engine::amounts::{Amount, Amounts, Resource};
use quotient_engine::names::QueueName;
use quotient_engine::plan::Plan;
use quotient_engine::planner::plan;
use quotient_engine::reasons::{ShortReason, StallReason};
use quotient_engine::snapshot::{Pod, ReclaimGate, Snapshot};
use quotient_engine::time::Timestamp;

use crate::contents::leaves;
use crate::{effort, history, random, story};

const HELD: ReclaimGate = ReclaimGate::Held(ShortReason::CapacityUntrusted);

fn held(snapshot: &Snapshot) -> Snapshot {
    Snapshot { reclaim_gate: HELD, ..snapshot.clone() }
}

/// Of 8 cpu, a uses all and b deserves half.
const SHORT: &str = "
    node n1..2 cpu=4
    queue a request=all
    queue b request=all
    quota a cpu=4 enforced=cpu:4
    quota b cpu=0 enforced=cpu:0
    pod a/p1 cpu=4 node=n1
    pod a/p2..3 cpu=2 node=n2
";

fn queue(name: &str) -> QueueName {
    QueueName::new(name, name)
}

fn destroys(plan: &Plan) -> bool {
    !(plan.evictions.is_empty() && plan.waiting.is_empty() && plan.shortened.is_empty())
}

#[test]
fn what_is_held_names_no_victim_and_says_why() {
    let snapshot = story::parse(SHORT);
    let free = plan(&snapshot);
    assert!(destroys(&free), "the story needs a victim to be about something");

    let plan = plan(&held(&snapshot));
    assert!(!destroys(&plan));
    assert_eq!(plan.held, Some(ShortReason::CapacityUntrusted));
    let short = &plan.queues[&queue("b")];
    assert_eq!(short.starved, Some(ShortReason::CapacityUntrusted));
    assert_eq!(short.deserved, free.queues[&queue("b")].deserved);
}

/// Quotas shrink all the same: that is how the quota controller is seen at work.
#[test]
fn evictions_wait_until_a_quota_is_seen_to_take_effect() {
    let waits = |snapshot: &Snapshot| {
        let gate = ReclaimGate::EvictionsWait(ShortReason::QuotaControllerSilent);
        plan(&Snapshot { reclaim_gate: gate, ..snapshot.clone() })
    };
    let snapshot = story::parse(SHORT);
    let free = plan(&snapshot);
    let held = waits(&snapshot);
    assert!(!free.evictions.is_empty() && free.unproven.is_none());
    assert_eq!((held.evictions.len(), held.waiting.len()), (0, free.evictions.len()));
    assert_eq!(held.unproven, Some(queue("a")));
    assert_eq!(held.queues[&queue("b")].starved, Some(ShortReason::QuotaControllerSilent));
    // What a mode withholds needs no proof.
    let observed = waits(&story::parse(&SHORT.replace("queue a ", "queue a mode=Quota ")));
    assert!(observed.unproven.is_none() && observed.waiting.is_empty(), "{:?}", observed.waiting);
    // A quota that is not enforced yet still shrinks.
    let lowers =
        |plan: &Plan| plan.queues[&queue("a")].quota_write.as_ref().is_some_and(|write| write.lowers);
    assert!(lowers(&waits(&story::parse(&SHORT.replace("quota a cpu=4 enforced=cpu:4", "quota a cpu=8")))));
}

#[test]
fn what_is_held_keeps_every_quota_and_raises_into_what_is_free() {
    let mut snapshot = story::parse(
        "
        settings resources=cpu,memory
        node n1 cpu=8
        queue a request=all
        queue b fixed=cpu:2
        quota a cpu=6
        quota b cpu=1
        ",
    );
    let write = |snapshot: &Snapshot, name: &str| {
        let write = plan(snapshot).queues[&queue(name)].quota_write.clone();
        write.map(|write| (write.hard.get(&Resource::Cpu).map(Amount::units), write.lowers))
    };
    assert_eq!(write(&held(&snapshot), "b"), Some((Some(2000), false)));
    assert_eq!(write(&held(&snapshot), "a"), None);
    // Half of the nodes are gone from view.
    snapshot.nodes = story::parse("node n1 cpu=4").nodes;
    assert_eq!(write(&snapshot, "a"), Some((Some(2000), true)));
    assert_eq!(write(&held(&snapshot), "a"), None);
    assert_eq!(write(&held(&snapshot), "b"), None);
}

#[test]
fn a_deleted_quota_comes_back_with_what_is_charged() {
    let snapshot = story::parse(
        "
        node n1 cpu=8
        queue a,b request=all
        quota b cpu=4
        pod a/p1 cpu=6 node=n1
        ",
    );
    let plan = plan(&held(&snapshot));
    let write = plan.queues[&queue("a")].quota_write.clone().unwrap();
    assert_eq!(write.hard.get(&Resource::Cpu), Some(Amount::new(6000)));
    assert!(!destroys(&plan));
}

/// A person lowers, raises or deletes a quota.
#[test]
fn a_quota_changed_by_hand_costs_no_pod() {
    let printed = |quotas: &str| {
        let plan = plan(&story::parse(&format!(
            "
            settings resources=cpu,memory
            node n1 cpu=8
            queue a,b request=all
            {quotas}
            pod a,b/p1..2 cpu=2 node=n1
            "
        )));
        assert!(!destroys(&plan), "{quotas}");
        let writes = plan.quota_writes().map(|(name, write)| {
            format!("{} {}", name.namespace, write.hard.get(&Resource::Cpu).unwrap().units())
        });
        writes.collect::<Vec<_>>()
    };
    assert_eq!(printed("quota a cpu=4\nquota b cpu=4"), [""; 0]);
    assert_eq!(printed("quota a cpu=0\nquota b cpu=4"), ["a 4000"]);
    assert_eq!(printed("quota a cpu=400\nquota b cpu=4"), ["a 4000"]);
    assert_eq!(printed("quota b cpu=4"), ["a 4000"]);
    assert_eq!(printed(""), ["a 4000", "b 4000"]);
}

/// While a quota is open by hand, pods that come in through it are not evicted before it is shut.
#[test]
fn what_came_in_through_an_open_quota_waits_for_it_to_be_shut() {
    let crowd = |quota: &str| {
        plan(&story::parse(&format!(
            "
            node n1 cpu=8
            queue a,b request=all
            {quota}
            quota b cpu=4
            pod a/p1..3 cpu=2 node=n1
            pod b/p1 cpu=2 node=n1
            pod b/p2 cpu=2
            "
        )))
    };
    for open in ["quota a cpu=400", "quota a cpu=4 enforced=cpu:400", ""] {
        let plan = crowd(open);
        assert_eq!((plan.evictions.len(), plan.waiting.len()), (0, 1), "{open}");
    }
    assert_eq!(crowd("quota a cpu=4").evictions.len(), 1);
}

#[test]
fn pods_that_hang_are_named_and_hold_what_they_hold() {
    let story = |deadline: u32| {
        story::parse(&format!(
            "
            settings resources=cpu,memory
            node n1 cpu=4
            queue a,b request=all
            quota a cpu=2
            quota b cpu=0
            pod a/p1 cpu=2 node=n1
            pod a/p2 cpu=2 node=n1 terminating={deadline}
            "
        ))
    };
    let (recent, old) = (plan(&story(941)), plan(&story(940)));
    assert_eq!((recent.overdue.len(), old.overdue.len()), (0, 1));
    assert_eq!(recent.queues[&queue("b")].starved, Some(ShortReason::WaitingForPreemption));
    assert_eq!(recent.next_change.map(|at| at.millis_since(Timestamp::from_seconds(0))), Some(1_001_000));
    // It is not replaced by another victim, and what it holds is given to no queue.
    assert_eq!(old.queues[&queue("b")].starved, Some(ShortReason::StuckTerminating));
    assert!(!destroys(&old));
    assert_eq!(old.quota_writes().count(), 0);
    assert_eq!(old.overdue[0].name.as_str(), "p2");
}

/// The cpu that `a` claims is granted and its pods have no room for all of it. What `a` lacks is memory, which a pod that hangs
/// holds.
#[test]
fn what_is_granted_without_room_is_no_reason_for_what_is_lacking() {
    let plan = plan(&story::parse(
        "
        settings resources=cpu,memory
        node n1 cpu=4 memory=8Gi
        queue a weight=3 request=cpu:3
        queue b lastReplica=Never
        quota a cpu=3 memory=2Gi
        quota b cpu=1 memory=2Gi
        owner a/web replicas=1 cpu=500m memory=4Gi
        owner b/db replicas=1 cpu=2 memory=2Gi
        pod b/db-1 cpu=2 memory=2Gi node=n1 started=10 owner=db
        pod b/old cpu=0 memory=4Gi node=n1 terminating=900
        ",
    ));
    let short = &plan.queues[&queue("a")];
    assert_eq!(short.starved, Some(ShortReason::StuckTerminating), "{}", story::print(1, &plan, &[]));
}

#[test]
fn a_quota_of_others_is_told_where_it_is_tighter() {
    let printed = |spec: &str| {
        let scenario = format!("node n1 cpu=8 memory=8Gi\nqueue a {spec}\nforeign-quota a cpu=2");
        let plan = plan(&story::parse(&scenario));
        let queue = &plan.queues[&queue("a")];
        (
            queue.deserved.get(&Resource::Cpu).units(),
            queue.foreign_limit.get(&Resource::Cpu).map(Amount::units),
        )
    };
    assert_eq!(printed("request=all"), (2000, Some(2000)));
    assert_eq!(printed("request=cpu:4"), (2000, Some(2000)));
    assert_eq!(printed("request=cpu:1"), (1000, None));
    assert_eq!(printed("request=all limit=cpu:1"), (1000, None));
}

/// What a person writes into a status lasts no longer than what really happened would.
#[test]
fn a_status_that_lies_is_believed_for_half_a_minute() {
    let mut snapshot = story::parse(
        "
        node n1 cpu=8
        queue a
        queue b request=all
        pod a/p1 cpu=1 node=n1
        ",
    );
    let future = Timestamp::from_seconds(1_000_000);
    let demand: Amounts = [(Resource::Cpu, Amount::new(8000))].into_iter().collect();
    let state = Arc::make_mut(snapshot.namespaces.get_mut(&"a".into()).unwrap());
    let remembered = &mut state.queues[0].remembered;
    remembered.falling = demand.resources().map(|resource| (resource.clone(), future)).collect();
    remembered.demand = demand;
    remembered.short_since = Some(future);
    let asked = |snapshot: &Snapshot| {
        let queue = plan(snapshot).queues[&queue("a")].clone();
        (queue.demand.get(&Resource::Cpu).units(), queue.remember)
    };
    let (before, remember) = asked(&snapshot);
    assert_eq!((before, plan(&snapshot).next_change), (8000, Some(Timestamp::from_seconds(1030))));
    Arc::make_mut(snapshot.namespaces.get_mut(&"a".into()).unwrap()).queues[0].remembered = remember;
    snapshot.now = Timestamp::from_seconds(1030);
    assert_eq!(asked(&snapshot).0, 1000);
}

fn stalled(scenario: &str) -> Option<(StallReason, String)> {
    let stall = plan(&story::parse(scenario)).stalled.remove(&queue("a"))?;
    Some((stall.reason, stall.message.to_string()))
}

#[test]
fn a_namespace_of_kueue_is_refused_and_the_others_go_on() {
    let labeled = "namespace a kueue.openshift.io/managed=true";
    let pods = "pod a/p1 cpu=1 node=n1 labels=kueue.x-k8s.io/queue-name:main";
    for sign in [labeled, pods] {
        let scenario = format!("node n1 cpu=4\nqueue a request=all\nqueue b request=all\n{sign}");
        let (reason, message) = stalled(&scenario).unwrap();
        assert_eq!(reason, StallReason::ManagedByKueue);
        assert!(message.contains("kueue") && message.contains("delete this Queue"), "{message}");
        let plan = plan(&story::parse(&scenario));
        let free = if sign == pods { 3000 } else { 4000 };
        assert_eq!(plan.queues[&queue("b")].deserved.get(&Resource::Cpu), Amount::new(free));
    }
    assert_eq!(
        stalled("node n1 cpu=4\nqueue a request=all\nnamespace a kueue.openshift.io/managed=false"),
        None
    );
}

/// A tenant's label is no way out of a quota.
#[test]
fn a_label_of_a_tenant_ends_no_share() {
    let governed = "node n1 cpu=4\nqueue a request=all\nquota a cpu=4";
    let pod = "pod a/p1 cpu=1 node=n1 labels=kueue.x-k8s.io/queue-name:main";
    assert_eq!(stalled(&format!("{governed}\n{pod}")), None);
    let by_administrator = format!("{governed}\nnamespace a kueue.openshift.io/managed=true");
    assert_eq!(stalled(&by_administrator).map(|(reason, _)| reason), Some(StallReason::ManagedByKueue));
}

proptest! {
    #![proptest_config(effort::cases(1500))]

    #[test]
    fn while_it_is_held_nothing_is_lowered_and_no_pod_goes(snapshot in random::cluster(6)) {
        let snapshot = held(&snapshot);
        let plan = plan(&snapshot);
        prop_assert!(!destroys(&plan));
        for (name, write) in plan.quota_writes() {
            let state = &snapshot.namespaces[&name.namespace];
            for (resource, standing) in state.quota.iter().flat_map(|quota| quota.hard.iter()) {
                prop_assert!(write.hard.get(resource) >= Some(standing), "{} {}", name, resource);
            }
            prop_assert!(state.quota.is_none() || !write.lowers);
        }
        for resource in &plan.resources {
            let hold = |with_grants: bool| leaves(&plan).map(|(name, queue)| {
                let state = &snapshot.namespaces[&name.namespace];
                let ceiling = state.quota.as_ref().map(|quota| quota.ceiling(resource)).unwrap_or_default();
                let charged = |pods: &dyn Fn(&Pod) -> bool| -> Amount {
                    let charged = state.pods.iter().filter(|pod| pod.is_charged() && pods(pod));
                    charged.map(|pod| pod.requests().get(resource)).sum()
                };
                // What a quota allows above the target is a loan, which takes nothing from other queues' targets, and a pod
                // that no node could run holds nothing that others could use.
                let target = queue.target.get(resource);
                let hold = ceiling.min(target).max(charged(&|pod| pod.node.is_some() || snapshot.could_run(&pod.shape)));
                let granted = queue.allocated.get(resource).min(target);
                if with_grants && granted > charged(&|_| true) { hold.max(granted) } else { hold }
            }).sum::<Amount>();
            prop_assert!(hold(true) <= hold(false).max(plan.capacity.get(resource)), "{resource}\n{}\n{}", history::describe(&snapshot), story::print(1, &plan, &[]));
        }
        for queue in plan.queues.values().filter(|queue| !queue.is_parent && queue.starved.is_some()) {
            prop_assert_eq!(queue.starved, Some(ShortReason::CapacityUntrusted));
        }
    }

    /// Holding takes nothing from what is known: shares are as they would be.
    #[test]
    fn shares_are_the_same_whether_it_is_held_or_not(snapshot in random::cluster(6)) {
        let (free, held) = (plan(&snapshot), plan(&held(&snapshot)));
        prop_assert_eq!(&free.capacity, &held.capacity);
        for (name, queue) in &free.queues {
            prop_assert_eq!(&queue.demand, &held.queues[name].demand);
            prop_assert_eq!(&queue.nominal, &held.queues[name].nominal);
        }
    }
}
