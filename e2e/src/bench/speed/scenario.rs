//! One scenario: the queues, their pods and pending pods, and the expected end.

use std::time::Duration;

use serde_json::{Value, json};

use super::{ClusterLayout, QueueAt, Work};

/// A scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What it is called on the command line.
    pub name: String,
    /// What happens, in a sentence.
    pub says: String,
    /// Whether its Queues are in Gate mode.
    pub gated: bool,
    /// What is there before.
    pub layout: ClusterLayout,
    /// What happens then; times count from its first request.
    pub demand: Demand,
    /// When it is over.
    pub outcome: Outcome,
}

impl Scenario {
    /// In Quota mode.
    pub fn new(
        name: impl Into<String>,
        says: impl Into<String>,
        layout: ClusterLayout,
        demand: Demand,
        outcome: Outcome,
    ) -> Self {
        Self { name: name.into(), says: says.into(), gated: false, layout, demand, outcome }
    }

    /// The same in Gate mode.
    #[must_use]
    pub fn in_gate_mode(mut self) -> Self {
        self.gated = true;
        self.name.push_str("-gate");
        self.says.push_str("; in Gate mode");
        let new = match &mut self.demand {
            Demand::Arrives { queues, .. } => queues.as_mut_slice(),
            _ => &mut [],
        };
        for queue in self.layout.queues.iter_mut().chain(new) {
            if let Some(spec) = queue.spec.as_object_mut() {
                spec.insert("admission".to_owned(), json!("Gate"));
            }
        }
        self
    }
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
