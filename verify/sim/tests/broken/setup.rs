//! Where operators are played, broken or not.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use quotient_crds::names::SHARE_GATE;
use quotient_invariants::Tolerance;
use quotient_sim::campaign::workloads::gated;
use quotient_sim::campaign::{Case, Occasion, Trial, Verdict, workloads};
use quotient_sim::controllers::{Lags, STOPS_SECONDS};
use quotient_sim::faults::{Act, Fault, Match, OperatorOptions, Tamper, What};
use quotient_sim::objects::Kind;
use quotient_sim::random::Lag;
use quotient_sim::scenario::Workload;
use quotient_sim::scenario::build::{self, created, merged, node_and_teams, queue_of, seconds, train};
use quotient_sim::trace::Verb;
use serde_json::{Value, json};

/// What is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Setup {
    /// A workload of the campaign, with one operator and without faults.
    Plain(&'static str),
    /// The same with two replicas.
    Replicas(&'static str),
    /// The operator ends after its second eviction and begins anew while pods take their time to stop.
    Restarted,
    /// A workload of the campaign where it takes seconds until a quota is in force.
    SlowQuotas(&'static str),
    /// A queue comes for half of what one has that is guaranteed more.
    Guaranteed,
    /// Three queues use one cpu each, and the fourth is lent to all of them.
    Idle,
    /// Nine cpus are five and four for two queues, until one of them becomes twice as heavy. The operator ends after the
    /// eviction for that and begins anew, because it reads no ledger that it has written itself.
    HeavierLater,
    /// Demand goes back and forth between two queues, and two operators lead, one of which sees and does all of it late.
    Leaders,
    /// A gang waits, and there is room for half of it.
    WaitingGang,
    /// Pods have two gates, and answers to the removal of the first one are lost.
    TwoGates,
    /// One play of a perturbation that has a name.
    Named(&'static str, usize),
}

impl Setup {
    /// Plays it in the execution of `seed`, by operators that `layer` breaks, if there is one.
    pub(crate) fn play(self, seed: u64, layer: Option<fn(usize) -> Arc<dyn Tamper>>) -> Verdict {
        let run = |trial: Trial| {
            let trial = Trial { seed, ..trial };
            let Some(layer) = layer else { return trial.run() };
            let mut number = 0;
            let next = || {
                number += 1;
                layer(number - 1)
            };
            trial.broken(next).run()
        };
        match self {
            Self::Plain(workload) => run(campaigns(workload).reference()),
            Self::Replicas(workload) => {
                let case = campaigns(workload);
                run(Trial { operators: vec![OperatorOptions::default(); 2], ..case.reference() })
            }
            Self::Restarted => run(Trial { operators: ends_after(1), ..halved().reference() }),
            Self::SlowQuotas(workload) => {
                let lags = Lags { quota: Lag::new(1_000, 2_000), ..Lags::default() };
                run(Trial { lags, ..campaigns(workload).reference() })
            }
            Self::Guaranteed => run(guaranteed().reference()),
            Self::Idle => run(idle().reference()),
            Self::HeavierLater => run(Trial { operators: ends_after(0), ..heavier_later().reference() }),
            Self::Leaders => run(leaders(&back_and_forth())),
            Self::WaitingGang => run(gated::waiting_gang().reference()),
            Self::TwoGates => {
                let removals = Match::requests(Verb::Patch, Kind::Pod);
                let lost = Fault::on(removals, What::ReplyLost);
                let watch_lag = Lag::new(5_000, 6_000);
                let operators = vec![OperatorOptions { watch_lag, ..OperatorOptions::default().fault(lost) }];
                run(Trial { operators, ..two_gates().reference() })
            }
            Self::Named(name, nth) => {
                let occasion = Occasion::parse(&format!("{name}/{nth}#{seed}"));
                run(occasion.unwrap_or_else(|| panic!("there is no {name}/{nth}")).trial)
            }
        }
    }
}

impl fmt::Display for Setup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(workload) => write!(formatter, "`{workload}`"),
            Self::Replicas(workload) => write!(formatter, "`{workload}`, two replicas"),
            Self::Restarted => formatter.write_str("begun anew"),
            Self::SlowQuotas(workload) => write!(formatter, "`{workload}`, slow quotas"),
            Self::Guaranteed => formatter.write_str("a guarantee"),
            Self::Idle => formatter.write_str("idle capacity"),
            Self::HeavierLater => formatter.write_str("a weight changes"),
            Self::Leaders => formatter.write_str("two leaders"),
            Self::WaitingGang => formatter.write_str("a gang waits"),
            Self::TwoGates => formatter.write_str("two gates"),
            Self::Named(name, nth) => write!(formatter, "`{name}/{nth}`"),
        }
    }
}

/// An operator that ends at the eviction after so many, and begins anew a second later.
fn ends_after(evictions: u32) -> Vec<OperatorOptions> {
    let crash = Fault::on(Match::evictions(), What::CrashAfter(seconds(1))).skip(evictions);
    vec![OperatorOptions::default().fault(crash)]
}

fn campaigns(workload: &str) -> Case {
    workloads::named(workload).unwrap_or_else(|| panic!("there is no workload {workload}"))
}

/// team-1 holds eight cpus with this work, under this Queue; team-2 is as heavy and gets half.
fn half_for_another(name: &'static str, queue: (Kind, Value), work: Act) -> Workload {
    Workload::new(name, node_and_teams("8", "8Gi", 2)).with([queue]).at(6, work).halved("4Gi")
}

/// The holder is guaranteed six, so that team-2 gets the other two, one of them in a whole pod.
fn guaranteed() -> Case {
    let queue = queue_of(
        "team-1",
        "team-1",
        json!({"weight": 1, "request": build::everything(), "guaranteed": {"cpu": "6", "memory": "6Gi"}}),
    );
    let workload = half_for_another("guaranteed", queue, train("team-1", 8));
    let workload = workload.shares([("team-1", "7", "7Gi"), ("team-2", "1", "1Gi")]).evictions(1);
    Case::new(workload, "a queue comes for half of what is guaranteed to another")
}

/// Three teams use one cpu each of four. What is idle is less than the three loans of it together.
fn idle() -> Case {
    let names = ["team-1", "team-2", "team-3"];
    let workload = Workload::new("idle", node_and_teams("4", "4Gi", 3))
        .with(names.map(|name| queue_of(name, name, json!({"weight": 1}))))
        .at(6, train("team-1", 1))
        .at(6, train("team-2", 1))
        .at(6, train("team-3", 1))
        .until(30)
        // Loans come to at most half of the capacity.
        .shares([
            ("team-1", "1668m", "1789569708"),
            ("team-2", "1666m", "1789569706"),
            ("team-3", "1666m", "1789569706"),
        ])
        .running(names.map(|name| (name, "1")));
    Case::new(workload, "idle capacity is lent to three at once")
}

/// Two teams want all of nine cpus: 4.5 each are five and four in whole pods. Then team-1 becomes twice as heavy.
fn heavier_later() -> Case {
    let workload = Workload::new("heavier-later", node_and_teams("9", "9Gi", 2))
        .with(["team-1", "team-2"].map(|name| queue_of(name, name, json!({"weight": 1}))))
        .at(6, train("team-1", 9))
        .at(6, train("team-2", 9))
        .at(60, merged(Kind::Queue, "team-1", "team-1", json!({"spec": {"weight": 2}})))
        .until(90)
        .shares([("team-1", "6", "6Gi"), ("team-2", "3", "3Gi")])
        .evictions(2);
    Case::new(workload, "a queue becomes heavier")
}

/// The holder's pods take half a minute to stop.
fn halved() -> Case {
    let mut work = build::job("team-1", "train", 8, &build::work("1", "1Gi"));
    work["spec"]["template"]["metadata"]["annotations"] = json!({STOPS_SECONDS: "29"});
    let queue = (Kind::Queue, build::team("team-1", 1));
    Case::new(half_for_another("halved", queue, created(Kind::Job, work)), "pods that are slow to stop")
}

/// Two pods that have another gate behind the one of Quotient, until a user removes it.
fn two_gates() -> Case {
    let mut workload =
        Workload::new("two-gates", node_and_teams("8", "8Gi", 1)).with([gated::queue("team-1")]);
    for name in ["p-0", "p-1"] {
        let mut pod = build::pod("team-1", name, &build::work("1", "1Gi"));
        pod["spec"]["schedulingGates"] = json!([{"name": SHARE_GATE}, {"name": "example.org/other"}]);
        let open = json!({"spec": {"schedulingGates": null}});
        workload = workload.create(20, Kind::Pod, pod).at(50, merged(Kind::Pod, "team-1", name, open));
    }
    let workload = workload.until(51).quotas([("team-1", "")]).running([("team-1", "2")]);
    Case::new(workload, "pods with two gates")
}

/// Of four cpus team-1 asks for two; the others are asked for by team-2 and team-3 in turn.
fn back_and_forth() -> Case {
    let mut workload = Workload::new("back-and-forth", node_and_teams("4", "4Gi", 3));
    let asks = |cpu: u32| json!({"cpu": cpu.to_string(), "memory": "1Gi"});
    for (name, cpu) in [("team-1", 2), ("team-2", 2), ("team-3", 0)] {
        let spec = json!({"weight": 1, "request": asks(cpu), "limit": asks(cpu)});
        workload = workload.with([queue_of(name, name, spec)]);
    }
    let demand = |name: &str, cpu: u32| {
        let patch = json!({"spec": {"request": asks(cpu), "limit": asks(cpu)}});
        merged(Kind::Queue, name, name, patch)
    };
    for round in 0..12_u32 {
        let time = seconds(10) + Duration::from_millis(1_700) * round;
        let has = if round % 2 == 0 { 0 } else { 2 };
        workload.later.extend([(time, demand("team-2", has)), (time, demand("team-3", 2 - has))]);
    }
    let shares = [("team-1", "2", "1Gi"), ("team-2", "2", "1Gi"), ("team-3", "0", "1Gi")];
    let workload = workload.until(40).shares(shares).running([]);
    Case::new(workload, "what is free is asked for by two in turn")
}

fn leaders(case: &Case) -> Trial {
    let leader = || OperatorOptions::default().flag("--leader-elect=false");
    let late = OperatorOptions { lag: Lag::new(1, 400), watch_lag: Lag::new(1, 1_500), ..leader() };
    Trial {
        operators: vec![leader(), late],
        tolerance: Tolerance { lag: 8_000, repeats: true, under_way: 2_000, ..Tolerance::default() },
        // At odds with each other they never rest.
        limit: Some(seconds(100)),
        ..case.reference()
    }
}
