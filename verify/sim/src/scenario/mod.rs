//! Whole scenarios: a cluster, its workloads, operators, and what happens to them.
//!
//! ```
//! use quotient_sim::{World, faults::OperatorOptions, scenario::workload};
//!
//! let mut world = World::new(7);
//! workload::two_queues().build(&world);
//! world.start(OperatorOptions::default());
//! assert!(world.run_until_settled().is_some());
//! assert_eq!(world.hard("team-1"), "requests.cpu 3, requests.memory 9Gi");
//! ```

pub mod build;
mod observe;
pub mod workload;
mod world;

pub use workload::Workload;
pub use world::World;
