//! Workload kinds that are known by configuration alone: where their objects say how many pods they create, and of which
//! template.
//!
//! Each pair of number and template is an owner of its own. Pairs whose templates request the same are one owner, which wants
//! the sum. The first owner of an object has the object's name and uid; the further ones are `NAME/1`, `NAME/2`, and so on.
//! A pod belongs to the owner whose template requests the same as the pod, otherwise to the first: so an object with one
//! template counts its pods even if admission changed what they request. A resource that some container of the template names
//! no request for does not count, because admission fills in the default of that time.

mod apply;
mod field_path;
mod object;
mod pods;
mod setting;

pub use object::WorkloadObject;
pub use setting::{WorkloadKind, WorkloadKindError};
