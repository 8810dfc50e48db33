//! The command line: what can be set, what it means and what it defaults to.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::{ArgAction, CommandFactory as _, FromArgMatches as _, Parser, ValueEnum, value_parser};
use quotient_index::IndexSettings;

use crate::lease::LeaseSettings;
use crate::settings::{GuardSettings, Pace, WatchSettings, WriteSettings};

/// Every flag of the operator. Each has an environment variable, named in `--help`; the flag wins.
///
/// Nothing here is checked across flags: [`Settings::from_args`](crate::settings::Settings::from_args) does that,
/// once, and the rest of the program sees only its result.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "quotient-operator",
    version,
    about = "Gives every team of a cluster its fair share, and reclaims it when another team uses it.",
    long_about = "Gives every team of a cluster its fair share, and reclaims it when another team uses it.\n\n\
        It watches Queues, nodes, pods and what creates them, computes what each queue deserves, writes that into \
        the ResourceQuotas named \"quotient\" and, when a share has to shrink, evicts pods through the Eviction \
        API. A namespace without a Queue is never touched. Several replicas may run: one leads, the others keep \
        their view of the cluster warm.\n\n\
        In a cluster it needs no flags. Outside, it uses the kubeconfig that kubectl would use.",
    after_help = "Every flag can also be given as an environment variable: --status-interval-seconds is \
        QUOTIENT_STATUS_INTERVAL_SECONDS. A flag wins over its variable."
)]
pub struct Args {
    /// How far the operator goes. No queue goes farther, whatever its spec.mode says.
    #[arg(long, value_enum, ignore_case = true, default_value = "Full")]
    pub mode: Mode,

    /// The resources to govern, separated by commas, such as `cpu,memory` or `nvidia.com/gpu`.
    ///
    /// Left out: cpu, memory and every extended resource that a node offers.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    pub resources: Vec<String>,

    /// Namespaces that no Queue can manage, separated by commas. The operator's own namespace is always one.
    ///
    /// Their pods keep the cluster running. A Queue there is not Ready and has no effect.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    #[arg(default_values_t = IndexSettings::PROTECTED.map(str::to_owned))]
    pub protected_namespaces: Vec<String>,

    /// The nodes whose capacity is shared, as a label selector such as `pool in (batch,gpu)`; all if left out.
    ///
    /// Pods on other nodes still count against their queue.
    #[arg(long, value_name = "SELECTOR", default_value = "", hide_default_value = true)]
    pub node_selector: String,

    /// How long a node has to be Ready before its capacity is shared out.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    #[arg(value_parser = value_parser!(u32).range(0..=3600))]
    pub node_ready_seconds: u32,

    /// What is shared out: what the nodes have (`Nodes`), or what an autoscaler grows them to at most, such as
    /// `cpu=500,memory=2Ti,nvidia.com/gpu=16`.
    ///
    /// A stated ceiling is for clusters with an autoscaler: it adds nodes for pods that wait, and a pod that a quota
    /// refuses never waits. Up to the ceiling quotas are granted beyond the nodes, so that pods come into being and bring
    /// further nodes; while they wait for them, for at most 10 minutes, nobody is evicted for them. Of resources that it
    /// does not name, what the nodes have is shared out, and so is what they have beyond it. State no more than the
    /// autoscaler's own limits allow.
    #[arg(long, value_delimiter = ',', value_name = "Nodes|NAME=AMOUNT,…", default_value = "Nodes")]
    pub capacity: Vec<String>,

    /// How much larger than its nodes the cluster is taken to be, such as `cpu=64,memory=256Gi`.
    ///
    /// The other way to serve an autoscaler, where no ceiling is known: what is stated here is shared out on top of what
    /// the nodes have. One step of growth is enough: it moves along with the nodes. What no autoscaler adds should not be
    /// stated, for it would be given away and never be there. Not together with a ceiling in --capacity.
    #[arg(long, value_delimiter = ',', value_name = "NAME=AMOUNT,…")]
    pub expandable: Vec<String>,

    /// Whose pods may be evicted for another queue, by priority.
    #[arg(long, value_enum, ignore_case = true, default_value = "Any")]
    pub victim_priority: VictimPriority,

    /// The node label that names a node's pool, such as `cloud.google.com/gke-nodepool`.
    ///
    /// With it, the last replica that an owner has in each pool is protected. Left out: only its last one at all.
    #[arg(long, value_name = "KEY")]
    pub pool_label: Option<String>,

    /// Whether the admission policies that gate the pods of Queues with `admission: Gate` are in the cluster.
    ///
    /// Without it such a Queue works as with `admission: Quota`, and its condition Ready says so.
    #[arg(long, value_name = "true|false", default_value_t = false)]
    #[arg(action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub gate_mode: bool,

    /// Further kinds of workloads whose pods count as demand, as a JSON list.
    ///
    /// Each entry has group, version, kind, plural, replicasPath and templatePath, such as `{"group": "ray.io", "version":
    /// "v1", "kind": "RayCluster", "plural": "rayclusters", "replicasPath": "spec.workerGroupSpecs[*].replicas",
    /// "templatePath": "spec.workerGroupSpecs[*].template"}`. Without replicasPath each template wants one pod. Several
    /// entries of one kind add up. A kind that the API does not serve is looked for every minute.
    #[arg(long, value_name = "JSON", default_value = "", hide_default_value = true)]
    pub workload_kinds: String,

    /// Only look whether the operator could work here: the API server, the kinds, every right; one line each, and a
    /// failure if something is missing. Writes nothing.
    #[arg(long, value_name = "true|false", default_value_t = false)]
    #[arg(action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub check: bool,

    /// The kubeconfig to use instead of the one kubectl would use or the pod's service account.
    #[arg(long, value_name = "FILE", help_heading = "Connection")]
    pub kubeconfig: Option<PathBuf>,

    /// The context of the kubeconfig; its current one if left out.
    #[arg(long, value_name = "NAME", help_heading = "Connection")]
    pub context: Option<String>,

    /// Where /healthz and /readyz are served, over plain HTTP. Port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:8080", help_heading = "Connection")]
    pub listen: SocketAddr,

    /// Where /metrics is served: on loopback to every client over plain HTTP, elsewhere over TLS to clients with rights.
    ///
    /// Elsewhere, such as on 0.0.0.0:8443, who scrapes brings a bearer token of this cluster, and needs the verb get on
    /// the non-resource URL /metrics; the API server is asked about both. Port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8081", help_heading = "Connection")]
    pub metrics_listen: SocketAddr,

    /// The directory with tls.crt and tls.key for /metrics beyond loopback; read again when they are renewed.
    ///
    /// Left out: a certificate is made at every start, which nobody can check: it keeps tokens private from those who
    /// only listen.
    #[arg(long, value_name = "DIRECTORY", help_heading = "Connection")]
    pub metrics_certificate: Option<String>,

    /// The watches.
    #[command(flatten)]
    pub watch: WatchSettings,

    /// The guards.
    #[command(flatten)]
    pub guards: GuardSettings,

    /// Whether to lead only while holding the Lease. Without it, run exactly one replica.
    #[arg(long, value_name = "true|false", default_value_t = true, help_heading = "Leadership")]
    #[arg(action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub leader_elect: bool,

    /// The Lease.
    #[command(flatten)]
    pub lease: LeaseSettings,

    /// This replica's name in the Lease and in events; the host's name and the process id if left out.
    #[arg(long, value_name = "NAME", help_heading = "Leadership")]
    pub identity: Option<String>,

    /// The pace.
    #[command(flatten)]
    pub pace: Pace,

    /// The writes.
    #[command(flatten)]
    pub writes: WriteSettings,

    /// How often a queue's used and demand are written at most; shares and conditions are written at once.
    #[arg(long = "status-interval-seconds", value_name = "SECONDS", default_value = "15")]
    #[arg(help_heading = "Pace", value_parser = seconds(0..=3600))]
    pub status_interval: Duration,

    /// How log lines look.
    #[arg(long, value_enum, ignore_case = true, default_value = "text", help_heading = "Logging")]
    pub log_format: LogFormat,

    /// What is logged: error, warn, info, debug, trace, or levels by module such as `info,quotient_operator=debug`.
    #[arg(long, value_name = "FILTER", default_value = "info", help_heading = "Logging")]
    pub log_level: String,
}

impl Args {
    /// Reads the command line of this process and its environment; ends the process if they make no sense.
    pub fn read() -> Self {
        Self::from_arg_matches(&Self::described().get_matches()).unwrap_or_else(|error| error.exit())
    }

    /// Every flag with its environment variable: `--log-level` is `QUOTIENT_LOG_LEVEL`.
    fn described() -> clap::Command {
        Self::command().mut_args(|flag| match flag.get_long() {
            Some(long) => {
                let variable = format!("QUOTIENT_{}", long.to_uppercase().replace('-', "_"));
                flag.env(variable)
            }
            None => flag,
        })
    }
}

/// A number of seconds in this range.
pub(crate) fn seconds(range: RangeInclusive<u64>) -> impl TypedValueParser<Value = Duration> {
    value_parser!(u64).range(range).map(Duration::from_secs)
}

/// A number of milliseconds in this range.
pub(crate) fn milliseconds(range: RangeInclusive<u64>) -> impl TypedValueParser<Value = Duration> {
    value_parser!(u64).range(range).map(Duration::from_millis)
}

/// A number in this range.
pub(crate) fn count(range: RangeInclusive<u64>) -> impl TypedValueParser<Value = usize> {
    value_parser!(u64).range(range).map(|count| usize::try_from(count).unwrap_or(usize::MAX))
}

/// How far the operator may go; a ladder of trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
#[value(rename_all = "PascalCase")]
pub enum Mode {
    /// Report shares in status and metrics; write no quota and evict nothing.
    Observe,
    /// Also write quotas, and annotate owners whose pods were refused once there is room for them; evict nothing, so
    /// a share comes back only as pods finish.
    Quota,
    /// Also evict.
    Full,
}

/// Whose pods may be evicted for another queue, by priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "PascalCase")]
pub enum VictimPriority {
    /// Anybody's: priorities of different queues are not compared, for each could give itself the highest.
    Any,
    /// Those of at most the priority of the pods that they leave for; for clusters where administrators decide who
    /// may use which priority class.
    NotAboveAsk,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub enum LogFormat {
    /// One readable line each.
    Text,
    /// One JSON object a line.
    Json,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Args::described().debug_assert();
    }

    #[test]
    fn every_flag_has_its_variable_and_a_sentence() {
        let command = Args::described();
        for argument in command.get_arguments() {
            let Some(long) = argument.get_long() else { panic!("{} has no long flag", argument.get_id()) };
            if ["help", "version"].contains(&long) {
                continue;
            }
            let variable = format!("QUOTIENT_{}", long.to_uppercase().replace('-', "_"));
            assert_eq!(argument.get_env().and_then(|name| name.to_str()), Some(variable.as_str()), "{long}");
            assert!(argument.get_help().is_some(), "{long} does not say what it is");
        }
    }

    #[test]
    fn flags_are_read() {
        let args = Args::try_parse_from([
            "quotient-operator",
            "--mode=observe",
            "--resources=cpu,nvidia.com/gpu",
            "--leader-elect=false",
            "--listen=127.0.0.1:0",
            "--expandable=cpu=64,memory=256Gi",
            "--victim-priority=notaboveask",
            "--log-format=json",
        ])
        .unwrap();
        assert_eq!(args.mode, Mode::Observe);
        assert_eq!(args.resources, ["cpu", "nvidia.com/gpu"]);
        assert_eq!(args.capacity, ["Nodes"]);
        assert_eq!(args.expandable, ["cpu=64", "memory=256Gi"]);
        assert_eq!(args.victim_priority, VictimPriority::NotAboveAsk);
        assert!(!args.leader_elect);
        assert_eq!(args.listen.port(), 0);
        assert_eq!(args.log_format, LogFormat::Json);
        assert!(Args::try_parse_from(["quotient-operator", "--leader-elect"]).unwrap().leader_elect);
    }

    #[test]
    fn nonsense_is_refused_and_named() {
        for (flag, named) in [
            ("--mode=Sometimes", "Sometimes"),
            ("--listen=nowhere", "--listen"),
            ("--victim-priority=Lower", "--victim-priority"),
            ("--evictions-per-second=0", "--evictions-per-second"),
            ("--lease-duration-seconds=-1", "--lease-duration-seconds"),
        ] {
            let error = Args::try_parse_from(["quotient-operator", flag]).unwrap_err().to_string();
            assert!(error.contains(named), "{flag}: {error}");
        }
    }
}
