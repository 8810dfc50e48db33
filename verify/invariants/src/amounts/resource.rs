//! Which resource an amount is of.

use std::fmt;
use std::sync::Arc;

use super::{Amount, quantity};

/// The name of a resource in a node's allocatable and in a container's requests.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Resource(Arc<str>);

impl Resource {
    /// The resource of this name.
    pub fn named(name: &str) -> Self {
        Self(name.into())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// `amount` as Kubernetes prints it: bytes with binary suffixes, the rest with decimal ones.
    pub fn format(&self, amount: Amount) -> String {
        let name = self.name();
        let is_in_bytes =
            name.ends_with("memory") || name.ends_with("ephemeral-storage") || name.contains("hugepages-");
        quantity::text(amount.nano(), is_in_bytes)
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}
