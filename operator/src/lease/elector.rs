//! The candidate: looks at the Lease, renews it while it leads, and knows when it has lost it.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, PostParams};
use kube::{Client, Resource as _};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::LeaseSettings;
use super::evaluate::{Observed, Step, evaluate};
use super::leadership::{Leadership, Term};
use super::record::Record;
use crate::answer::{Answer, ask, said};
use crate::health::Beat;
use crate::identity::Identity;

/// How long one call about the Lease may take; a deadline holds several.
const CALL: Duration = Duration::from_secs(4);

/// Why this process may not lead any more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeaseError {
    /// Somebody else holds it.
    #[error("renew lease {lease}: {holder} holds it now")]
    Taken {
        /// Namespace and name.
        lease: String,
        /// Who holds it.
        holder: String,
    },
    /// It could not be renewed in time.
    #[error("renew lease {lease}: no success for {since:?}")]
    Expired {
        /// Namespace and name.
        lease: String,
        /// How long it has not been renewed.
        since: Duration,
    },
}

/// A candidate for the Lease.
pub struct Elector {
    api: Api<Lease>,
    settings: LeaseSettings,
    identity: Identity,
    beat: Beat,
    start: Instant,
    /// The Lease as last seen, and when it was first seen so.
    seen: Option<(Record, Instant)>,
    /// When the last successful renewal was sent; none while somebody else leads.
    renewed: Option<Instant>,
    leading: watch::Sender<Term>,
    /// Who led last, as it was logged.
    other: String,
}

impl Elector {
    /// A candidate named `identity`, and the handle by which others learn whether it leads. `beat` shows that it
    /// is alive.
    pub fn new(
        client: Client,
        settings: LeaseSettings,
        identity: Identity,
        beat: Beat,
    ) -> (Self, Leadership) {
        let (leading, receiver) = watch::channel(Term::None);
        let api = Api::namespaced(client, &settings.namespace);
        let elector = Self {
            api,
            settings,
            identity,
            beat,
            start: Instant::now(),
            seen: None,
            renewed: None,
            leading,
            other: String::new(),
        };
        (elector, Leadership::new(receiver))
    }

    /// Stands for election until `stop`, then releases the Lease if it is held.
    ///
    /// # Errors
    ///
    /// When leadership was held and is lost. The process must end then: what it has under way was decided by a
    /// leader.
    pub async fn run(mut self, stop: CancellationToken) -> Result<(), LeaseError> {
        loop {
            self.beat.now();
            self.step_in_time().await?;
            tokio::select! {
                () = stop.cancelled() => break,
                () = tokio::time::sleep(self.settings.retry) => {}
            }
        }
        self.release().await;
        Ok(())
    }

    /// One step, cut off where leadership ends.
    async fn step_in_time(&mut self) -> Result<(), LeaseError> {
        let Some(sent) = self.renewed else { return self.step().await };
        match tokio::time::timeout_at(self.end_of_term(sent), self.step()).await {
            Ok(result) => result,
            Err(_) => Err(self.lost(LeaseError::Expired { lease: self.name(), since: sent.elapsed() })),
        }
    }

    /// One look and one attempt.
    async fn step(&mut self) -> Result<(), LeaseError> {
        // A leader knows the version it wrote last: no need to read before every renewal.
        if (self.renewed.is_none() || self.seen.is_none()) && !self.look().await {
            return Ok(());
        }
        if !self.attempt().await? {
            return Ok(());
        }
        // The version was stale: the newest one decides, once.
        if self.look().await {
            self.attempt().await?;
        }
        Ok(())
    }

    /// Reads the Lease. False if it could not be read.
    async fn look(&mut self) -> bool {
        match ask(CALL, self.api.get_opt(&self.settings.name)).await {
            Answer::Done(Some(lease)) => self.see(lease),
            Answer::Done(None) => self.seen = None,
            Answer::Refused(status) => {
                warn!(lease = %self.name(), error = said(&status), "cannot read the lease");
                return false;
            }
            Answer::Unknown(lost) => {
                warn!(lease = %self.name(), error = %lost, "cannot read the lease");
                return false;
            }
        }
        true
    }

    fn see(&mut self, lease: Lease) {
        let record = Record::new(lease);
        let since = match &self.seen {
            Some((former, since)) if former.is_unchanged(&record) => *since,
            _ => Instant::now(),
        };
        self.seen = Some((record, since));
    }

    /// Does what the Lease as last seen asks for. True if its version was stale.
    async fn attempt(&mut self) -> Result<bool, LeaseError> {
        let sent = Instant::now();
        let now = Timestamp::now();
        let identity = self.identity.as_str();
        let wanted = match (self.decide(), &self.seen) {
            (Step::Wait, Some((record, _))) if self.renewed.is_some() => {
                let holder = record.holder().to_owned();
                return Err(self.lost(LeaseError::Taken { lease: self.name(), holder }));
            }
            (Step::Create, _) | (_, None) => Record::create(&self.settings, identity, now),
            (Step::Wait, Some((record, _))) => {
                let holder = record.holder().to_owned();
                if self.other != holder {
                    info!(lease = %self.name(), holder, "another replica leads");
                    self.other = holder;
                }
                return Ok(false);
            }
            (Step::Renew, Some((record, _))) => record.renewed(&self.settings, identity, now),
            (Step::Take, Some((record, _))) => record.taken(&self.settings, identity, now),
        };
        match self.write(&wanted).await {
            Answer::Done(lease) => {
                self.see(lease);
                self.renewed = Some(sent);
                if self.leading.send_replace(Term::Until(self.end_of_term(sent))) == Term::None {
                    info!(lease = %self.name(), identity = %self.identity, "leading");
                }
                Ok(false)
            }
            Answer::Refused(status) if status.code == 409 || status.code == 404 => Ok(true),
            Answer::Refused(status) => {
                warn!(lease = %self.name(), error = said(&status), "cannot write the lease");
                Ok(false)
            }
            Answer::Unknown(lost) => {
                warn!(lease = %self.name(), error = %lost, "cannot write the lease");
                Ok(false)
            }
        }
    }

    async fn write(&self, lease: &Lease) -> Answer<Lease> {
        let parameters = PostParams::default();
        if lease.meta().resource_version.is_some() {
            ask(CALL, self.api.replace(&self.settings.name, &parameters, lease)).await
        } else {
            ask(CALL, self.api.create(&parameters, lease)).await
        }
    }

    fn decide(&self) -> Step {
        let local = |instant: Instant| instant.saturating_duration_since(self.start);
        let observed = self.seen.as_ref().map(|(record, since)| Observed {
            holder: record.holder().to_owned(),
            duration: record.duration(self.settings.duration),
            changed_at: local(*since),
        });
        evaluate(observed.as_ref(), self.identity.as_str(), local(Instant::now()))
    }

    /// When leadership that was last renewed by a call sent at `sent` ends.
    fn end_of_term(&self, sent: Instant) -> Instant {
        sent.checked_add(self.settings.renew_deadline).unwrap_or(sent)
    }

    fn lost(&mut self, why: LeaseError) -> LeaseError {
        self.leading.send_replace(Term::None);
        self.renewed = None;
        why
    }

    async fn release(&mut self) {
        if self.renewed.take().is_none() {
            return;
        }
        self.leading.send_replace(Term::None);
        let Some((record, _)) = &self.seen else { return };
        match self.write(&record.released(Timestamp::now())).await {
            Answer::Done(_) => info!(lease = %self.name(), "released the lease"),
            Answer::Refused(status) => {
                warn!(lease = %self.name(), error = said(&status), "cannot release the lease");
            }
            Answer::Unknown(lost) => warn!(lease = %self.name(), error = %lost, "cannot release the lease"),
        }
    }

    fn name(&self) -> String {
        format!("{}/{}", self.settings.namespace, self.settings.name)
    }
}
