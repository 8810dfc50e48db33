//! Annotations that a tenant forges: whatever its pods say of their gangs, other queues get their shares.

use quotient_engine::names::QueueName;
use quotient_engine::planner::plan;

use crate::story::parse;

fn queue(name: &str) -> QueueName {
    QueueName::new(name, name)
}

/// Eight pods of one queue hold everything, each as a member of a gang with this minimum; together, or each of a gang of its own.
fn evicted_for(minimum: &str, is_one: bool) -> usize {
    let gang = |number: usize| if is_one { "all".to_owned() } else { format!("gang-{number}") };
    let pods =
        (0..8).map(|number| format!("pod a/p{number} cpu=1 node=n1 gang={} min={minimum}\n", gang(number)));
    let snapshot = parse(&format!(
        "
        node n1 cpu=8
        queue a
        queue b request=all
        quota a cpu=4
        quota b cpu=0
        owner b/web cpu=1 replicas=4
        {}",
        pods.collect::<String>()
    ));
    let plan = plan(&snapshot);
    assert_eq!(plan.queues[&queue("b")].deserved.to_string(), "cpu 4", "{minimum}");
    plan.evictions
        .iter()
        .chain(&plan.waiting)
        .filter(|eviction| eviction.beneficiary == Some(queue("b")))
        .count()
}

#[test]
fn gangs_of_any_size_keep_nothing_from_others() {
    for minimum in ["0", "1", "2", "7", "8", "9", "1000000", "4294967295"] {
        for is_one in [true, false] {
            let evicted = evicted_for(minimum, is_one);
            assert!((4..=8).contains(&evicted), "{minimum} {is_one}: {evicted}");
        }
    }
}
