//! A gang of which only a part exists, because the part of another gang uses the room for the rest.

use super::Preemptor;

/// For how long no pod of two gangs may have been created before Quotient decides between them, in seconds: pods are created one
/// after the other, and a controller whose pod was rejected retries.
pub const INCOMPLETE_SECONDS: i64 = 60;

/// A gang of which only a part exists, and the gang whose pods use the room for the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncompleteGang {
    /// The workload of the gang, the first if there are several.
    pub gang: GangPart,
    /// The same of the other gang.
    pub other: GangPart,
    /// What becomes of the two.
    pub resolution: Resolution,
}

/// The part of a gang that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GangPart {
    /// The first of its workloads.
    pub workload: Preemptor,
    /// How many of its pods exist.
    pub members: u32,
    /// How many are needed for any to be of use.
    pub minimum: u32,
}

/// What becomes of a gang that exists in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// The other gang yields, and this one is completed.
    IsCompleted,
    /// This gang yields to the other one.
    Yields,
    /// The other gang is completed first; this one keeps its pods.
    Waits,
    /// Quotient may lower the workload of neither.
    NeitherCanBeHeld,
}

impl IncompleteGang {
    /// What is wrong, what Quotient does and when, and what a person can do.
    pub fn sentences(&self) -> [String; 2] {
        let Self { gang, other, resolution } = self;
        let (own, others) = (&gang.workload, &other.workload);
        let what = format!(
            "The gang has {} of {} pods because {others}, which has {} of {}, uses the room for the rest.",
            gang.members, gang.minimum, other.members, other.minimum,
        );
        let lowered = |workload: &Preemptor| {
            format!("After {INCOMPLETE_SECONDS} s without a new pod Quotient lowers {workload} to 0")
        };
        let next = match resolution {
            Resolution::IsCompleted => format!("{}.", lowered(others)),
            Resolution::Yields => format!("{}, and restores it when all of the gang has room.", lowered(own)),
            Resolution::Waits => format!("{others} is completed first."),
            Resolution::NeitherCanBeHeld => {
                "Quotient can lower neither of them. Delete or suspend one.".to_owned()
            }
        };
        [what, next]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::OwnerKind;

    #[test]
    fn both_gangs_are_named_with_their_numbers() {
        let part = |name: &str, members| GangPart {
            workload: Preemptor::Owner(OwnerKind::Job, name.into()),
            members,
            minimum: 8,
        };
        let sentence = |resolution| {
            let gang = IncompleteGang { gang: part("x", 5), other: part("y", 3), resolution };
            gang.sentences().join(" ")
        };
        assert_eq!(
            sentence(Resolution::IsCompleted),
            "The gang has 5 of 8 pods because Job y, which has 3 of 8, uses the room for the rest. After 60 s without a new pod \
             Quotient lowers Job y to 0."
        );
        assert_eq!(
            sentence(Resolution::Yields),
            "The gang has 5 of 8 pods because Job y, which has 3 of 8, uses the room for the rest. After 60 s without a new pod \
             Quotient lowers Job x to 0, and restores it when all of the gang has room."
        );
        assert!(sentence(Resolution::Waits).ends_with("Job y is completed first."));
        assert!(sentence(Resolution::NeitherCanBeHeld).ends_with("Delete or suspend one."));
    }
}
