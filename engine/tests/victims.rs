//! Which pods are evicted, as stories. Numbers are points of S-HARDEN.

use expect_test::expect;
use quotient_advance::settle;
use quotient_engine::amounts::{Amount, Amounts, Resource};

use crate::story::full::reclaims;
use crate::story::{explains, parse};

#[test]
fn a_mirror_pod_is_never_a_victim() {
    reclaims(
        "fixed=cpu:2",
        "static cpu=3 mirror; plain",
        "b: deserved 2c, allocated 0c, used 0c, preempting 1c (NothingToEvict), lacks 2c; plain; static kept: MirrorPod",
    );
}

#[test]
fn a_system_critical_deployment_on_borrowed_room_yields_to_a_guarantee() {
    explains(
        "node n1 cpu=8 memory=8Gi
         queue a
         queue b guaranteed=cpu:5
         owner a/web replicas=8 cpu=1 memory=1Gi priority=2000000000 pods=web-1..8 node=n1 started=1+1
         owner b/train kind=Job replicas=5 cpu=1 memory=1Gi",
        &expect!["evict a/web-8..4 for b: Reclaimed"],
    );
}

#[test]
fn a_daemon_set_on_borrowed_room_yields_to_a_guarantee_after_other_pods() {
    explains(
        "node n1..2 cpu=4 memory=4Gi
         queue a
         queue b guaranteed=cpu:5
         owner a/agent kind=DaemonSet replicas=2 cpu=2 memory=1Gi
         pod a/agent-1..2 cpu=2 memory=1Gi node=n1+1 owner=agent daemonset started=8+1 priority=-1
         owner a/web replicas=4 cpu=1 memory=1Gi
         pod a/web-1..2 cpu=1 memory=1Gi node=n1 owner=web started=1+1
         pod a/web-3..4 cpu=1 memory=1Gi node=n2 owner=web started=3+1
         owner b/train kind=Job replicas=5 cpu=1 memory=1Gi",
        &expect![[r#"
            evict a/web-4..2 for b: Reclaimed
            evict a/agent-2 for b: Reclaimed
        "#]],
    );
}

#[test]
fn as_few_pods_go_as_possible_then_those_with_less_excess() {
    reclaims("fixed=cpu:4", "three cpu=3; two-1..2 cpu=2; one-1..3", "two-2..1");
    reclaims("fixed=cpu:1", "old; big cpu=3 started=20; new cpu=2 started=30", "old");
    // No more go than their queue has too much, and than another one is short.
    reclaims("fixed=cpu:4", "node n1 cpu=9; p1..7 started=1+1", "p7..6");
}

#[test]
fn the_rank_is_the_place_among_the_candidates_and_the_workload_what_people_know() {
    let (_, plan) = settle(&parse(
        "node n1 cpu=6
         queue a weight=1
         queue b weight=5 request=cpu:5
         quota a cpu=1
         quota b cpu=0
         owner a/web-7d9 replicas=4 cpu=1 deployment=web
         pod a/old cpu=1 node=n1 started=10 owner=web-7d9
         pod a/middle cpu=1 node=n1 started=20 owner=web-7d9
         pod a/young cpu=1 node=n1 started=30 owner=web-7d9
         pod a/large cpu=2 node=n1 started=25 owner=other
         pod a/bare cpu=1 node=n1 started=40",
    ));
    let printed: Vec<String> = plan
        .evictions
        .iter()
        .map(|eviction| {
            let workload = eviction.workload.as_ref().map(|one| format!("{} {}", one.kind, one.uid));
            format!("{} {} of {}", eviction.rank.unwrap(), eviction.pod.name, workload.unwrap_or_default())
        })
        .collect();
    expect![[r#"
        [
            "1 young of Deployment web",
            "2 middle of Deployment web",
            "3 bare of ",
            "4 large of  other",
        ]
    "#]]
    .assert_debug_eq(&printed);
}

/// A queue that has part of its guarantee left, or has it exactly, gives nothing.
#[test]
fn s24_queues_within_their_guarantee_are_skipped() {
    explains(
        "node n1 cpu=9
         queue below request=cpu:2 guaranteed=cpu:4
         queue at request=cpu:2 guaranteed=cpu:2
         queue a
         queue b fixed=cpu:2
         pod below/p1 cpu=2 node=n1 started=90 owner=w
         pod at/p1 cpu=2 node=n1 started=95 owner=w
         pod a/p1..2 cpu=2 node=n1 started=10+10 owner=w
         pod a/p3 cpu=1 node=n1 started=5 owner=w
         owner b/web replicas=1 cpu=2",
        &expect!["evict a/p2 for b: Reclaimed"],
    );
}

/// One that has exactly what it is guaranteed of something that the ask needs gives nothing of anything.
#[test]
fn s24_a_queue_at_its_guarantee_of_what_is_asked_for_is_skipped() {
    explains(
        "node n1 cpu=8 memory=8Gi
         queue kept weight=0 guaranteed=memory:4Gi request=all
         queue a,b fixed=cpu:2,memory:2Gi
         pod kept/p1..2 cpu=2 memory=2Gi node=n1 started=80+10 owner=w priority=-9
         pod a/p1..2 cpu=2 memory=2Gi node=n1 started=10+10 owner=w
         owner b/web replicas=1 cpu=2 memory=2Gi",
        &expect!["evict a/p2 for b: Reclaimed"],
    );
}

/// With `victimPriority=NotAboveAsk` pods of the ask's own priority may go, and those above it stay.
#[test]
fn s24_equal_priority_goes_and_higher_stays() {
    let asks = |priority: u32| {
        format!(
            "settings victimPriority=NotAboveAsk; p1..2 cpu=2 priority=5; owner b/web cpu=2 priority={priority}"
        )
    };
    reclaims("fixed=cpu:2", &asks(6), "p2");
    reclaims("fixed=cpu:2", &asks(5), "p2");
    reclaims(
        "fixed=cpu:2",
        &asks(4),
        "b: deserved 2c, allocated 0c, used 0c, preempting 0c (Fragmented), lacks 2c; \
         1 pods of ReplicaSet web, 2c each: Fragmented; p1..2 kept: PriorityAboveAsk",
    );
}

/// Every victim is known by its id, its queue and the numbers of that queue.
#[test]
fn s25_a_victim_is_told_with_its_queue_and_numbers() {
    let snapshot = parse(
        "node n1 cpu=4
         queue a maxGrace=7 request=all
         queue b fixed=cpu:2
         pod a/p1..2 cpu=2 node=n1 started=10+10 owner=w priority=3
         owner b/web replicas=1 cpu=2",
    );
    let (_, plan) = settle(&snapshot);
    let [eviction] = plan.evictions.as_slice() else { panic!("{:?}", plan.evictions) };
    assert_eq!((eviction.pod.namespace.as_str(), eviction.pod.name.as_str()), ("a", "p2"));
    assert_eq!(eviction.pod.uid.as_str(), "a/p2");
    assert_eq!(eviction.queue.to_string(), "a/a");
    assert_eq!(eviction.beneficiary.as_ref().unwrap().to_string(), "b/b");
    assert_eq!((eviction.priority, eviction.grace_seconds), (3, Some(7)));
    let cpu = |milli| -> Amounts { [(Resource::Cpu, Amount::new(milli))].into_iter().collect() };
    assert_eq!(eviction.requests, cpu(2000));
    assert_eq!((&*eviction.used, &*eviction.deserved), (&cpu(4000), &cpu(2000)));
}

/// Pods on a cordoned node hold cpu that others were granted, and none can go for it. The queue that only lacks memory gets it.
#[test]
fn a_pod_whose_cpu_is_granted_gets_its_memory_although_cpu_is_short() {
    explains(
        "node n1 cpu=4 memory=8Gi
         node n2 cpu=4 memory=1Gi cordoned
         queue a,c
         queue b request=cpu:4
         quota a,c cpu=3
         quota b cpu=4 memory=8Gi
         pod a/p1..3 cpu=1 node=n2 started=10+10
         owner b/cache replicas=8 cpu=100m memory=1Gi pods=cache-1..8 node=n1 started=10+10
         owner c/web replicas=2 cpu=1 memory=1Gi",
        &expect![[r#"
            evict b/cache-8..7 for c: Reclaimed
            spare a/p1..3: NodeNotCounted
        "#]],
    );
}

/// Of pods of one priority the cheaper to delete goes, and never one that runs a virtual machine.
#[test]
fn the_deletion_cost_comes_after_the_priority_and_machines_stay() {
    reclaims("fixed=cpu:1", "p1; p2 started=20", "p2");
    reclaims("fixed=cpu:1", "p1 cost=-1; p2 started=20", "p1");
    reclaims("fixed=cpu:1", "p1 cost=-1 priority=1; p2 started=20", "p2");
    reclaims("fixed=cpu:1", "p1; p2 started=20 machine", "p1; p2 kept: VirtualMachine");
}
