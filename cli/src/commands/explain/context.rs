//! What an explanation reads, and what it looks at: the objects of one namespace, its Queue, and what the engine sees.

use std::collections::BTreeSet;

use quotient_crds::{RecentReclaim, Unmet};
use quotient_engine::names::Namespace;
use quotient_engine::plan::PodId;
use quotient_engine::snapshot::NamespaceState;
use serde_json::Value;

use super::{ExplainArgs, Question, Target};
use crate::exit::{ClusterError, CommandError};
use crate::manifests::Cluster;
use crate::objects::{Kind, Object};
use crate::output::{Explanation, duration, list};
use crate::queues::{QueueView, governing, views};
use crate::snapshot::{Entry, Snapshot};
use crate::source::{ConnectionArgs, EVENTS, Live, Scope};

/// Objects by kind and name.
pub(super) type Names = BTreeSet<(String, String)>;

/// What is explained, and what is known around it.
pub(super) struct Context<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) target: &'a Target,
    pub(super) question: &'a Question<'a>,
    pub(super) namespace: String,
    /// All Queues that were read.
    pub(super) views: Vec<QueueView>,
}

impl<'a> Context<'a> {
    /// That of `target`. The error says why there is none.
    pub(super) fn of(
        cluster: &'a Cluster,
        target: &'a Target,
        namespace: Option<&str>,
        question: &'a Question<'a>,
    ) -> Result<Self, String> {
        let views = views(cluster);
        let namespace = match namespace {
            Some(namespace) => namespace.to_owned(),
            None => only_namespace(cluster, &views, target)?,
        };
        Ok(Self { cluster, target, question, namespace, views })
    }

    /// An explanation that says nothing yet.
    pub(super) fn explanation(&self) -> Explanation {
        Explanation::of(self.target.kind.name(), &self.namespace, &self.target.name)
    }

    /// That there is no such object.
    pub(super) fn missing(&self) -> String {
        format!("there is no {} in namespace {}", self.target, self.namespace)
    }

    /// The Queue that governs the namespace.
    pub(super) fn queue(&self) -> Option<&QueueView> {
        governing(&self.views, &self.namespace)
    }

    /// The view of this queue, if it may be seen.
    pub(super) fn view(&self, full_name: &str) -> Option<&QueueView> {
        self.views.iter().find(|view| view.name.to_string() == full_name)
    }

    /// The namespace as the engine sees it.
    pub(super) fn state(&self) -> Option<&NamespaceState> {
        let name = Namespace::from(self.namespace.as_str());
        self.cluster.snapshot.namespaces.get(&name).map(AsRef::as_ref)
    }

    /// The objects of the namespace.
    pub(super) fn objects(&self) -> impl Iterator<Item = &'a Object> {
        self.cluster.objects.iter().filter(|object| object.namespace() == self.namespace)
    }

    /// The object that is explained.
    pub(super) fn found(&self) -> Option<&'a Object> {
        self.object(self.target.kind, &self.target.name)
    }

    /// The object of this kind and name.
    pub(super) fn object(&self, kind: Kind, name: &str) -> Option<&'a Object> {
        self.objects().find(|object| object.kind() == kind && object.name() == name)
    }

    /// The names of the objects that create the pods of `object`: its own, and those of what it controls.
    pub(super) fn creators(&self, object: &Object) -> Names {
        let name_of = |object: &Object| (object.kind().name().to_owned(), object.name().to_owned());
        let mut names = BTreeSet::from([name_of(object)]);
        let uid = object.metadata().uid.as_deref().unwrap_or_default();
        let controlled = self.objects().filter(|other| {
            other.kind() != Kind::Pod && other.controller().is_some_and(|owner| owner.uid == uid)
        });
        names.extend(controlled.map(name_of));
        names
    }

    /// What cannot start of these workloads. A task of a QueueJob is called QUEUEJOB/TASK.
    pub(super) fn unmet(&self, names: &Names) -> Vec<&Unmet> {
        let unmet = self.queue().into_iter().flat_map(|view| &view.status.unmet);
        let is_theirs = |unmet: &&Unmet| {
            let name = unmet.name.split('/').next().unwrap_or_default();
            names.iter().any(|(kind, known)| *kind == unmet.kind && known == name)
        };
        unmet.filter(is_theirs).collect()
    }

    /// Whether the pod is the one that is explained.
    pub(super) fn is_about(&self, pod: &PodId) -> bool {
        pod.name.as_str() == self.target.name && pod.namespace.as_str() == self.namespace
    }

    /// The eviction of the pod that the Queue's status remembers, with the Queue; the newest.
    pub(super) fn reclaim(&self) -> Option<(&QueueView, &RecentReclaim)> {
        let here = self.views.iter().filter(|view| view.name.namespace.as_str() == self.namespace);
        here.flat_map(|view| view.status.recent_reclaims.iter().map(move |reclaim| (view, reclaim)))
            .find(|(_, reclaim)| reclaim.pod == self.target.name)
    }

    /// How long ago that was, for people.
    pub(super) fn ago(&self, time: jiff::Timestamp) -> String {
        duration(self.cluster.seconds_since(time).max(0))
    }
}

/// The namespace of the only object that `target` names.
fn only_namespace(cluster: &Cluster, views: &[QueueView], target: &Target) -> Result<String, String> {
    let is_it = |object: &&Object| object.kind() == target.kind && object.name() == target.name;
    let found = cluster.objects.iter().filter(is_it).filter_map(|object| object.metadata().namespace.clone());
    let mut namespaces: BTreeSet<String> = found.collect();
    if namespaces.is_empty() && target.kind == Kind::Pod {
        let evicted = views
            .iter()
            .filter(|view| view.status.recent_reclaims.iter().any(|reclaim| reclaim.pod == target.name));
        namespaces = evicted.map(|view| view.name.namespace.to_string()).collect();
    }
    let names: Vec<&str> = namespaces.iter().map(String::as_str).collect();
    match names.as_slice() {
        [] => Err(format!("there is no {target} in {}", cluster.source)),
        [one] => Ok((*one).to_owned()),
        several => Err(format!("several namespaces have a {target}: name one by -n: {}", list(several))),
    }
}

/// What an explanation needs of one namespace.
const OF_NAMESPACE: &str =
    "queues queuejobs pods deployments replicasets statefulsets daemonsets jobs resourcequotas limitranges";

/// The resources without which a missing right would look like a missing object.
fn required(kind: Kind) -> Vec<&'static str> {
    let mut plurals = vec!["pods", "queues", kind.api().plural];
    if kind == Kind::Deployment {
        plurals.push("replicasets");
    }
    plurals
}

/// What was read.
pub(super) struct Read {
    pub(super) snapshot: Snapshot,
    pub(super) namespace: Option<String>,
    /// Events of the namespace that tell what happened to pods.
    pub(super) events: Vec<Value>,
}

pub(super) async fn read(
    args: &ExplainArgs,
    target: &Target,
    connection: &ConnectionArgs,
) -> Result<Read, CommandError> {
    let namespace = connection.namespace.clone();
    if let Some(snapshot) = args.source.read_files(connection)? {
        return Ok(Read { snapshot, namespace, events: Vec::new() });
    }
    let live = Live::connect(connection).await?;
    let is_queue = target.kind == Kind::Queue;
    let namespace = match namespace {
        Some(namespace) => namespace,
        None if is_queue => live.namespace_of_queue(&target.name).await?,
        None => live.namespace.clone(),
    };
    let mut snapshot = if args.whole_cluster {
        args.source.read_all(connection).await?
    } else {
        live.snapshot(&Scope::of(OF_NAMESPACE, Some(&namespace))).await?
    };
    ClusterError::require(&snapshot.missing, &required(target.kind))?;
    let is_it = |entry: &Entry| entry.kind() == "Pod" && entry.name() == target.name;
    if target.kind == Kind::Pod && !snapshot.entries.iter().any(is_it) {
        // Finished pods are not listed.
        snapshot.add(live.of(Kind::Pod.api(), Some(&namespace)).get(&target.name).await?);
    }
    if is_queue && !args.whole_cluster {
        live.add_all_queues(&mut snapshot).await?;
    }
    let reason = if target.kind == Kind::Pod { "Reclaimed" } else { "FailedCreate" };
    let fields = format!("reason={reason}");
    let events = live.of(&EVENTS, Some(&namespace)).with_fields(&fields);
    // Events may be gone, or forbidden.
    let events = if is_queue { None } else { events.list_if_allowed().await? };
    Ok(Read { snapshot, namespace: Some(namespace), events: events.unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Missing;

    /// A tenant whose role lists only some kinds.
    #[test]
    fn a_missing_right_is_no_missing_object() {
        let refused = |kind, resource: &str| {
            let missing = Missing { resource: resource.to_owned(), namespace: Some("team-a".to_owned()) };
            ClusterError::require(&[missing], &required(kind)).map_err(|error| error.to_string())
        };
        let queues = refused(Kind::Pod, "queues.quotient.dev").unwrap_err();
        assert!(queues.starts_with("list queues.quotient.dev in namespace team-a: forbidden"), "{queues}");
        assert!(refused(Kind::Deployment, "deployments.apps").is_err());
        assert!(refused(Kind::Deployment, "replicasets.apps").is_err());
        assert!(refused(Kind::Job, "jobs.batch").is_err());
        assert_eq!(refused(Kind::Job, "replicasets.apps"), Ok(()));
    }
}
