//! A real control plane (etcd, kube-apiserver, kube-controller-manager, kube-scheduler) with pretended nodes
//! (kwok), as plain processes on loopback: no containers, no root, about two seconds to start.
//!
//! Why the real thing: what a quota manager depends on lives between the components. The quota that admission enforces
//! is the one the controller manager has copied; a refused ReplicaSet comes back when *its* controller retries;
//! an eviction is judged by the API server with what the disruption controller has counted. A fake API server
//! has none of these delays and all of the author's beliefs.
//!
//! ```no_run
//! use quotient_testbed::{Options, TestBed};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let bed = TestBed::start(Options::default()).await?;
//! bed.add_node("node-1", &[("cpu", "6"), ("memory", "15Gi")]).await?;
//! bed.create_namespace("team-a").await?;
//! println!("{}", bed.kubectl(["get", "nodes"]).await?);
//! bed.stop().await?;
//! # Ok(())
//! # }
//! ```
//!
//! Laws it keeps:
//! - Nothing is shared: every test bed has its own certificates, ports and directory; any number may run at once.
//! - Nothing is left behind: every process belongs to the group of a watchdog, which kills the group as soon as
//!   the owner's end of a pipe closes, however the owner ends (return, panic, Ctrl-C, SIGKILL).
//! - Nothing is hidden: logs stay, and their path is printed, unless [`TestBed::stop`] was reached.

pub mod annotations;
pub mod audit;
pub mod binaries;
pub mod cache;
pub mod components;
pub mod objects;
pub mod pki;
pub mod ports;
pub mod process;
pub mod proxy;
mod restore;
pub mod run_directory;
pub mod wait;

mod backup;
mod bed;
mod command;
mod faults;
mod helm;
mod identity;
mod kubeconfig;
mod kubectl;
mod layout;
mod options;
mod readiness;
mod start;
mod workloads;

pub use audit::{AuditEvent, AuditLog, AuditMark};
pub use backup::Backup;
pub use bed::TestBed;
pub use components::Component;
pub use faults::CENSUS;
pub use helm::Helm;
pub use identity::client_of;
pub use layout::ADMIN;
pub use options::{KUBERNETES_RECOUNTS, Options};
pub use process::ManagedProcess;
pub use wait::{PATIENCE, eventually, until_is};
