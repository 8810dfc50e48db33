//! How far a plan is carried out in one queue.

use crate::names::QueueName;
use crate::snapshot::{Mode, Queue, Settings};
use crate::time::Timestamp;

/// How far a plan is carried out in one queue: the lowest mode and the latest pause of the queue and its parents.
///
/// The operator's own mode bounds both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// The lowest mode.
    pub mode: Mode,
    /// The queue that sets it: this one or a parent. None if the operator's own mode does.
    pub mode_of: Option<QueueName>,
    /// The pause that ends last; none if no pause lasts now.
    pub pause: Option<Pause>,
}

/// A pause that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// When it ends.
    pub until: Timestamp,
    /// The queue that sets it.
    pub of: QueueName,
}

/// What keeps an eviction from being carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// The operator's own mode.
    OperatorMode(Mode),
    /// The mode of this queue.
    QueueMode(QueueName, Mode),
    /// A pause.
    Pause(Pause),
}

impl Reach {
    /// The reach where only the operator's own mode bounds it.
    pub(crate) fn of_operator(settings: &Settings) -> Self {
        Self { mode: settings.mode, ..Self::default() }
    }

    /// The reach in `queue`, whose parent has this one.
    pub(crate) fn below(&self, name: &QueueName, queue: &Queue, now: Timestamp) -> Self {
        let mut reach = self.clone();
        if queue.mode < reach.mode {
            (reach.mode, reach.mode_of) = (queue.mode, Some(name.clone()));
        }
        let latest = reach.pause.as_ref().map_or(now, |pause| pause.until);
        if let Some(until) = queue.paused_until.filter(|until| *until > latest) {
            reach.pause = Some(Pause { until, of: name.clone() });
        }
        reach
    }

    /// Whether quotas are written.
    pub fn writes_quotas(&self) -> bool {
        self.mode >= Mode::Quota
    }

    /// Whether pods are evicted, owners scaled and pods ended without grace.
    pub fn evicts(&self) -> bool {
        self.withheld().is_none()
    }

    /// Whether a quota is lowered.
    pub fn lowers(&self) -> bool {
        self.writes_quotas() && self.pause.is_none()
    }

    /// What keeps pods from being evicted; none if nothing does.
    pub fn withheld(&self) -> Option<Withheld> {
        match (&self.pause, self.mode, &self.mode_of) {
            (_, Mode::Observe | Mode::Quota, None) => Some(Withheld::OperatorMode(self.mode)),
            (_, Mode::Observe | Mode::Quota, Some(of)) => Some(Withheld::QueueMode(of.clone(), self.mode)),
            (Some(pause), Mode::Full, _) => Some(Withheld::Pause(pause.clone())),
            (None, Mode::Full, _) => None,
        }
    }
}
