//! How far specs let Quotient go in a namespace.

use super::{ClusterState, Place, QueueFacts};

/// How far specs let Quotient go; each mode includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// No quota is written.
    Observe,
    /// Quotas are written, and no pod is evicted.
    Quota,
    /// Pods are evicted.
    #[default]
    Full,
}

impl Mode {
    /// The mode that a spec names.
    pub(super) fn named(name: Option<&str>) -> Self {
        match name {
            Some("Observe") => Self::Observe,
            Some("Quota") => Self::Quota,
            _ => Self::Full,
        }
    }
}

/// How far specs let Quotient go in a queue, its own and those above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Restraint {
    /// The lowest mode.
    pub(crate) mode: Mode,
    /// Whether a pause lasts.
    pub(crate) is_paused: bool,
}

impl Restraint {
    /// Whether its quota stays as it is, whatever it deserves.
    pub(crate) fn keeps_quota(self) -> bool {
        self.is_paused || self.mode == Mode::Observe
    }

    /// Whether pods may be evicted from it and for it.
    pub(crate) fn evicts(self) -> bool {
        self.mode == Mode::Full && !self.is_paused
    }
}

impl ClusterState {
    /// What restrains the queue that governs a namespace at this time; none if no queue governs it.
    pub(crate) fn restraint(&self, namespace: &str, at: i64) -> Option<Restraint> {
        let path = self.path_up(self.places.get(namespace)?);
        Some(Restraint {
            mode: path.iter().map(|queue| queue.mode).min()?,
            is_paused: path.iter().any(|queue| queue.paused_until.is_some_and(|until| until > at)),
        })
    }

    /// The queue that governs a namespace and those above it, inner ones first; none if no queue does.
    pub(crate) fn path_up<'a>(&'a self, place: &'a Place) -> Vec<&'a QueueFacts> {
        let leaf = place.leaf().map(|(_, leaf)| leaf);
        // References may lead back to where they began.
        std::iter::successors(leaf, |queue| self.above(queue)).take(self.count()).collect()
    }

    fn above(&self, queue: &QueueFacts) -> Option<&QueueFacts> {
        let (namespace, name) = queue.parent.as_ref()?;
        self.places.get(namespace)?.queues.get(name)
    }

    fn count(&self) -> usize {
        self.places.values().map(|place| place.queues.len()).sum()
    }
}
