//! One representative of all states that differ only in the names of ids and generations.
//!
//! Nothing depends on an id or a generation but its order among those that are remembered. So they are counted
//! anew after every step, without gaps, and the world stays finite however long it runs.

use crate::cluster::Cluster;
use crate::ledger::Ledger;
use crate::numbers::{Generation, MOST_QUEUES, Version};
use crate::pods::{Pods, count, ids};
use crate::world::World;
use crate::write::{Base, QuotaWrite, Write};

impl World {
    /// Renames ids and generations.
    pub(crate) fn canonical(mut self) -> Self {
        for at in 0..MOST_QUEUES {
            let known = self.known_ids(at);
            if known & (known.wrapping_add(1)) != 0 {
                self.rename_ids(at, known);
            }
        }
        let mut known = Numbers::default();
        self.each_generation(&mut |generation| known.add(*generation));
        if known.has_gaps() {
            self.each_generation(&mut |generation| *generation = known.rank(*generation));
        }
        let mut known = Numbers::default();
        self.each_version(&mut |version| known.add(*version));
        if known.has_gaps() {
            self.each_version(&mut |version| *version = known.rank(*version));
        }
        self.late.sort_unstable_by(|one, other| other.cmp(one));
        self
    }

    /// An unknown version of the ledger.
    pub(crate) fn fresh_version(&self) -> Version {
        let mut most = 0;
        self.clone().each_version(&mut |version| most = most.max(*version));
        most + 1
    }

    pub(crate) fn known_ids(&self, at: usize) -> u16 {
        let operators = self.operators.iter();
        let of_operators = operators.map(|operator| {
            operator.cache.pods[at].all() | operator.work.evictions[at] | operator.work.gates[at]
        });
        let of_late = self.late.iter().flatten().map(|write| write.pod(at));
        of_operators.chain(of_late).fold(self.cluster.pods[at].all(), |all, some| all | some)
    }

    fn rename_ids(&mut self, at: usize, known: u16) {
        let rank = |id: u8| count(known & ((1 << id) - 1));
        let rename = |set: u16| ids(set).fold(0_u16, |renamed, id| renamed | (1 << rank(id)));
        let pods = |pods: Pods| Pods {
            gated: rename(pods.gated),
            pending: rename(pods.pending),
            running: rename(pods.running),
            terminating: rename(pods.terminating),
        };
        self.cluster.pods[at] = pods(self.cluster.pods[at]);
        for operator in &mut self.operators {
            operator.cache.pods[at] = pods(operator.cache.pods[at]);
            operator.work.evictions[at] = rename(operator.work.evictions[at]);
            operator.work.gates[at] = rename(operator.work.gates[at]);
        }
        for write in self.late.iter_mut().flatten() {
            if let Write::Evict(of, id) | Write::LetIn(of, id) = write
                && *of == at
            {
                *id = rank(*id);
            }
        }
    }

    fn each_generation(&mut self, visit: &mut dyn FnMut(&mut Generation)) {
        of_cluster(&mut self.cluster, visit);
        for operator in &mut self.operators {
            of_cluster(&mut operator.cache, visit);
            if let Some(write) = &mut operator.work.ledger {
                of_ledger(&mut write.ledger, visit);
            }
            for write in operator.work.quotas.iter_mut().flatten() {
                of_quota_write(write, visit);
            }
        }
        for write in self.late.iter_mut().flatten() {
            match write {
                Write::Ledger(write) => of_ledger(&mut write.ledger, visit),
                Write::Quota(_, write) => of_quota_write(write, visit),
                Write::Evict(..) | Write::LetIn(..) => {}
            }
        }
    }

    fn each_version(&mut self, visit: &mut dyn FnMut(&mut Version)) {
        self.operators.iter_mut().for_each(|operator| visit(&mut operator.pods_version));
        let clusters =
            self.operators.iter_mut().map(|operator| &mut operator.cache).chain([&mut self.cluster]);
        clusters.filter_map(|cluster| cluster.ledger.as_mut()).for_each(|ledger| visit(&mut ledger.version));
        let works = self.operators.iter_mut().filter_map(|operator| operator.work.ledger.as_mut());
        let late = self.late.iter_mut().flatten().filter_map(|write| match write {
            Write::Ledger(write) => Some(write),
            _ => None,
        });
        works.chain(late).filter_map(|write| write.based_on.as_mut()).for_each(visit);
    }
}

fn of_cluster(cluster: &mut Cluster, visit: &mut dyn FnMut(&mut Generation)) {
    for quota in cluster.quotas.iter_mut().flatten() {
        visit(&mut quota.generation);
    }
    if let Some(ledger) = &mut cluster.ledger {
        of_ledger(ledger, visit);
    }
}

fn of_ledger(ledger: &mut Ledger, visit: &mut dyn FnMut(&mut Generation)) {
    visit(&mut ledger.generation);
    for entry in ledger.entries.iter_mut().flatten() {
        visit(&mut entry.changed);
    }
}

fn of_quota_write(write: &mut QuotaWrite, visit: &mut dyn FnMut(&mut Generation)) {
    visit(&mut write.generation);
    if let Base::Stamped(generation) | Base::UpTo(generation) = &mut write.based_on {
        visit(generation);
    }
}

/// A set of generations, or of versions.
#[derive(Default)]
struct Numbers(u128);

impl Numbers {
    fn add(&mut self, number: u8) {
        assert!(number < 128, "they are counted anew after every step");
        self.0 |= 1 << number;
    }

    /// 0 always counts as known: it stands for "before everything".
    const fn has_gaps(&self) -> bool {
        let all = self.0 | 1;
        all & all.wrapping_add(1) != 0
    }

    fn rank(&self, number: u8) -> u8 {
        let below = (self.0 | 1) & ((1 << number) - 1);
        u8::try_from(below.count_ones()).expect("at most 128")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Quota;

    /// One queue with pods 2 and 5, of which 5 is about to be evicted, and a quota of generation 7.
    fn world() -> World {
        let mut world = World::default();
        world.cluster.pods[0] = Pods { running: 0b10_0100, ..Pods::default() };
        world.cluster.quotas[0] = Some(Quota { generation: 7, ..Quota::default() });
        world.operators[1].work.evictions[0] = 0b10_0000;
        world
    }

    #[test]
    fn ids_and_generations_are_counted_without_gaps_in_their_order() {
        let world = world().canonical();
        assert_eq!(world.cluster.pods[0].running, 0b11);
        assert_eq!(world.operators[1].work.evictions[0], 0b10);
        assert_eq!(world.cluster.quotas[0].map(|quota| quota.generation), Some(1));
        assert_eq!(world.clone().canonical(), world);
    }

    #[test]
    fn what_an_operator_remembers_keeps_its_id() {
        let mut remembered = world();
        // The pod is gone, its eviction is not.
        remembered.cluster.pods[0].running = 0b100;
        let remembered = remembered.canonical();
        assert_eq!(remembered.cluster.pods[0].running, 0b01);
        assert_eq!(remembered.operators[1].work.evictions[0], 0b10);
        assert_eq!(remembered.known_ids(0), 0b11);
    }
}
