//! What pods request of resources that nothing offers makes no decision slow, and changes none.

use std::sync::Arc;
use std::time::Duration;

use quotient_engine::amounts::{Amount, Amounts, Resource};
use quotient_engine::plan::Plan;
use quotient_engine::planner::plan;
use quotient_engine::reasons::ShortReason;
use quotient_engine::snapshot::{LeftOut, Owner, Pod, Shape, Snapshot};

use crate::hostile::time;
use crate::story::parse;

/// As many resources as the index keeps of a pod.
const NAMES: usize = 62;

/// `pods` pods and half as many owners of a, each of which requests `names` resources that nothing else names.
fn invented(pods: usize, names: usize) -> Snapshot {
    let mut snapshot = parse(
        "node n1 cpu=64 memory=64Gi gpu=4
         queue a,b
         quota a,b cpu=32 memory=32Gi gpu=2
         pod b/p1 cpu=1 memory=1Gi gpu=1 node=n1 started=10
         owner b/web replicas=40 cpu=1 memory=1Gi
         owner a/web replicas=2 cpu=1 memory=1Gi
         pod a/p cpu=1 memory=1Gi gpu=1 pending created=990 stuck=995",
    );
    let state = Arc::make_mut(snapshot.namespaces.get_mut(&"a".into()).unwrap());
    let (pod, owner) = (state.pods[0].clone(), state.owners[0].clone());
    let shape = |of: &str, at: usize| {
        let more =
            (0..names).map(|name| (Resource::from_name(&format!("{of}.org/r{at}-{name}")), Amount::new(1)));
        let requests: Amounts =
            pod.requests().iter().map(|(one, amount)| (one.clone(), amount)).chain(more).collect();
        Arc::new(Shape { requests, ..Shape::default() })
    };
    for at in 0..pods {
        let name = format!("p{at}");
        state.pods.push(Pod {
            name: name.as_str().into(),
            uid: name.as_str().into(),
            shape: shape("pod", at),
            ..pod.clone()
        });
    }
    for at in 0..pods / 2 {
        let name = format!("o{at}");
        state.owners.push(Owner {
            name: name.as_str().into(),
            uid: name.as_str().into(),
            shape: shape("owner", at),
            ..owner.clone()
        });
    }
    snapshot
}

/// Before, the time of a plan grew as the square of the names: the larger one took minutes.
#[test]
fn a_plan_takes_as_long_as_there_are_pods_whatever_they_name() {
    let clusters = [invented(1_000, NAMES), invented(2_000, NAMES), invented(2_000, 0)];
    let mut times = [Duration::MAX; 3];
    // All are tried in turn, because a neighbor on the machine takes caches from whichever runs beside it.
    for _ in 0..10 {
        for (time_so_far, snapshot) in times.iter_mut().zip(&clusters) {
            *time_so_far = (*time_so_far).min(time(snapshot, 1));
        }
        let [half, whole, plain] = times;
        let most = half.mul_f64(2.3) + Duration::from_millis(50);
        if whole <= most && whole <= plain.mul_f64(2.0) + Duration::from_millis(200) {
            return;
        }
    }
    panic!("one half, all, and all without invented names: {times:?}");
}

/// The same plan as if none were named, but for what the pods themselves are told.
#[test]
fn names_that_nothing_offers_change_nothing_but_that_the_pods_cannot_run() {
    let printed = |mut plan: Plan| {
        for queue in plan.queues.values_mut() {
            for unmet in &mut queue.unmet {
                unmet.left_out = LeftOut::default();
            }
        }
        plan
    };
    let without = |snapshot: &Snapshot| {
        let mut narrow = snapshot.clone();
        let state = Arc::make_mut(narrow.namespaces.get_mut(&"a".into()).unwrap());
        let strip = |shape: &Arc<Shape>| {
            let is_real = |one: &Resource| !one.name().contains(".org");
            let real = shape.requests.iter().filter(|(one, _)| is_real(one));
            let requests: Amounts = real.map(|(one, amount)| (one.clone(), amount)).collect();
            let left_out = LeftOut { resources: u32::from(requests != shape.requests), first: None };
            Arc::new(Shape { requests, left_out, ..(**shape).clone() })
        };
        state.pods.iter_mut().for_each(|pod| pod.shape = strip(&pod.shape));
        state.owners.iter_mut().for_each(|owner| owner.shape = strip(&owner.shape));
        narrow
    };
    for pods in [0, 1, 9] {
        let snapshot = invented(pods, 3);
        assert_eq!(printed(plan(&snapshot)), printed(plan(&without(&snapshot))), "{pods} pods");
    }
}

/// Which resources count is known once everything is: a device that a node brings later counts from then on.
#[test]
fn a_name_counts_as_soon_as_a_node_offers_it() {
    let cluster = "node n1 cpu=8 memory=8Gi
         queue a
         pod a/p cpu=1 memory=1Gi example.org/fpga=1 pending created=990 stuck=995";
    let unmet = |scenario: &str| {
        let plan = plan(&parse(scenario));
        let queue = plan.queues.values().next().unwrap().clone();
        (queue.used.get(&Resource::from_name("example.org/fpga")), queue.unmet[0].clone())
    };
    let (used, one) = unmet(cluster);
    assert_eq!((used, one.reason, one.left_out.resources), (Amount::ZERO, ShortReason::NoNodeFits, 1));
    assert_eq!(one.left_out.first, Some(Resource::from_name("example.org/fpga")));
    let with_node = [cluster, "\nnode n2 cpu=1 memory=1Gi example.org/fpga=2"].concat();
    let (used, one) = unmet(&with_node);
    assert_eq!((used, one.reason, one.left_out.resources), (Amount::new(1), ShortReason::RoomAvailable, 0));
    // Where others are governed, what nodes offer still decides where a pod may run.
    let governed = [&with_node, "\nsettings resources=cpu"].concat();
    assert_eq!(unmet(&governed).1.reason, ShortReason::RoomAvailable);
    let governed = [cluster, "\nsettings resources=cpu"].concat();
    assert_eq!(unmet(&governed).1.reason, ShortReason::NoNodeFits);
}
