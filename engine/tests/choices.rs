//! No more victims than are needed, the right ones, and the same ones while some of them are on their way.
//!
//! These stories were found by random histories.

use quotient_advance::{keep, settle};
use quotient_engine::planner::plan;

use crate::story;

/// The victims of `scenario` with its quotas settled, each as pod and beneficiary, in order of their names.
fn victims(scenario: &str) -> Vec<String> {
    let (_, plan) = settle(&story::parse(scenario));
    let mut victims: Vec<String> = (plan.evictions.iter().chain(&plan.waiting))
        .map(|eviction| {
            let gainer = eviction.beneficiary.as_ref().map_or("none", |queue| queue.namespace.as_str());
            format!("{} for {gainer}", eviction.pod.uid)
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
        .map(|line| if leaves(line) { format!("{line} terminating evicted") } else { line.to_owned() });
    victims(&lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn of_equal_victims_the_newest_goes() {
    let story = "node n1 cpu=5 memory=9Gi
         queue a request=all
         queue b fixed=cpu:3,memory:1Gi guaranteed=cpu:3
         quota a cpu=5 memory=8Gi
         pod a/oldest cpu=2 memory=1Gi node=n1 started=10
         pod a/newest cpu=2 memory=1Gi node=n1 started=20
         pod a/small cpu=1 memory=1Gi node=n1 started=5";
    assert_eq!(victims(story), ["a/newest for b", "a/small for b"]);
}

/// Four are held above a share of one and only one too many for the cluster: either three go, or one does.
#[test]
fn where_the_cluster_is_exceeded_a_victim_on_its_way_changes_no_other() {
    let story = "node n1 cpu=8 memory=8Gi
         queue a fixed=cpu:1,memory:4Gi
         queue b fixed=cpu:5,memory:4Gi
         quota b cpu=5 memory=4Gi
         pod a/p1..3 cpu=1 memory=1Gi node=n1 started=10+10
         pod a/p4 cpu=1 memory=1Gi node=n1 started=40";
    let mut all = victims(story);
    assert_eq!(all.pop().as_deref(), Some("a/p4 for b"));
    assert_eq!(victims_while_leaving(story, "a/p4"), all);
}

#[test]
fn where_two_resources_are_short_a_victim_on_its_way_changes_no_other() {
    let story = "node n1 cpu=9 memory=6644Mi
         queue a fixed=cpu:8,memory:4496Mi
         queue b fixed=cpu:1,memory:2148Mi
         pod a/cpu-1..5 cpu=1500m memory=100Mi node=n1 started=10
         pod a/mem-1..2 cpu=500m memory=2Gi node=n1 started=20
         pod a/mem-3 cpu=500m memory=2Gi node=n1 started=20";
    assert_eq!(victims(story), ["a/cpu-5 for b", "a/mem-3 for b"]);
    assert_eq!(victims_while_leaving(story, "a/mem-3"), ["a/cpu-5 for b"]);
}

/// The queue's own limit takes a big pod, which suffices for the limit above it as well.
#[test]
fn a_victim_of_one_limit_counts_for_the_other() {
    let story = "node n1 cpu=9 memory=9Gi
         queue org children=All limit=cpu:7500m
         queue a parent=org limit=cpu:5500m request=all
         pod a/big-1..3 cpu=2500m memory=1Gi node=n1 started=10+10 priority=1
         pod a/small cpu=500m memory=1Gi node=n1 started=20";
    assert_eq!(victims(story), ["a/big-3 for none"]);
}

/// `a` is above its limit of cpu and short of memory: what it loses for the one does not go for the other.
#[test]
fn no_queue_loses_a_pod_for_itself() {
    let story = "node n1 cpu=4 memory=4Gi
         queue a limit=cpu:1 request=all
         queue b fixed=cpu:1,memory:1Gi
         pod a/p1..3 cpu=1 memory=300Mi node=n1 started=10+10
         pod b/p1 cpu=1 memory=3Gi node=n1 started=10";
    assert_eq!(victims(story), ["a/p2 for none", "a/p3 for none", "b/p1 for a"]);
}

/// The budget would rather let `x/p0` go, who is not needed once `y/p2` goes.
#[test]
fn what_a_budget_has_left_helps_another() {
    let story = "node n0 cpu=2 gpu=2
         node n1 cpu=2 gpu=0
         queue b fixed=cpu:2,gpu:2 guaranteed=cpu:2,gpu:2
         queue x
         pod x/keep cpu=0 node=n0 started=1 owner=w priority=99
         queue y
         pod y/keep cpu=0 node=n0 started=1 owner=w priority=99
         budget x/web allowed=1 selects=app:web
         pod x/p0 cpu=1 gpu=0 node=n0 owner=w started=10 labels=app:web gang=g min=2
         pod x/p1 cpu=1 gpu=1 node=n0 owner=w started=11 labels=app:web
         pod y/p2 cpu=2 gpu=0 node=n1 owner=w pending created=12";
    assert_eq!(victims(story), ["x/p1 for b", "y/p2 for b"]);
    assert_eq!(victims_while_leaving(story, "y/p2"), ["x/p1 for b"]);
}

/// `y/p1` is more than its gang needs and goes first; then the gang goes, and takes no pod with it twice.
#[test]
fn what_follows_a_gang_counts_once_in_its_budget() {
    let story = "node n0 cpu=3
         node n1 cpu=4
         queue b fixed=cpu:6 guaranteed=cpu:6
         queue x fixed=cpu:1
         pod x/keep cpu=0 node=n0 started=1 owner=w priority=99
         queue y fixed=cpu:0
         pod y/keep cpu=0 node=n0 started=1 owner=w priority=99
         budget y/web allowed=1 selects=app:web
         pod y/p0 cpu=1 node=n0 owner=w started=10 priority=1 gang=g min=1
         pod y/p1 cpu=2 node=n0 owner=w started=11 labels=app:web gang=g min=1
         pod x/p2 cpu=2 node=n1 owner=w pending created=12
         owner b/train replicas=3 cpu=2";
    assert_eq!(victims(story), ["x/p2 for b", "y/p0 for b", "y/p1 for b"]);
}

/// Two pods find room where `x/p0` goes; then the end of `x/p1`, chosen for the first, frees no room that is needed. For the
/// third `x/p2` would have to be evicted, and `x` would keep nothing of its target.
#[test]
fn no_pod_goes_for_the_quota_of_a_pod_that_finds_no_room() {
    let story = "node n0 cpu=4
         node n1 cpu=5
         queue b fixed=cpu:6 guaranteed=cpu:6
         queue x
         pod x/keep cpu=0 node=n0 started=1 owner=w priority=99
         pod x/p0 cpu=3 node=n1 owner=w started=10
         pod x/p1 cpu=1 node=n1 owner=w pending created=11
         pod x/p2 cpu=3 node=n0 owner=w started=12
         owner b/train replicas=3 cpu=2";
    assert_eq!(victims(story), ["x/p0 for b"]);
}

/// Two pods fit on `n0` beside `x/p1`, but no pod is left of its gang.
#[test]
fn a_whole_gang_that_is_not_needed_stays() {
    let story = "node n0 cpu=5
         node n1 cpu=2
         queue b fixed=cpu:6 guaranteed=cpu:6
         queue x fixed=cpu:1
         pod x/keep cpu=0 node=n0 started=1 owner=w priority=99
         pod x/p0 cpu=3 node=n0 owner=w started=10 do_not_disrupt gang=g2 min=1
         pod x/p1 cpu=1 node=n0 owner=w started=11 gang=g1 min=1
         owner b/train replicas=3 cpu=2";
    assert_eq!(victims(story), ["x/p0 for b"]);
}

/// Only both pods together leave room for the third pod of `b`. Nothing in the ledger says why `x/p1` terminates, so the
/// other one is evicted as well: the third pod is still short of it.
#[test]
fn one_of_two_victims_of_a_place_is_followed_by_the_other() {
    let story = "node n0 cpu=2
         node n1 cpu=3
         node n2 cpu=3
         queue late request=cpu:1 guaranteed=cpu:1 after=600
         queue b fixed=cpu:6 guaranteed=cpu:6
         queue x
         pod x/keep cpu=0 node=n0 started=1 owner=w priority=99
         pod x/p0 cpu=1 node=n1 owner=w pending created=10
         pod x/p1 cpu=1 node=n0 owner=w pending created=11
         pod x/p2 cpu=1 node=n0 owner=w pending created=12
         owner b/train replicas=3 cpu=2";
    assert_eq!(victims(story), ["x/p1 for b", "x/p2 for b"]);
    assert_eq!(victims_while_leaving(story, "x/p1"), ["x/p2 for b"]);
}

/// `y/p2` alone would leave `y` too much, so that `y/p0` might go, too; but the plan that chose `y/p0` and `y/p1` knew that
/// there is no room for a third pod then.
#[test]
fn one_victim_gone_and_the_other_on_its_way_is_enough() {
    let story = "node n0 cpu=3
         node n1 cpu=4
         queue b fixed=cpu:6 guaranteed=cpu:6
         queue y fixed=cpu:1
         pod y/keep cpu=0 node=n0 started=1 owner=w priority=99
         pod y/p0 cpu=2 node=n0 owner=w pending created=10
         pod y/p1 cpu=3 node=n1 owner=w started=11 do_not_disrupt
         pod y/p2 cpu=1 node=n1 owner=w pending created=12
         owner b/train replicas=3 cpu=2";
    assert_eq!(victims(story), ["y/p0 for b", "y/p1 for b"]);
    let without_p1: Vec<&str> = story.lines().filter(|line| !line.contains("y/p1")).collect();
    assert!(victims_while_leaving(&without_p1.join("\n"), "y/p0").is_empty());
}

/// `y` may complete one of its pods with what `x` cannot use: the one of `big`, which goes last. It stays that one while it
/// is on its way out; if it were one of the others, memory would move instead of cpu, and all of `x` would have to go.
#[test]
fn a_pod_on_its_way_out_keeps_its_place_among_whole_shares() {
    let story = "node n0 cpu=12 memory=10Gi
         queue w weight=3 after=1 request=all
         queue x weight=3 parent=org/upper from=Subtree request=all
         queue y weight=1 parent=org/upper request=all
         queue org name=upper weight=3 children=All
         owner x/x replicas=5 cpu=2 memory=512Mi pods=p0..4 node=n0 started=1
         pod y/big cpu=2 memory=512Mi owner=big pending created=1
         owner y/big replicas=1 cpu=2 memory=512Mi
         owner y/wide replicas=2 cpu=500m memory=2Gi pods=wide1..2 pending created=1";
    let deserved = |scenario: &str| {
        let (_, plan) = settle(&story::parse(scenario));
        plan.queues.into_iter().map(|(name, queue)| (name, queue.deserved)).collect::<Vec<_>>()
    };
    let leaving = story.replace("y/big cpu=2", "y/big terminating evicted cpu=2");
    assert_eq!(deserved(story), deserved(&leaving));
}

/// Where one cpu has to go, it is the pod of one cpu that goes, not the newer ones of two: shares are made whole with what
/// would really stay. Otherwise `b` would keep `report` and `search`, not know what to do with its fourth cpu, and `a`
/// would be given it for `batch`.
#[test]
fn whole_shares_keep_what_would_stay() {
    let story = "node n1 cpu=6 memory=64Gi
         node n2 cpu=3 memory=64Gi
         queue a weight=2 request=all
         queue b weight=4 request=all
         queue c weight=3 request=all
         quota a cpu=3 memory=64Gi
         quota b cpu=6 memory=64Gi
         owner a/api replicas=1 cpu=2 memory=1Gi pods=api node=n1 started=1
         owner a/batch replicas=1 cpu=1 memory=1Gi pods=batch node=n2 started=1
         owner b/web replicas=1 cpu=2 memory=1Gi pods=web node=n1 started=3
         owner b/search replicas=1 cpu=2 memory=1Gi pods=search node=n1 started=2
         owner b/report replicas=1 cpu=1 memory=1Gi pods=report node=n2 started=1";
    assert_eq!(victims(story), ["a/batch for c", "b/report for c"]);
}

/// `x/p2` and `x/p3` free nothing where they are, but they go with their gang: on their way, they were chosen.
#[test]
fn who_follows_a_gang_from_a_lost_node_changes_no_choice() {
    let story = "node n0 cpu=4 memory=5Gi
         node n1 cpu=5 memory=2Gi cordoned
         node n2 cpu=2 memory=2Gi
         queue v weight=1 request=all
         queue w weight=2 fixed=cpu:2501m
         queue x weight=0 request=all
         pod x/p0 cpu=2 memory=512Mi node=n0 started=1 owner=x gang=x min=1
         pod x/p1 cpu=2 memory=512Mi node=n0 started=1 owner=x gang=x min=1
         pod x/p2 cpu=2 memory=512Mi node=n1 started=1 owner=x gang=x min=1
         pod x/p3 cpu=2 memory=512Mi node=n1 started=1 owner=x gang=x min=1
         owner x/x replicas=4 cpu=2 memory=512Mi gang=x min=1";
    let pods = |victims: Vec<String>| -> Vec<String> {
        victims.iter().filter_map(|victim| Some(victim.split_whitespace().next()?.to_owned())).collect()
    };
    let all = pods(victims(story));
    for one in &all {
        let others = pods(victims_while_leaving(story, one));
        assert!(others.iter().all(|other| all.contains(other) && other != one), "{all:?}, {one}: {others:?}");
    }
}

#[test]
fn no_pod_goes_for_a_limit_of_a_resource_of_which_there_is_nothing() {
    // Pods without a Queue use all memory, so no quota of memory shrinks.
    let victims = victims(
        "node n1 cpu=8 memory=2Gi
         pod other/web cpu=2 memory=2Gi node=n1 started=1 owner=web
         queue a limit=memory:4Gi request=all
         pod a/w-1..3 cpu=500m memory=2Gi pending stuck=900 owner=w
         quota a cpu=6 memory=6Gi",
    );
    assert_eq!(victims, [""; 0]);
}

/// Users evict pods, too, with as much grace as they like.
#[test]
fn a_pod_that_a_user_evicted_holds_up_no_queue() {
    let story = "node n cpu=12
         queue a
         queue b after=60
         queue c
         quota a cpu=8
         quota b cpu=0
         quota c cpu=4
         owner a/o replicas=8 cpu=1 pods=p-1..8 node=n started=1+1
         owner b/o replicas=4 cpu=1
         owner c/o replicas=4 cpu=1 pods=p-1..3 node=n started=1+1
         pod c/p-4 cpu=1 node=n started=4 owner=o LEAVES";
    let victims = |leaves: &str| {
        let mut snapshot = story::parse(&story.replace("LEAVES", leaves));
        let first = plan(&snapshot);
        assert_eq!(first.evictions, [], "b waits for a minute");
        keep(&mut snapshot, &first);
        snapshot.now = snapshot.now.plus_seconds(61);
        let plan = plan(&snapshot);
        plan.evictions.len() + plan.waiting.len()
    };
    assert_eq!(victims(""), 4);
    assert_eq!(victims("terminating=90000 given=89000 evicted"), 4);
    assert_eq!(victims("terminating=1090 evicted"), 4);
}
