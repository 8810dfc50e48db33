//! Quotient on a test bed: the real operator as a process of its own, and what can be seen of it from outside.
//!
//! What tests assert comes from objects of the API server and from its audit log, not from the operator's word.

mod audit_check;
mod build;
mod chart;
mod identity;
mod install;
mod jobs;
mod newcomer;
mod observe;
mod operator;
mod retold;
mod rights;
mod stage;
mod victims;
mod writes;

pub use crate::testbed::PATIENCE;
pub use audit_check::promises_kept;
pub use build::{Previous, Programs, SHIPPED, build_program, workspace_root};
pub use chart::{
    ALL_RIGHTS, GATE_MODE, IMAGE_REGISTRY, ON_INFRA_NODE, add_infra_node, chart, helm_arguments, installed,
    value_sets,
};
pub use identity::{OPERATOR_GROUP, OPERATOR_USER, RELEASE, SYSTEM_NAMESPACE};
pub use install::{install_chart, install_crds, upgrade_chart};
pub use jobs::queue_job;
pub use newcomer::Newcomer;
pub use observe::{QueueView, queue, queues, quota_amounts, quotas};
pub use operator::{Operator, SHORT_LEASE};
pub use rights::nothing_forbidden;
pub use stage::{PodCounts, SHARE_GATE, Stage, label, shares_text, until_pods, until_shares};
pub use writes::{Write, writes_of_operator};
