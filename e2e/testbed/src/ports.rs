//! Free ports on loopback.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Mutex, PoisonError};

use anyhow::bail;

/// The lowest port that is given out.
const FIRST: u16 = 20_000;
/// The highest port that is given out. Below the range that Linux takes the ports of outgoing connections from, or
/// a connection of the test bed itself could sit on a port that one of its servers is about to open.
const LAST: u16 = 31_999;

/// The ports of one test bed.
#[derive(Debug, Clone, Copy)]
pub struct Ports {
    /// etcd, for the API server.
    pub etcd: u16,
    /// etcd, for the other members that it does not have.
    pub etcd_peer: u16,
    /// The API server.
    pub api_server: u16,
    /// The controller manager's health and metrics.
    pub controller_manager: u16,
    /// The scheduler's health and metrics.
    pub scheduler: u16,
    /// kwok's health and metrics.
    pub kwok: u16,
}

impl Ports {
    /// Different ports that were free a moment ago. Another process may take one before its server does: starting a
    /// test bed tries again then.
    pub fn free() -> anyhow::Result<Self> {
        // Held until all are found, so that they differ.
        let mut held = Vec::new();
        let mut next = || free_port(&mut held);
        Ok(Self {
            etcd: next()?,
            etcd_peer: next()?,
            api_server: next()?,
            controller_manager: next()?,
            scheduler: next()?,
            kwok: next()?,
        })
    }
}

/// One free port of loopback; see [`Ports::free`] for what that is worth.
pub fn free() -> anyhow::Result<u16> {
    free_port(&mut Vec::new())
}

fn free_port(held: &mut Vec<TcpListener>) -> anyhow::Result<u16> {
    const TRIES: usize = 200;
    let mut last = None;
    for _ in 0..TRIES {
        let port = random_port();
        if !is_first_time(port) {
            continue;
        }
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(listener) => {
                held.push(listener);
                return Ok(port);
            }
            Err(error) => last = Some(error),
        }
    }
    bail!("finding a free port: {TRIES} between {FIRST} and {LAST} were tried, the last said {last:?}")
}

/// Whether this process has not given out `port` before: tests run beside each other, and a port is not taken yet while the
/// server that it is for starts.
fn is_first_time(port: u16) -> bool {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    GIVEN.lock().unwrap_or_else(PoisonError::into_inner).insert(port)
}

fn random_port() -> u16 {
    let count = u64::from(LAST.abs_diff(FIRST)).saturating_add(1);
    // Every `RandomState` has fresh keys: as random as ports need to be.
    let offset = RandomState::new().hash_one(0).checked_rem(count).unwrap_or(0);
    FIRST.saturating_add(u16::try_from(offset).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_differ_and_stay_in_their_range() {
        let ports = Ports::free().unwrap();
        let all = [
            ports.etcd,
            ports.etcd_peer,
            ports.api_server,
            ports.controller_manager,
            ports.scheduler,
            ports.kwok,
        ];
        assert_eq!(BTreeSet::from(all).len(), all.len(), "{all:?}");
        assert!(all.iter().all(|port| (FIRST..=LAST).contains(port)), "{all:?}");
    }

    #[test]
    fn a_taken_port_is_not_given_out() {
        let mut held = Vec::new();
        let port = free_port(&mut held).unwrap();
        assert!(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err());
        drop(held);
        assert!(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok());
    }
}
