//! Laws of the ledger, for any order of looking, deciding, landing, enforcing, crashing and losing.

use proptest::prelude::*;
use quotient_engine::ledger::Generation;
use quotient_engine::names::Namespace;
use quotient_engine::snapshot::Snapshot;

use crate::cluster::{Cluster, Leader, Write};
use crate::{effort, story};

const CAPACITY: i128 = 10;

#[derive(Clone, Debug)]
enum Event {
    /// Queues ask for this many cpu; none is no Queue. A Queue that comes back is another one.
    Demand([Option<u8>; 3]),
    /// A leader takes a snapshot.
    Look(usize),
    /// It decides on its snapshot, writes the ledger and sends its writes.
    Act(usize),
    /// A leader dies, and another begins.
    Crash(usize),
    /// One of the writes on their way lands, if it still can.
    Land(usize),
    /// One of them never does.
    Lose(usize),
    /// The quota controller catches up.
    Enforce,
    /// The garbage collector catches up.
    Collect,
    /// A person deletes the ledger; both leaders notice, for two ledgers at once are one too many.
    LoseLedger,
}

fn event() -> impl Strategy<Value = Event> {
    let demand = proptest::option::weighted(0.85, 0u8..12);
    prop_oneof![
        3 => [demand.clone(), demand.clone(), demand].prop_map(Event::Demand),
        6 => (0usize..2).prop_map(Event::Look),
        6 => (0usize..2).prop_map(Event::Act),
        1 => (0usize..2).prop_map(Event::Crash),
        9 => (0usize..50).prop_map(Event::Land),
        1 => (0usize..50).prop_map(Event::Lose),
        5 => Just(Event::Enforce),
        3 => Just(Event::Collect),
        1 => Just(Event::LoseLedger),
    ]
}

struct World {
    cluster: Cluster,
    leaders: [(Leader, Option<Snapshot>); 2],
    flying: Vec<Write>,
    /// How often each Queue was deleted.
    deleted: [u32; 3],
    /// The latest that a ledger had sent when it was lost.
    lost: Option<Generation>,
}

fn is_governed(rest: &Snapshot, namespace: &Namespace) -> bool {
    rest.namespaces.get(namespace).is_some_and(|state| !state.queues.is_empty())
}

impl World {
    fn new() -> Self {
        let cluster = Cluster::new(story::parse(&format!("node n1 cpu={CAPACITY} memory=10Gi")));
        let leader = || (cluster.leader(), None);
        let leaders = [leader(), leader()];
        Self { cluster, leaders, flying: Vec::new(), deleted: [0; 3], lost: None }
    }

    fn happens(&mut self, event: &Event) {
        let Self { cluster, leaders, flying, deleted, lost } = self;
        match event {
            Event::Demand(demand) => {
                let names = ["a", "b", "c"].into_iter().zip(demand).zip(deleted);
                let line = |((name, cpu), deleted): ((&str, &Option<u8>), &mut u32)| {
                    let Some(cpu) = cpu else {
                        *deleted += u32::from(is_governed(&cluster.rest, &name.into()));
                        // A namespace stays when its Queue goes.
                        return format!("namespace {name} kept=yes");
                    };
                    format!("queue {name} uid={name}-{deleted} fixed=cpu:{cpu}")
                };
                let lines: Vec<String> = names.map(line).collect();
                let node = format!("node n1 cpu={CAPACITY} memory=10Gi");
                cluster.becomes(story::parse(&format!("{node}\n{}", lines.join("\n"))));
                // What is not covered, the other way round: the Queue goes after the ledger was lost.
                let rest = &cluster.rest;
                let is_lost = |write: &Write| lost.is_some() && write.stamp() <= *lost;
                flying.retain(|write| {
                    write.creates().is_none_or(|name| !is_lost(write) || is_governed(rest, name))
                });
            }
            Event::Look(which) => {
                let (leader, seen) = &mut leaders[*which];
                let newest = cluster.quotas.values().filter_map(|quota| quota.stamp).max();
                if newest > Some(leader.ledger.generation) {
                    *leader = cluster.leader();
                }
                *seen = Some(cluster.see(leader));
            }
            Event::Act(which) => {
                let (leader, seen) = &mut leaders[*which];
                let Some(seen) = seen.take() else { return };
                match leader.decide(cluster, &seen) {
                    None => *leader = cluster.leader(),
                    Some((_, writes)) => flying.extend(writes),
                }
            }
            Event::Crash(which) => leaders[*which] = (cluster.leader(), None),
            Event::Land(which) if !flying.is_empty() => {
                let at = which % flying.len();
                cluster.land(&flying[at]);
                // Its answer may be lost, and a copy of it still be on its way.
                if which % 3 > 0 {
                    flying.remove(at);
                }
            }
            Event::Lose(which) if !flying.is_empty() => drop(flying.remove(which % flying.len())),
            Event::Enforce => cluster.enforce(),
            Event::Collect => {
                cluster.collect();
                // What is not covered: no quota is left that shows that there was a ledger.
                let shows_nothing = cluster.ledger.is_none() && cluster.quotas.is_empty();
                flying.retain(|write| !shows_nothing || write.creates().is_none());
            }
            Event::LoseLedger => {
                // What is not covered: the first quota of a namespace that is on its way when its Queue is deleted and the
                // ledger lost, all three at once; or the first quota of all.
                let fresh = cluster.quotas.is_empty();
                let rest = &cluster.rest;
                flying.retain(|write| write.creates().is_none_or(|name| !fresh && is_governed(rest, name)));
                *lost = flying.iter().filter_map(Write::stamp).max().max(*lost);
                cluster.ledger = None;
                *leaders = [(cluster.leader(), None), (cluster.leader(), None)];
            }
            Event::Land(_) | Event::Lose(_) => {}
        }
    }

    /// All that admission lets in, of the Queues that exist.
    fn enforced(&self) -> i128 {
        let mut living = self.cluster.clone();
        living.collect();
        living.quotas.values().map(|quota| quota.enforced).sum()
    }
}

proptest! {
    #![proptest_config(effort::cases(2000))]

    /// Whatever is late, lost, stale or doubled: admission never lets in more than there is.
    #[test]
    fn what_is_in_force_always_fits(events in proptest::collection::vec(event(), 0..120)) {
        let mut world = World::new();
        for (number, event) in events.iter().enumerate() {
            world.happens(event);
            prop_assert!(world.enforced() <= CAPACITY, "after {number}, {event:?}: {:#?}", world.cluster);
        }
    }

    /// And when all that is over, a leader settles, nothing is written any more, and nothing is held back.
    #[test]
    fn in_the_end_everything_settles(events in proptest::collection::vec(event(), 0..60)) {
        let mut world = World::new();
        for event in &events {
            world.happens(event);
        }
        world.happens(&Event::Demand([Some(2), Some(3), Some(5)]));
        world.cluster.enforce();
        world.cluster.collect();
        let mut leader = world.cluster.leader();
        if world.cluster.quotas.values().any(|quota| quota.stamp > Some(leader.ledger.generation)) {
            world.cluster.ledger = None;
            leader = world.cluster.leader();
        }
        leader.settle(&mut world.cluster);
        let hard: Vec<i128> = world.cluster.quotas.values().map(|quota| quota.hard).collect();
        prop_assert_eq!(hard, [2, 3, 5]);
    }
}
