//! The name of this replica, in the Lease and in events.

use std::fmt;

/// The name of one life of one replica.
///
/// It contains the process id, so that a process that was replaced on the same host is not taken for its
/// successor: the successor has to wait for the Lease like any other replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity(String);

impl Identity {
    /// The replica that an administrator named.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Host name and process id.
    pub fn of_this_process() -> Self {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname")
            .ok()
            .or_else(|| std::env::var("HOSTNAME").ok())
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| "unknown".to_owned());
        Self(format!("{host}_{}", std::process::id()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
