//! The scenarios.

use std::time::Duration;

use serde_json::json;

use super::{ClusterLayout, Demand, Kind, NodeGroup, Outcome, QueueAt, Scenario, Work};

/// All of them, in the order of the table: each in Quota mode and in Gate mode.
pub fn scenarios() -> Vec<Scenario> {
    let at_once = Duration::ZERO;
    let later = Duration::from_secs(5);
    let mut all = vec![first_pod()];
    all.extend([100, 500].map(|cpus| free_room(Kind::Job, cpus)));
    all.extend([100, 500, 2000].map(|cpus| reclaim_half(Kind::Job, cpus, at_once)));
    all.extend([100, 500].map(|cpus| reclaim_half(Kind::SmallJobs, cpus, at_once)));
    all.extend([100, 500].map(|cpus| reclaim_half(Kind::Deployment, cpus, at_once)));
    all.push(reclaim_half(Kind::Pods, 100, at_once));
    all.push(reclaim_half(Kind::Job, 100, later));
    all.push(two_cpu_pods());
    all.extend([newcomer(Kind::Deployment), newcomer(Kind::SmallJobs)]);
    all.extend([ten_queues(), one_big_pod(), guaranteed_gang(), node_loss()]);
    all.extend([thousand_queues(), churn(100, 2, 10, Duration::from_secs(300))]);
    let both = |scenario: Scenario| [scenario.clone(), scenario.in_gate_mode()];
    let mut all: Vec<_> = all.into_iter().flat_map(both).collect();
    // A quota rejects them, so that only Gate mode sees that they are wanted.
    all.extend([100, 500].map(bare_pods));
    all
}

/// Pods without an owner hold everything, and others ask for half of it.
fn bare_pods(cpus: u32) -> Scenario {
    let half = cpus / 2;
    let scenario = reclaim_half(Kind::Pods, cpus, Duration::ZERO);
    Scenario {
        name: format!("half-bare-pods-{cpus}"),
        says: format!(
            "one queue holds {cpus} cpu with pods without an owner; another asks for {half} of them"
        ),
        demand: Demand::work(vec![Work::of(Kind::Pods, "gainer", half)]),
        ..scenario
    }
    .in_gate_mode()
}

/// One queue holds what `held` says of so many cpus, and another one asks for `asked`, for which `fewest` pods have to go.
fn two_queues(name: &str, says: &str, cpus: u32, held: Option<Work>, asked: Work, fewest: u32) -> Scenario {
    let layout = ClusterLayout {
        queues: ["holder", "gainer"].map(|name| QueueAt::of(name, json!({}))).into(),
        work: held.into_iter().collect(),
        ..ClusterLayout::of_cpus(cpus)
    };
    let outcome = Outcome { gains: vec![("gainer".to_owned(), asked.count)], fewest: Some(fewest) };
    Scenario::new(name, says, layout, Demand::work(vec![asked]), outcome)
}

/// One pod without an owner on an idle cluster.
fn first_pod() -> Scenario {
    let says = "ten cpu are idle; a queue without pods starts one pod without an owner";
    two_queues("first-pod", says, 10, None, Work::of(Kind::Pods, "gainer", 1), 0)
}

/// The control plane's own time: half of the cpus are free, and no pod has to go.
pub fn free_room(kind: Kind, cpus: u32) -> Scenario {
    let half = cpus / 2;
    let says = format!("{half} of {cpus} cpu are free; a queue asks for {half} one-cpu pods");
    let (held, asked) = (Work::of(kind, "holder", half), Work::of(kind, "gainer", half));
    two_queues(&format!("free-room-{cpus}"), &says, cpus, Some(held), asked, 0)
}

/// One queue uses everything with one-cpu pods, and another one asks for half of it.
pub fn reclaim_half(holder: Kind, cpus: u32, terminates_after: Duration) -> Scenario {
    let half = cpus / 2;
    let (kind, held) = match holder {
        Kind::Deployment => ("deployment", "a Deployment"),
        Kind::Job => ("jobs", "a Job"),
        Kind::SmallJobs => ("small-jobs", "Jobs of one pod"),
        Kind::Pods => ("pods", "pods without an owner"),
    };
    let gainer = if holder == Kind::Pods { Kind::Job } else { holder };
    let slow = if terminates_after.is_zero() { "" } else { "-slow" };
    let ends = if terminates_after.is_zero() {
        String::new()
    } else {
        format!(", and pods take {} s to end", terminates_after.as_secs())
    };
    let name = format!("half-{kind}-{cpus}{slow}");
    let says = format!("one queue holds {cpus} cpu with {held}; another asks for {half} one-cpu pods{ends}");
    let (held, asked) = (Work::of(holder, "holder", cpus), Work::of(gainer, "gainer", half));
    let mut scenario = two_queues(&name, &says, cpus, Some(held), asked, half);
    scenario.layout.terminates_after = terminates_after;
    scenario
}

/// The same with pods of two cpus.
fn two_cpu_pods() -> Scenario {
    let says = "one queue holds 500 cpu with 250 two-cpu pods; another asks for 125 of them";
    let work = |namespace, pods| Work::of(Kind::Job, namespace, pods).of_cpu(2);
    two_queues("half-two-cpu-500", says, 500, Some(work("holder", 250)), work("gainer", 125), 125)
}

/// S-PREEMPT's example: a third queue joins two.
fn newcomer(kind: Kind) -> Scenario {
    let weight = |weight: u32| json!({"weight": weight});
    let (suffix, brings) =
        if kind == Kind::SmallJobs { ("-small-jobs", "three Jobs of one pod") } else { ("", "three pods") };
    let says = format!("two queues of weights 2 and 4 hold 9 cpu; a third of weight 3 comes with {brings}");
    let layout = ClusterLayout {
        nodes: vec![NodeGroup { count: 1, cpu: 9, memory: 9 }],
        queues: vec![QueueAt::of("q1", weight(2)), QueueAt::of("q2", weight(4))],
        work: vec![Work::of(kind, "q1", 3), Work::of(kind, "q2", 6)],
        ..ClusterLayout::default()
    };
    let (queues, work) = (vec![QueueAt::of("q3", weight(3))], vec![Work::of(kind, "q3", 3)]);
    let outcome = Outcome { gains: vec![("q3".to_owned(), 3)], fewest: Some(3) };
    Scenario::new(format!("newcomer{suffix}"), says, layout, Demand::Arrives { queues, work }, outcome)
}

fn ten_queues() -> Scenario {
    let queue = |weight: u32| QueueAt::of(format!("w{weight:02}"), json!({"weight": weight}));
    // Nine queues of weights 1 to 9 share 550 cpu: each holds as many whole cpus as its share has.
    let held = |weight: u32| weight.saturating_mul(550).checked_div(45).unwrap_or_default();
    let work = |weight: u32| Work::of(Kind::Deployment, &format!("w{weight:02}"), held(weight));
    let gone = (1..=9).map(|weight| held(weight).saturating_sub(weight.saturating_mul(10))).sum();
    let says = "nine queues of weights 1 to 9 hold 550 cpu; a tenth of weight 10 asks for 100";
    let layout = ClusterLayout {
        queues: (1..=9).map(queue).collect(),
        work: (1..=9).map(work).collect(),
        ..ClusterLayout::of_cpus(550)
    };
    let (queues, work) = (vec![queue(10)], vec![Work::of(Kind::Deployment, "w10", 100)]);
    let outcome = Outcome { gains: vec![("w10".to_owned(), 100)], fewest: Some(gone) };
    Scenario::new("ten-queues", says, layout, Demand::Arrives { queues, work }, outcome)
}

fn one_big_pod() -> Scenario {
    let says = "100 one-cpu pods fill ten nodes; a pod of ten cpus needs one of them for itself";
    let held = Work::of(Kind::Deployment, "holder", 100);
    two_queues("one-big-pod", says, 100, Some(held), Work::of(Kind::Deployment, "gainer", 1).of_cpu(10), 10)
}

fn guaranteed_gang() -> Scenario {
    let guaranteed = json!({"guaranteed": {"cpu": "40", "memory": "40Gi"}});
    let says =
        "a queue is guaranteed 40 of 100 cpu, which another one has borrowed; it comes back with 40 pods";
    let layout = ClusterLayout {
        queues: vec![QueueAt::of("borrower", json!({"weight": 9})), QueueAt::of("owner", guaranteed)],
        work: vec![Work::of(Kind::Job, "borrower", 100)],
        ..ClusterLayout::of_cpus(100)
    };
    let demand = Demand::work(vec![Work::of(Kind::Job, "owner", 40)]);
    let outcome = Outcome { gains: vec![("owner".to_owned(), 40)], fewest: Some(40) };
    Scenario::new("guaranteed-gang", says, layout, demand, outcome)
}

fn node_loss() -> Scenario {
    let says =
        "two queues hold 100 cpu each on 20 nodes, five of which are drained and removed, one every 2 s";
    let layout = ClusterLayout {
        queues: ["one", "two"].map(|name| QueueAt::of(name, json!({}))).into(),
        work: ["one", "two"].map(|name| Work::of(Kind::Deployment, name, 100)).into(),
        ..ClusterLayout::of_cpus(200)
    };
    let demand = Demand::NodesGo { count: 5, every: Duration::from_secs(2) };
    Scenario::new("node-loss", says, layout, demand, Outcome::default())
}

fn thousand_queues() -> Scenario {
    let name = |number: u32| format!("team-{number:04}");
    // The limit falls at once, and demand only after half a minute.
    let asks = |cpu: u32| {
        let amounts = json!({"cpu": cpu.to_string(), "memory": format!("{cpu}Gi")});
        json!({"request": amounts, "limit": amounts})
    };
    let (losers, gainers) = (0..50, 50..100);
    let give = losers.map(|number| (name(number), asks(1)));
    let changes = give.chain(gainers.clone().map(|number| (name(number), asks(3)))).collect::<Vec<_>>();
    let work = (0..1000).map(|number| {
        let wanted = if gainers.contains(&number) { 3 } else { 2 };
        Work::of(Kind::Deployment, &name(number), wanted).of_which_fit(2)
    });
    let says = "1,000 queues of 2 cpu each; the requests of 100 change at once: 50 give a cpu to 50 others";
    let layout = ClusterLayout {
        queues: (0..1000).map(|number| QueueAt::of(name(number), asks(2))).collect(),
        work: work.collect(),
        ..ClusterLayout::of_cpus(2000)
    };
    let outcome = Outcome { gains: gainers.map(|number| (name(number), 1)).collect(), fewest: Some(50) };
    Scenario::new("thousand-queues", says, layout, Demand::spec(changes), outcome)
}

/// Jobs of a second come and go, so many a second, in `queues` queues of `cpus_each`.
pub fn churn(queues: u32, cpus_each: u32, per_second: u32, lasts: Duration) -> Scenario {
    let namespaces: Vec<String> = (0..queues).map(|number| format!("team-{number:03}")).collect();
    let cpus = queues.saturating_mul(cpus_each);
    let seconds = lasts.as_secs();
    let says = format!(
        "{queues} queues share {cpus} cpu; for {seconds} s {per_second} Jobs of a second start every second"
    );
    let layout = ClusterLayout {
        queues: namespaces.iter().map(|name| QueueAt::of(name.clone(), json!({}))).collect(),
        ..ClusterLayout::of_cpus(cpus)
    };
    let every = Duration::from_secs(1).checked_div(per_second).unwrap_or(lasts);
    let outcome = Outcome { gains: Vec::new(), fewest: Some(0) };
    Scenario::new("churn", says, layout, Demand::Churn { namespaces, every, lasts }, outcome)
}
