//! Asking the API server for the user of a token, and whether it may read metrics.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, UserInfo};
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::answer::ask;
use crate::lock::lock;

/// How long one question may take.
const CALL: Duration = Duration::from_secs(5);

/// How long a token that was let in stays so: a scraper comes twice a minute, and rights are seldom withdrawn.
const REMEMBERED: Duration = Duration::from_secs(60);

/// How long a rejected client waits, with the one place that there is for such questions: no client makes the API server
/// answer more than ten a second.
const DENIED_DELAY: Duration = Duration::from_millis(200);

/// How many questions there may be at the same time.
const AT_ONCE: usize = 2;

/// How many tokens are remembered; more scrapers than that are asked for every time.
const MOST: usize = 64;

/// What a client may be asked to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Right {
    /// `get` on the non-resource URL `/metrics`.
    ReadMetrics,
    /// `list` on the pods of all namespaces.
    ListPods,
}

/// The answer to one scrape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// May read.
    Granted,
    /// No token, or none that the API server knows.
    Unknown,
    /// This user is known and may not.
    Denied(String),
    /// The API server could not be asked.
    Unclear(String),
}

/// Lets in the clients that the API server vouches for.
#[derive(Clone)]
pub(super) struct Gate {
    client: Client,
    /// Tokens with the rights that their holders have, and until when that holds.
    known: Arc<Mutex<BTreeMap<(String, Right), Instant>>>,
    places: Arc<Semaphore>,
}

impl Gate {
    pub(super) fn new(client: Client) -> Self {
        Self { client, known: Arc::default(), places: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// Whether the holder of `token` has this right.
    pub(super) async fn ask(&self, token: Option<&str>, right: Right) -> Access {
        let Some(token) = token else { return Access::Unknown };
        if self.is_known(token, right) {
            return Access::Granted;
        }
        let Ok(_place) = self.places.acquire().await else {
            return Access::Unclear("the operator ends".to_owned());
        };
        let access = self.review(token, right).await;
        if access == Access::Granted {
            self.remember(token, right);
        } else {
            tokio::time::sleep(DENIED_DELAY).await;
        }
        access
    }

    async fn review(&self, token: &str, right: Right) -> Access {
        let review = TokenReview {
            spec: TokenReviewSpec { token: token.to_owned(), audiences: None },
            ..TokenReview::default()
        };
        let api: Api<TokenReview> = Api::all(self.client.clone());
        let user = match ask(CALL, api.create(&PostParams::default(), &review)).await {
            Ok(review) => review.status.unwrap_or_default(),
            Err(failure) => return Access::Unclear(failure.to_string()),
        };
        match user.user.filter(|_| user.authenticated == Some(true)) {
            Some(user) => self.has(user, right).await,
            None => Access::Unknown,
        }
    }

    async fn has(&self, user: UserInfo, right: Right) -> Access {
        let name = user.username.clone().unwrap_or_default();
        let (non_resource_attributes, resource_attributes) = right.attributes();
        let review = SubjectAccessReview {
            spec: SubjectAccessReviewSpec {
                user: user.username,
                uid: user.uid,
                groups: user.groups,
                extra: user.extra,
                non_resource_attributes,
                resource_attributes,
            },
            ..SubjectAccessReview::default()
        };
        let api: Api<SubjectAccessReview> = Api::all(self.client.clone());
        match ask(CALL, api.create(&PostParams::default(), &review)).await {
            Ok(review) if review.status.as_ref().is_some_and(|status| status.allowed) => Access::Granted,
            Ok(_) => Access::Denied(name),
            Err(failure) => Access::Unclear(failure.to_string()),
        }
    }

    fn is_known(&self, token: &str, right: Right) -> bool {
        let mut known = lock(&self.known);
        let now = Instant::now();
        known.retain(|_, until| *until > now);
        known.contains_key(&(token.to_owned(), right))
    }

    fn remember(&self, token: &str, right: Right) {
        let mut known = lock(&self.known);
        if let Some(until) = Instant::now().checked_add(REMEMBERED).filter(|_| known.len() < MOST) {
            known.insert((token.to_owned(), right), until);
        }
    }
}

impl Right {
    fn attributes(self) -> (Option<NonResourceAttributes>, Option<ResourceAttributes>) {
        let text = |text: &str| Some(text.to_owned());
        match self {
            Self::ReadMetrics => {
                let url = NonResourceAttributes { path: text("/metrics"), verb: text("get") };
                (Some(url), None)
            }
            Self::ListPods => {
                let pods = ResourceAttributes {
                    verb: text("list"),
                    group: text(""),
                    version: text("v1"),
                    resource: text("pods"),
                    ..ResourceAttributes::default()
                };
                (None, Some(pods))
            }
        }
    }
}

/// What a client lacks, as a refusal names it.
impl std::fmt::Display for Right {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::ReadMetrics => "the verb get on the non-resource URL /metrics",
            Self::ListPods => "the verb list on the pods of all namespaces",
        })
    }
}
