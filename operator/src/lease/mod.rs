//! The election of the leader: one replica holds a Lease, and the others wait until it lapses.
//!
//! The Lease is a courtesy, not a fence: a paused process can believe in it for longer than the others do. What
//! keeps a late writer from harm is in the writes themselves (a version on the ledger, a uid on every eviction, a stamp on
//! every quota). So the rules are those of client-go, and nothing cleverer:
//!
//! - every write carries the resourceVersion it was decided on, so of two candidates one gets a 409;
//! - a Lease has lapsed when *this* process has not seen it change for its duration; the holder's clock is not
//!   read;
//! - a leader that cannot renew before the deadline stops being one, and the process ends.

mod elector;
mod leadership;
mod moment;
mod record;
#[cfg(test)]
mod tests;

use std::time::Duration;

use clap::Args;

pub use elector::{Elector, LeaseError};
pub use leadership::Leadership;

use crate::args::seconds;

/// How the leader is found.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(next_help_heading = "Leadership")]
pub struct LeaseSettings {
    /// The name of the Lease.
    #[arg(long = "lease-name", value_name = "NAME", default_value = "quotient-operator")]
    pub name: String,

    /// The namespace of the Lease and of the ledger. If left out, that of the pod or of the kubeconfig.
    #[arg(long = "lease-namespace", value_name = "NAME", default_value = "", hide_default_value = true)]
    pub namespace: String,

    /// The time for which a Lease that is not renewed keeps other replicas from leading.
    #[arg(long = "lease-duration-seconds", value_name = "SECONDS", default_value = "15")]
    #[arg(value_parser = seconds(1..=3600))]
    pub duration: Duration,

    /// The time for which the leader tries to renew the Lease before its process ends. Less than the duration of the Lease.
    #[arg(long = "lease-renew-deadline-seconds", value_name = "SECONDS", default_value = "10")]
    #[arg(value_parser = seconds(1..=3600))]
    pub renew_deadline: Duration,

    /// How often the leader renews the Lease, and the other replicas look at it. Less than the deadline, and at most 30.
    ///
    /// /healthz fails if a replica has not looked for a minute.
    #[arg(long = "lease-retry-seconds", value_name = "SECONDS", default_value = "2")]
    #[arg(value_parser = seconds(1..=30))]
    pub retry: Duration,
}
