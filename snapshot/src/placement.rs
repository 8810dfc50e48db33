//! Where a pod may run: what is known of its scheduling constraints.

use serde::{Deserialize, Serialize};

use crate::labels::{Labels, Requirement};

/// The constraints that the engine models; the scheduler knows more (spread, volumes, pod affinity).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Placement {
    /// `spec.nodeSelector`: labels that the node must have.
    pub node_selector: Vec<(String, String)>,
    /// Required node affinity: one of these terms must hold. Empty: no constraint.
    pub required: Vec<NodeTerm>,
    /// Preferred node affinity, each term with its weight from 1 to 100.
    pub preferred: Vec<(i32, NodeTerm)>,
    /// Taints that it tolerates.
    pub tolerations: Vec<Toleration>,
}

/// A term of node affinity: all of its requirements must hold. One without any matches no node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NodeTerm(pub Vec<NodeRequirement>);

/// One requirement of a term.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum NodeRequirement {
    /// On the node's labels, as in every selector.
    Label(Requirement),
    /// The label is a whole number above this one (`Gt`).
    Above(String, i64),
    /// The label is a whole number below this one (`Lt`).
    Below(String, i64),
    /// The node has one of these names (`matchFields` on `metadata.name`, `In`).
    Named(Vec<String>),
    /// The node has none of these names.
    NotNamed(Vec<String>),
}

/// A taint that a pod tolerates.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Toleration {
    /// The key; `None` tolerates every key.
    pub key: Option<String>,
    /// The value that the taint must have; `None` (operator `Exists`) tolerates every value.
    pub value: Option<String>,
    /// The effect; `None` tolerates every effect.
    pub effect: Option<TaintEffect>,
}

/// A taint of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Taint {
    /// Its key.
    pub key: String,
    /// Its value, empty if it has none.
    pub value: String,
    /// What it does to pods that do not tolerate it.
    pub effect: TaintEffect,
}

/// What a taint does to pods that do not tolerate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TaintEffect {
    /// No pod is bound.
    NoSchedule,
    /// Other nodes are preferred.
    PreferNoSchedule,
    /// No pod is bound, and running ones have to go.
    NoExecute,
}

impl Placement {
    /// Whether a node with this name, these labels and these taints may run the pod.
    pub fn allows(&self, name: &str, labels: &Labels, taints: &[Taint]) -> bool {
        let selected = self.node_selector.iter().all(|(key, value)| labels.get(key) == Some(value));
        let required = self.required.is_empty() || self.required.iter().any(|term| term.holds(name, labels));
        let tolerated = |taint: &Taint| self.tolerations.iter().any(|toleration| toleration.covers(taint));
        let repels = |taint: &&Taint| taint.effect != TaintEffect::PreferNoSchedule;
        selected && required && taints.iter().filter(repels).all(tolerated)
    }

    /// How much the pod prefers a node: the weights of the preferred terms that hold.
    pub fn preference(&self, name: &str, labels: &Labels) -> i64 {
        let held = self.preferred.iter().filter(|(_, term)| term.holds(name, labels));
        held.map(|(weight, _)| i64::from(*weight)).fold(0, i64::saturating_add)
    }
}

impl NodeTerm {
    fn holds(&self, name: &str, labels: &Labels) -> bool {
        !self.0.is_empty() && self.0.iter().all(|requirement| requirement.holds(name, labels))
    }
}

impl NodeRequirement {
    fn holds(&self, name: &str, labels: &Labels) -> bool {
        let number = |key: &str| labels.get(key).and_then(|text| text.parse::<i64>().ok());
        match self {
            Self::Label(requirement) => requirement.holds(labels),
            Self::Above(key, bound) => number(key).is_some_and(|number| number > *bound),
            Self::Below(key, bound) => number(key).is_some_and(|number| number < *bound),
            Self::Named(names) => names.iter().any(|one| one == name),
            Self::NotNamed(names) => !names.iter().any(|one| one == name),
        }
    }
}

impl Toleration {
    fn covers(&self, taint: &Taint) -> bool {
        self.key.as_ref().is_none_or(|key| *key == taint.key)
            && self.value.as_ref().is_none_or(|value| *value == taint.value)
            && self.effect.is_none_or(|effect| effect == taint.effect)
    }
}
