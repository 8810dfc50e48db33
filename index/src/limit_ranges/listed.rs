//! What is remembered of LimitRanges as a kind.

/// What is remembered of LimitRanges as a kind.
#[derive(Debug, Default)]
pub(crate) struct LimitRangeKind {
    /// Whether all were listed once. Before that no namespace is known to have none.
    pub(crate) listed: bool,
}

impl LimitRangeKind {
    /// Whether it is known which LimitRanges there are.
    pub(crate) const fn is_listed(&self) -> bool {
        self.listed
    }
}
