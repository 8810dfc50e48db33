//! The settings: what the command line says, checked once and given types.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use quotient_engine::amounts::Resource;
use quotient_engine::snapshot;
use quotient_index::{IndexSettings, governable};

use crate::args::{Args, Mode, VictimPriority};
use crate::expandable::{self, ExpandableError};
use crate::identity::Identity;
use crate::lease::LeaseSettings;
use crate::node_selector::{self, SelectorError};
use crate::pool_label;

/// Everything that [`run`](crate::run) needs to know besides the connection.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How far the operator may go.
    pub mode: Mode,
    /// How the cluster is read: governed resources, counted nodes.
    pub index: IndexSettings,
    /// This replica's name.
    pub identity: Identity,
    /// Where health and metrics are served.
    pub listen: SocketAddr,
    /// How the leader is found; none if this replica is to lead without asking.
    pub lease: Option<LeaseSettings>,
    /// The watches.
    pub watch: WatchSettings,
    /// When cycles happen.
    pub pace: Pace,
    /// How hard the API server is used.
    pub writes: WriteSettings,
    /// How often what only informs is written for one queue.
    pub status_interval: Duration,
}

/// How objects are listed and watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchSettings {
    /// Objects in one page of a list.
    pub page_size: u32,
    /// How long a watch lasts before it is opened anew.
    pub timeout: Duration,
}

/// When cycles happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The shortest time between the starts of two cycles.
    pub interval: Duration,
    /// The longest.
    pub resync: Duration,
}

/// How hard the API server is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteSettings {
    /// The most quotas written at the same time.
    pub quotas_in_parallel: usize,
    /// The most evictions asked for at the same time.
    pub evictions_in_parallel: usize,
    /// The most evictions asked for in a second.
    pub evictions_per_second: u32,
    /// The most evictions asked for in one cycle.
    pub evictions_per_cycle: usize,
}

/// Why a command line makes no sense as a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The times of the Lease are not in order.
    #[error(
        "check lease times: --lease-retry-seconds ({retry}) must be less than --lease-renew-deadline-seconds \
         ({deadline}), and that less than --lease-duration-seconds ({duration})"
    )]
    LeaseTimes {
        /// How often the leader renews.
        retry: u32,
        /// When it gives up.
        deadline: u32,
        /// When others may take over.
        duration: u32,
    },
    /// The nodes cannot be selected like that.
    #[error("check --node-selector: {0}")]
    NodeSelector(#[from] SelectorError),
    /// A resource is named as a quota names it, not as a pod does.
    #[error(
        "check --resources: {name:?} is no resource that can be shared; cpu, memory and nvidia.com/gpu are"
    )]
    ResourceName {
        /// What was written.
        name: String,
    },
    /// What an autoscaler may add cannot be read.
    #[error("check --expandable: {0}")]
    Expandable(#[from] ExpandableError),
    /// The pool label is no key of a label.
    #[error(
        "check --pool-label: {key:?} is no key of a label; node.kubernetes.io/instance-type and pool are, and its \
         values are not to be named"
    )]
    PoolLabel {
        /// What was written.
        key: String,
    },
}

impl Settings {
    /// Checks `args` as a whole.
    ///
    /// `default_namespace` holds the Lease if the command line names no namespace.
    pub fn from_args(args: &Args, default_namespace: &str) -> Result<Self, SettingsError> {
        let identity = stated(args.identity.as_deref()).map_or_else(Identity::of_this_process, Identity::new);
        let lease = args.leader_elect.then(|| lease_settings(args, default_namespace)).transpose()?;
        let names = args.resources.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
        let resources: BTreeSet<Resource> = names.map(resource).collect::<Result<_, _>>()?;
        let nodes = node_selector::parse(&args.node_selector)?;
        let expandable = expandable::parse(&args.expandable)?;
        let pool_label = stated(args.pool_label.as_deref()).map(pool).transpose()?;
        Ok(Self {
            mode: args.mode,
            index: IndexSettings {
                engine: snapshot::Settings {
                    resources,
                    expandable,
                    victim_priority: match args.victim_priority {
                        VictimPriority::Any => snapshot::VictimPriority::Any,
                        VictimPriority::NotAboveAsk => snapshot::VictimPriority::NotAboveAsk,
                    },
                    pool_label,
                },
                ready_seconds: args.node_ready_seconds.into(),
                nodes,
            },
            identity,
            listen: args.listen,
            lease,
            watch: WatchSettings {
                page_size: args.watch_page_size,
                timeout: Duration::from_secs(args.watch_timeout_seconds.into()),
            },
            pace: Pace {
                interval: Duration::from_millis(args.cycle_interval_milliseconds),
                resync: Duration::from_secs(args.resync_seconds),
            },
            writes: WriteSettings {
                quotas_in_parallel: args.quota_writes_in_parallel.into(),
                evictions_in_parallel: args.evictions_in_parallel.into(),
                evictions_per_second: args.evictions_per_second,
                evictions_per_cycle: usize::try_from(args.evictions_per_cycle).unwrap_or(usize::MAX),
            },
            status_interval: Duration::from_secs(args.status_interval_seconds.into()),
        })
    }
}

/// A variable that is set to nothing says as little as one that is not set; charts leave such behind.
pub(crate) fn stated(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.trim().is_empty())
}

fn lease_settings(args: &Args, default_namespace: &str) -> Result<LeaseSettings, SettingsError> {
    let (retry, deadline, duration) =
        (args.lease_retry_seconds, args.lease_renew_deadline_seconds, args.lease_duration_seconds);
    if retry >= deadline || deadline >= duration {
        return Err(SettingsError::LeaseTimes { retry, deadline, duration });
    }
    let seconds = |count: u32| Duration::from_secs(count.into());
    Ok(LeaseSettings {
        namespace: stated(args.lease_namespace.as_deref()).unwrap_or(default_namespace).to_owned(),
        name: args.lease_name.clone(),
        duration: seconds(duration),
        renew_deadline: seconds(deadline),
        retry: seconds(retry),
    })
}

fn resource(name: &str) -> Result<Resource, SettingsError> {
    let valid = !name.contains(char::is_whitespace);
    governable(name).filter(|_| valid).ok_or_else(|| SettingsError::ResourceName { name: name.to_owned() })
}

fn pool(key: &str) -> Result<Arc<str>, SettingsError> {
    let key = key.trim();
    let valid = pool_label::is_label_key(key);
    valid.then(|| key.into()).ok_or_else(|| SettingsError::PoolLabel { key: key.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn settings(flags: &[&str]) -> Result<Settings, SettingsError> {
        let command_line = std::iter::once("quotient-operator").chain(flags.iter().copied());
        Settings::from_args(&Args::try_parse_from(command_line).unwrap(), "home")
    }

    #[test]
    fn the_defaults_are_sound() {
        let settings = settings(&[]).unwrap();
        let lease = settings.lease.unwrap();
        assert_eq!((lease.namespace.as_str(), lease.name.as_str()), ("home", "quotient-operator"));
        assert_eq!(
            [lease.duration, lease.renew_deadline, lease.retry].map(|time| time.as_secs()),
            [15, 10, 2]
        );
        assert!(settings.index.engine.resources.is_empty());
        assert_eq!(settings.pace.interval.as_millis(), 50);
        assert_eq!(settings.index.engine, snapshot::Settings::default());
    }

    #[test]
    fn lease_times_must_be_in_order() {
        let error = settings(&["--lease-renew-deadline-seconds=15"]).unwrap_err().to_string();
        assert!(error.contains("--lease-renew-deadline-seconds (15)"), "{error}");
        assert!(settings(&["--lease-retry-seconds=10"]).is_err());
        assert!(settings(&["--lease-retry-seconds=10", "--leader-elect=false"]).unwrap().lease.is_none());
    }

    #[test]
    fn resources_are_named_as_pods_name_them() {
        let resources =
            settings(&["--resources", "nvidia.com/gpu,cpu, memory"]).unwrap().index.engine.resources;
        let names: Vec<&str> = resources.iter().map(Resource::name).collect();
        assert_eq!(names, ["cpu", "memory", "nvidia.com/gpu"]);
        for wrong in ["requests.cpu", "cpu memory", "pods"] {
            assert!(settings(&["--resources", wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_set_to_nothing_is_not_set() {
        let unset = [
            "--resources=",
            "--lease-namespace=",
            "--identity=",
            "--node-selector=",
            "--expandable=",
            "--pool-label=",
        ];
        let settings = settings(&unset).unwrap();
        assert_eq!(settings.index.engine, snapshot::Settings::default());
        assert_eq!(settings.lease.unwrap().namespace, "home");
        assert!(!settings.identity.as_str().is_empty());
    }

    #[test]
    fn a_selector_that_cannot_be_read_is_named() {
        assert!(settings(&["--node-selector", "pool in (batch,gpu),!spot"]).is_ok());
        let error = settings(&["--node-selector", "pool in batch"]).unwrap_err().to_string();
        assert!(error.contains("--node-selector: \"pool in batch\""), "{error}");
    }

    #[test]
    fn what_decisions_depend_on_reaches_the_engine() {
        let flags = [
            "--expandable=cpu=64,memory=256Gi",
            "--victim-priority=NotAboveAsk",
            "--pool-label=example.org/pool",
        ];
        let engine = settings(&flags).unwrap().index.engine;
        assert_eq!(engine.expandable.to_string(), "cpu 64, memory 256Gi");
        assert_eq!(engine.victim_priority, snapshot::VictimPriority::NotAboveAsk);
        assert_eq!(engine.pool_label.as_deref(), Some("example.org/pool"));
    }

    #[test]
    fn what_makes_no_sense_is_named_with_its_flag() {
        for (flag, named) in [
            ("--expandable=cpu", "--expandable: \"cpu\" is not NAME=AMOUNT"),
            ("--pool-label=pool=gpu", "--pool-label: \"pool=gpu\""),
        ] {
            let error = settings(&[flag]).unwrap_err().to_string();
            assert!(error.contains(named), "{flag}: {error}");
        }
    }
}
