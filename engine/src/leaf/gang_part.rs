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

impl GangPart {
    /// The gang whose minimum it completes.
    pub(crate) const fn minimum_of(&self) -> Option<&GangName> {
        if let Self::Minimum(gang) = self { Some(gang) } else { None }
    }

    /// The gang that it comes on top of the minimum of.
    pub(crate) const fn surplus_of(&self) -> Option<&GangName> {
        if let Self::Surplus(gang) = self { Some(gang) } else { None }
    }
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
        self.0.extend(part.filter(|_| fitting < asked).and_then(GangPart::minimum_of).cloned());
        fitting
    }

    /// Whether units that are this `part` of a gang are of no use.
    pub(crate) fn lacks_minimum(&self, part: Option<&GangPart>) -> bool {
        part.and_then(GangPart::surplus_of).is_some_and(|gang| self.0.contains(gang))
    }
}
