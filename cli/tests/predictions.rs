//! What `diff` predicts is what then happens: random clusters, a random change each, and the real operator on a simulated API
//! server. And every decision that it makes on the way is computed again from its record.
//!
//! `PREDICTIONS=200` tries so many, `PREDICTIONS=105..106` these seeds; the default is small enough for every run.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects, reason = "small numbers of a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use quotient_operator::decisions::{Decisions, read, text};
use quotient_sim::World;
use quotient_sim::faults::OperatorOptions;
use quotient_sim::objects::Kind;
use quotient_sim::random::Random;
use quotient_sim::scenario::build;
use quotient_sim::server::State;
use serde_json::{Value, json};

/// The kinds that a simulated cluster has, as the API names them.
const KINDS: [(Kind, &str, &str); 11] = [
    (Kind::Namespace, "v1", "Namespace"),
    (Kind::Node, "v1", "Node"),
    (Kind::Pod, "v1", "Pod"),
    (Kind::ResourceQuota, "v1", "ResourceQuota"),
    (Kind::LimitRange, "v1", "LimitRange"),
    (Kind::ReplicaSet, "apps/v1", "ReplicaSet"),
    (Kind::StatefulSet, "apps/v1", "StatefulSet"),
    (Kind::Job, "batch/v1", "Job"),
    (Kind::PodDisruptionBudget, "policy/v1", "PodDisruptionBudget"),
    (Kind::Queue, "quotient.dev/v1alpha1", "Queue"),
    (Kind::QueueJob, "quotient.dev/v1alpha1", "QueueJob"),
];

/// What a change leads to: the deserved shares, and the pods that are evicted.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    deserved: BTreeMap<String, BTreeMap<String, i128>>,
    evicted: BTreeSet<String>,
}

/// One thing that a person does: the manifest, and the same in the simulation.
struct Change {
    description: String,
    manifests: Vec<(Kind, Value)>,
}

#[test]
fn what_is_predicted_happens() {
    let wanted = std::env::var("PREDICTIONS").unwrap_or_else(|_| "12".to_owned());
    let (first, end) = wanted.split_once("..").unwrap_or(("0", &wanted));
    let (first, end): (u64, u64) = (first.parse().unwrap(), end.parse().unwrap());
    let count = end - first;
    let (mut missed, mut evictions, mut replayed) = (Vec::new(), 0, 0);
    for seed in first..end {
        let (predicted, happened, change, decisions) = trial(seed);
        evictions += happened.evicted.len();
        replayed += decisions;
        if predicted != happened {
            missed.push(format!("seed {seed}, {change}:\npredicted {predicted:#?}\nhappened {happened:#?}"));
        }
    }
    let hits = count - missed.len() as u64;
    println!("{hits} of {count} predictions hit; {evictions} evictions, {replayed} decisions replayed");
    assert!(missed.is_empty(), "{} of {count} missed:\n{}", missed.len(), missed.join("\n"));
    assert!(evictions > 0 && replayed > 0, "{evictions} {replayed}");
}

fn trial(seed: u64) -> (Outcome, Outcome, String, usize) {
    let mut random = Random::of(seed, "predictions");
    let mut world = World::new(seed);
    let teams = furnish(&world, &mut random);
    let decisions = Decisions::kept();
    world.start(OperatorOptions { decisions: decisions.clone(), ..OperatorOptions::default() });
    assert!(world.run_until_settled().is_some(), "seed {seed} settles");
    let before = world.trace().records.len();

    let change = change(&world, &mut random, teams);
    let predicted = predict(&world, &change);
    for (kind, manifest) in &change.manifests {
        apply(&world, *kind, manifest);
        // Pods that are created before the first quota of their namespace are bounded by none: `diff` takes it to be there.
        world.run_for(Duration::from_secs(5));
    }
    assert!(world.run_until_settled().is_some(), "seed {seed} settles again");
    let happened = happened(&world, before);
    let replayed = replay(&decisions);
    (predicted, happened, change.description, replayed)
}

/// Nodes, teams and work, more than there is room for.
fn furnish(world: &World, random: &mut Random) -> u64 {
    for number in 0..=random.below(2) {
        let cpu = (6 + random.below(5)).to_string();
        world.create(Kind::Node, build::node(&format!("node-{number}"), &cpu, "64Gi"));
    }
    let teams = 2 + random.below(3);
    for number in 1..=teams {
        let team = format!("team-{number}");
        world.create(Kind::Namespace, build::namespace(&team));
        let spec = json!({"weight": 1 + random.below(4)});
        let (kind, queue) = build::queue_of(&team, &team, spec);
        world.create(kind, queue);
        for workload in 0..=random.below(2) {
            let (kind, object) = work(random, &team, &format!("work-{workload}"));
            world.create(kind, object);
        }
    }
    teams
}

fn work(random: &mut Random, team: &str, name: &str) -> (Kind, Value) {
    let spec = build::work("1", "1Gi");
    let pods = 1 + u32::try_from(random.below(8)).unwrap();
    match random.below(3) {
        0 => (Kind::ReplicaSet, build::replica_set(team, name, pods, &spec)),
        1 => (Kind::StatefulSet, build::stateful_set(team, name, pods, &spec)),
        _ => (Kind::Job, build::job(team, name, pods, &spec)),
    }
}

/// Another weight, a guarantee, a limit, more work, or a new team.
fn change(world: &World, random: &mut Random, teams: u64) -> Change {
    let team = format!("team-{}", 1 + random.below(teams));
    let mut queue = world.get(Kind::Queue, &team, &team).unwrap();
    let mut of_queue = |field: &str, value: Value| {
        queue["spec"][field] = value;
        let manifest =
            json!({"metadata": {"name": team, "namespace": team}, "spec": {field: queue["spec"][field]}});
        Change {
            description: format!("{field} of {team}: {}", queue["spec"][field]),
            manifests: vec![(Kind::Queue, manifest)],
        }
    };
    let cpu = |random: &mut Random| json!({"cpu": (1 + random.below(5)).to_string()});
    match random.below(5) {
        0 => of_queue("weight", (1 + random.below(6)).into()),
        1 => of_queue("guaranteed", cpu(random)),
        2 => of_queue("limit", cpu(random)),
        3 => {
            let (kind, object) = work(random, &team, "more");
            Change { description: format!("more work in {team}"), manifests: vec![(kind, object)] }
        }
        _ => {
            let (kind, object) = work(random, "joins", "work");
            let namespace = (Kind::Namespace, build::namespace("joins"));
            let queue = build::queue_of("joins", "joins", json!({"weight": 1 + random.below(4)}));
            Change {
                description: "a team joins".to_owned(),
                manifests: vec![namespace, queue, (kind, object)],
            }
        }
    }
}

fn apply(world: &World, kind: Kind, manifest: &Value) {
    let text = |field: &str| manifest["metadata"][field].as_str().unwrap_or_default().to_owned();
    if world.get(kind, &text("namespace"), &text("name")).is_some() {
        world.act(build::merged(kind, &text("namespace"), &text("name"), manifest.clone()));
    } else {
        world.create(kind, manifest.clone());
    }
}

fn with_kind(kind: Kind, object: &Value) -> Value {
    let (_, api_version, name) = KINDS.iter().find(|(known, ..)| *known == kind).unwrap();
    let mut object = object.clone();
    object["apiVersion"] = (*api_version).into();
    object["kind"] = (*name).into();
    object
}

/// What `diff` says of a snapshot of the cluster.
fn predict(world: &World, change: &Change) -> Outcome {
    let directory = tempfile::tempdir().unwrap();
    let items: Vec<Value> = world.state(|state| {
        let of = |(kind, ..): &(Kind, _, _)| {
            state.store.list(*kind, None).map(|(_, object)| with_kind(*kind, object)).collect::<Vec<_>>()
        };
        KINDS.iter().flat_map(of).collect()
    });
    let snapshot = json!({
        "apiVersion": "cli.quotient.dev/v1", "kind": "Snapshot", "source": "simulation", "observed": true,
        "asOf": world.state(State::date), "items": items,
    });
    let (snapshot_file, change_file) = (directory.path().join("a.json"), directory.path().join("b.json"));
    std::fs::write(&snapshot_file, snapshot.to_string()).unwrap();
    let manifests: Vec<Value> =
        change.manifests.iter().map(|(kind, manifest)| with_kind(*kind, manifest)).collect();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": manifests});
    std::fs::write(&change_file, list.to_string()).unwrap();
    let output = diff(&snapshot_file, &change_file);
    let deserved = output["queues"].as_array().unwrap().iter().map(|queue| {
        let after = &queue["deserved"]["after"];
        (short(queue["queue"].as_str().unwrap()), amounts(after))
    });
    let evicted = output["evictions"].as_array().unwrap().iter();
    let evicted = evicted.map(|eviction| eviction["pod"].as_str().unwrap().to_owned()).collect();
    Outcome { deserved: deserved.collect(), evicted }
}

fn diff(snapshot: &Path, change: &Path) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-quotient"))
        .args(["diff", "-o", "json", "--snapshot"])
        .args([snapshot, Path::new("-f"), change])
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// `team-1/team-1` and `team-1` are the same.
fn short(queue: &str) -> String {
    queue.rsplit('/').next().unwrap().to_owned()
}

/// In nano, so that `1` is `1000m`.
fn amounts(of: &Value) -> BTreeMap<String, i128> {
    let pairs = of.as_object().into_iter().flatten();
    let nano = |amount: &Value| {
        amount.as_str().unwrap().parse::<quotient_engine::amounts::Quantity>().unwrap().nano()
    };
    pairs.map(|(name, amount)| (name.clone(), nano(amount))).filter(|(_, amount)| *amount != 0).collect()
}

/// What statuses say in the end, and which pods were evicted since record `before`.
fn happened(world: &World, before: usize) -> Outcome {
    let deserved = world.state(|state| {
        let queues = state.store.list(Kind::Queue, None);
        queues.map(|(key, queue)| (key.name.to_string(), amounts(&queue["status"]["deserved"]))).collect()
    });
    let trace = world.trace();
    let evicted = trace.records[before..].iter().filter(|record| record.evicted());
    let evicted = evicted.map(|record| format!("{}/{}", record.namespace, record.name)).collect();
    Outcome { deserved, evicted }
}

/// How many decisions the operator kept, each of which is computed again.
fn replay(decisions: &Decisions) -> usize {
    let kept = decisions.list();
    for decision in &kept {
        let (decision, inputs) = read(&decisions.file(Some(decision.number)).unwrap()).unwrap();
        let again = text(&quotient_engine::planner::plan(&inputs.snapshot));
        assert!(again == inputs.plan, "decision {} is computed again", decision.number);
        for evicted in &decision.evictions {
            assert_eq!(evicted.answer.as_deref(), Some("evicted"), "{evicted:?}");
            assert!(evicted.rank.is_some(), "{evicted:?}");
        }
    }
    kept.len()
}
