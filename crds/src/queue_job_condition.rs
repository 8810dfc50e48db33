//! The names of a QueueJob's conditions.

use std::fmt;

use crate::conditions::ConditionName;

/// The conditions that a QueueJob reports.
///
/// Each is written as True or False and never removed, so that `kubectl wait --for=condition=Complete` works. They are
/// ordered as they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueueJobCondition {
    /// It has the slots that its gang needs.
    Admitted,
    /// As many of its pods run or have succeeded as the gang needs.
    GangReady,
    /// It has lost slots to others.
    Preempted,
    /// It asks for no slots, because its spec says so.
    Suspended,
    /// All its pods have succeeded.
    Complete,
    /// One of its tasks has failed.
    Failed,
}

impl QueueJobCondition {
    /// Every condition, in the order they are shown.
    pub const ALL: [Self; 6] =
        [Self::Admitted, Self::GangReady, Self::Preempted, Self::Suspended, Self::Complete, Self::Failed];

    /// The text in a condition's `type`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Admitted => "Admitted",
            Self::GangReady => "GangReady",
            Self::Preempted => "Preempted",
            Self::Suspended => "Suspended",
            Self::Complete => "Complete",
            Self::Failed => "Failed",
        }
    }
}

impl ConditionName for QueueJobCondition {
    const ALL: &'static [Self] = &Self::ALL;

    fn as_str(self) -> &'static str {
        Self::as_str(self)
    }
}

impl fmt::Display for QueueJobCondition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_in_order_and_every_name_is_read_back() {
        assert!(QueueJobCondition::ALL.windows(2).all(|pair| pair[0] < pair[1]));
        for condition in QueueJobCondition::ALL {
            assert_eq!(QueueJobCondition::from_text(condition.as_str()), Some(condition));
        }
        assert_eq!(QueueJobCondition::from_text("Starved"), None);
    }
}
