//! What only a running API server knows: its version, its kinds, its policies and its rights.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use futures::{StreamExt as _, stream};
use quotient_operator::rights::{Feature, Right, needed, needed_for};
use quotient_operator::settings::Settings;
use serde_json::{Value, json};

use crate::exit::{ClusterError, CommandError};
use crate::manifests::OperatorFacts;
use crate::objects::{ApiKind, Kind, find_text};
use crate::output::Progress;
use crate::source::{ACCESS_REVIEWS, CRDS, Collection, ConnectionArgs, Live, PART_OF_QUOTIENT, POLICIES};

/// What the API server says of itself. What may not be asked is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Major and minor version.
    pub(crate) version: Option<(u32, u32)>,
    /// The version in full, such as 1.36.3.
    pub(crate) full_version: String,
    /// The installed kinds.
    pub(crate) crds: Option<Vec<Value>>,
    /// The names of the admission policies.
    pub(crate) policies: Option<Vec<String>>,
    /// The rights that the operator needs, or why they could not be reviewed.
    pub(crate) rights: Option<Result<Rights, String>>,
    /// How many monitors of the Prometheus Operator name the operator; none without that.
    pub(crate) monitors: Option<usize>,
    /// How long the quota controller took to enforce a new quota, if that was asked for.
    pub(crate) quota_latency: Option<Duration>,
    /// How many series the operator serves, or why none was read, if that was asked for.
    pub(crate) metrics: Option<Result<usize, String>>,
}

/// The rights that the operator needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rights {
    /// How many there are.
    pub(crate) needed: usize,
    /// Those that it does not have.
    pub(crate) missing: Vec<String>,
    /// What it may not do until an administrator grants it, a sentence each.
    pub(crate) optional: Vec<String>,
}

/// What tells Prometheus to scrape the operator.
const MONITORS: [ApiKind; 2] = [
    ApiKind::new("monitoring.coreos.com/v1", "ServiceMonitor", "servicemonitors"),
    ApiKind::new("monitoring.coreos.com/v1", "PodMonitor", "podmonitors"),
];

/// How many reviews are asked for at the same time.
const AT_ONCE: usize = 16;

impl Facts {
    /// Asks the API server.
    pub(crate) async fn read(
        live: &Live,
        operator: Option<&OperatorFacts>,
        measured_in: Option<&str>,
        metrics_at: Option<&str>,
        connection: &ConnectionArgs,
    ) -> Result<Self, CommandError> {
        let progress = Progress::begin("asking for versions, kinds and policies");
        let version = live.version().await?;
        let policies = live.of(&POLICIES, None).list_if_allowed().await?;
        if operator.is_some() {
            progress.report("reviewing the rights of the operator");
        }
        Ok(Self {
            version: number(&version.major).zip(number(&version.minor)),
            full_version: version.git_version.trim_start_matches('v').to_owned(),
            crds: live.of(&CRDS, None).list_if_allowed().await?,
            policies: policies.map(|found| found.iter().filter_map(name).collect()),
            rights: match operator {
                Some(operator) => rights(live, operator).await,
                None => None,
            },
            monitors: monitors(live).await?,
            quota_latency: match measured_in {
                Some(namespace) => Some(measure(live, namespace).await?),
                None => None,
            },
            metrics: match metrics_at {
                Some(url) => Some(metrics(connection, url).await),
                None => None,
            },
        })
    }
}

/// `35+` is 35.
fn number(text: &str) -> Option<u32> {
    text.trim_end_matches('+').parse().ok()
}

fn name(object: &Value) -> Option<String> {
    find_text(object, "/metadata/name").map(str::to_owned)
}

/// The monitors with the label of the chart.
async fn monitors(live: &Live) -> Result<Option<usize>, CommandError> {
    let mut count = None;
    for kind in &MONITORS {
        if let Some(found) = live.of(kind, None).labeled(PART_OF_QUOTIENT).list_if_allowed().await? {
            count = Some(count.unwrap_or(0_usize).saturating_add(found.len()));
        }
    }
    Ok(count)
}

/// What the account of the operator may do; none if the user may not ask, or its flags cannot be read. A review that fails is no
/// reason to believe that all is well.
async fn rights(live: &Live, operator: &OperatorFacts) -> Option<Result<Rights, String>> {
    let settings = operator.settings.as_ref().ok()?;
    match reviewed(live, operator, settings).await {
        Err(ClusterError::Forbidden(_)) => None,
        reviewed => Some(reviewed.map_err(|error| error.to_string())),
    }
}

async fn reviewed(
    live: &Live,
    operator: &OperatorFacts,
    settings: &Settings,
) -> Result<Rights, ClusterError> {
    let unreadable = |error: serde_json::Error| ClusterError::Other(error.to_string());
    let mode = settings.mode();
    let lease = settings.lease.as_ref().map(|lease| lease.name.as_str());
    let is_scraped = settings.scrape.as_ref().is_some_and(|scrape| !scrape.listen.ip().is_loopback());
    let rights = needed(mode, lease, is_scraped, settings.index.gate_mode, &settings.workload_kinds);
    let rights = rights.map_err(unreadable)?;
    let missing = missing(&rights, live, operator).await?;
    let mut optional = Vec::new();
    for feature in Feature::ALL {
        let rights = needed_for(feature, mode).map_err(unreadable)?;
        if !self::missing(&rights, live, operator).await?.is_empty() {
            optional.push(feature.is_off());
        }
    }
    Ok(Rights { needed: rights.len(), missing, optional })
}

/// Those of `rights` that the account of the operator does not have.
async fn missing(
    rights: &BTreeSet<Right>,
    live: &Live,
    operator: &OperatorFacts,
) -> Result<Vec<String>, ClusterError> {
    let asked = rights.iter().map(|right| {
        let review = review(right, operator);
        async move { (right.to_string(), live.of(&ACCESS_REVIEWS, None).create(&review).await) }
    });
    let mut answers = stream::iter(asked).buffer_unordered(AT_ONCE);
    let mut missing = Vec::new();
    while let Some((right, answer)) = answers.next().await {
        let is_allowed = answer?.pointer("/status/allowed").and_then(Value::as_bool);
        if !is_allowed.unwrap_or_default() {
            missing.push(right);
        }
    }
    missing.sort();
    Ok(missing)
}

fn review(right: &Right, operator: &OperatorFacts) -> Value {
    let OperatorFacts { namespace, service_account, .. } = operator;
    let of_namespace = format!("system:serviceaccounts:{namespace}");
    json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": format!("system:serviceaccount:{namespace}:{service_account}"),
            "groups": ["system:serviceaccounts", of_namespace, "system:authenticated"],
            "resourceAttributes": right.attributes(namespace),
        },
    })
}

/// The series that every replica serves, whether it leads or not.
const SERVED: &str = "quotient_build_info{";

/// How many series the operator serves at `url`, or why none was read.
async fn metrics(connection: &ConnectionArgs, url: &str) -> Result<usize, String> {
    let text = connection.fetch(url).await.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&text);
    if !text.contains(SERVED) {
        return Err(format!("{url} serves no metrics of Quotient"));
    }
    Ok(text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).count())
}

/// The quota that is created and deleted again.
const NAME: &str = "quotient-check";

/// What it counts: objects of a kind that does not exist, so it limits nothing.
const COUNTED: &str = "count/checks.quotient.dev";

/// How long to wait for it.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often to check.
const INTERVAL: Duration = Duration::from_millis(2);

/// Creates a quota in `namespace` that limits nothing, waits until its status has its amounts, and deletes it.
///
/// Returns at least [`PATIENCE`] if nothing enforced it.
async fn measure(live: &Live, namespace: &str) -> Result<Duration, ClusterError> {
    let quotas = live.of(Kind::ResourceQuota.api(), Some(namespace));
    let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": NAME}, "spec": {"hard": {COUNTED: "1"}}});
    quotas.create(&quota).await?;
    let began = Instant::now();
    let enforced = wait(quotas, began).await;
    quotas.delete(NAME).await?;
    enforced
}

async fn wait(quotas: Collection<'_>, began: Instant) -> Result<Duration, ClusterError> {
    loop {
        let quota = quotas.get(NAME).await?;
        let elapsed = began.elapsed();
        if elapsed >= PATIENCE || quota.is_some_and(|quota| quota.pointer("/status/hard").is_some()) {
            return Ok(elapsed);
        }
        tokio::time::sleep(INTERVAL).await;
    }
}
