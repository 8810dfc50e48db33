//! Terminating pods that are evicted again with less grace, as stories.

use expect_test::expect;
use quotient_engine::planner::plan;

use crate::story::{explains, parse};

/// Pods of `a`, which uses twice its share, end at their deadlines; `b` needs the room.
fn slow(pods: &str, rules: &str) -> String {
    format!(
        "now 1000
         node n1 cpu=8
         queue a request=all {rules}
         queue b request=cpu:4
         quota a cpu=4
         quota b cpu=0
         owner b/web replicas=4 cpu=1
         {pods}"
    )
}

/// Something else deleted four pods of eight; two of them may take eighteen hours, and one is gone soon anyway.
#[test]
fn a_longer_grace_than_the_queue_allows_is_cut_where_another_queue_needs_the_room() {
    let pods = "pod a/hours-1 cpu=1 node=n1 started=10 owner=w terminating=65800
                pod a/hours-2 cpu=1 node=n1 started=10 owner=w terminating=65700
                pod a/minutes cpu=2 node=n1 started=10 owner=w terminating=1600
                pod a/stays cpu=4 node=n1 started=10 owner=w";
    explains(&slow(pods, ""), &expect!["evict a/hours-2..1 again for b, with 600 s"]);
}

/// Room that is there soon is waited for, and so is a victim that is evicted anyway.
#[test]
fn no_more_of_them_are_evicted_again_than_needed() {
    let pods = "pod a/hours-1 cpu=3 node=n1 started=10 owner=w terminating=65800
                pod a/hours-2 cpu=3 node=n1 started=10 owner=w terminating=65700
                pod a/minutes cpu=2 node=n1 started=10 owner=w terminating=1600";
    explains(&slow(pods, "maxGrace=600"), &expect!["evict a/hours-2 again for b, with 600 s"]);
}

#[test]
fn nothing_is_evicted_again_without_need_or_against_a_rule() {
    let pods = "pod a/hours cpu=4 node=n1 started=10 owner=w terminating=65800
                pod a/stays cpu=4 node=n1 started=10 owner=w";
    let again = |scenario: &str| {
        let plan = plan(&parse(scenario));
        plan.shortened
            .iter()
            .map(|again| (again.pod.name.to_string(), again.grace_seconds))
            .collect::<Vec<_>>()
    };
    let asked = |grace| vec![("hours".to_owned(), Some(grace))];
    assert_eq!(again(&slow(pods, "")), asked(600));
    assert_eq!(again(&slow(pods, "maxGrace=60")), asked(60));
    // The deadline that the API server then sets is never later than that.
    assert_eq!(again(&slow(&pods.replace("65800", "1600"), "")), []);
    assert_eq!(again(&slow(pods, "maxGrace=64800")), []);
    // The queue is within its share, or its pods are never evicted.
    assert_eq!(again(&slow(pods, "guaranteed=cpu:8")), []);
    assert_eq!(again(&slow(pods, "eviction=Never")), []);
    assert_eq!(again(&slow(&pods.replace("owner=w ", "mirror "), "")), []);
    // The other queue lacks nothing, waits first, or may take nothing there.
    let other = |rules: &str| slow(pods, "").replace("queue b request=cpu:4", &format!("queue b {rules}"));
    assert_eq!(again(&other("").replace("owner b/web replicas=4 cpu=1", "")), []);
    assert_eq!(again(&other("request=cpu:4 after=60")), []);
    assert_eq!(again(&other("request=cpu:4 from=None")), []);
    // Until the lowered quota is in force, a pod that ends makes room for another of its queue.
    assert_eq!(again(&slow(pods, "").replace("quota a cpu=4", "quota a cpu=8")), []);
}
