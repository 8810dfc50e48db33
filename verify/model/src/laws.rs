//! What has to hold: in every state, in every state of rest, and somewhere.

use stateright::{Model, Property};

use crate::action::Action;
use crate::cluster::Cluster;
use crate::pods::count;
use crate::scenario::Faults;
use crate::state_space::StateSpace;
use crate::world::{Broken, World};

/// What is lent is never lent twice: Σ max(status.hard, charged) ≤ C.
pub const ROOM: &str = "nothing is granted twice";
/// No pod is evicted from a queue that is left with less than it ever deserved.
pub const NEED: &str = "no pod is evicted without need";
/// No queue loses more pods than it ever had above its share.
pub const FEW: &str = "no more go than have to";
/// What an older ledger said never replaces what a newer one said.
pub const ORDER: &str = "no older generation replaces a newer one";
/// In Gate mode pods are let in above what the ledger grants only by a late write or another leader.
pub const LOANS: &str = "no gate is removed above the ledger";
/// The ledger owes what an eviction frees before the eviction is sent.
pub const FREED: &str = "what is freed is owed before it is freed";
/// What the ledger grants and what it owes are there once: Σ granted + Σ owed ≤ C.
pub const ONCE: &str = "what is granted and owed fits into the capacity";
/// Where nothing can happen any more, every queue has what it deserves, and no more.
pub const REST: &str = "every rest is a good one";

impl StateSpace {
    /// Whether what queues can occupy fits the nodes. A person that raises a quota lends what is not there, until
    /// an operator takes it back.
    fn has_room(&self, world: &World) -> bool {
        let occupied = self.scenario.each().map(|at| self.occupied(&world.cluster, at)).sum::<u8>();
        world.loans > 0 || world.happened.raises > 0 || occupied <= self.scenario.capacity
    }

    /// What queue `at` can occupy. In Gate mode no gate is removed above what the ledger grants.
    fn occupied(&self, cluster: &Cluster, at: usize) -> u8 {
        if self.scenario.is_in_gate_mode() {
            return cluster.pods[at].charged().max(cluster.granted(at));
        }
        cluster.occupied(at)
    }

    /// Whether only a late write, or the write of another leader, has let in a pod above what the ledger grants.
    fn grants_first(&self, world: &World) -> bool {
        world.loans == 0 || world.happened.late > 0 || self.scenario.operators > 1
    }

    /// Whether the ledger promises no more than there is. A quota that is raised by hand counts as granted in a ledger that is
    /// rebuilt.
    fn promises_once(&self, world: &World) -> bool {
        let promised = world.cluster.ledger.iter().flat_map(|ledger| ledger.entries.iter().flatten());
        let promised: u8 = promised.map(|entry| entry.granted + entry.owed).sum();
        world.happened.raises > 0 || promised <= self.scenario.capacity
    }

    /// Whether the ledger owes as much as all evictions together are freeing. With a second leader, after a late write and
    /// after a loss, evictions of an earlier decision may come beside those of a later one.
    pub(crate) fn owes_what_is_freed(&self, world: &World) -> bool {
        let Faults { late, raises, losses, .. } = world.happened;
        let freed: u8 = world.cluster.pods.iter().map(|pods| count(pods.terminating)).sum();
        let is_alone = self.scenario.operators == 1 && late == 0 && raises == 0 && losses == 0;
        !is_alone || freed <= world.cluster.owed()
    }

    /// Whether no queue has lost more pods than it ever held above its share.
    ///
    /// Where Queues may be seen late, evictions are not counted: leaders that see different demands evict for either.
    fn few_went(&self, world: &World) -> bool {
        self.scenario.each().all(|at| world.evicted[at] <= self.most_evictions(world, at))
    }

    /// What queue `at` held above its first share, what later shares took away from it, and what people let in.
    ///
    /// One more for a lost ledger: it takes back what was granted and not used yet, so that a leader that sees the demand
    /// of before may raise a quota while another one evicts below it.
    pub fn most_evictions(&self, world: &World, at: usize) -> u8 {
        let deserved = |demand: u8| self.memo.deserved(demand, at);
        let first = self.scenario.pods[at].saturating_sub(deserved(0));
        let later = (0..world.cluster.demand)
            .map(|demand| deserved(demand).saturating_sub(deserved(demand + 1)))
            .sum::<u8>();
        let by_hand = world.happened.raises * self.scenario.capacity;
        first + later + by_hand + world.happened.losses + world.loans
    }

    /// Whether nothing happens any more without a fault or a person.
    pub fn rests(&self, world: &World) -> bool {
        let busy = world.late.iter().any(Option::is_some)
            || world.operators.iter().any(|operator| !operator.work.is_done())
            || world.cluster.pods.iter().any(|pods| pods.terminating != 0)
            || world.cluster.quotas.iter().flatten().any(|quota| quota.hard != quota.enforced);
        if busy {
            return false;
        }
        let mut actions = Vec::new();
        self.actions(world, &mut actions);
        actions
            .into_iter()
            .filter(|action| !action.is_chance())
            .all(|action| self.after(world, action).is_none())
    }

    /// Whether every queue has what it deserves, in force and in use: A = D, used = D, nothing promised.
    ///
    /// Where a person raised a quota, a pod that this let in may wait for a node above its queue's share: it goes
    /// only if it is above the share and a unit of another queue needs it, and here every queue runs all that it deserves.
    /// Evicting it would help no queue.
    pub fn is_good(&self, world: &World) -> bool {
        self.scenario.each().all(|at| {
            let deserved = self.memo.deserved(world.cluster.demand, at);
            let quota = world.cluster.quotas[at];
            // In Gate mode the quota holds the limit, and the ledger is what is in force.
            let (hard, is_granted) = if self.scenario.is_in_gate_mode() {
                let limit = self.scenario.demands[usize::from(world.cluster.demand)][at];
                (limit, world.cluster.granted(at) == deserved)
            } else {
                (deserved, true)
            };
            let in_force =
                is_granted && quota.is_some_and(|quota| quota.hard == hard && quota.enforced == hard);
            let pods = world.cluster.pods[at];
            let waits_in_vain = world.happened.raises > 0 && pods.terminating == 0;
            let holds_no_more = pods.charged() == deserved || waits_in_vain;
            in_force && holds_no_more && count(pods.running) == deserved
        })
    }
}

impl Model for StateSpace {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![self.beginning()]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        Self::actions(self, world, actions);
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        self.after(world, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut laws = vec![
            Property::always(ROOM, Self::has_room),
            Property::always(NEED, |_, world: &World| world.broken != Some(Broken::BelowShare)),
            Property::always(FEW, Self::few_went),
            Property::always(ORDER, |_, world: &World| world.broken != Some(Broken::Older)),
            Property::always(LOANS, Self::grants_first),
            Property::always(FREED, |_, world: &World| world.broken != Some(Broken::NotOwed)),
            Property::always(ONCE, Self::promises_once),
            Property::always(REST, |space, world| space.is_good(world) || !space.rests(world)),
            Property::sometimes("every queue is served", |space: &Self, world: &World| {
                usize::from(world.cluster.demand) + 1 == space.scenario.demands.len() && space.is_good(world)
            }),
        ];
        let faults = self.scenario.faults;
        let mut sometimes = |is_possible: bool, name, condition: fn(&Self, &World) -> bool| {
            if is_possible {
                laws.push(Property::sometimes(name, condition));
            }
        };
        sometimes(faults.crashes > 0, "an operator dies in the middle", |space, world| {
            world.happened.crashes == space.scenario.faults.crashes
        });
        sometimes(faults.late > 0, "every late write was late", |space, world| {
            world.happened.late == space.scenario.faults.late
        });
        let may_lend = self.scenario.is_in_gate_mode() && faults.late > 0 && self.scenario.operators > 1;
        sometimes(may_lend, "a late write lets in a pod on loan", |_, world| world.loans > 0);
        sometimes(faults.deaths > 0, "pods end by themselves", |space, world| {
            world.happened.deaths == space.scenario.faults.deaths
        });
        sometimes(faults.raises > 0, "a person raises a quota", |_, world| world.happened.raises > 0);
        sometimes(faults.losses > 0, "a person deletes the ledger", |_, world| world.happened.losses > 0);
        laws
    }
}
