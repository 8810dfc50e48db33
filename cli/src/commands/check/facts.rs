//! What only a running API server knows: its version, its kinds, its policies and its rights.

use std::time::Duration;

use futures::StreamExt as _;
use futures::stream;
use k8s_openapi::api::authorization::v1::{SubjectAccessReview, SubjectAccessReviewSpec};
use kube::Api;
use kube::api::PostParams;
use quotient_operator::rights::{Right, needed};
use serde_json::Value;

use super::latency;
use crate::exit::CommandError;
use crate::manifests::OperatorFacts;
use crate::source::{ApiKind, CRDS, ClusterError, Live, POLICIES, Selection};

/// What the API server says of itself. What may not be asked is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Major and minor version.
    pub(crate) version: Option<(u32, u32)>,
    /// The installed kinds.
    pub(crate) crds: Option<Vec<Value>>,
    /// The names of the admission policies.
    pub(crate) policies: Option<Vec<String>>,
    /// The rights that the operator needs and does not have.
    pub(crate) missing_rights: Option<Vec<String>>,
    /// How many monitors of the Prometheus Operator name the operator; none without that.
    pub(crate) monitors: Option<usize>,
    /// How long the quota controller took to enforce a new quota, if that was asked for.
    pub(crate) quota_latency: Option<Duration>,
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
    pub(super) async fn read(
        live: &Live,
        operator: Option<&OperatorFacts>,
        measured_in: Option<&str>,
    ) -> Result<Self, CommandError> {
        let version = live.client().apiserver_version().await;
        let version = version.map_err(|error| ClusterError::of(error, "get", "the version", None))?;
        Ok(Self {
            version: number(&version.major).zip(number(&version.minor)),
            crds: if_allowed(live, &CRDS).await?,
            policies: if_allowed(live, &POLICIES).await?.map(|found| found.iter().filter_map(name).collect()),
            missing_rights: match operator {
                Some(operator) => missing_rights(live, operator).await,
                None => None,
            },
            monitors: monitors(live).await?,
            quota_latency: match measured_in {
                Some(namespace) => Some(latency::measure(live, namespace).await?),
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
    object.pointer("/metadata/name").and_then(Value::as_str).map(str::to_owned)
}

/// The monitors with the label of the chart.
async fn monitors(live: &Live) -> Result<Option<usize>, CommandError> {
    let selection = Selection { labels: "app.kubernetes.io/part-of=quotient", fields: "" };
    let mut count = None;
    for kind in &MONITORS {
        if let Some(found) = selected_if_allowed(live, kind, &selection).await? {
            count = Some(count.unwrap_or(0_usize).saturating_add(found.len()));
        }
    }
    Ok(count)
}

async fn if_allowed(live: &Live, kind: &ApiKind) -> Result<Option<Vec<Value>>, CommandError> {
    selected_if_allowed(live, kind, &Selection::default()).await
}

async fn selected_if_allowed(
    live: &Live,
    kind: &ApiKind,
    selection: &Selection<'_>,
) -> Result<Option<Vec<Value>>, CommandError> {
    match live.list(kind, None, selection).await {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_forbidden() || error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What the account of the operator lacks; none if the user may not ask.
async fn missing_rights(live: &Live, operator: &OperatorFacts) -> Option<Vec<String>> {
    let settings = operator.settings.as_ref().ok()?;
    let lease = settings.lease.as_ref().map(|lease| lease.name.as_str());
    let is_scraped = settings.scrape.as_ref().is_some_and(|scrape| !scrape.listen.ip().is_loopback());
    let rights =
        needed(settings.mode(), lease, is_scraped, settings.index.gate_mode, &settings.workload_kinds)
            .ok()?;
    let user = format!("system:serviceaccount:{}:{}", operator.namespace, operator.service_account);
    let reviews: Api<SubjectAccessReview> = Api::all(live.client().clone());
    let asked = rights.iter().map(|right| {
        let (reviews, review) = (reviews.clone(), review(right, &user, &operator.namespace));
        async move { (right.to_string(), reviews.create(&PostParams::default(), &review).await) }
    });
    let mut answers = stream::iter(asked).buffer_unordered(AT_ONCE);
    let mut missing = Vec::new();
    while let Some((right, answer)) = answers.next().await {
        if !answer.ok()?.status.is_some_and(|status| status.allowed) {
            missing.push(right);
        }
    }
    missing.sort();
    Some(missing)
}

fn review(right: &Right, user: &str, own_namespace: &str) -> SubjectAccessReview {
    let groups = ["system:serviceaccounts", "system:authenticated"].map(str::to_owned);
    SubjectAccessReview {
        spec: SubjectAccessReviewSpec {
            user: Some(user.to_owned()),
            groups: Some(groups.to_vec()),
            resource_attributes: Some(right.attributes(own_namespace)),
            ..SubjectAccessReviewSpec::default()
        },
        ..SubjectAccessReview::default()
    }
}
