//! Which resource an amount is of, and what its unit and quantum are.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Amount, Quantity};

/// A resource that nodes offer and pods request.
///
/// Ordered as people read them: cpu, memory, then the extended ones by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Resource {
    /// Processor time, counted in milli-cpu.
    Cpu,
    /// Memory, counted in bytes.
    Memory,
    /// Anything else, such as `nvidia.com/gpu`, counted in whole devices. A thin pointer, for there are many amounts and few
    /// names.
    Extended(Arc<Box<str>>),
}

/// Nano units in one whole unit of a quantity.
const NANO: i128 = 1_000_000_000;
/// Nano units in one milli-cpu.
const NANO_IN_MILLI: i128 = 1_000_000;

impl Resource {
    /// The resource called `name` in a node's allocatable or a container's requests.
    pub fn from_name(name: &str) -> Self {
        match name {
            "cpu" => Self::Cpu,
            "memory" => Self::Memory,
            other => Self::Extended(Arc::new(other.into())),
        }
    }

    /// The name in a node's allocatable or a container's requests.
    pub fn name(&self) -> &str {
        match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Extended(name) => name,
        }
    }

    /// The smallest amount in which shares are handed out: 1m cpu, 1Mi memory, 1 device.
    pub const fn quantum(&self) -> i128 {
        match self {
            Self::Cpu | Self::Extended(_) => 1,
            Self::Memory => 1 << 20,
        }
    }

    /// What `quantity` is at most, in this resource's unit: for what is asked for.
    pub fn rounded_up(&self, quantity: Quantity) -> Amount {
        let unit = self.nano_in_unit();
        let floor = quantity.nano().div_euclid(unit);
        let rest = quantity.nano().rem_euclid(unit);
        Amount::new(if rest == 0 { floor } else { floor.saturating_add(1) })
    }

    /// What `quantity` is at least, in this resource's unit: for what is on offer.
    pub fn rounded_down(&self, quantity: Quantity) -> Amount {
        Amount::new(quantity.nano().div_euclid(self.nano_in_unit()))
    }

    /// `amount` as a canonical Kubernetes quantity: `1500m`, `9Gi`, `2`.
    pub fn quantity(&self, amount: Amount) -> Quantity {
        Quantity::from_nano(amount.units().saturating_mul(self.nano_in_unit()))
    }

    /// The text of `amount` as Kubernetes prints it: memory in binary suffixes, the rest in decimal ones.
    pub fn format(&self, amount: Amount) -> String {
        let quantity = self.quantity(amount);
        match self {
            Self::Memory => quantity.binary_text(),
            Self::Cpu | Self::Extended(_) => quantity.decimal_text(),
        }
    }

    const fn nano_in_unit(&self) -> i128 {
        match self {
            Self::Cpu => NANO_IN_MILLI,
            Self::Memory | Self::Extended(_) => NANO,
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}
