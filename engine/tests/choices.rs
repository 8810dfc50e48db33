//! No more victims than are needed, the right ones, and the same ones while some of them are on their way.
//!
//! These stories were found by random histories. A test that is ignored tells of a rule that does not hold yet.

mod story;

use quotient_engine::advance::settle;

/// The victims of `scenario` with its quotas settled, each as pod and beneficiary, in order of their names.
fn victims(scenario: &str) -> Vec<String> {
    let (_, plan) = settle(&story::parse(scenario));
    let mut victims: Vec<String> = (plan.evictions.iter().chain(&plan.waiting))
        .map(|eviction| {
            let whom = eviction.beneficiary.as_ref().map_or("nobody", |queue| queue.namespace.as_str());
            format!("{} for {whom}", eviction.pod.uid)
        })
        .collect();
    victims.sort();
    victims
}

/// The same where `pod` is on its way out already.
fn victims_while_leaving(scenario: &str, pod: &str) -> Vec<String> {
    let leaves = |line: &str| line.split_whitespace().nth(1) == Some(pod);
    let lines = scenario
        .lines()
        .map(|line| if leaves(line) { format!("{line} terminating") } else { line.to_owned() });
    victims(&lines.collect::<Vec<_>>().join("\n"))
}

#[test]
#[ignore = "broken: trade_down gives the preferred one of two equal victims back"]
fn of_equal_victims_the_newest_goes() {
    let story = "node n1 cpu=5 memory=9Gi
         queue a
         queue b request=cpu:3,memory:1Gi guaranteed=cpu:3
         quota a cpu=5 memory=8Gi
         pod a/oldest cpu=2 memory=1Gi node=n1 started=10
         pod a/newest cpu=2 memory=1Gi node=n1 started=20
         pod a/small cpu=1 memory=1Gi node=n1 started=5";
    assert_eq!(victims(story), ["a/newest for b", "a/small for b"]);
}

/// Four are held above a share of one and only one too many for the cluster: either three go, or one does.
#[test]
#[ignore = "broken: all overuse goes while the cluster is exceeded, and none once one victim is on its way"]
fn where_the_cluster_is_exceeded_a_victim_on_its_way_changes_no_other() {
    let story = "node n1 cpu=8 memory=8Gi
         queue a request=cpu:1,memory:4Gi
         queue b request=cpu:5,memory:4Gi
         quota b cpu=5 memory=4Gi
         pod a/p1 cpu=1 memory=1Gi node=n1 started=10
         pod a/p2 cpu=1 memory=1Gi node=n1 started=20
         pod a/p3 cpu=1 memory=1Gi node=n1 started=30
         pod a/p4 cpu=1 memory=1Gi node=n1 started=40";
    let mut all = victims(story);
    assert_eq!(all.pop().as_deref(), Some("a/p4 for nobody"));
    assert_eq!(victims_while_leaving(story, "a/p4"), all);
}

#[test]
#[ignore = "broken: fewest_of_many measures in parts of what is asked for, which shrinks as victims go"]
fn where_two_resources_are_short_a_victim_on_its_way_changes_no_other() {
    let story = "node n1 cpu=9 memory=6644Mi
         queue a request=cpu:8,memory:4496Mi
         queue b request=cpu:1,memory:2148Mi
         pod a/cpu-1 cpu=1500m memory=100Mi node=n1 started=10
         pod a/cpu-2 cpu=1500m memory=100Mi node=n1 started=10
         pod a/cpu-3 cpu=1500m memory=100Mi node=n1 started=10
         pod a/cpu-4 cpu=1500m memory=100Mi node=n1 started=10
         pod a/cpu-5 cpu=1500m memory=100Mi node=n1 started=10
         pod a/mem-1 cpu=500m memory=2Gi node=n1 started=20
         pod a/mem-2 cpu=500m memory=2Gi node=n1 started=20
         pod a/mem-3 cpu=500m memory=2Gi node=n1 started=20";
    assert_eq!(victims(story), ["a/mem-2 for b", "a/mem-3 for b"]);
    assert_eq!(victims_while_leaving(story, "a/mem-3"), ["a/mem-2 for b"]);
}

/// The queue's own limit takes a big pod, which suffices for the limit above it as well.
#[test]
#[ignore = "broken: what an inner scope took is not dropped when the next one suffices for both"]
fn a_victim_of_one_limit_counts_for_the_other() {
    let story = "node n1 cpu=9 memory=9Gi
         queue org children=All limit=cpu:7500m
         queue a parent=org limit=cpu:5500m
         pod a/big-1 cpu=2500m memory=1Gi node=n1 started=10 priority=1
         pod a/big-2 cpu=2500m memory=1Gi node=n1 started=20 priority=1
         pod a/big-3 cpu=2500m memory=1Gi node=n1 started=30 priority=1
         pod a/small cpu=500m memory=1Gi node=n1 started=20";
    assert_eq!(victims(story), ["a/big-3 for nobody"]);
}

/// The memory has to come from `a` as well, and its pod frees a cpu with it: four of `b` suffice.
#[test]
#[ignore = "broken: what one queue gave is not dropped when another's pods free the same again"]
fn a_victim_of_one_queue_counts_for_what_was_taken_from_another() {
    let story = "node n1 cpu=6 memory=6Gi
         queue a request=cpu:0,memory:0
         queue b request=cpu:0,memory:4608Mi
         queue c request=cpu:5,memory:1536Mi
         pod a/p1 cpu=1 memory=1Gi node=n1 started=10
         pod b/p1 cpu=1 memory=1Gi node=n1 started=10
         pod b/p2 cpu=1 memory=1Gi node=n1 started=20
         pod b/p3 cpu=1 memory=1Gi node=n1 started=30
         pod b/p4 cpu=1 memory=1Gi node=n1 started=40
         pod b/p5 cpu=1 memory=1Gi node=n1 started=50";
    assert_eq!(victims(story), ["a/p1 for c", "b/p2 for c", "b/p3 for c", "b/p4 for c", "b/p5 for c"]);
}

/// `a` is above its limit of cpu and short of memory: what it loses for the one does not go for the other.
#[test]
#[ignore = "broken: whoever is short of anything that a victim holds is named as its beneficiary"]
fn nobody_loses_a_pod_for_itself() {
    let story = "node n1 cpu=4 memory=4Gi
         queue a limit=cpu:1
         queue b request=cpu:1,memory:1Gi
         pod a/p1 cpu=1 memory=300Mi node=n1 started=10
         pod a/p2 cpu=1 memory=300Mi node=n1 started=20
         pod a/p3 cpu=1 memory=300Mi node=n1 started=30
         pod b/p1 cpu=1 memory=3Gi node=n1 started=10";
    assert_eq!(victims(story), ["a/p2 for nobody", "a/p3 for nobody", "b/p1 for a"]);
}
