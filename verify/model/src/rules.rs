//! The ways to decide and write that are compared: the real protocol, and those that are known to be wrong.

/// A way to turn what is seen into writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// All quotas are set to what is deserved, then pods are evicted.
    AllAtOnce,
    /// Shrink, evict, grow, without a wait until a lower quota is enforced.
    NoWait,
    /// Waits, but different leaders may choose different victims.
    AnyVictims,
    /// Waits, and all leaders choose the same victims; they share nothing but the quotas.
    NoLedger,
    /// Grants are made in a ledger first. What it says is what holds; quotas are only copies of it.
    Copies,
    /// Grants are made in a ledger first, and what it says holds beside what quotas say.
    Ledger(Rules),
}

impl Protocol {
    /// The real one.
    pub const REAL: Self = Self::Ledger(Rules::All);

    /// Whether operators read the ledger anew when they see a quota that bears a later stamp.
    pub const fn rereads(self) -> bool {
        matches!(self, Self::Ledger(rules) if rules.rereads())
    }

    /// In how many ways an operator may decide on the same view.
    pub const fn choices(self) -> u8 {
        match self {
            Self::AnyVictims => 2,
            _ => 1,
        }
    }
}

/// What of the protocol is followed: all of it, or all but one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rules {
    /// All of it but what is charged to quotas.
    All,
    /// What earlier ledgers granted, and what may still land of it, is forgotten.
    AllButHold,
    /// The ledger is not read anew when a quota bears a later stamp, and what it says is written over that.
    AllButOrder,
    /// A ledger that is made up begins with the generation after the latest stamp.
    AllButLeap,
    /// Gates are removed before the ledger is written.
    GatesFirst,
    /// What is freed for a queue is not written to the ledger.
    OwedUnwritten,
    /// A ledger that is rebuilt owes to each queue what the lost one granted to it after it was owed.
    OwedAfterLoss,
    /// In Gate mode quotas grow although pods are seen as they were before the ledger was written.
    AllButPods,
    /// All of it, and what quotas say is charged counts as held where they are newer than the pods that are seen. This
    /// is the operator's; where pods are not seen late it makes no difference but many more states.
    AndUsed,
}

impl Rules {
    /// Whether the ledger is read anew when a quota bears a later stamp.
    pub(crate) const fn rereads(self) -> bool {
        !matches!(self, Self::AllButOrder)
    }
}
