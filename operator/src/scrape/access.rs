//! Asking the API server who brings a token, and whether they may read metrics.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, UserInfo};
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::answer::{Answer, ask, said};

/// How long one question may take.
const CALL: Duration = Duration::from_secs(5);

/// How long a token that was let in stays so: a scraper comes twice a minute, and rights are seldom withdrawn.
const REMEMBERED: Duration = Duration::from_secs(60);

/// How long one who is not let in waits, with the one place that there is for such questions: nobody makes the API server
/// answer more than ten a second.
const PENANCE: Duration = Duration::from_millis(200);

/// How many questions there may be at the same time.
const AT_ONCE: usize = 2;

/// How many tokens are remembered; more scrapers than that are asked for every time.
const MOST: usize = 64;

/// What became of one who asks.
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

/// Lets in whom the API server vouches for.
#[derive(Clone)]
pub(super) struct Gate {
    client: Client,
    /// Tokens that were let in, and until when that holds.
    known: Arc<Mutex<BTreeMap<String, Instant>>>,
    places: Arc<Semaphore>,
}

impl Gate {
    pub(super) fn new(client: Client) -> Self {
        Self { client, known: Arc::default(), places: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// Whether the holder of `token` may read metrics.
    pub(super) async fn ask(&self, token: Option<&str>) -> Access {
        let Some(token) = token else { return Access::Unknown };
        if self.is_known(token) {
            return Access::Granted;
        }
        let Ok(_place) = self.places.acquire().await else {
            return Access::Unclear("the operator ends".to_owned());
        };
        let access = self.review(token).await;
        if access == Access::Granted {
            self.remember(token);
        } else {
            tokio::time::sleep(PENANCE).await;
        }
        access
    }

    async fn review(&self, token: &str) -> Access {
        let review = TokenReview {
            spec: TokenReviewSpec { token: token.to_owned(), audiences: None },
            ..TokenReview::default()
        };
        let api: Api<TokenReview> = Api::all(self.client.clone());
        let user = match ask(CALL, api.create(&PostParams::default(), &review)).await {
            Answer::Done(review) => review.status.unwrap_or_default(),
            Answer::Refused(status) => return Access::Unclear(said(&status)),
            Answer::Unknown(lost) => return Access::Unclear(lost.to_string()),
        };
        match user.user.filter(|_| user.authenticated == Some(true)) {
            Some(user) => self.may_read(user).await,
            None => Access::Unknown,
        }
    }

    async fn may_read(&self, user: UserInfo) -> Access {
        let name = user.username.clone().unwrap_or_default();
        let review = SubjectAccessReview {
            spec: SubjectAccessReviewSpec {
                user: user.username,
                uid: user.uid,
                groups: user.groups,
                extra: user.extra,
                non_resource_attributes: Some(NonResourceAttributes {
                    path: Some("/metrics".to_owned()),
                    verb: Some("get".to_owned()),
                }),
                resource_attributes: None,
            },
            ..SubjectAccessReview::default()
        };
        let api: Api<SubjectAccessReview> = Api::all(self.client.clone());
        match ask(CALL, api.create(&PostParams::default(), &review)).await {
            Answer::Done(review) if review.status.as_ref().is_some_and(|status| status.allowed) => {
                Access::Granted
            }
            Answer::Done(_) => Access::Denied(name),
            Answer::Refused(status) => Access::Unclear(said(&status)),
            Answer::Unknown(lost) => Access::Unclear(lost.to_string()),
        }
    }

    fn is_known(&self, token: &str) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        known.retain(|_, until| *until > now);
        known.contains_key(token)
    }

    fn remember(&self, token: &str) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(until) = Instant::now().checked_add(REMEMBERED).filter(|_| known.len() < MOST) {
            known.insert(token.to_owned(), until);
        }
    }
}
