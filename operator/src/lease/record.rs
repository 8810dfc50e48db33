//! The Lease object: how it is read, and what is written.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;

use super::LeaseSettings;

/// The Lease as it stands in the API server.
#[derive(Clone, Debug)]
pub(super) struct Record(pub(super) Lease);

impl Record {
    fn spec(&self) -> Option<&LeaseSpec> {
        self.0.spec.as_ref()
    }

    /// The identity of its holder; empty without one.
    pub(super) fn holder(&self) -> &str {
        self.spec().and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default()
    }

    /// How long it keeps others out, by its own word.
    fn duration(&self, default: Duration) -> Duration {
        self.spec()
            .and_then(|spec| spec.lease_duration_seconds)
            .and_then(|seconds| u64::try_from(seconds).ok())
            .map_or(default, Duration::from_secs)
    }

    /// Whether `other` is the same holding, not renewed since.
    pub(super) fn is_unchanged(&self, other: &Self) -> bool {
        let renewal =
            |record: &Self| record.spec().map(|spec| (spec.renew_time.clone(), spec.acquire_time.clone()));
        self.holder() == other.holder() && renewal(self) == renewal(other)
    }

    /// Whether this is an earlier state of the same object.
    pub(super) fn is_older_than(&self, other: &Self) -> bool {
        let version = |record: &Self| record.0.metadata.resource_version.as_deref()?.parse::<u64>().ok();
        let both = version(self).zip(version(other));
        self.0.metadata.uid == other.0.metadata.uid && both.is_some_and(|(this, other)| this < other)
    }

    /// What `identity` writes where this process has seen the Lease `unchanged` for so long; none while another replica holds it.
    ///
    /// Its own Lease is renewed however old it is, and one that was released is taken at once.
    pub(super) fn next(
        &self,
        settings: &LeaseSettings,
        identity: &str,
        unchanged: Duration,
        now: Timestamp,
    ) -> Option<Lease> {
        let holder = self.holder();
        if holder == identity {
            return Some(self.renewed(settings, identity, now));
        }
        let is_free = holder.is_empty() || unchanged >= self.duration(settings.duration);
        is_free.then(|| self.taken(settings, identity, now))
    }

    /// The first Lease of all.
    pub(super) fn create(settings: &LeaseSettings, identity: &str, now: Timestamp) -> Lease {
        let metadata = ObjectMeta {
            name: Some(settings.name.clone()),
            namespace: Some(settings.namespace.clone()),
            ..ObjectMeta::default()
        };
        let spec = LeaseSpec { lease_transitions: Some(0), ..held(settings, identity, now) };
        Lease { metadata, spec: Some(spec) }
    }

    /// This Lease, renewed by its holder.
    fn renewed(&self, settings: &LeaseSettings, identity: &str, now: Timestamp) -> Lease {
        let former = self.0.spec.clone().unwrap_or_default();
        let spec = LeaseSpec {
            acquire_time: former.acquire_time.clone(),
            lease_transitions: former.lease_transitions,
            ..held(settings, identity, now)
        };
        self.with(spec)
    }

    /// This Lease, held by a new replica.
    fn taken(&self, settings: &LeaseSettings, identity: &str, now: Timestamp) -> Lease {
        let transitions = self.spec().and_then(|spec| spec.lease_transitions).unwrap_or_default();
        self.with(LeaseSpec {
            lease_transitions: Some(transitions.saturating_add(1)),
            ..held(settings, identity, now)
        })
    }

    /// This Lease without a holder; the successor need not wait.
    pub(super) fn released(&self, now: Timestamp) -> Lease {
        let former = self.0.spec.clone().unwrap_or_default();
        self.with(LeaseSpec {
            holder_identity: Some(String::new()),
            lease_duration_seconds: Some(1),
            renew_time: Some(MicroTime(now)),
            ..former
        })
    }

    /// The object as it was read with another spec: its resourceVersion makes the write a compare-and-swap.
    fn with(&self, spec: LeaseSpec) -> Lease {
        Lease { metadata: ObjectMeta { managed_fields: None, ..self.0.metadata.clone() }, spec: Some(spec) }
    }
}

fn held(settings: &LeaseSettings, identity: &str, now: Timestamp) -> LeaseSpec {
    LeaseSpec {
        holder_identity: Some(identity.to_owned()),
        lease_duration_seconds: Some(i32::try_from(settings.duration.as_secs()).unwrap_or(i32::MAX)),
        acquire_time: Some(MicroTime(now)),
        renew_time: Some(MicroTime(now)),
        ..LeaseSpec::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::tests::settings;

    #[test]
    fn a_lease_is_renewed_by_its_holder_and_taken_once_it_has_lapsed() {
        let settings = settings();
        // A Lease that is renewed keeps its number of transitions, and one that is taken counts one more.
        for (holder, unchanged, transitions) in [
            ("me", 0, Some(0)),
            ("me", 1000, Some(0)),
            ("", 0, Some(1)),
            ("you", 0, None),
            ("you", 14, None),
            ("you", 15, Some(1)),
        ] {
            let record = Record(Record::create(&settings, holder, Timestamp::UNIX_EPOCH));
            let written = record.next(&settings, "me", Duration::from_secs(unchanged), Timestamp::UNIX_EPOCH);
            let spec = written.map(|lease| lease.spec.unwrap());
            assert!(spec.iter().all(|spec| spec.holder_identity.as_deref() == Some("me")), "{spec:?}");
            let counted = spec.and_then(|spec| spec.lease_transitions);
            assert_eq!(counted, transitions, "{holder:?} {unchanged}");
        }
    }
}
