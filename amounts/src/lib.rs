//! Exact amounts of resources: no floats, no overflow, one fixed unit a resource.
//!
//! ```text
//! "1500m" ──Quantity──► 1.5e9 nano ──Resource::Cpu──► Amount(1500)   (milli-cpu)
//! "9Gi"   ──Quantity──► …          ──Resource::Memory─► Amount(9663676416)   (bytes)
//! ```

#![cfg_attr(
    test,
    expect(clippy::arithmetic_side_effects, reason = "a test that overflows fails, as it should")
)]

mod amount;
mod bounds;
mod compact;
mod quantity;
mod resource;
mod vector;

pub use amount::Amount;
pub use bounds::Bounds;
pub use quantity::{ParseQuantityError, Quantity};
pub use resource::Resource;
pub use vector::Amounts;
