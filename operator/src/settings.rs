//! The settings: what the command line says, checked once and given types.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use quotient_engine::amounts::{Amounts, Resource};
use quotient_engine::names::Namespace;
use quotient_engine::snapshot;
use quotient_index::{IndexSettings, WorkloadKind, governable};

use crate::args::{Args, VictimPriority, count, milliseconds, seconds};
use crate::clock::Clock;
use crate::decisions::Decisions;
use crate::failed::Failed;
use crate::identity::Identity;
use crate::label_selector;
use crate::lease::LeaseSettings;
use crate::scrape::ScrapeSettings;
use crate::stated_capacity::{self, not_shared};

/// Everything that [`run`](crate::run) needs to know besides the connection.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How the cluster is read: governed resources, counted nodes.
    pub index: IndexSettings,
    /// This replica's name.
    pub identity: Identity,
    /// What time it is.
    pub clock: Clock,
    /// Where health is served, if anywhere.
    pub listen: Option<SocketAddr>,
    /// Where metrics are served, if anywhere.
    pub scrape: Option<ScrapeSettings>,
    /// Where decisions are kept that acted.
    pub decisions: Decisions,
    /// How the leader is found; none if this replica is to lead without asking.
    pub lease: Option<LeaseSettings>,
    /// Where the ledger is kept.
    pub ledger: LedgerSettings,
    /// The watches.
    pub watch: WatchSettings,
    /// Further kinds of workloads.
    pub workload_kinds: Vec<WorkloadKind>,
    /// When no quota shrinks and no pod is evicted.
    pub guards: GuardSettings,
    /// When cycles happen.
    pub pace: Pace,
    /// How hard the API server is used.
    pub writes: WriteSettings,
    /// How often what only informs is written for one queue.
    pub status_interval: Duration,
}

/// How objects are listed and watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = "Connection")]
pub struct WatchSettings {
    /// The number of objects in one page of a list. Larger pages need more memory at the start.
    ///
    /// With 20,000 pods a replica used 32 MiB at rest with pages of 100, and 80 MiB with pages of 500. It started as fast.
    #[arg(long = "watch-page-size", value_name = "COUNT", default_value_t = 100)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub page_size: u32,

    /// The time after which a watch is opened again. A dead connection is noticed 5 s later at the latest.
    #[arg(long = "watch-timeout-seconds", value_name = "SECONDS", default_value = "290")]
    #[arg(value_parser = seconds(10..=3600))]
    pub timeout: Duration,

    /// The time without any event or bookmark after which a watch counts as dead and is opened again.
    ///
    /// The API server sends a bookmark about every minute if nothing else happens. After twice this time without an event of
    /// one kind, no quota shrinks and no pod is evicted until one comes.
    #[arg(long = "watch-silence-seconds", value_name = "SECONDS", default_value = "90")]
    #[arg(help_heading = "Guards", value_parser = seconds(10..=3600))]
    pub silence: Duration,

    /// The time after which every kind is listed again. An event that a watch has lost matters no longer than that.
    #[arg(long = "relist-seconds", value_name = "SECONDS", default_value = "1800")]
    #[arg(value_parser = seconds(60..=86_400))]
    pub relist: Duration,
}

impl WatchSettings {
    /// The time without an event of one kind after which no quota shrinks and no pod is evicted: enough to open its watch
    /// again, and to see that this does not help.
    pub const fn too_silent(&self) -> Duration {
        self.silence.saturating_mul(2)
    }
}

/// When the operator does not trust its view enough to shrink a quota or evict a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = "Guards")]
pub struct GuardSettings {
    /// The percentage by which the capacity of the nodes may fall at one stroke, of any resource, without a doubt.
    ///
    /// A larger fall is more often a short list, a lost network or a device plugin that restarts than a smaller cluster. No
    /// quota shrinks and no pod is evicted because of it until a second full list of nodes agrees and --capacity-grace-seconds
    /// have passed. With 100 the operator doubts nothing.
    #[arg(long, value_name = "PERCENT", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    pub capacity_drop_percent: u32,

    /// The time that such a fall of the capacity has to last before the operator acts on it.
    ///
    /// Within the same time several smaller falls count as one.
    #[arg(long = "capacity-grace-seconds", value_name = "SECONDS", default_value = "60")]
    #[arg(value_parser = seconds(0..=3600))]
    pub capacity_grace: Duration,
}

/// When cycles happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = "Pace")]
pub struct Pace {
    /// The shortest time between the starts of two cycles. After a quiet time a cycle starts at once. While pods come and go
    /// without anything to do, the operator waits longer, up to 250 ms, so that cycles use at most a tenth of a core.
    #[arg(long = "cycle-interval-milliseconds", value_name = "MILLISECONDS", default_value = "50")]
    #[arg(value_parser = milliseconds(0..=60_000))]
    pub interval: Duration,

    /// The time after which a cycle starts even if nothing has changed. At most 240.
    ///
    /// The alert `QuotientCycleStalled` fires if no cycle has ended for 300 s.
    #[arg(long = "resync-seconds", value_name = "SECONDS", default_value = "30")]
    #[arg(value_parser = seconds(1..=240))]
    pub resync: Duration,
}

/// How hard the API server is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = "Guards")]
pub struct WriteSettings {
    /// The most quotas written at the same time.
    #[arg(long = "quota-writes-in-parallel", value_name = "COUNT", default_value = "16")]
    #[arg(help_heading = "Pace", value_parser = count(1..=256))]
    pub quotas_in_parallel: usize,

    /// The most evictions of pods of one namespace at the same time; half as many while more than 64 are left.
    #[arg(long, value_name = "COUNT", default_value = "32", help_heading = "Pace")]
    #[arg(value_parser = count(1..=256))]
    pub evictions_in_parallel: usize,

    /// The most evictions in a second.
    #[arg(long, value_name = "COUNT", default_value_t = 200)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub evictions_per_second: u32,

    /// The most evictions in one cycle. The rest waits for the next cycle.
    #[arg(long, value_name = "COUNT", default_value = "500", value_parser = count(1..=100_000))]
    pub evictions_per_cycle: usize,

    /// The most evictions of pods of one queue in a burst. After that, as many follow in each minute. The rest waits.
    #[arg(long, value_name = "COUNT", default_value_t = 3000)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub evictions_per_queue: u32,

    /// The shortest time between two restores of a quota that another writer edits or deletes. The first restore happens at once.
    ///
    /// Until then the amounts that the quota allows count as used, and no pod is evicted because it started under them.
    #[arg(long = "quota-repair-seconds", value_name = "SECONDS", default_value = "30")]
    #[arg(value_parser = seconds(1..=3600))]
    pub repair_interval: Duration,
}

/// Where the ledger is kept, and how much of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerSettings {
    /// The ConfigMap's namespace: the operator's own.
    pub namespace: String,
    /// The most bytes it may take before newcomers are refused.
    pub limit: usize,
}

impl LedgerSettings {
    /// A ConfigMap holds 1 MiB. An eighth of it is left for entries that grow: amounts with more digits, more resources.
    pub const LIMIT: usize = 896 << 10;
}

/// What --capacity says where there is no ceiling.
const NODES: &str = "Nodes";

impl Settings {
    /// How far the operator goes.
    pub const fn mode(&self) -> snapshot::Mode {
        self.index.engine.mode
    }

    /// Checks `args` as a whole.
    ///
    /// `default_namespace` holds Lease and ledger if the command line names no namespace.
    pub fn from_args(args: &Args, default_namespace: &str) -> Result<Self, Failed> {
        let identity = stated(args.identity.as_deref()).map_or_else(Identity::of_this_process, Identity::new);
        let namespace = stated(Some(&args.lease.namespace)).unwrap_or(default_namespace);
        let ledger = LedgerSettings { namespace: namespace.to_owned(), limit: LedgerSettings::LIMIT };
        let lease = args.leader_elect.then(|| lease_settings(args, namespace)).transpose()?;
        let names = args.resources.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
        let resources: BTreeSet<Resource> = names.map(resource).collect::<Result<_, _>>()?;
        let nodes =
            label_selector::parse(&args.node_selector).map_err(Failed::to("check --node-selector"))?;
        let expandable =
            stated_capacity::parse(&args.expandable).map_err(Failed::to("check --expandable"))?;
        let ceiling = ceiling(&args.capacity)?;
        if !ceiling.is_empty() && !expandable.is_empty() {
            let why = "both say what an autoscaler adds; state either the ceiling or the step";
            return Err(Failed::to("check --capacity and --expandable")(why));
        }
        let pool_label = stated(args.pool_label.as_deref()).map(pool).transpose()?;
        let protected =
            args.protected_namespaces.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
        let protected = protected.chain([ledger.namespace.as_str()]).map(Namespace::from).collect();
        Ok(Self {
            index: IndexSettings {
                engine: snapshot::Settings {
                    mode: args.mode,
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
                ceiling,
                gate_mode: args.gate_mode,
                protected,
            },
            identity,
            clock: Clock::wall(),
            listen: Some(args.listen),
            scrape: Some(scrape(args)?),
            decisions: Decisions::kept(),
            lease,
            ledger,
            watch: args.watch,
            workload_kinds: WorkloadKind::read_setting(&args.workload_kinds)
                .map_err(Failed::to("check --workload-kinds"))?,
            guards: args.guards,
            pace: args.pace,
            writes: args.writes,
            status_interval: args.status_interval,
        })
    }
}

/// A variable that is set to nothing says as little as one that is not set; charts leave such behind.
pub(crate) fn stated(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.trim().is_empty())
}

fn scrape(args: &Args) -> Result<ScrapeSettings, Failed> {
    let listen = args.metrics_listen;
    match stated(args.metrics_certificate.as_deref()).map(PathBuf::from) {
        Some(_) if listen.ip().is_loopback() => Err(Failed::to("check --metrics-certificate")(format!(
            "--metrics-listen {listen} is loopback, where metrics are served over plain HTTP; name another address, such \
             as 0.0.0.0:8443, or no certificate"
        ))),
        certificate => Ok(ScrapeSettings { listen, certificate }),
    }
}

fn lease_settings(args: &Args, namespace: &str) -> Result<LeaseSettings, Failed> {
    let lease = LeaseSettings { namespace: namespace.to_owned(), ..args.lease.clone() };
    if lease.retry < lease.renew_deadline && lease.renew_deadline < lease.duration {
        return Ok(lease);
    }
    let [retry, deadline, duration] =
        [lease.retry, lease.renew_deadline, lease.duration].map(|time| time.as_secs());
    Err(Failed::to("check lease times")(format!(
        "--lease-retry-seconds ({retry}) must be less than --lease-renew-deadline-seconds ({deadline}), and that less than \
         --lease-duration-seconds ({duration})"
    )))
}

/// What the cluster grows to; nothing where capacity is what its nodes have.
fn ceiling(parts: &[String]) -> Result<Amounts, Failed> {
    match parts {
        [one] if one.trim().eq_ignore_ascii_case(NODES) => Ok(Amounts::new()),
        _ => stated_capacity::parse(parts).map_err(Failed::to("check --capacity")),
    }
}

fn resource(name: &str) -> Result<Resource, Failed> {
    let valid = !name.contains(char::is_whitespace);
    governable(name).filter(|_| valid).ok_or_else(|| Failed::to("check --resources")(not_shared(name)))
}

fn pool(key: &str) -> Result<Arc<str>, Failed> {
    label_selector::key(key).map(Arc::from).ok_or_else(|| {
        Failed::to("check --pool-label")(format!(
            "{key:?} is no key of a label; node.kubernetes.io/instance-type and pool are, and its values are not to be named"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn settings(flags: &[&str]) -> Result<Settings, Failed> {
        let command_line = std::iter::once("quotient-operator").chain(flags.iter().copied());
        Settings::from_args(&Args::try_parse_from(command_line).unwrap(), "home")
    }

    #[test]
    fn the_defaults_are_sound() {
        let settings = settings(&[]).unwrap();
        let lease = settings.lease.unwrap();
        assert_eq!((lease.namespace.as_str(), lease.name.as_str()), ("home", "quotient-operator"));
        assert_eq!(settings.ledger.namespace, "home");
        assert_eq!(
            [lease.duration, lease.renew_deadline, lease.retry].map(|time| time.as_secs()),
            [15, 10, 2]
        );
        assert!(settings.index.engine.resources.is_empty());
        assert_eq!(settings.pace.interval.as_millis(), 50);
        assert_eq!(settings.index.engine, snapshot::Settings::default());
    }

    #[test]
    fn resources_are_named_as_pods_name_them() {
        let resources =
            settings(&["--resources", "nvidia.com/gpu,cpu, memory"]).unwrap().index.engine.resources;
        let names: Vec<&str> = resources.iter().map(Resource::name).collect();
        assert_eq!(names, ["cpu", "memory", "nvidia.com/gpu"]);
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
            "--metrics-certificate=",
        ];
        let settings = settings(&unset).unwrap();
        assert_eq!(settings.index.engine, snapshot::Settings::default());
        assert_eq!(settings.lease.unwrap().namespace, "home");
        assert!(!settings.identity.as_str().is_empty());
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
    fn capacity_is_that_of_the_nodes_or_a_ceiling() {
        let ceiling = |flags: &[&str]| settings(flags).map(|settings| settings.index.ceiling.to_string());
        for none in [&[][..], &["--capacity=nodes"], &["--capacity="]] {
            assert_eq!(ceiling(none).unwrap(), "nothing", "{none:?}");
        }
        assert_eq!(ceiling(&["--capacity=cpu=500,memory=2Ti"]).unwrap(), "cpu 500, memory 2Ti");
    }

    #[test]
    fn what_makes_sense_is_taken() {
        assert!(settings(&["--node-selector", "pool in (batch,gpu),!spot"]).is_ok());
        assert!(settings(&["--lease-retry-seconds=10", "--leader-elect=false"]).unwrap().lease.is_none());
        let beyond = ["--metrics-certificate=/certificates", "--metrics-listen=0.0.0.0:8443"];
        let certificate = settings(&beyond).unwrap().scrape.unwrap().certificate;
        assert_eq!(certificate.unwrap().to_str(), Some("/certificates"));
    }

    #[test]
    fn what_makes_no_sense_is_named_with_its_flag() {
        for (flags, named) in [
            (&["--expandable=cpu"][..], "--expandable: \"cpu\" is not NAME=AMOUNT"),
            (&["--capacity=Nodes,cpu=5"], "--capacity: \"Nodes\" is not NAME=AMOUNT"),
            (&["--capacity=cpu=500", "--expandable=cpu=64"], "either the ceiling or the step"),
            (&["--workload-kinds=[{}]"], "--workload-kinds: read the list: missing field `group`"),
            (&["--pool-label=pool=gpu"], "--pool-label: \"pool=gpu\""),
            (&["--node-selector=pool in batch"], "--node-selector: \"pool in batch\""),
            (&["--lease-renew-deadline-seconds=15"], "--lease-renew-deadline-seconds (15)"),
            (&["--lease-retry-seconds=10"], "--lease-retry-seconds (10)"),
            (&["--metrics-certificate=/certificates"], "--metrics-listen 127.0.0.1:8081 is loopback"),
            (&["--resources=requests.cpu"], "--resources: \"requests.cpu\""),
            (&["--resources=cpu memory"], "--resources: \"cpu memory\""),
            (&["--resources=pods"], "--resources: \"pods\""),
        ] {
            let error = settings(flags).unwrap_err().to_string();
            assert!(error.contains(named), "{flags:?}: {error}");
        }
    }
}
