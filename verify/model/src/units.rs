//! Units of cpu, the one governed resource, and the engine's amounts.

use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};

/// `units` of cpu. A unit is the quantum in which shares are handed out, so that no share ends within a pod and what
/// queues deserve depends on their demands alone.
pub(crate) fn amount(units: u8) -> Amount {
    Amount::new(i128::from(units))
}

/// The units of cpu in `amount`.
pub(crate) fn units(amount: Amount) -> u8 {
    u8::try_from(amount.units()).expect("no amount is beyond the capacity")
}

/// The units of cpu that are stated.
pub(crate) fn only(bounds: &Bounds) -> u8 {
    units(bounds.get(&Resource::Cpu).expect("cpu is the one governed resource"))
}

/// `units` of cpu and nothing else.
pub(crate) fn bounds(units: u8) -> Bounds {
    [(Resource::Cpu, amount(units))].into_iter().collect()
}

/// The same as amounts that leave out nothing.
pub(crate) fn amounts(units: u8) -> Amounts {
    [(Resource::Cpu, amount(units))].into_iter().collect()
}

/// The amount of the one governed resource.
pub(crate) fn cpu(amounts: &Amounts) -> u8 {
    units(amounts.get(&Resource::Cpu))
}
