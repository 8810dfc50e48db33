//! One question to the cluster: who is there, who asks for what, and what is to come of it.

use std::time::Duration;

use serde_json::Value;

use super::{Ground, QueueAt, Work};

/// A scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What it is called on the command line.
    pub name: String,
    /// What happens, in a sentence.
    pub says: String,
    /// What is there before.
    pub ground: Ground,
    /// What happens then; times count from its first request.
    pub demand: Demand,
    /// When it is over.
    pub outcome: Outcome,
}

/// What happens.
#[derive(Clone, Debug)]
pub enum Demand {
    /// Queues and work appear, all at once.
    Arrives {
        /// The Queues, first.
        queues: Vec<QueueAt>,
        /// What is to run.
        work: Vec<Work>,
    },
    /// Specs of Queues are changed, all at once.
    Changes(Vec<QueueAt>),
    /// One node after the other is drained and removed.
    NodesGo {
        /// How many, from the first.
        count: u32,
        /// Between two.
        every: Duration,
    },
    /// Jobs of a second come and go.
    Churn {
        /// In these namespaces, each in turn.
        namespaces: Vec<String>,
        /// Between two Jobs.
        every: Duration,
        /// For so long.
        lasts: Duration,
    },
}

impl Demand {
    /// Work that appears in Queues that are there.
    pub fn work(work: Vec<Work>) -> Self {
        Self::Arrives { queues: Vec::new(), work }
    }

    /// Changes of these Queues.
    pub fn spec(changes: impl IntoIterator<Item = (String, Value)>) -> Self {
        Self::Changes(changes.into_iter().map(|(name, spec)| QueueAt { name, spec }).collect())
    }
}

/// When it is over, and what it may cost.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// In these namespaces so many more pods run than before.
    pub gains: Vec<(String, u32)>,
    /// The fewest pods that have to go for it, if that is known.
    pub fewest: Option<u32>,
}
