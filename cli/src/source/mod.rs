//! Where a snapshot comes from: the cluster, files or a snapshot file.

mod collection;
mod connect;
mod live;
mod page;
mod proxy;

use std::path::PathBuf;

use crate::exit::{ClusterError, CommandError};
use crate::manifests;
use crate::objects::{ApiKind, Kind, POD_GROUP_KINDS};
use crate::output::{Progress, note};
use crate::snapshot::{Snapshot, is_snapshot, read_file};

pub(crate) use collection::Collection;
pub(crate) use connect::ConnectionArgs;
pub(crate) use live::{Live, PART_OF_QUOTIENT, now};

/// Where the objects come from; without a flag, the cluster.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct SourceArgs {
    /// Read manifests instead of the cluster: files, directories (their *.yaml, *.yml and *.json, by name) or `-` for
    /// standard input. May be given several times.
    #[arg(short = 'f', long = "filename", value_name = "FILE|DIR", num_args = 1.., conflicts_with = "snapshot")]
    pub(crate) files: Vec<PathBuf>,

    /// Read a snapshot instead of the cluster: a file that `kubectl quotient snapshot` wrote.
    #[arg(long, value_name = "FILE")]
    pub(crate) snapshot: Option<PathBuf>,
}

/// What is read of the cluster.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    /// The kinds.
    pub(crate) kinds: Vec<&'static ApiKind>,
    /// The namespace of namespaced objects; none for all.
    pub(crate) namespace: Option<String>,
}

impl Scope {
    /// Everything that the operator reads.
    pub(crate) fn everything() -> Self {
        Self { kinds: kinds().collect(), namespace: None }
    }

    /// The kinds with these plural names of this namespace; none for all namespaces.
    pub(crate) fn of(plurals: &str, namespace: Option<&str>) -> Self {
        let is_wanted = |kind: &&'static ApiKind| plurals.split(' ').any(|plural| plural == kind.plural);
        let kinds = kinds().filter(is_wanted).collect();
        Self { kinds, namespace: namespace.map(str::to_owned) }
    }

    /// Whether nothing is left out.
    pub(crate) fn is_everything(&self) -> bool {
        self.kinds.len() == kinds().count() && self.namespace.is_none()
    }
}

impl SourceArgs {
    /// Whether the cluster is asked.
    pub(crate) fn is_live(&self) -> bool {
        self.files.is_empty() && self.snapshot.is_none()
    }

    /// Reads the objects of `scope`; files and snapshots are read as a whole. Of a cluster a list of these resources that is
    /// refused is an error.
    pub(crate) async fn read(
        &self,
        connection: &ConnectionArgs,
        scope: &Scope,
        required: &[&str],
    ) -> Result<Snapshot, CommandError> {
        if let Some(snapshot) = self.read_files(connection)? {
            return Ok(snapshot);
        }
        let snapshot = Live::connect(connection).await?.snapshot(scope).await?;
        ClusterError::require(&snapshot.missing, required)?;
        Ok(snapshot)
    }

    /// Reads everything that decisions depend on. Of a cluster a list that is refused is an error, because the answer would be
    /// that of another cluster.
    pub(crate) async fn read_all(&self, connection: &ConnectionArgs) -> Result<Snapshot, CommandError> {
        let snapshot = self.read(connection, &Scope::everything(), &[]).await?;
        if self.is_live() {
            ClusterError::missing(snapshot.missing.iter())?;
        }
        let refused = snapshot.missing.iter().map(|missing| missing.resource.as_str());
        for part in refused.chain(snapshot.is_partial.then_some("objects of other namespaces")) {
            note(&format!(
                "warning: {part} are not in the snapshot, so the answer may differ from what happens"
            ));
        }
        Ok(snapshot)
    }

    /// The objects of files or of a snapshot file; none if the cluster is to be asked.
    pub(crate) fn read_files(&self, connection: &ConnectionArgs) -> Result<Option<Snapshot>, CommandError> {
        if self.is_live() {
            return Ok(None);
        }
        let _progress = Progress::begin("reading the files");
        let namespace = connection.namespace.as_deref();
        let Some(path) = &self.snapshot else {
            return Ok(Some(manifests::read_snapshot(&self.files, namespace)?));
        };
        let has_manifests = path.is_dir() || is_manifest(path);
        if has_manifests && !is_snapshot(path) {
            return Ok(Some(manifests::read_snapshot(std::slice::from_ref(path), namespace)?));
        }
        Ok(Some(read_file(path)?))
    }
}

fn is_manifest(path: &std::path::Path) -> bool {
    let ending = path.extension().and_then(std::ffi::OsStr::to_str);
    ending.is_some_and(|ending| matches!(ending, "yaml" | "yml"))
}

/// Frees what was made of thousands of objects, while the answer goes on or the process ends.
pub(crate) fn free_beside<T: Send + 'static>(value: T) {
    std::thread::spawn(move || drop(value));
}

/// Every kind that a decision depends on.
pub(crate) fn kinds() -> impl Iterator<Item = &'static ApiKind> {
    let of_decisions = Kind::ALL.iter().filter(|kind| **kind != Kind::PodGroup);
    of_decisions.map(|kind| kind.api()).chain(POD_GROUP_KINDS.iter())
}

/// Which replica of a program leads.
pub(crate) const LEASES: ApiKind = ApiKind::new("coordination.k8s.io/v1", "Lease", "leases");

/// What happened, as components report it.
pub(crate) const EVENTS: ApiKind = ApiKind::new("events.k8s.io/v1", "Event", "events");

/// The kinds that are installed.
pub(crate) const CRDS: ApiKind =
    ApiKind::new("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions")
        .of_cluster();

/// The rules of admission.
pub(crate) const POLICIES: ApiKind = ApiKind::new(
    "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicy",
    "validatingadmissionpolicies",
)
.of_cluster();

/// Questions about the rights of an account.
pub(crate) const ACCESS_REVIEWS: ApiKind =
    ApiKind::new("authorization.k8s.io/v1", "SubjectAccessReview", "subjectaccessreviews").of_cluster();

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// What the operator calls the kinds, with versions only where there are several.
    #[test]
    fn what_the_operator_watches_is_read() {
        let called = |kind: &ApiKind| match kind.api_version.split_once('/') {
            Some((group, version)) if kind.plural == "podgroups" => format!("podgroups.{version}.{group}"),
            _ => kind.plural.to_owned(),
        };
        let read: BTreeSet<String> = kinds().map(called).collect();
        let watched: BTreeSet<String> = quotient_operator::watch::kinds().map(str::to_owned).collect();
        assert_eq!(read, watched);
    }

    #[test]
    fn paths_are_those_of_the_api() {
        assert_eq!(Kind::Pod.api().path(Some("a")), "/api/v1/namespaces/a/pods");
        assert_eq!(Kind::Node.api().path(Some("a")), "/api/v1/nodes");
        assert_eq!(Kind::Job.api().path(None), "/apis/batch/v1/jobs");
        assert_eq!(Kind::Queue.api().resource(), "queues.quotient.dev");
    }
}
