//! What units are to gangs.

use std::collections::BTreeSet;

use crate::names::GangName;

/// What a unit is to a gang.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GangPart {
    /// It completes the minimum of the gang.
    Minimum(GangName),
    /// It comes on top of that: of no use where the minimum has no room.
    Surplus(GangName),
}

/// Gangs whose minimum has found no room.
#[derive(Default)]
pub(crate) struct IncompleteGangs(BTreeSet<GangName>);

impl IncompleteGangs {
    /// How many of `asked` units that are this `part` of a gang are given room, where there is room for `fitting`. Units come in
    /// the order in which they are kept: the minimum of a gang before its surplus.
    pub(crate) fn given(&mut self, part: Option<&GangPart>, asked: u32, fitting: u32) -> u32 {
        if self.lacks_minimum(part) {
            return 0;
        }
        if let Some(GangPart::Minimum(gang)) = part.filter(|_| fitting < asked) {
            self.0.insert(gang.clone());
        }
        fitting
    }

    /// Whether units that are this `part` of a gang are of no use.
    pub(crate) fn lacks_minimum(&self, part: Option<&GangPart>) -> bool {
        matches!(part, Some(GangPart::Surplus(gang)) if self.0.contains(gang))
    }
}
