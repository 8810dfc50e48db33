//! The examples of the five documents that Quotient implements, number for number.

use expect_test::expect;

use crate::story::{self, plays};

#[test]
fn s_queue_two_queues_share_by_weight() {
    plays(
        "node n1 cpu=6 memory=15Gi
         node n2 cpu=3 memory=12Gi
         queue q1 weight=2 request=cpu:5,memory:10Gi
         queue q2 weight=4 request=cpu:10,memory:20Gi",
        &expect![[r#"
            step 1: capacity 9c 27Gi
              q1: deserved 3c 9Gi, allocated 3c 9Gi, used 0c 0
              q2: deserved 6c 18Gi, allocated 6c 18Gi, used 0c 0
        "#]],
    );
}

#[test]
fn s_preempt_preprocess_brings_an_overused_queue_back() {
    plays(
        "node n1 cpu=9 memory=27Gi
         queue q1 weight=2 request=all
         queue q2 weight=4 request=all
         quota q1 cpu=3 memory=9Gi
         quota q2 cpu=6 memory=18Gi
         pod q1/pod-1 cpu=2 memory=1Gi pending
         pod q1/pod-2 cpu=2 memory=1Gi node=n1 started=10
         pod q1/pod-3 cpu=1 memory=1Gi node=n1 started=20
         pod q2/pod-1..2 cpu=2 memory=1Gi node=n1 started=10
         pod q2/pod-3 cpu=1 memory=1Gi node=n1 started=10",
        &expect![[r#"
            step 1: capacity 9c 27Gi
              q1: deserved 3c 9Gi, allocated 3c 9Gi, used 5c 3Gi
              q2: deserved 6c 18Gi, allocated 6c 18Gi, used 5c 3Gi
              evict q1/pod-1 for q2: Reclaimed
            step 2: capacity 9c 27Gi
              q1: deserved 3c 9Gi, allocated 3c 9Gi, used 3c 2Gi
        "#]],
    );
}

#[test]
fn s_preempt_a_third_queue_joins() {
    plays(
        "node n1 cpu=9 memory=27Gi
         queue q1 weight=2 request=all
         queue q2 weight=4 request=all
         queue q3 weight=3 request=all
         quota q1 cpu=3 memory=9Gi
         quota q2 cpu=6 memory=18Gi
         pod q1/pod-2 cpu=2 memory=1Gi node=n1 started=10
         pod q1/pod-3 cpu=1 memory=1Gi node=n1 started=10
         pod q2/pod-1..2 cpu=2 memory=1Gi node=n1 started=10
         pod q2/pod-3 cpu=1 memory=1Gi node=n1 started=10",
        &expect![[r#"
            step 1: capacity 9c 27Gi
              q1: deserved 2c 6Gi, allocated 2c 6Gi, used 3c 2Gi
              q2: deserved 4c 12Gi, allocated 4c 12Gi, used 5c 3Gi
              q3: deserved 3c 9Gi, allocated 1c 9Gi, used 0c 0, preempting 2c 0 (WaitingForPreemption)
              evict q1/pod-3 for q3: Reclaimed
              evict q2/pod-3 for q3: Reclaimed
            step 2: capacity 9c 27Gi
              q1: deserved 2c 6Gi, allocated 2c 6Gi, used 2c 1Gi
              q2: deserved 4c 12Gi, allocated 4c 12Gi, used 4c 2Gi
              q3: deserved 3c 9Gi, allocated 3c 9Gi, used 0c 0
        "#]],
    );
}

/// Whatever the pods of the example belong to, the shares are its own, and no more pods go than two.
#[test]
fn s_preempt_a_third_queue_joins_with_deployments_of_any_shape() {
    let singles = |queue: &str, cpus: usize| {
        let pods = (0..cpus)
            .map(|at| format!("pod {queue}/pod-{at} cpu=1 memory=1Gi node=n1 started=10 owner=all\n"));
        format!("owner {queue}/all replicas={cpus} cpu=1 memory=1Gi\n{}", pods.collect::<String>())
    };
    let first = [
        "owner q1/two replicas=1 cpu=2 memory=1Gi\n owner q1/one replicas=1 cpu=1 memory=1Gi
         pod q1/pod-2 cpu=2 memory=1Gi node=n1 started=10 owner=two
         pod q1/pod-3 cpu=1 memory=1Gi node=n1 started=10 owner=one"
            .to_owned(),
        singles("q1", 3),
    ];
    let second = [
        "owner q2/two replicas=2 cpu=2 memory=1Gi\n owner q2/one replicas=1 cpu=1 memory=1Gi
         pod q2/pod-1..2 cpu=2 memory=1Gi node=n1 started=10 owner=two
         pod q2/pod-3 cpu=1 memory=1Gi node=n1 started=10 owner=one"
            .to_owned(),
        singles("q2", 5),
    ];
    let third = [
        "owner q3/three replicas=1 cpu=3 memory=1Gi",
        "owner q3/one replicas=3 cpu=1 memory=1Gi",
        "owner q3/two replicas=1 cpu=2 memory=1Gi\n owner q3/one replicas=1 cpu=1 memory=1Gi",
    ];
    for first in &first {
        for second in &second {
            for third in third {
                let printed = story::play(&format!(
                    "node n1 cpu=9 memory=27Gi
                     queue q1 weight=2
                     queue q2 weight=4
                     queue q3 weight=3
                     quota q1 cpu=3 memory=9Gi
                     quota q2 cpu=6 memory=18Gi
                     {first}\n{second}\n{third}"
                ));
                let (start, _) = printed.split_once("step 2").unwrap();
                for share in ["q1: deserved 2c", "q2: deserved 4c", "q3: deserved 3c"] {
                    assert!(start.contains(share), "{share} of\n{printed}");
                }
                assert!(printed.matches("evict ").count() <= 2, "{printed}");
                let last = printed.lines().rfind(|line| line.contains("q3: ")).unwrap();
                assert!(last.contains("used 3c"), "{printed}");
            }
        }
    }
}
