//! Amounts of resources, and what a pod requests, read as Kubernetes reads them.
//!
//! *Why its own:* a defect in the arithmetic of the engine would else hide in the checks of it, too.

mod amount;
mod of_resources;
mod quantity;
mod requests;
mod resource;

pub use amount::Amount;
pub use of_resources::Amounts;
pub(crate) use requests::amounts;
pub use requests::requests;
pub use resource::Resource;
