//! An example of the documents that Quotient implements, in other shapes. As they are, `cli/src/tests/seeds.rs` plays them.

use crate::story;

/// Whatever the pods of the example belong to, the shares are its own, and no more pods go than two.
#[test]
fn s_preempt_a_third_queue_joins_with_deployments_of_any_shape() {
    let singles = |queue: &str, cpus: usize| {
        format!(
            "owner {queue}/all replicas={cpus} cpu=1 memory=1Gi
             pod {queue}/pod-1..{cpus} cpu=1 memory=1Gi node=n1 started=10 owner=all"
        )
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
