//! What an explanation looks at: the objects of one namespace, its Queue, and what the engine sees.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::Pod as PodObject;
use quotient_crds::{RecentReclaim, Unmet};
use quotient_engine::names::Namespace;
use quotient_engine::plan::Plan;
use quotient_engine::snapshot::NamespaceState;

use super::target::Target;
use crate::manifests::Cluster;
use crate::objects::{Kind, Object};
use crate::queues::{QueueView, views};

/// One namespace and what is known around it.
pub(super) struct Scene<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) namespace: String,
    /// All Queues that were read.
    pub(super) views: Vec<QueueView>,
    /// What the operator would decide, where everything that decisions depend on was read.
    pub(super) plan: Option<Plan>,
}

impl<'a> Scene<'a> {
    /// That of `target`. The error says why there is none.
    pub(super) fn of(cluster: &'a Cluster, target: &Target, namespace: Option<&str>) -> Result<Self, String> {
        let plan = cluster.plan();
        let views = views(cluster, plan.as_ref());
        let namespace = match namespace {
            Some(namespace) => namespace.to_owned(),
            None => only_namespace(cluster, &views, target)?,
        };
        Ok(Self { cluster, namespace, views, plan })
    }

    /// The Queue that governs the namespace: of several the oldest.
    pub(super) fn queue(&self) -> Option<&QueueView> {
        let here = self.views.iter().filter(|view| view.name.namespace.as_str() == self.namespace);
        here.filter(|view| !view.is_parent()).min_by_key(|view| {
            let metadata = &view.queue.metadata;
            (metadata.creation_timestamp.clone(), metadata.uid.clone())
        })
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

    /// The object of this kind and name.
    pub(super) fn object(&self, kind: Kind, name: &str) -> Option<&'a Object> {
        self.objects().find(|object| object.kind() == kind && object.name() == name)
    }

    /// The pod of this name.
    pub(super) fn pod(&self, name: &str) -> Option<&'a PodObject> {
        self.object(Kind::Pod, name)?.get()
    }

    /// The names of the objects that create the pods of `object`: its own, and those of what it controls.
    pub(super) fn creators(&self, object: &Object) -> BTreeSet<(String, String)> {
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
    pub(super) fn unmet<'s>(&'s self, names: &BTreeSet<(String, String)>) -> Vec<&'s Unmet> {
        let unmet = self.queue().into_iter().flat_map(|view| &view.status.unmet);
        let is_theirs = |unmet: &&Unmet| {
            let name = unmet.name.split('/').next().unwrap_or_default();
            names.iter().any(|(kind, known)| *kind == unmet.kind && known == name)
        };
        unmet.filter(is_theirs).collect()
    }

    /// The eviction of a pod of this name that the Queue's status remembers, with the Queue; the newest.
    pub(super) fn reclaim(&self, pod: &str) -> Option<(&QueueView, &RecentReclaim)> {
        let here = self.views.iter().filter(|view| view.name.namespace.as_str() == self.namespace);
        here.flat_map(|view| view.status.recent_reclaims.iter().map(move |reclaim| (view, reclaim)))
            .find(|(_, reclaim)| reclaim.pod == pod)
    }

    /// How long ago that was, in seconds.
    pub(super) fn seconds_since(&self, time: jiff::Timestamp) -> i64 {
        let now = self.cluster.snapshot.now.millis();
        now.saturating_sub(time.as_millisecond()).div_euclid(1000).max(0)
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
        several => Err(format!("several namespaces have a {target}: name one by -n: {}", several.join(", "))),
    }
}
