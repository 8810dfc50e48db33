//! Quotient on a test bed: the real operator as a process of its own, and what can be seen of it from outside.
//!
//! What tests assert comes from objects of the API server and from its audit log, not from the operator's word.

mod build;
mod install;
mod observe;
mod operator;
mod stage;
mod writes;

pub use build::{Programs, workspace_root};
pub use install::install_crds;
pub use observe::{QueueView, amounts, queue, queues, quota_amounts, quotas};
pub use operator::{OPERATOR_USER, Operator, SYSTEM_NAMESPACE};
pub use stage::{PATIENCE, PodCounts, Stage, shares_text};
pub use writes::{Write, writes_of_operator};
