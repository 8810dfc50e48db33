//! What a division is made from, and what comes out.

use std::sync::Arc;

use crate::amounts::Amounts;
use crate::time::Timestamp;

/// What is divided among the QueueJobs of a queue: what the other pods of the queue leave of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlotRoom {
    /// What the queue may have.
    pub all: Amounts,
    /// The part of it that stays when pods go: what comes in the place of others has to fit in that.
    pub lasting: Amounts,
}

/// A QueueJob that asks for slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GangClaim {
    /// Its name, unique among those that ask.
    pub name: Arc<str>,
    /// Its priority: among those that wait the higher one is let in first.
    pub priority: i32,
    /// When it was created: of equal priority the older one is let in first.
    pub created: Timestamp,
    /// How many of its pods have to run: minAvailable, less what has succeeded. Less than its tasks need is as much as
    /// they need, and more than they have left is what they have left.
    pub floor: u32,
    /// Whether it has been let in: its floor comes before those of gangs that wait.
    pub admitted: bool,
    /// Whether as many of its pods as its floor are there to stay. Where a room has become too small for all that were let
    /// in, those go first that others' needs have taken apart.
    pub intact: bool,
    /// Whether pods of it are being evicted for others: until they are gone its Jobs stay as they are, or each of these
    /// slots would cost it two pods.
    pub is_losing: bool,
    /// Its tasks, in the order of its spec.
    pub tasks: Vec<TaskClaim>,
}

/// One task of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskClaim {
    /// What each of its pods requests.
    pub requests: Amounts,
    /// How many of its pods have not succeeded yet.
    pub most: u32,
    /// How many of them the gang cannot do without.
    pub floor: u32,
    /// How many of its pods are there to stay, or about to be.
    pub running: u32,
    /// How many its Job may run now.
    pub parallelism: u32,
}

/// Pods of another workload of the queue that were refused. They are ordered with the gangs that wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompetingPods {
    /// Whose they are, to have an order.
    pub name: Arc<str>,
    /// Their priority.
    pub priority: i32,
    /// When their owner was created.
    pub created: Timestamp,
    /// What each of them requests.
    pub requests: Amounts,
    /// How many.
    pub pods: u32,
}

/// What one QueueJob gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GangSlots {
    /// Whether its floor fits. If not, it gets nothing.
    pub fits: bool,
    /// How many pods of each task may run.
    pub tasks: Vec<u32>,
}

impl GangSlots {
    /// How many pods may run.
    pub fn total(&self) -> u32 {
        self.tasks.iter().copied().fold(0, u32::saturating_add)
    }
}

impl GangClaim {
    /// Whether it is of use with whatever it gets.
    pub(super) fn needs_nothing(&self) -> bool {
        self.floor == 0 && self.tasks.iter().all(|task| task.floor.min(task.most) == 0)
    }

    /// How many pods of each task are in its floor: what each task needs, then, up to the gang's floor, those that run,
    /// then others, in the order of the tasks.
    pub(super) fn floors(&self) -> Vec<u32> {
        let mut floors: Vec<u32> = self.tasks.iter().map(|task| task.floor.min(task.most)).collect();
        let given = floors.iter().copied().fold(0, u32::saturating_add);
        let mut missing = self.floor.saturating_sub(given);
        for upto in [|task: &TaskClaim| task.running.min(task.most), |task: &TaskClaim| task.most] {
            for (task, floor) in self.tasks.iter().zip(&mut floors) {
                let more = upto(task).saturating_sub(*floor).min(missing);
                *floor = floor.saturating_add(more);
                missing = missing.saturating_sub(more);
            }
        }
        floors
    }
}
