//! `--check`: would the operator be able to work here? `--check-metrics`: does it serve its metrics?

use std::collections::BTreeSet;
use std::time::Duration;

use http::uri::PathAndQuery;
use http::{Request, Uri};
use k8s_openapi::api::authorization::v1::{SelfSubjectAccessReview, SelfSubjectAccessReviewSpec};
use kube::api::{ListParams, PostParams};
use kube::{Api, Client, Resource};
use quotient_crds::{Queue, QueueJob};
use serde::de::DeserializeOwned;

use crate::answer::{Failure, ask};
use crate::args::Args;
use crate::client::connect_to;
use crate::rights::{Feature, Right, needed, needed_for};
use crate::settings::Settings;

/// How long one call may take.
const CALL: Duration = Duration::from_secs(10);

/// What was looked at, and whether it is as it should be: the sentence says what to do if not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Whether it is.
    pub is_good: bool,
    /// What it is.
    pub sentence: String,
}

impl Finding {
    fn good(sentence: String) -> Self {
        Self { is_good: true, sentence }
    }

    fn bad(sentence: String) -> Self {
        Self { is_good: false, sentence }
    }
}

/// Looks at the API server, the kinds, and every right that the settings need. Writes nothing but reviews of access.
pub async fn check(settings: &Settings, client: &Client) -> Vec<Finding> {
    let kinds = [kind::<Queue>("Queue", client).await, kind::<QueueJob>("QueueJob", client).await];
    let mut findings = vec![api_server(client).await];
    findings.extend(kinds);
    findings.push(rights(settings, client).await);
    for feature in Feature::ALL {
        findings.extend(rights_of(feature, settings, client).await);
    }
    findings
}

async fn api_server(client: &Client) -> Finding {
    match ask(CALL, client.apiserver_version()).await {
        Ok(version) => Finding::good(format!("the API server answers: {}", version.git_version)),
        Err(failure) => Finding::bad(format!("ask the API server's version: {failure}")),
    }
}

async fn kind<Kind>(name: &str, client: &Client) -> Finding
where
    Kind: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
{
    let objects: Api<Kind> = Api::all(client.clone());
    match ask(CALL, objects.list_metadata(&ListParams::default().limit(1))).await {
        Ok(_) => Finding::good(format!("the kind {name} is served")),
        Err(Failure::Refused(status)) if status.code == 404 => Finding::bad(format!(
            "the kind {name} is not served: apply crds/yaml, or install the chart with crds.install"
        )),
        Err(failure) => Finding::bad(format!("list the kind {name}: {failure}")),
    }
}

/// The series that every replica serves, whether it leads or not.
const SERVED: &str = "quotient_build_info{";

/// Reads the metrics at `url` as Prometheus would.
pub async fn check_metrics(args: &Args, url: &str) -> Finding {
    match metrics(args, url).await {
        Ok(text) if text.contains(SERVED) => {
            let series = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).count();
            Finding::good(format!("{url} serves {series} series"))
        }
        Ok(_) => Finding::bad(format!("{url} serves no metrics of Quotient")),
        Err(why) => Finding::bad(format!("read {url}: {why}")),
    }
}

async fn metrics(args: &Args, url: &str) -> Result<String, String> {
    let mut parts = url.parse::<Uri>().map_err(|error| error.to_string())?.into_parts();
    let path = parts.path_and_query.replace(PathAndQuery::from_static("/"));
    let server = Uri::from_parts(parts).map_err(|error| error.to_string())?;
    let client = connect_to(args, server).await.map_err(|error| error.to_string())?;
    let path = path.as_ref().map_or("/metrics", PathAndQuery::as_str);
    let request = Request::get(path).body(Vec::new()).map_err(|error| error.to_string())?;
    ask(CALL, client.request_text(request)).await.map_err(|failure| match &failure {
        Failure::Refused(status) => format!("{} {failure}", status.code),
        Failure::Unknown(_) => failure.to_string(),
    })
}

async fn rights(settings: &Settings, client: &Client) -> Finding {
    let lease = settings.lease.as_ref().map(|lease| lease.name.as_str());
    let is_scraped = settings.scrape.as_ref().is_some_and(|scrape| !scrape.listen.ip().is_loopback());
    let mode = settings.mode();
    let needed = needed(mode, lease, is_scraped, settings.index.gate_mode, &settings.workload_kinds);
    match missing(needed, settings, client).await {
        Ok((count, missing)) if missing.is_empty() => {
            Finding::good(format!("all {count} rights of mode {mode} are granted"))
        }
        Ok((count, missing)) => {
            Finding::bad(format!("of the {count} rights of mode {mode} are missing: {}", missing.join("; ")))
        }
        Err(finding) => finding,
    }
}

/// Whether `feature` is granted, which an operator can work without; nothing where the mode does not reach it.
async fn rights_of(feature: Feature, settings: &Settings, client: &Client) -> Option<Finding> {
    match missing(needed_for(feature, settings.mode()), settings, client).await {
        Ok((0, _)) => None,
        Ok((count, missing)) if missing.is_empty() => {
            Some(Finding::good(format!("the {count} rights of {} are granted", feature.value())))
        }
        Ok(_) => Some(Finding::good(feature.is_off())),
        Err(finding) => Some(finding),
    }
}

/// How many rights are `needed`, and those that the operator does not have; or why that is not known.
async fn missing(
    needed: serde_json::Result<BTreeSet<Right>>,
    settings: &Settings,
    client: &Client,
) -> Result<(usize, Vec<String>), Finding> {
    let needed = needed.map_err(|error| Finding::bad(format!("read the list of rights: {error}")))?;
    let reviews: Api<SelfSubjectAccessReview> = Api::all(client.clone());
    let mut missing = Vec::new();
    for right in &needed {
        let review = review(right, &settings.ledger.namespace);
        match ask(CALL, reviews.create(&PostParams::default(), &review)).await {
            Ok(review) if review.status.as_ref().is_some_and(|status| status.allowed) => {}
            Ok(_) => missing.push(right.to_string()),
            Err(failure) => return Err(Finding::bad(format!("ask for rights: {failure}"))),
        }
    }
    Ok((needed.len(), missing))
}

fn review(right: &Right, own_namespace: &str) -> SelfSubjectAccessReview {
    SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec {
            resource_attributes: Some(right.attributes(own_namespace)),
            ..SelfSubjectAccessReviewSpec::default()
        },
        ..SelfSubjectAccessReview::default()
    }
}
