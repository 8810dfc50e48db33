//! The ledger: what is held for writes on their way, and what a second leader, a lost ledger or a person's edit can do.

use std::sync::Arc;

use quotient_engine::amounts::{Amounts, Bounds, Resource};
use quotient_engine::ledger::{Entry, Generation, Ledger, REQUEST_LIFE_SECONDS, Seen};
use quotient_engine::names::Namespace;
use quotient_engine::planner::plan;
use quotient_engine::reasons::ShortReason;
use quotient_engine::snapshot::{GrantGate, Snapshot};
use quotient_engine::time::Timestamp;

use crate::cluster::{Cluster, Leader, Quota, cpu, granted};
use crate::story;

/// 10 cpu and two queues.
const TWO: &str = "node n1 cpu=10 memory=10Gi
                   queue a fixed=cpu:8
                   queue b fixed=cpu:2";

fn cluster(story: &str) -> Cluster {
    Cluster::new(story::parse(story))
}

/// The same once a leader has settled its quotas.
fn settled(story: &str) -> (Cluster, Leader) {
    let mut cluster = cluster(story);
    let mut leader = cluster.leader();
    leader.settle(&mut cluster);
    (cluster, leader)
}

/// The same cluster, now with these Queues.
fn becomes(cluster: &mut Cluster, story: &str) {
    cluster.becomes(story::parse(story));
}

fn hold(snapshot: &Snapshot, namespace: &str) -> i128 {
    let quota = snapshot.namespaces[&Namespace::from(namespace)].quota.as_ref();
    quota.map(|quota| quota.ceiling(&Resource::Cpu).units() / 1000).unwrap_or_default()
}

fn entry<'a>(cluster: &'a Cluster, namespace: &str) -> &'a Entry {
    &cluster.ledger.as_ref().unwrap().1.entries[&Namespace::from(namespace)]
}

#[test]
fn an_entry_is_fenced_once_its_stamp_is_seen_and_nothing_larger_is_in_force() {
    let entry = Entry {
        owed: Amounts::new(),
        granted: cpu(3),
        largest: cpu(8),
        generation: Generation::new(5),
        changed: Timestamp::from_seconds(1),
    };
    let fenced = |stamp: Option<u64>, hard: i128, enforced: Option<i128>| {
        let (hard, enforced) = (cpu(hard), enforced.map_or_else(Bounds::new, cpu));
        let stamp = stamp.map(Generation::new);
        entry.is_fenced(&Seen { stamp, hard: &hard, enforced: &enforced, ours: true, owner: None })
    };
    assert!(fenced(Some(5), 3, Some(3)));
    // Not written, or not by us.
    assert!(!fenced(Some(4), 3, Some(3)));
    assert!(!fenced(None, 3, Some(3)));
    // Not followed.
    assert!(!fenced(Some(5), 3, Some(8)));
    assert!(!fenced(Some(5), 3, None));
    // What a person did afterwards is in what is seen, and brings back no write of ours.
    assert!(fenced(Some(5), 100, Some(100)));
    assert!(fenced(Some(5), 1, Some(3)));
}

#[test]
fn stamps_outside_what_a_ledger_counts_are_none() {
    let bound = Generation::new(1 << 62);
    for number in [1, 7, 1 << 62, (1 << 62) + 1, 1 << 63] {
        let stamp = Generation::new(number);
        assert_eq!(Generation::from_stamp(&number.to_string()), Some(stamp));
        assert_eq!(stamp.is_credible(None), stamp <= bound, "a quota alone claims {number}");
        assert!(stamp.is_credible(Some(stamp)) && stamp.is_credible(Some(stamp.next())), "{number}");
    }
    for text in ["", "0", "-1", "+1", "007", "seven", "9223372036854775809", "18446744073709551616"] {
        assert_eq!(Generation::from_stamp(text), None, "{text}");
    }
}

#[test]
fn at_rest_the_ledger_is_not_written() {
    let (mut cluster, mut leader) = settled(TWO);
    let before = cluster.ledger.clone();
    assert_eq!(before.as_ref().unwrap().1.generation, Generation::new(2));
    for _ in 0..3 {
        assert!(leader.cycle(&mut cluster).is_settled());
    }
    assert_eq!(cluster.ledger, before);
    // Nor by the next leader.
    assert!(cluster.leader().cycle(&mut cluster).is_settled());
    assert_eq!(cluster.ledger, before);
}

#[test]
fn what_was_granted_is_held_until_the_quota_bears_its_stamp() {
    let (mut cluster, mut leader) = settled(TWO);
    becomes(&mut cluster, &TWO.replace("a fixed=cpu:8", "a fixed=cpu:3").replace("cpu:2", "cpu:9"));
    // The lowering write is on its way; so is what has been in force until now.
    let (first, lost) = leader.act(&mut cluster);
    assert_eq!((granted(&first, "a"), granted(&first, "b")), (3, 2));
    assert_eq!((&entry(&cluster, "a").granted, &entry(&cluster, "a").largest), (&cpu(3), &cpu(8)));
    let seen = cluster.see(&leader);
    assert_eq!(hold(&seen, "a"), 8);
    let (second, again) = leader.decide(&mut cluster, &seen).unwrap();
    assert_eq!(granted(&second, "b"), 2);
    // The second attempt lands: now the first one cannot.
    assert!(again.iter().any(|write| cluster.land(write)));
    assert!(!lost.iter().any(|write| cluster.land(write)));
    assert_eq!(hold(&cluster.see(&leader), "a"), 8);
    cluster.enforce();
    assert_eq!(hold(&cluster.see(&leader), "a"), 3);
    leader.settle(&mut cluster);
    assert_eq!((cluster.quota("a").hard, cluster.quota("b").hard), (3, 7));
}

#[test]
fn a_create_that_may_land_is_held_without_any_quota_until_no_request_can_live_any_more() {
    let mut cluster = cluster(TWO);
    cluster.is_mute = true;
    let mut leader = cluster.leader();
    let (_, creates) = leader.act(&mut cluster);
    becomes(&mut cluster, "node n1 cpu=10 memory=10Gi\nqueue b request=all");
    let seen = cluster.see(&leader);
    assert_eq!(hold(&seen, "a"), 8);
    let (plan, _) = leader.decide(&mut cluster, &seen).unwrap();
    assert_eq!(granted(&plan, "b"), 2);
    // Where it lands no Queue is left, and it is collected.
    assert!(!cluster.land(&creates[0]));
    leader.settle(&mut cluster);
    assert_eq!(cluster.quota("b").hard, 2);
    cluster.rest.now = cluster.rest.now.plus_seconds(REQUEST_LIFE_SECONDS - 1);
    leader.settle(&mut cluster);
    assert_eq!(cluster.quota("b").hard, 2);
    cluster.rest.now = cluster.rest.now.plus_seconds(1);
    leader.cycle(&mut cluster);
    leader.settle(&mut cluster);
    assert_eq!((cluster.quotas.len(), cluster.quota("b").hard), (1, 10));
    assert_eq!(leader.ledger.entries.len(), 1);
}

#[test]
fn a_raised_quota_does_not_hasten_what_is_promised() {
    // b's share is held by pods of a.
    let mut cluster = cluster(
        "node n1 cpu=10 memory=10Gi
         queue a,b fixed=cpu:5
         pod a/p1 cpu=8 node=n1",
    );
    let mut leader = cluster.leader();
    leader.cycle(&mut cluster);
    leader.cycle(&mut cluster);
    assert_eq!((cluster.quota("a").hard, cluster.quota("b").hard), (5, 2));
    cluster.edit("b").hard = 100;
    cluster.enforce();
    let decided = plan(&cluster.see(&leader));
    assert_eq!(granted(&decided, "b"), 2);
    assert_eq!(decided.evictions.len() + decided.waiting.len(), 1);
    leader.cycle(&mut cluster);
    assert_eq!(cluster.quota("b").hard, 2);
}

#[test]
fn an_edit_within_what_is_free_is_no_claim_on_it() {
    // Two cpu have just come free, and a has taken them by an edit.
    let (mut cluster, mut leader) =
        settled("node n1 cpu=8 memory=10Gi\nqueue a request=all\nqueue b request=all");
    assert_eq!((cluster.quota("a").hard, cluster.quota("b").hard), (4, 4));
    becomes(&mut cluster, "node n1 cpu=10 memory=10Gi\nqueue a request=all\nqueue b request=all");
    cluster.edit("a").hard = 6;
    cluster.enforce();
    let decided = plan(&cluster.see(&leader));
    assert_eq!((granted(&decided, "a"), granted(&decided, "b")), (4, 4));
    leader.settle(&mut cluster);
    assert_eq!((cluster.quota("a").hard, cluster.quota("b").hard), (5, 5));
}

#[test]
fn an_edited_or_deleted_quota_is_put_back_and_no_share_moves() {
    let (mut cluster, mut leader) =
        settled("node n1 cpu=10 memory=10Gi\nqueue a fixed=cpu:5\nqueue b fixed=cpu:9");
    assert_eq!((cluster.quota("a").hard, cluster.quota("b").hard), (5, 5));
    for edited in [Some(6), Some(100), Some(1), None] {
        match edited {
            Some(amount) => cluster.edit("a").hard = amount,
            None => drop(cluster.quotas.remove(&Namespace::from("a"))),
        }
        cluster.enforce();
        let seen = cluster.see(&leader);
        assert_eq!(hold(&seen, "a"), edited.unwrap_or_default().max(5));
        let decided = plan(&seen);
        assert_eq!((granted(&decided, "a"), granted(&decided, "b")), (5, 5));
        assert!(decided.evictions.is_empty());
        let ledger = cluster.ledger.clone();
        leader.settle(&mut cluster);
        assert_eq!((cluster.quota("a").hard, &cluster.ledger), (5, &ledger));
    }
}

#[test]
fn a_foreign_quota_is_taken_over_even_if_its_amounts_are_right() {
    let mut cluster = cluster(TWO);
    let quota = Quota { life: 1, stamp: None, hard: 8, enforced: 8, owner: None };
    cluster.quotas.insert("a".into(), quota);
    let mut leader = cluster.leader();
    leader.ledger = Ledger::default();
    leader.cycle(&mut cluster);
    assert_eq!(cluster.quota("a").stamp, Some(entry(&cluster, "a").generation));
    assert_eq!(entry(&cluster, "a").granted, cpu(8));
}

/// Without the Queue a.
const ONE: &str = "node n1 cpu=10 memory=10Gi
                   namespace a kept=yes
                   queue b fixed=cpu:10";

/// The Queue a was deleted and created again.
fn again() -> String {
    TWO.replace("queue a", "queue a uid=a-2")
}

#[test]
fn a_deleted_queue_leaves_its_share_once_its_quota_is_collected() {
    let (mut cluster, mut leader) = settled(TWO);
    let standing = cluster.quota("a").clone();
    becomes(&mut cluster, ONE);
    cluster.is_mute = true;
    leader.settle(&mut cluster);
    // Nothing is written to it, and its amounts stay its own: the Queue may only be unseen.
    assert_eq!((cluster.quota("a"), cluster.quota("b").hard), (&standing, 2));
    // It is gone. If it is created again before the quota is collected, it has what that lets in.
    cluster.is_mute = false;
    leader.settle(&mut cluster);
    assert_eq!((cluster.quota("a"), cluster.quota("b").hard), (&standing, 2));
    cluster.collect();
    leader.cycle(&mut cluster);
    leader.settle(&mut cluster);
    assert_eq!((cluster.quotas.len(), cluster.quota("b").hard), (1, 10));
    assert_eq!(leader.ledger.entries.len(), 1);
}

#[test]
fn a_quota_whose_reference_was_taken_away_is_left_alone() {
    let (mut cluster, mut leader) = settled(TWO);
    cluster.edit("a").owner = None;
    let standing = cluster.quota("a").clone();
    becomes(&mut cluster, ONE);
    leader.cycle(&mut cluster);
    leader.settle(&mut cluster);
    assert_eq!((cluster.quota("a"), cluster.quota("b").hard), (&standing, 10));
    assert_eq!(leader.ledger.entries.len(), 1);
    // Nor does it hold up a second leader, or one that has lost the ledger for longer than a request lives.
    for ledger in [cluster.ledger.clone(), None] {
        cluster.ledger = ledger;
        let mut leader = cluster.leader();
        leader.settle(&mut cluster);
        cluster.rest.now = cluster.rest.now.plus_seconds(REQUEST_LIFE_SECONDS);
        leader.cycle(&mut cluster);
        leader.settle(&mut cluster);
        assert_eq!((cluster.quota("a"), cluster.quota("b").hard), (&standing, 10));
    }
    // A Queue takes it over.
    becomes(&mut cluster, &again());
    cluster.leader().settle(&mut cluster);
    assert_eq!((cluster.quota("a").hard, cluster.quota("a").owner.clone()), (8, Some("a-2".into())));
}

/// The view of a leader that begins may be older than the ledger: there is a Queue that it does not show.
#[test]
fn the_share_of_a_queue_that_is_not_seen_is_kept_while_requests_live() {
    let mut cluster = cluster(TWO);
    cluster.is_mute = true;
    cluster.leader().settle(&mut cluster);
    becomes(&mut cluster, ONE);
    cluster.collect();
    let mut leader = cluster.leader();
    leader.settle(&mut cluster);
    assert_eq!((leader.ledger.entries.len(), cluster.quota("b").hard), (2, 2));
    cluster.rest.now = cluster.rest.now.plus_seconds(REQUEST_LIFE_SECONDS);
    leader.cycle(&mut cluster);
    leader.settle(&mut cluster);
    assert_eq!((leader.ledger.entries.len(), cluster.quota("b").hard), (1, 10));
}

#[test]
fn a_queue_that_is_created_again_owns_the_quota_that_stands() {
    let (mut cluster, mut leader) = settled(TWO);
    let life = cluster.quota("a").life;
    becomes(&mut cluster, ONE);
    leader.settle(&mut cluster);
    becomes(&mut cluster, &again());
    leader.settle(&mut cluster);
    cluster.collect();
    let quota = cluster.quota("a");
    assert_eq!((quota.life, quota.hard, quota.owner.clone()), (life, 8, Some("a-2".into())));
}

#[test]
fn a_queue_that_loses_its_share_keeps_what_it_was_granted() {
    let (mut cluster, mut leader) = settled(TWO);
    becomes(&mut cluster, &TWO.replace("queue a", "queue a parent=org"));
    leader.settle(&mut cluster);
    for edit in [Some(100), Some(1), None] {
        match edit {
            Some(amount) => cluster.edit("a").hard = amount,
            None => drop(cluster.quotas.remove(&Namespace::from("a"))),
        }
        cluster.enforce();
        let plan = leader.cycle(&mut cluster);
        assert_eq!(plan.retained.values().map(|write| write.hard.clone()).collect::<Vec<_>>(), [cpu(8)]);
        leader.settle(&mut cluster);
        assert_eq!((cluster.quota("a").hard, cluster.quota("b").hard), (8, 2));
    }
}

/// `amount` pods of 1 cpu in a namespace, on the one node.
fn pods(namespace: &str, amount: usize) -> String {
    format!("\npod {namespace}/p1..{amount} cpu=1 node=n1")
}

/// A second leader starts with lists of long ago: b's pods of then have gone, and their room is a's.
#[test]
fn pods_that_may_be_long_gone_raise_no_quota() {
    let beginning = "node n1 cpu=8 memory=10Gi\nqueue a fixed=cpu:6\nqueue b fixed=cpu:2";
    let (mut cluster, _) = settled(beginning);
    assert_eq!((cluster.quota("a").hard, cluster.quota("b").hard), (6, 2));
    let then = beginning.replace("cpu:6", "cpu:4").replace("cpu:2", "cpu:4");
    becomes(&mut cluster, &format!("{then}{}", pods("b", 4)));
    let (plan, _) = cluster.leader().act(&mut cluster);
    assert_eq!((granted(&plan, "a"), granted(&plan, "b")), (4, 2));
}

/// A second leader starts with lists of long ago, of quotas, too: pods that it does not see fill a's quota, which has been
/// lowered since. Nothing grows until it has seen what the ledger that it found speaks of.
#[test]
fn nothing_grows_while_the_ledger_that_was_found_is_newer_than_the_quotas_seen() {
    let half = "node n1 cpu=8 memory=10Gi\nqueue a fixed=cpu:4\nqueue b fixed=cpu:4";
    let half = format!("{half}{}{}", pods("a", 4), pods("b", 4));
    let (mut cluster, _) = settled(&half);
    let before = cluster.clone();
    let both =
        |a: i128, b: i128| format!("node n1 cpu=8 memory=10Gi\nqueue a fixed=cpu:{a}\nqueue b fixed=cpu:{b}");
    becomes(&mut cluster, &format!("{}{}{}", both(6, 2), pods("a", 4), pods("b", 2)));
    cluster.leader().settle(&mut cluster);
    becomes(&mut cluster, &format!("{}{}{}", both(2, 6), pods("a", 6), pods("b", 2)));
    let mut first = cluster.leader();
    (0..3).for_each(|_| drop(first.cycle(&mut cluster)));
    assert_eq!((cluster.quota("a").hard, cluster.quota("b").hard), (2, 2));

    let second = cluster.leader();
    let old = before.see(&second);
    assert_eq!(old.grant_gate, GrantGate::Held);
    assert_eq!(granted(&plan(&old), "b"), 2);
    // A write that cannot be seen for ever blocks no queue for ever.
    let mut later = before.clone();
    later.rest.now = later.rest.now.plus_seconds(REQUEST_LIFE_SECONDS);
    assert_eq!(later.see(&second).grant_gate, GrantGate::Allowed);
    // The writer of the ledger knows what it was written for.
    let mut writer = second.clone();
    writer.ledger.inherited = None;
    assert_eq!(before.see(&writer).grant_gate, GrantGate::Allowed);
    assert_eq!(cluster.see(&second).grant_gate, GrantGate::Allowed);
    // Where no Queue is any more and no quota came of what was granted, there is nothing to see.
    becomes(&mut cluster, &both(2, 6).replace("\nqueue a fixed=cpu:2", ""));
    cluster.quotas.remove(&Namespace::from("a"));
    assert_eq!(cluster.see(&second).grant_gate, GrantGate::Allowed);
}

/// A watch has lost the end of one of b's pods: with the pod that has its room now, more is bound to the node than it has.
#[test]
fn nothing_grows_into_more_than_nodes_offer() {
    let beginning = "node n1 cpu=8 memory=10Gi\nqueue a fixed=cpu:1\nqueue b fixed=cpu:7";
    let (mut cluster, _) = settled(&beginning.replace("cpu:1", "cpu:2").replace("cpu:7", "cpu:6"));
    assert_eq!((cluster.quota("a").hard, cluster.quota("b").hard), (2, 6));
    becomes(&mut cluster, &format!("{beginning}{}{}", pods("a", 2), pods("b", 7)));
    let mut leader = cluster.leader();
    assert_eq!(granted(&leader.cycle(&mut cluster), "b"), 6);
    // Nor when a's pods are on their way, but when they are gone.
    assert_eq!(granted(&leader.cycle(&mut cluster), "b"), 6);
    becomes(&mut cluster, &format!("{beginning}{}{}", pods("a", 1), pods("b", 7)));
    assert_eq!(granted(&leader.cycle(&mut cluster), "b"), 7);
}

/// Pods that came while there was no quota are more than there is room for: what fits beside all others is granted.
#[test]
fn what_fits_beside_others_is_granted_although_not_all_of_it_does() {
    let beginning = "node n1 cpu=8 memory=10Gi\nqueue a fixed=cpu:3\nqueue b fixed=cpu:0";
    let (mut cluster, mut leader) = settled(beginning);
    assert_eq!((cluster.quota("a").hard, cluster.quota("b").hard), (3, 0));
    let asked = beginning.replace("b fixed=cpu:0", "b fixed=cpu:5");
    becomes(&mut cluster, &format!("{asked}{}", pods("b", 8)));
    assert_eq!(granted(&leader.cycle(&mut cluster), "b"), 5);
}

/// The pods that are seen are older than the quota, and that says how many there still are.
#[test]
fn no_pod_goes_because_of_pods_that_admission_does_not_charge_any_more() {
    let story =
        format!("node n1 cpu=8 memory=10Gi\nqueue a fixed=cpu:2\nqueue b fixed=cpu:6{}", pods("a", 4));
    let mut cluster = cluster(&story);
    let mut leader = cluster.leader();
    leader.cycle(&mut cluster);
    leader.cycle(&mut cluster);
    let evicted = |charged: Option<i128>| {
        let mut seen = cluster.see(&leader);
        let state = Arc::make_mut(seen.namespaces.get_mut(&Namespace::from("a")).unwrap());
        state.quota.as_mut().unwrap().charged = charged.map(cpu).unwrap_or_default();
        let plan = plan(&seen);
        (plan.evictions.len(), plan.waiting.len())
    };
    assert_eq!((evicted(None), evicted(Some(4)), evicted(Some(2))), ((2, 0), (2, 0), (0, 2)));
}

// ---- a ledger that is lost ------------------------------------------------------------------------------

#[test]
fn a_fresh_installation_is_not_held() {
    let mut cluster = cluster(TWO);
    let leader = cluster.leader();
    assert_eq!((leader.ledger.rebuilt, cluster.see(&leader).grant_gate), (None, GrantGate::Allowed));
    cluster.leader().cycle(&mut cluster);
    assert_eq!((cluster.quota("a").hard, cluster.quota("b").hard), (8, 2));
}

#[test]
fn after_a_loss_nothing_grows_until_every_quota_bears_the_new_stamp() {
    let (mut cluster, mut leader) = settled(TWO);
    // A raise of a is on its way when the ledger is lost.
    becomes(&mut cluster, &TWO.replace("a fixed=cpu:8", "a fixed=cpu:1"));
    leader.settle(&mut cluster);
    becomes(&mut cluster, TWO);
    let (_, late) = leader.act(&mut cluster);
    cluster.ledger = None;
    becomes(&mut cluster, &TWO.replace("a fixed=cpu:8", "a fixed=cpu:1").replace("cpu:2", "cpu:9"));

    let mut new = cluster.leader();
    let seen = cluster.see(&new);
    assert_eq!(seen.grant_gate, GrantGate::Held);
    let newest = cluster.quotas.values().filter_map(|quota| quota.stamp).max().unwrap();
    assert!(new.ledger.generation > newest);
    let (plan, writes) = new.decide(&mut cluster, &seen).unwrap();
    assert_eq!((granted(&plan, "a"), granted(&plan, "b")), (1, 2));
    let starved: Vec<_> = plan.queues.values().filter_map(|queue| queue.starved).collect();
    assert_eq!(starved, [ShortReason::WaitingForLedger]);
    // The late write comes first: it is seen to be from another ledger, and counts.
    let mut early = cluster.clone();
    assert!(early.land(&late[0]));
    assert_eq!((hold(&early.see(&new), "a"), early.see(&new).grant_gate), (8, GrantGate::Held));
    // Or it comes too late.
    assert!(writes.iter().all(|write| cluster.land(write)));
    assert!(!cluster.land(&late[0]));
    new.settle(&mut cluster);
    assert_eq!((cluster.quota("a").hard, cluster.quota("b").hard), (1, 9));
    assert_eq!(new.ledger.rebuilt, None);
}

#[test]
fn after_a_loss_quotas_may_shrink() {
    let (mut cluster, _) = settled(TWO);
    cluster.ledger = None;
    becomes(&mut cluster, &TWO.replace("a fixed=cpu:8", "a fixed=cpu:3"));
    cluster.leader().cycle(&mut cluster);
    assert_eq!(cluster.quota("a").hard, 3);
}

#[test]
fn a_quota_that_cannot_be_written_holds_growth_only_while_requests_live() {
    let (mut cluster, _) = settled(&format!("{TWO}\nqueue c fixed=cpu:0"));
    cluster.ledger = None;
    becomes(
        &mut cluster,
        &format!(
            "{}\nqueue c fixed=cpu:0",
            TWO.replace("cpu:2", "cpu:10").replace("a fixed=cpu:8", "a fixed=cpu:1")
        ),
    );
    let mut leader = cluster.leader();
    let refused = Namespace::from("c");
    for expected in [2, 9] {
        for _ in 0..3 {
            let c = cluster.quotas.get(&refused).cloned().unwrap();
            let (_, writes) = leader.act(&mut cluster);
            assert!(writes.iter().all(|write| cluster.land(write)));
            cluster.quotas.insert(refused.clone(), c);
            cluster.enforce();
        }
        assert_eq!(cluster.quota("b").hard, expected);
        cluster.rest.now = cluster.rest.now.plus_seconds(REQUEST_LIFE_SECONDS);
    }
}

#[test]
fn a_lost_ledger_counts_what_is_still_enforced() {
    let quota = Quota { life: 1, stamp: Some(Generation::new(9)), hard: 3, enforced: 8, owner: None };
    let mut cluster = cluster(TWO);
    cluster.quotas.insert("a".into(), quota);
    let leader = cluster.leader();
    let entry = &leader.ledger.entries[&Namespace::from("a")];
    assert_eq!((&entry.granted, &entry.largest), (&cpu(8), &cpu(8)));
    // Far beyond whatever the lost one had come to.
    assert!(entry.generation > Generation::new(1_000_000), "{:?}", entry.generation);
}
