//! The candidate: looks at the Lease, renews it while it leads, and knows when it has lost it.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, PostParams};
use kube::{Client, Resource as _};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::LeaseSettings;
use super::leadership::{Leadership, Term};
use super::moment::Moment;
use super::record::Record;
use crate::answer::{Answer, Failure, ask};
use crate::clock::Clock;
use crate::health::Heartbeat;
use crate::identity::Identity;

/// How long one call about the Lease may take; a deadline holds several.
const CALL: Duration = Duration::from_secs(4);

/// Why this process may not lead any more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeaseError {
    /// Another replica holds it.
    #[error("renew lease {lease}: {holder} holds it now")]
    Taken {
        /// Namespace and name.
        lease: String,
        /// Its holder.
        holder: String,
    },
    /// It is older than the one that was there: the cluster was restored from a backup.
    #[error(
        "read lease {lease}: it is older than it was before, so the cluster was restored from a backup: everything has to be listed anew"
    )]
    WentBack {
        /// Namespace and name.
        lease: String,
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
    clock: Clock,
    beat: Heartbeat,
    /// The Lease as last seen, and when it was first seen so.
    seen: Option<(Record, Instant)>,
    /// When the last successful renewal was sent; none while another replica leads.
    renewed: Option<Moment>,
    leading: watch::Sender<Term>,
    /// The last leader, as it was logged.
    other: String,
}

impl Elector {
    /// A candidate named `identity`, and the handle by which others learn whether it leads. `beat` shows that it
    /// is alive.
    pub fn new(
        client: Client,
        settings: LeaseSettings,
        identity: Identity,
        clock: Clock,
        beat: Heartbeat,
    ) -> (Self, Leadership) {
        let (leading, receiver) = watch::channel(Term::None);
        let api = Api::namespaced(client, &settings.namespace);
        let elector = Self {
            api,
            settings,
            identity,
            clock,
            beat,
            seen: None,
            renewed: None,
            leading,
            other: String::new(),
        };
        (elector, Leadership(receiver))
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
                biased;
                () = stop.cancelled() => break,
                () = tokio::time::sleep(self.settings.retry) => {}
            }
        }
        self.release().await;
        Ok(())
    }

    /// One step, cut off where leadership ends.
    async fn step_in_time(&mut self) -> Result<(), LeaseError> {
        let Some(sent) = self.renewed.clone() else { return self.step().await };
        let term = self.settings.renew_deadline;
        let end = sent.instant().checked_add(term).unwrap_or_else(Instant::now);
        // Timers stand still while the machine sleeps.
        if sent.elapsed() < term
            && let Ok(result) = tokio::time::timeout_at(end, self.step()).await
        {
            return result;
        }
        Err(self.lost(LeaseError::Expired { lease: self.name(), since: sent.elapsed() }))
    }

    /// One look and one attempt.
    async fn step(&mut self) -> Result<(), LeaseError> {
        // A leader knows the version it wrote last: no need to read before every renewal.
        if (self.renewed.is_none() || self.seen.is_none()) && !self.look().await? {
            return Ok(());
        }
        if !self.attempt().await? {
            return Ok(());
        }
        // The version was stale: the newest one decides, once.
        if self.look().await? {
            self.attempt().await?;
        }
        Ok(())
    }

    /// Reads the Lease. False if it could not be read.
    async fn look(&mut self) -> Result<bool, LeaseError> {
        match ask(CALL, self.api.get_opt(&self.settings.name)).await {
            Ok(Some(lease)) => self.see(lease)?,
            Ok(None) => self.seen = None,
            Err(failure) => {
                warn!(lease = %self.name(), error = failure.to_string(), "cannot read the lease");
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The API server never shows a Lease that is older than one that it has shown. If it does, nothing that is known here
    /// is true any more, and watches, which go by versions, would not notice: the process ends, and its successor lists
    /// everything.
    fn see(&mut self, lease: Lease) -> Result<(), LeaseError> {
        let record = Record(lease);
        if self.seen.as_ref().is_some_and(|(former, _)| record.is_older_than(former)) {
            return Err(self.lost(LeaseError::WentBack { lease: self.name() }));
        }
        let since = match &self.seen {
            Some((former, since)) if former.is_unchanged(&record) => *since,
            _ => Instant::now(),
        };
        self.seen = Some((record, since));
        Ok(())
    }

    /// Does what the Lease as last seen asks for. True if its version was stale.
    async fn attempt(&mut self) -> Result<bool, LeaseError> {
        let sent = Moment::now(&self.clock);
        let (identity, now) = (self.identity.as_str(), self.clock.now());
        let wanted = match &self.seen {
            None => Some(Record::create(&self.settings, identity, now)),
            Some((record, since)) => record.next(&self.settings, identity, since.elapsed(), now),
        };
        let Some(wanted) = wanted else { return self.wait().map(|()| false) };
        match self.write(&wanted).await {
            Ok(lease) => {
                self.see(lease)?;
                let term = Term::Since(sent.clone(), self.settings.renew_deadline);
                self.renewed = Some(sent);
                if matches!(self.leading.send_replace(term), Term::None) {
                    info!(lease = %self.name(), identity = %self.identity, "leading");
                }
                Ok(false)
            }
            Err(Failure::Refused(status)) if matches!(status.code, 404 | 409) => Ok(true),
            Err(failure) => {
                warn!(lease = %self.name(), error = failure.to_string(), "cannot write the lease");
                Ok(false)
            }
        }
    }

    /// Another replica holds the Lease.
    fn wait(&mut self) -> Result<(), LeaseError> {
        let holder = self.seen.as_ref().map(|(record, _)| record.holder().to_owned()).unwrap_or_default();
        if self.renewed.is_some() {
            return Err(self.lost(LeaseError::Taken { lease: self.name(), holder }));
        }
        if self.other != holder {
            info!(lease = %self.name(), holder, "another replica leads");
            self.other = holder;
        }
        Ok(())
    }

    async fn write(&self, lease: &Lease) -> Answer<Lease> {
        let parameters = PostParams::default();
        if lease.meta().resource_version.is_some() {
            ask(CALL, self.api.replace(&self.settings.name, &parameters, lease)).await
        } else {
            ask(CALL, self.api.create(&parameters, lease)).await
        }
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
        match self.write(&record.released(self.clock.now())).await {
            Ok(_) => info!(lease = %self.name(), "released the lease"),
            Err(failure) => {
                warn!(lease = %self.name(), error = failure.to_string(), "cannot release the lease");
            }
        }
    }

    fn name(&self) -> String {
        format!("{}/{}", self.settings.namespace, self.settings.name)
    }
}
