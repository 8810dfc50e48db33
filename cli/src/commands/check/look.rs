//! What every check looks at.

use std::collections::BTreeSet;

use quotient_engine::plan::Plan;

use super::Facts;
use crate::manifests::Cluster;
use crate::objects::Object;
use crate::queues::{QueueView, governing, views};

/// A cluster, ready to be checked.
pub(crate) struct Look<'a> {
    pub(super) cluster: &'a Cluster,
    /// What only a running API server knows.
    pub(super) facts: Option<&'a Facts>,
    /// Where everything that decisions depend on was read.
    pub(super) plan: Option<&'a Plan>,
    pub(super) views: Vec<QueueView>,
    /// The only namespace that is looked at.
    namespace: Option<&'a str>,
    /// The namespaces with a Queue that governs pods.
    managed: BTreeSet<String>,
}

impl<'a> Look<'a> {
    pub(super) fn at(
        cluster: &'a Cluster,
        facts: Option<&'a Facts>,
        plan: Option<&'a Plan>,
        namespace: Option<&'a str>,
    ) -> Self {
        let views = views(cluster, plan);
        let leaves = views.iter().filter(|view| !view.is_parent());
        let managed = leaves.map(|view| view.name.namespace.to_string()).collect();
        Self { cluster, facts, plan, views, namespace, managed }
    }

    /// None if the objects of this resource could not be read.
    pub(super) fn require(&self, resource: &str) -> Option<()> {
        let is_missing = self.cluster.missing.iter().any(|missing| missing.resource == resource);
        (!is_missing).then_some(())
    }

    /// None for one namespace: what is elsewhere was not looked for.
    pub(super) fn require_whole(&self) -> Option<()> {
        (!self.cluster.is_partial).then_some(())
    }

    /// None for files: what nothing wrote yet cannot be wrong.
    pub(super) fn require_observed(&self) -> Option<()> {
        self.cluster.is_observed.then_some(())
    }

    /// Whether this namespace is looked at.
    pub(super) fn is_wanted(&self, namespace: &str) -> bool {
        self.namespace.is_none_or(|wanted| wanted == namespace)
    }

    pub(super) fn is_managed(&self, namespace: &str) -> bool {
        self.managed.contains(namespace)
    }

    /// The objects in wanted namespaces, and those in none.
    pub(super) fn objects(&self) -> impl Iterator<Item = &'a Object> {
        let is_here = |object: &&Object| object.namespace().is_empty() || self.is_wanted(object.namespace());
        self.cluster.objects.iter().filter(is_here)
    }

    /// The objects in wanted namespaces with a Queue.
    pub(super) fn managed_objects(&self) -> impl Iterator<Item = &'a Object> {
        self.objects().filter(|object| self.is_managed(object.namespace()))
    }

    /// The Queue that governs the pods of the namespace.
    pub(super) fn queue_of(&self, namespace: &str) -> Option<&QueueView> {
        governing(&self.views, namespace)
    }

    /// The Queues in wanted namespaces.
    pub(super) fn queues(&self) -> impl Iterator<Item = &QueueView> {
        self.views.iter().filter(|view| self.is_wanted(view.name.namespace.as_str()))
    }
}
