//! Capacity that vanishes and comes back, watches that fall silent, and people who change quotas.

use std::time::Duration;

use quotient_sim::World;
use quotient_sim::faults::OperatorOptions;
use quotient_sim::faults::{Act, Event, Fault, Match, WatchFault, WatchMatch, WatchWhat, What};
use quotient_sim::objects::Kind;
use quotient_sim::scenario::build::{self, created, deleted, joins, merged, seconds, status_merged};
use quotient_sim::scenario::{Workload, workload};
use quotient_sim::trace::{Record, Trace, Verb};
use serde_json::json;

use super::world_of;

/// Two queues on two nodes, at rest since long before 40 seconds.
fn at_rest(options: OperatorOptions) -> World {
    world_of(&workload::two_queues(), 5, [options])
}

/// What the operator did to quotas, and evicted, from `time` on.
fn changed(trace: &Trace, from: Duration) -> Vec<String> {
    let printed = |record: &Record| {
        let what = if record.subresource == "eviction" { "eviction" } else { "quota" };
        format!("{} s: {what} in {}", record.time.as_secs(), record.namespace)
    };
    let of_interest =
        |record: &&Record| record.kind == Kind::ResourceQuota || record.subresource == "eviction";
    trace
        .asked_by("quotient-0")
        .filter(|record| record.time >= from)
        .filter(of_interest)
        .map(printed)
        .collect()
}

fn lists_of_nodes(trace: &Trace) -> usize {
    let lists = trace.records.iter().filter(|record| record.verb == Verb::List && record.kind == Kind::Node);
    lists.filter(|record| &*record.client == "quotient-0").count()
}

/// Nodes are listed again, because their watch was too old, and the list comes back short.
fn short_list(lie: &What, options: OperatorOptions) -> World {
    let nodes = Match::requests(Verb::List, Kind::Node);
    let modified =
        WatchMatch { event: Some(Event::Modified), from: seconds(40), ..WatchMatch::of(Kind::Node) };
    let options = options
        .fault(Fault::on(nodes, lie.clone()).skip(1))
        .watch_fault(WatchFault::on(modified, WatchWhat::Gone));
    let mut world = at_rest(options);
    let label = json!({"metadata": {"labels": {"touched": "yes"}}});
    world.at(seconds(40), merged(Kind::Node, "", "node-1", label));
    world.run_for(seconds(160));
    world
}

#[test]
fn a_list_of_nodes_that_comes_back_short_changes_nothing() {
    for lie in [What::EmptyList, What::PartialList] {
        let world = short_list(&lie, OperatorOptions::default());
        let trace = world.trace();
        assert_eq!(changed(&trace, seconds(40)), Vec::<String>::new(), "{lie}");
        // The one at the start, the one that lied, and the one that was asked for.
        assert_eq!(lists_of_nodes(&trace), 3, "{lie}");
        assert_eq!(workload::two_queues().differences(&world), Vec::<String>::new());
        // It would change something if it was believed.
        let credulous = OperatorOptions::default().flag("--capacity-drop-percent=100");
        assert!(!changed(&short_list(&lie, credulous).trace(), seconds(40)).is_empty(), "{lie}");
    }
}

/// A list of Queues, pods or workloads that lacks much is asked for again before anything is granted or taken because of it.
#[test]
fn one_short_list_of_any_kind_changes_nothing() {
    let mut wrong = Vec::new();
    for kind in [Kind::Queue, Kind::Pod, Kind::ReplicaSet, Kind::Job, Kind::StatefulSet] {
        for lie in [What::EmptyList, What::PartialList] {
            let list = Match { from: seconds(40), ..Match::requests(Verb::List, kind) };
            let mut world = at_rest(OperatorOptions::default().fault(Fault::on(list, lie.clone())));
            // Without its pods an unmanaged namespace leaves their room to the queues.
            for name in ["one", "two", "three"] {
                let pod = build::pod("default", name, &build::work("1", "1Gi"));
                world.at(seconds(1), created(Kind::Pod, pod));
            }
            world.at(seconds(40), Act::Watch { operator: 0, kind, what: WatchWhat::Gone });
            world.run_for(seconds(160));
            wrong.extend(
                changed(&world.trace(), seconds(40))
                    .iter()
                    .map(|printed| format!("{kind:?} {lie}: {printed}")),
            );
            assert_eq!(world.cluster().operator(0).unwrap().faults_left(), 0, "{kind:?} {lie}: no list lied");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A user without the admission policies writes what the operator continues from into the status of its own Queue, and a stamp
/// onto its own quota. Another queue loses nothing by it, and its quota gets one new stamp.
#[test]
fn a_forged_status_or_stamp_costs_no_other_queue_anything() {
    let window = json!({"size": "1000", "target": "0", "used": "2030-01-01T00:00:00Z"});
    let aside = json!([{"kind": "Job", "name": "train", "uid": "any", "since": "2030-01-01T00:00:00Z",
        "until": "2030-01-01T01:00:00Z", "failures": 9, "reason": "NotReady"}]);
    let forged = [
        json!({"windows": {"cpu": window, "memory": window}}),
        json!({"demandFalling": {"cpu": "2000-01-01T00:00:00Z", "memory": "2000-01-01T00:00:00Z"}, "demand": {"cpu": "1000"}}),
        json!({"notCreatedSince": {"any": "2000-01-01T00:00:00Z"}, "setAside": aside}),
        json!({"deserved": {"cpu": "1000"}, "allocated": {"cpu": "1000"}, "preempting": {"cpu": "1000"}, "observedGeneration": 99}),
    ];
    for status in forged {
        let mut world = at_rest(OperatorOptions::default());
        for round in 0..4 {
            let forge = status_merged(Kind::Queue, "team-1", "team-1", json!({"status": status}));
            world.at(seconds(40 + 10 * round), forge);
            let stamp =
                json!({"metadata": {"annotations": {"quotient.dev/generation": (1_u64 << 62).to_string()}}});
            // An account that may write only the status may write annotations with it.
            let merged = if round % 2 == 0 { merged } else { status_merged };
            let forge = merged(Kind::ResourceQuota, "team-1", "quotient", stamp);
            world.at(seconds(45 + 10 * round), forge);
        }
        world.run_for(seconds(240));
        let printed = changed(&world.trace(), seconds(40));
        let of_others: Vec<&String> =
            printed.iter().filter(|printed| !printed.ends_with("quota in team-1")).collect();
        // A stamp that is newer than the ledger has every quota stamped anew, once.
        assert!(of_others.len() <= 1, "{status}: {of_others:?}");
        assert_eq!(world.evictions(), 0, "{status}");
        assert_eq!(workload::two_queues().differences(&world), Vec::<String>::new(), "{status}");
    }
}

/// Two operators that lead at the same time can merge their statuses to one that cannot be decoded. The campaign found it in
/// `gated-gangs/swarm/273`: the queue stayed without a share.
#[test]
fn a_status_that_cannot_be_decoded_costs_no_share_and_is_replaced() {
    for status in
        [json!({"windows": {"cpu": {"size": "6", "target": null}}}), json!({"pods": 5, "odd": {"x": 1}})]
    {
        let mut world = at_rest(OperatorOptions::default());
        let merge = status_merged(Kind::Queue, "team-1", "team-1", json!({"status": status}));
        world.at(seconds(40), merge);
        world.run_for(seconds(90));
        let healed = world.get(Kind::Queue, "team-1", "team-1").unwrap()["status"].clone();
        assert!(healed["pods"].is_object() && healed["odd"].is_null(), "{healed}");
        assert_eq!(
            healed["windows"]["cpu"].get("target").is_some(),
            healed["windows"].get("cpu").is_some(),
            "{healed}"
        );
        assert_eq!(changed(&world.trace(), seconds(40)), Vec::<String>::new(), "{status}");
        assert_eq!(workload::two_queues().differences(&world), Vec::<String>::new(), "{status}");
    }
}

/// What is gone for good is believed after a minute and another list, and not before.
#[test]
fn capacity_that_stays_away_is_believed_in_the_end() {
    // No queue has pods: those of a lost node would keep their room.
    let without_pods = Workload { later: Vec::new(), ..workload::two_queues() };
    let mut world = world_of(&without_pods, 5, [OperatorOptions::default()]);
    world.at(seconds(60), deleted(Kind::Node, "", "node-1"));
    world.run_for(seconds(300));
    let trace = world.trace();
    let changed = changed(&trace, seconds(60));
    let lowered = trace
        .asked_by("quotient-0")
        .find(|record| record.time >= seconds(60) && record.kind == Kind::ResourceQuota && record.code < 300);
    let first = lowered.unwrap_or_else(|| panic!("something is lowered: {changed:?}"));
    assert!(first.time >= seconds(120) && first.time < seconds(125), "{changed:?}");
    assert_eq!(lists_of_nodes(&trace), 2);
}

/// The newcomer comes while nothing is heard of pods.
#[test]
fn no_pod_is_evicted_because_of_an_old_view() {
    let blind =
        |verb| Match { from: seconds(30), until: Some(seconds(400)), ..Match::requests(verb, Kind::Pod) };
    let pods = WatchMatch { from: seconds(40), ..WatchMatch::of(Kind::Pod) };
    let options = OperatorOptions::default()
        .fault(Fault::on(blind(Verb::Watch), What::Reject(500)).times(1000))
        .fault(Fault::on(blind(Verb::List), What::Reject(500)).times(1000))
        .watch_fault(WatchFault::on(pods, WatchWhat::Freeze));
    let mut world = at_rest(options);
    // Something happens to a pod, and the watch falls silent.
    let bare = build::pod("default", "bare", &build::work("1m", "1Mi"));
    world.at(seconds(45), created(Kind::Pod, bare));
    world.at(seconds(260), created(Kind::Namespace, build::namespace("team-3")));
    world.at(seconds(260), joins("team-3", 60));
    world.run_for(seconds(395));
    assert_eq!(world.evictions(), 0);
    let lowered =
        |world: &World| changed(&world.trace(), seconds(240)).iter().any(|what| !what.contains("team-3"));
    assert!(!lowered(&world), "{:?}", changed(&world.trace(), seconds(240)));
    world.run_for(seconds(120));
    assert!(lowered(&world) && world.evictions() > 0, "{:?}", changed(&world.trace(), seconds(240)));
}

#[test]
fn a_quota_that_is_edited_every_ten_seconds_is_restored_every_thirty() {
    let mut world = at_rest(OperatorOptions::default());
    for round in 0..18 {
        let hard = json!({"spec": {"hard": {"requests.cpu": "90"}}});
        world.at(seconds(60 + 10 * round), merged(Kind::ResourceQuota, "team-1", "quotient", hard));
    }
    world.run_for(seconds(400));
    let trace = world.trace();
    let changed = changed(&trace, seconds(60));
    let repairs = changed.iter().filter(|what| what.ends_with("quota in team-1")).count();
    assert!((6..=8).contains(&repairs), "{changed:?}");
    // What came in meanwhile is more than the cluster has and leaves again; no other pod is touched.
    assert!(changed.iter().all(|what| what.ends_with("in team-1")), "{changed:?}");
    let running =
        |record: &&Record| record.before.as_ref().is_some_and(|pod| pod["status"]["phase"] == "Running");
    assert_eq!(
        trace.records.iter().filter(|record| record.evicted()).filter(running).count(),
        0,
        "{changed:?}"
    );
    assert_eq!(workload::two_queues().differences(&world), Vec::<String>::new());
    let events = trace.asked_by("quotient-0").filter(|record| {
        let asked = record.asked.as_ref().map(|asked| asked["reason"] == "QuotaRepaired");
        record.kind == Kind::Event && asked == Some(true)
    });
    assert_eq!(events.count(), repairs);
}

/// No rights in one namespace: the others go on, without a storm of requests.
#[test]
fn a_namespace_without_rights_stops_no_other() {
    let forbidden =
        Match { kind: Some(Kind::ResourceQuota), namespace: Some("team-1".to_owned()), ..Match::default() };
    let options = OperatorOptions::default().fault(Fault::on(forbidden, What::Reject(403)).times(1000));
    let mut world = at_rest(options);
    world.run_for(seconds(600));
    assert_eq!(world.hard("team-2"), "requests.cpu 6, requests.memory 18Gi");
    let refused = world.trace().asked_by("quotient-0").filter(|record| record.code == 403).count();
    assert!((10..30).contains(&refused), "{refused}");
    let queue = world.get(Kind::Queue, "team-1", "team-1").unwrap_or_default();
    let conditions = queue["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let synced = conditions.iter().find(|condition| condition["type"] == "QuotaSynced");
    assert_eq!(synced.map(|synced| synced["reason"].clone()), Some(json!("WriteRefused")));
}

/// Objects that no schema has seen. Their statuses are read all the same, so that nothing is written at rest.
#[test]
fn what_cannot_be_read_is_told_so_once() {
    let mut world = at_rest(OperatorOptions::default());
    let named =
        |spec: serde_json::Value| json!({"metadata": {"namespace": "odd", "name": "odd"}, "spec": spec});
    world.create(Kind::Namespace, build::namespace("odd"));
    world.create(Kind::Queue, named(json!({"weight": "heavy"})));
    world.create(Kind::QueueJob, named(json!({"tasks": "none"})));
    world.run_for(seconds(400));
    let trace = world.trace();
    for kind in [Kind::Queue, Kind::QueueJob] {
        let printed = trace.asked_by("quotient-0").filter(|record| record.concerns(kind, "odd", "odd"));
        assert_eq!(printed.count(), 1, "{kind:?}");
        let status = world.get(kind, "odd", "odd").unwrap()["status"].to_string();
        assert!(status.contains("InvalidSpec") && status.contains("invalid type"), "{kind:?}: {status}");
    }
    assert_eq!(workload::two_queues().differences(&world), Vec::<String>::new());
}

/// Two queues share eight cpu. The pods of the second cannot start, because no scheduler looks at them.
fn claimed_in_vain(hold: &serde_json::Value) -> World {
    let mut unheard = build::work("1", "1Gi");
    for (name, value) in hold.as_object().into_iter().flatten() {
        unheard[name] = value.clone();
    }
    let web = |team, work| build::replica_set(team, "web", 8, work);
    let workload = Workload::new("claimed-in-vain", build::node_and_teams("8", "8Gi", 2))
        .with(["team-1", "team-2"].map(|team| build::queue_of(team, team, json!({"weight": 1}))))
        .create(6, Kind::ReplicaSet, web("team-1", &build::work("1", "1Gi")))
        .create(60, Kind::ReplicaSet, web("team-2", &unheard));
    let mut world = world_of(&workload, 9, [OperatorOptions::default()]);
    world.run_for(seconds(120));
    world
}

/// What pods behind a foreign gate, or of a scheduler that does not run, have taken comes back after five minutes. Then one pod
/// of them is tried again at a time, less and less often.
#[test]
fn pods_that_no_scheduler_looks_at_claim_nothing_for_ever() {
    for hold in
        [json!({"schedulingGates": [{"name": "example.org/other"}]}), json!({"schedulerName": "none"})]
    {
        let mut world = claimed_in_vain(&hold);
        assert_eq!((world.running("team-1", "cpu"), world.evictions()), ("4".to_owned(), 4), "{hold}");
        let is_back = |_| {
            world.run_for(seconds(5));
            world.running("team-1", "cpu") == "8"
        };
        assert!((0..80).any(is_back), "{hold}: {}", world.trace().text());
        let printed = |world: &World| {
            world.get(Kind::Queue, "team-2", "team-2").unwrap_or_default()["status"].to_string()
        };
        assert!(printed(&world).contains("SetAside"), "{hold}: {}", printed(&world));
        let before = world.evictions();
        world.run_for(seconds(7200));
        let running: u64 = world.running("team-1", "cpu").parse().unwrap();
        assert!(running >= 7, "{hold}: {running}");
        let tries = world.evictions() - before;
        // Each try evicts one running pod, and later the pod that did not start.
        assert!((2..=20).contains(&tries), "{hold}: {tries}");
        // A scheduler that runs again, or a gate that is opened, is noticed with the next try at the latest.
        assert_eq!(world.cluster().operator(0).unwrap().exits(), []);
    }
}

/// A ledger that is full: newcomers go without and are told so, and the others share on. When entries leave, the newcomers get
/// room.
#[test]
fn a_full_ledger_keeps_what_is_in_it_and_goes_on_when_there_is_room() {
    let options = OperatorOptions { ledger_limit: Some(700), ..OperatorOptions::default() };
    let node = Workload::new("full-ledger", build::node_and_teams("90", "90Gi", 0));
    let mut world = world_of(&node, 3, [options]);
    let name = |number: u32| format!("team-{number:02}-{:08x}", number.wrapping_mul(2_654_435_761));
    let has_quota = |world: &World, number: u32| !world.hard(&name(number)).is_empty();
    for number in 0..40_u32 {
        world.run_for(seconds(5));
        world.create(Kind::Namespace, build::namespace(&name(number)));
        let (kind, queue) =
            build::queue_of(&name(number), "team", json!({"request": {"cpu": "2", "memory": "2Gi"}}));
        world.create(kind, queue);
        let web = build::replica_set(&name(number), "web", 1, &build::work("1", "1Gi"));
        world.create(Kind::ReplicaSet, web);
    }
    world.run_for(seconds(60));
    let served = (0..40).filter(|number| has_quota(&world, *number)).count();
    let size =
        world.get(Kind::ConfigMap, "quotient-system", "quotient-ledger").map(|map| map.to_string().len());
    assert!((5..40).contains(&served), "{served} in {size:?}");
    let status = |world: &World, number: u32| {
        world.get(Kind::Queue, &name(number), "team").unwrap_or_default()["status"].to_string()
    };
    let without: Vec<u32> = (0..40).filter(|number| !has_quota(&world, *number)).collect();
    assert!(status(&world, without[0]).contains("edger"), "{}", status(&world, without[0]));
    assert_eq!(world.evictions(), 0);
    // What is in the ledger still moves.
    let first = name(0);
    let more = json!({"spec": {"request": {"cpu": "4", "memory": "4Gi"}}});
    world.act(merged(Kind::Queue, &first, "team", more));
    let before = world.hard(&first);
    world.run_for(seconds(60));
    assert_ne!(world.hard(&first), before);
    for number in (0..40).filter(|number| !without.contains(number)) {
        world.act(deleted(Kind::Namespace, "", &name(number)));
    }
    world.run_for(seconds(900));
    assert!(without.iter().all(|number| has_quota(&world, *number)), "{without:?}");
    assert_eq!(world.cluster().operator(0).unwrap().exits(), []);
}
