//! Everything that can happen, and what it does to the world.

use std::sync::atomic::Ordering;

use crate::action::Action;
use crate::cluster::{Cluster, KINDS, Kind};
use crate::memo::Memo;
use crate::numbers::MOST_QUEUES;
use crate::operator::Operator;
use crate::pods::{count, ids};
use crate::scenario::Scenario;
use crate::world::{Broken, MOST, World};
use crate::write::{Outcome, Write};

/// What the model checker explores.
pub struct StateSpace {
    /// The configuration.
    pub scenario: Scenario,
    /// What operators decide, and what is deserved, computed once for each view.
    pub memo: Memo,
    /// Whether operators that see and do the same are not told apart: half the states, but no names in traces.
    pub merges_twins: bool,
}

impl StateSpace {
    /// The space of `scenario`.
    pub fn new(scenario: Scenario) -> Self {
        let memo = Memo::new(&scenario);
        Self { scenario, memo, merges_twins: false }
    }

    /// How the world begins.
    pub fn beginning(&self) -> World {
        let cluster = self.scenario.beginning();
        let mut world = World { cluster, ..World::default() };
        for operator in &mut world.operators[..self.scenario.operators] {
            *operator = Operator::started(&self.scenario, &cluster);
        }
        world.canonical()
    }

    /// Everything that may happen next; some of it may turn out to change nothing.
    pub fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        let Scenario { faults, demands, .. } = &self.scenario;
        for op in 0..self.scenario.operators {
            let observations = KINDS.into_iter().filter(|kind| self.scenario.lags(*kind));
            actions.extend(observations.map(|kind| Action::Observe(op, kind)));
            if world.operators[op].work.is_done() {
                actions.extend((0..self.scenario.protocol.choices()).map(|choice| Action::Plan(op, choice)));
                continue;
            }
            actions.push(Action::Write(op));
            if world.happened.late < faults.late {
                actions.push(Action::Late(op));
            }
            if world.happened.crashes < faults.crashes {
                actions.push(Action::Crash(op));
            }
        }
        for at in self.scenario.each() {
            actions.extend([Action::Enforce(at), Action::Create(at), Action::Bind(at)]);
            actions.extend(ids(world.cluster.pods[at].terminating).map(|id| Action::Gone(at, id)));
            if world.happened.deaths < faults.deaths {
                actions.extend(ids(world.cluster.pods[at].running).map(|id| Action::Die(at, id)));
            }
            if world.happened.raises < faults.raises {
                actions.push(Action::Raise(at));
            }
        }
        for slot in 0..MOST {
            if world.late[slot].is_some() {
                actions.extend([Action::Land(slot), Action::Lose(slot)]);
            }
        }
        if world.happened.losses < faults.losses && world.cluster.ledger.is_some() {
            actions.push(Action::Forget);
        }
        if usize::from(world.cluster.demand) + 1 < demands.len() {
            actions.push(Action::Demand);
        }
    }

    /// The world after `action`; none if that changes nothing.
    pub fn after(&self, before: &World, action: Action) -> Option<World> {
        let mut world = before.clone();
        world.broken = None;
        self.step(&mut world, action);
        if self.merges_twins {
            world.operators[..self.scenario.operators].sort_unstable();
        }
        let world = world.canonical();
        (world != *before).then_some(world)
    }

    fn step(&self, world: &mut World, action: Action) {
        match action {
            Action::Observe(op, kind) => {
                let cluster = world.cluster;
                if self.scenario.lags(Kind::Pods) {
                    world.operators[op].observe(&self.scenario, kind, &cluster);
                } else {
                    world.operators[op].cache.copy(kind, &cluster);
                }
            }
            Action::Plan(op, choice) => {
                self.plan(world, op, choice);
            }
            Action::Write(op) => self.write(world, op),
            Action::Late(op) => self.send_late(world, op),
            Action::Land(slot) => {
                if let Some(write) = world.late[slot].take()
                    && self.land(world, &write) == Outcome::Done
                {
                    self.memo.landed.fetch_add(1, Ordering::Relaxed);
                }
            }
            Action::Lose(slot) => world.late[slot] = None,
            Action::Crash(op) => {
                world.happened.crashes += 1;
                world.operators[op] = Operator::started(&self.scenario, &world.cluster);
            }
            Action::Enforce(at) => {
                if let Some(quota) = &mut world.cluster.quotas[at] {
                    quota.enforced = quota.hard;
                    if self.scenario.reports_used() {
                        quota.used = world.cluster.pods[at].charged();
                    }
                }
            }
            Action::Create(at) => self.create(world, at),
            Action::Bind(at) => self.bind(world, at),
            Action::Gone(at, id) => world.cluster.pods[at].terminating &= !(1 << id),
            Action::Die(at, id) => {
                world.happened.deaths += 1;
                world.cluster.pods[at].running &= !(1 << id);
            }
            Action::Raise(at) => {
                if let Some(quota) =
                    world.cluster.quotas[at].as_mut().filter(|quota| quota.hard < self.scenario.capacity)
                {
                    quota.hard = self.scenario.capacity;
                    world.happened.raises += 1;
                }
            }
            Action::Forget => {
                world.cluster.ledger = None;
                world.happened.losses += 1;
            }
            Action::Demand => world.cluster.demand += 1,
        }
    }

    /// An operator decides by what it sees.
    fn plan(&self, world: &mut World, op: usize, choice: u8) {
        let mut seen = world.sees(&self.scenario, op);
        if seen.ledger != world.cluster.ledger && self.scenario.protocol.rereads() && seen.is_behind() {
            seen.ledger = world.cluster.ledger;
            world.operators[op].cache.ledger = world.cluster.ledger;
        }
        seen.pods_are_older = world.operators[op].pods_are_older(&self.scenario, seen.ledger);
        world.operators[op].work = self.memo.decide(&self.scenario, &seen, choice);
    }

    /// The next write of an operator is sent, and lands later or never.
    fn send_late(&self, world: &mut World, op: usize) {
        let Some(write) = world.operators[op].work.next() else { return };
        let Some(sent) = write.sent(&world.sees(&self.scenario, op).quotas) else { return };
        let Some(slot) = world.late.iter_mut().find(|slot| slot.is_none()) else { return };
        *slot = Some(sent);
        world.happened.late += 1;
        world.operators[op].go_on(&write, None);
    }

    /// The next write of an operator is carried out or refused, and it learns which.
    fn write(&self, world: &mut World, op: usize) {
        let Some(write) = world.operators[op].work.next() else { return };
        let outcome = match write.sent(&world.sees(&self.scenario, op).quotas) {
            Some(sent) => self.land(world, &sent),
            None => Outcome::Nothing,
        };
        world.operators[op].go_on(&write, Some(outcome));
        if outcome == Outcome::Conflict {
            // What was not as expected is read anew.
            let (cluster, operator) = (world.cluster, &mut world.operators[op]);
            let kind = write.kind();
            if self.scenario.lags(kind) {
                operator.observe(&self.scenario, kind, &cluster);
            }
        }
    }

    fn land(&self, world: &mut World, write: &Write) -> Outcome {
        let before = world.cluster;
        let fresh = world.fresh_version();
        let outcome = write.land(&mut world.cluster, fresh);
        if outcome == Outcome::Conflict {
            self.memo.conflicts.fetch_add(1, Ordering::Relaxed);
        }
        self.note_broken(world, &before, write, outcome);
        outcome
    }

    /// Notes what a write that was carried out has broken.
    fn note_broken(&self, world: &mut World, before: &Cluster, write: &Write, outcome: Outcome) {
        let broken = match *write {
            _ if outcome != Outcome::Done => None,
            Write::Ledger(_) => None,
            Write::Quota(at, write) => {
                let is_older = before.quotas[at].is_some_and(|quota| quota.generation > write.generation);
                is_older.then_some(Broken::Older)
            }
            Write::Evict(at, _) => {
                if !self.scenario.lags(Kind::Queues) {
                    world.evicted[at] += 1;
                }
                let left = count(world.cluster.pods[at].staying()) + world.happened.deaths;
                let is_below = left < self.memo.least_deserved(world.cluster.demand, at);
                let is_owed = self.owes_what_is_freed(world);
                is_below.then_some(Broken::BelowShare).or_else(|| (!is_owed).then_some(Broken::NotOwed))
            }
            Write::LetIn(at, _) => {
                let is_above = world.cluster.pods[at].charged() > world.cluster.granted(at);
                world.loans += u8::from(is_above);
                if self.scenario.starts_at_once {
                    self.bind(world, at);
                }
                None
            }
        };
        world.broken = world.broken.or(broken);
    }

    fn create(&self, world: &mut World, at: usize) {
        let known = world.known_ids(at);
        let pods = &mut world.cluster.pods[at];
        let wanted = count(pods.staying() | pods.gated) < self.scenario.wanted(at);
        // Without a quota nothing is refused. It counts gated pods as all others.
        let admitted = world.cluster.quotas[at].is_none_or(|quota| count(pods.all()) < quota.enforced);
        if wanted && admitted {
            // Younger than every known pod.
            let id = 16 - known.leading_zeros();
            assert!(id < 16, "no more than 16 pods of a queue are remembered at once");
            if self.scenario.is_in_gate_mode() {
                pods.gated |= 1 << id;
                return;
            }
            pods.pending |= 1 << id;
            let charged = pods.charged();
            if let Some(quota) = world.cluster.quotas[at].as_mut().filter(|_| self.scenario.reports_used()) {
                quota.used = charged;
            }
            if self.scenario.starts_at_once {
                self.bind(world, at);
            }
        }
    }

    fn bind(&self, world: &mut World, at: usize) {
        let bound = (0..MOST_QUEUES).map(|at| {
            let pods = world.cluster.pods[at];
            count(pods.running | pods.terminating)
        });
        let bound: u8 = bound.sum();
        let pods = &mut world.cluster.pods[at];
        if bound < self.scenario.capacity
            && let Some(id) = ids(pods.pending).next()
        {
            pods.pending &= !(1 << id);
            pods.running |= 1 << id;
        }
    }
}
