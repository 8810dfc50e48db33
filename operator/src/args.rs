//! The command line: what can be set, what it means and what it defaults to.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use quotient_index::IndexSettings;

/// Every flag of the operator. Each has an environment variable, named in `--help`; the flag wins.
///
/// Nothing here is checked across flags: [`Settings::from_args`](crate::settings::Settings::from_args) does that,
/// once, and the rest of the program sees only its result.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "quotient-operator",
    version,
    about = "Gives every team of a cluster its fair share, and gets it back when somebody else holds it.",
    long_about = "Gives every team of a cluster its fair share, and gets it back when somebody else holds it.\n\n\
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
    #[arg(long, env = "QUOTIENT_MODE", value_enum, ignore_case = true, default_value = "Full")]
    pub mode: Mode,

    /// The resources to govern, separated by commas, such as `cpu,memory` or `nvidia.com/gpu`.
    ///
    /// Left out: cpu, memory and every extended resource that a node offers.
    #[arg(long, env = "QUOTIENT_RESOURCES", value_delimiter = ',', value_name = "NAME,…")]
    pub resources: Vec<String>,

    /// Namespaces that no Queue can manage, separated by commas. The operator's own namespace is always one.
    ///
    /// Their pods keep the cluster running. A Queue there is not Ready and has no effect.
    #[arg(
        long,
        env = "QUOTIENT_PROTECTED_NAMESPACES",
        value_delimiter = ',',
        value_name = "NAME,…",
        default_values_t = IndexSettings::PROTECTED.map(str::to_owned)
    )]
    pub protected_namespaces: Vec<String>,

    /// The nodes whose capacity is shared, as a label selector such as `pool in (batch,gpu)`; all if left out.
    ///
    /// Pods on other nodes still count against their queue.
    #[arg(
        long,
        env = "QUOTIENT_NODE_SELECTOR",
        value_name = "SELECTOR",
        default_value = "",
        hide_default_value = true
    )]
    pub node_selector: String,

    /// How long a node has to be Ready before its capacity is shared out.
    #[arg(
        long,
        env = "QUOTIENT_NODE_READY_SECONDS",
        value_name = "SECONDS",
        default_value_t = 10,
        value_parser = clap::value_parser!(u32).range(0..=3600)
    )]
    pub node_ready_seconds: u32,

    /// What is shared out: what the nodes have (`Nodes`), or what an autoscaler grows them to at most, such as
    /// `cpu=500,memory=2Ti,nvidia.com/gpu=16`.
    ///
    /// A stated ceiling is for clusters with an autoscaler: it adds nodes for pods that wait, and a pod that a quota
    /// refuses never waits. Up to the ceiling quotas are granted beyond the nodes, so that pods come into being and bring
    /// further nodes; while they wait for them, for at most 10 minutes, nobody is evicted for them. Of resources that it
    /// does not name, what the nodes have is shared out, and so is what they have beyond it. State no more than the
    /// autoscaler's own limits allow.
    #[arg(
        long,
        env = "QUOTIENT_CAPACITY",
        value_delimiter = ',',
        value_name = "Nodes|NAME=AMOUNT,…",
        default_value = "Nodes"
    )]
    pub capacity: Vec<String>,

    /// How much larger than its nodes the cluster is taken to be, such as `cpu=64,memory=256Gi`.
    ///
    /// The other way to serve an autoscaler, where no ceiling is known: what is stated here is shared out on top of what
    /// the nodes have. One step of growth is enough: it moves along with the nodes. What no autoscaler adds should not be
    /// stated, for it would be given away and never be there. Not together with a ceiling in --capacity.
    #[arg(long, env = "QUOTIENT_EXPANDABLE", value_delimiter = ',', value_name = "NAME=AMOUNT,…")]
    pub expandable: Vec<String>,

    /// Whose pods may be evicted for another queue, by priority.
    #[arg(long, env = "QUOTIENT_VICTIM_PRIORITY", value_enum, ignore_case = true, default_value = "Any")]
    pub victim_priority: VictimPriority,

    /// The node label that names a node's pool, such as `cloud.google.com/gke-nodepool`.
    ///
    /// With it, the last replica that an owner has in each pool is protected. Left out: only its last one at all.
    #[arg(long, env = "QUOTIENT_POOL_LABEL", value_name = "KEY")]
    pub pool_label: Option<String>,

    /// Further kinds of workloads whose pods count as demand, as a JSON list.
    ///
    /// Each entry has group, version, kind, plural, replicasPath and templatePath, such as `{"group": "ray.io", "version":
    /// "v1", "kind": "RayCluster", "plural": "rayclusters", "replicasPath": "spec.workerGroupSpecs[*].replicas",
    /// "templatePath": "spec.workerGroupSpecs[*].template"}`. Without replicasPath each template wants one pod. Several
    /// entries of one kind add up. A kind that the API does not serve is looked for every minute.
    #[arg(
        long,
        env = "QUOTIENT_WORKLOAD_KINDS",
        value_name = "JSON",
        default_value = "",
        hide_default_value = true
    )]
    pub workload_kinds: String,

    /// Only look whether the operator could work here: the API server, the kinds, every right; one line each, and a
    /// failure if something is missing. Writes nothing.
    #[arg(
        long,
        env = "QUOTIENT_CHECK",
        value_name = "true|false",
        default_value_t = false,
        action = clap::ArgAction::Set,
        num_args = 0..=1,
        default_missing_value = "true"
    )]
    pub check: bool,

    /// The kubeconfig to use instead of the one kubectl would use or the pod's service account.
    #[arg(long, env = "QUOTIENT_KUBECONFIG", value_name = "FILE", help_heading = "Connection")]
    pub kubeconfig: Option<PathBuf>,

    /// The context of the kubeconfig; its current one if left out.
    #[arg(long, env = "QUOTIENT_CONTEXT", value_name = "NAME", help_heading = "Connection")]
    pub context: Option<String>,

    /// Where /healthz and /readyz are served, over plain HTTP. Port 0 takes any free one.
    #[arg(
        long,
        env = "QUOTIENT_LISTEN",
        value_name = "ADDRESS:PORT",
        default_value = "0.0.0.0:8080",
        help_heading = "Connection"
    )]
    pub listen: SocketAddr,

    /// Where /metrics is served: on loopback to anybody over plain HTTP, elsewhere over TLS to those with rights.
    ///
    /// Elsewhere, such as on 0.0.0.0:8443, who scrapes brings a bearer token of this cluster, and needs the verb get on
    /// the non-resource URL /metrics; the API server is asked about both. Port 0 takes any free one.
    #[arg(
        long,
        env = "QUOTIENT_METRICS_LISTEN",
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:8081",
        help_heading = "Connection"
    )]
    pub metrics_listen: SocketAddr,

    /// The directory with tls.crt and tls.key for /metrics beyond loopback; read again when they are renewed.
    ///
    /// Left out: a certificate is made at every start, which nobody can check: it keeps tokens private from those who
    /// only listen.
    #[arg(long, env = "QUOTIENT_METRICS_CERTIFICATE", value_name = "DIRECTORY", help_heading = "Connection")]
    pub metrics_certificate: Option<String>,

    /// How many objects one page of a list asks for; bounds the memory that the start leaves behind.
    ///
    /// With 20,000 pods a replica was seen to rest at 32 MiB with pages of 100 and at 80 MiB with pages of 500; it
    /// started as fast.
    #[arg(
        long,
        env = "QUOTIENT_WATCH_PAGE_SIZE",
        value_name = "COUNT",
        default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..=10_000),
        help_heading = "Connection"
    )]
    pub watch_page_size: u32,

    /// How long a watch lasts before it is opened anew; a dead connection is noticed 5 s later at the latest.
    #[arg(
        long,
        env = "QUOTIENT_WATCH_TIMEOUT_SECONDS",
        value_name = "SECONDS",
        default_value_t = 290,
        value_parser = clap::value_parser!(u32).range(10..=3600),
        help_heading = "Connection"
    )]
    pub watch_timeout_seconds: u32,

    /// How long a watch may say nothing at all before it is taken for dead and opened anew.
    ///
    /// The API server sends a bookmark about every minute where nothing else happens. After twice this time without
    /// any sign of one kind of objects, no quota shrinks and nobody is evicted until there is one.
    #[arg(
        long,
        env = "QUOTIENT_WATCH_SILENCE_SECONDS",
        value_name = "SECONDS",
        default_value_t = 90,
        value_parser = clap::value_parser!(u32).range(10..=3600),
        help_heading = "Guards"
    )]
    pub watch_silence_seconds: u32,

    /// By how many percent the nodes' capacity may fall at one stroke, of any resource, without being doubted.
    ///
    /// A deeper fall is more often a list that came back short, a network that is cut or a device plugin that restarts
    /// than a cluster that shrank. No quota shrinks and nobody is evicted because of it until a second full list of
    /// nodes shows the same and --capacity-grace-seconds have passed. 100 doubts nothing.
    #[arg(
        long,
        env = "QUOTIENT_CAPACITY_DROP_PERCENT",
        value_name = "PERCENT",
        default_value_t = 30,
        value_parser = clap::value_parser!(u32).range(1..=100),
        help_heading = "Guards"
    )]
    pub capacity_drop_percent: u32,

    /// How long a deep fall of the nodes' capacity has to last before it is believed.
    ///
    /// Also the time within which several smaller falls count as one.
    #[arg(
        long,
        env = "QUOTIENT_CAPACITY_GRACE_SECONDS",
        value_name = "SECONDS",
        default_value_t = 60,
        value_parser = clap::value_parser!(u32).range(0..=3600),
        help_heading = "Guards"
    )]
    pub capacity_grace_seconds: u32,

    /// The most evictions of one queue's pods asked for at once, and as many more a minute; the rest waits.
    #[arg(
        long,
        env = "QUOTIENT_EVICTIONS_PER_QUEUE",
        value_name = "COUNT",
        default_value_t = 3000,
        value_parser = clap::value_parser!(u32).range(1..=100_000),
        help_heading = "Guards"
    )]
    pub evictions_per_queue: u32,

    /// How often a quota that somebody edits or deletes is put right at most; the first time it is at once.
    ///
    /// While it waits it counts as what it allows, and nobody is evicted because of what comes in through it.
    #[arg(
        long,
        env = "QUOTIENT_QUOTA_REPAIR_SECONDS",
        value_name = "SECONDS",
        default_value_t = 30,
        value_parser = clap::value_parser!(u32).range(1..=3600),
        help_heading = "Guards"
    )]
    pub quota_repair_seconds: u32,

    /// How often every kind is listed anew, so that an event that a watch has lost does not matter for longer.
    #[arg(
        long,
        env = "QUOTIENT_RELIST_SECONDS",
        value_name = "SECONDS",
        default_value_t = 1800,
        value_parser = clap::value_parser!(u32).range(60..=86_400),
        help_heading = "Connection"
    )]
    pub relist_seconds: u32,

    /// Whether to lead only while holding the Lease. Without it, run exactly one replica.
    #[arg(
        long,
        env = "QUOTIENT_LEADER_ELECT",
        value_name = "true|false",
        default_value_t = true,
        action = clap::ArgAction::Set,
        num_args = 0..=1,
        default_missing_value = "true",
        help_heading = "Leadership"
    )]
    pub leader_elect: bool,

    /// The Lease's name.
    #[arg(
        long,
        env = "QUOTIENT_LEASE_NAME",
        value_name = "NAME",
        default_value = "quotient-operator",
        help_heading = "Leadership"
    )]
    pub lease_name: String,

    /// The namespace of the Lease and of the ledger; the pod's own, or the kubeconfig's, if left out.
    #[arg(long, env = "QUOTIENT_LEASE_NAMESPACE", value_name = "NAME", help_heading = "Leadership")]
    pub lease_namespace: Option<String>,

    /// This replica's name in the Lease and in events; the host's name and the process id if left out.
    #[arg(long, env = "QUOTIENT_IDENTITY", value_name = "NAME", help_heading = "Leadership")]
    pub identity: Option<String>,

    /// How long a Lease that is not renewed keeps others out.
    #[arg(
        long,
        env = "QUOTIENT_LEASE_DURATION_SECONDS",
        value_name = "SECONDS",
        default_value_t = 15,
        value_parser = clap::value_parser!(u32).range(1..=3600),
        help_heading = "Leadership"
    )]
    pub lease_duration_seconds: u32,

    /// How long the leader tries to renew before it gives up and exits; less than the Lease's duration.
    #[arg(
        long,
        env = "QUOTIENT_LEASE_RENEW_DEADLINE_SECONDS",
        value_name = "SECONDS",
        default_value_t = 10,
        value_parser = clap::value_parser!(u32).range(1..=3600),
        help_heading = "Leadership"
    )]
    pub lease_renew_deadline_seconds: u32,

    /// How often the leader renews and the others look; less than the deadline.
    #[arg(
        long,
        env = "QUOTIENT_LEASE_RETRY_SECONDS",
        value_name = "SECONDS",
        default_value_t = 2,
        value_parser = clap::value_parser!(u32).range(1..=3600),
        help_heading = "Leadership"
    )]
    pub lease_retry_seconds: u32,

    /// The shortest time between the starts of two cycles. After a quiet time a cycle starts at once. While pods come and go
    /// and nothing is to be done, as much as keeps deciding at a tenth of a core, but at most 250 ms.
    #[arg(
        long,
        env = "QUOTIENT_CYCLE_INTERVAL_MILLISECONDS",
        value_name = "MILLISECONDS",
        default_value_t = 50,
        value_parser = clap::value_parser!(u64).range(0..=60_000),
        help_heading = "Pace"
    )]
    pub cycle_interval_milliseconds: u64,

    /// A full cycle happens this often even if nothing changes.
    #[arg(
        long,
        env = "QUOTIENT_RESYNC_SECONDS",
        value_name = "SECONDS",
        default_value_t = 30,
        value_parser = clap::value_parser!(u64).range(1..=3600),
        help_heading = "Pace"
    )]
    pub resync_seconds: u64,

    /// The most quotas written at the same time.
    #[arg(
        long,
        env = "QUOTIENT_QUOTA_WRITES_IN_PARALLEL",
        value_name = "COUNT",
        default_value_t = 16,
        value_parser = clap::value_parser!(u16).range(1..=256),
        help_heading = "Pace"
    )]
    pub quota_writes_in_parallel: u16,

    /// The most evictions of one namespace's pods asked for at the same time.
    #[arg(
        long,
        env = "QUOTIENT_EVICTIONS_IN_PARALLEL",
        value_name = "COUNT",
        default_value_t = 16,
        value_parser = clap::value_parser!(u16).range(1..=256),
        help_heading = "Pace"
    )]
    pub evictions_in_parallel: u16,

    /// The most evictions asked for in a second.
    #[arg(
        long,
        env = "QUOTIENT_EVICTIONS_PER_SECOND",
        value_name = "COUNT",
        default_value_t = 200,
        value_parser = clap::value_parser!(u32).range(1..=10_000),
        help_heading = "Guards"
    )]
    pub evictions_per_second: u32,

    /// The most evictions asked for in one cycle; the rest waits for the next.
    #[arg(
        long,
        env = "QUOTIENT_EVICTIONS_PER_CYCLE",
        value_name = "COUNT",
        default_value_t = 500,
        value_parser = clap::value_parser!(u32).range(1..=100_000),
        help_heading = "Guards"
    )]
    pub evictions_per_cycle: u32,

    /// How often a queue's used and demand are written at most; shares and conditions are written at once.
    #[arg(
        long,
        env = "QUOTIENT_STATUS_INTERVAL_SECONDS",
        value_name = "SECONDS",
        default_value_t = 15,
        value_parser = clap::value_parser!(u32).range(0..=3600),
        help_heading = "Pace"
    )]
    pub status_interval_seconds: u32,

    /// How log lines look.
    #[arg(
        long,
        env = "QUOTIENT_LOG_FORMAT",
        value_enum,
        ignore_case = true,
        default_value = "text",
        help_heading = "Logging"
    )]
    pub log_format: LogFormat,

    /// What is logged: error, warn, info, debug, trace, or levels by module such as `info,quotient_operator=debug`.
    #[arg(
        long,
        env = "QUOTIENT_LOG_LEVEL",
        value_name = "FILTER",
        default_value = "info",
        help_heading = "Logging"
    )]
    pub log_level: String,
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
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn every_flag_has_its_variable_and_a_sentence() {
        let command = Args::command();
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
