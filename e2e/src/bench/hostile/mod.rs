//! `bench hostile`: what a tenant can cost the operator, beside a cluster of the same size in which no tenant tries.

mod crowd;
mod measure;
mod memory;

pub use crowd::{WIDE, autoscaler, budget, create, crowd_size, member, resting, wide};
pub use measure::{Crowd, Effort, measure};
pub use memory::{CONNECTIONS, LARGE_PODS, MOST_MEMORY, QUEUE_JOBS, memory};
