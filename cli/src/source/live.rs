//! The cluster: what a scope names of it, read side by side.

use std::collections::BTreeSet;

use futures::{StreamExt as _, stream, try_join};
use k8s_openapi::apimachinery::pkg::version::Info;
use kube::Client;
use quotient_engine::time::Timestamp;
use serde_json::Value;

use super::collection::{Collection, Listed};
use super::{ConnectionArgs, LEASES, Scope};
use crate::exit::{ClusterError, CommandError};
use crate::manifests::workload_kinds;
use crate::objects::{ApiKind, Kind, find_text, text};
use crate::output::{Progress, list};
use crate::snapshot::{Content, Missing, Snapshot};

/// How many lists are read at the same time.
const AT_ONCE: usize = 8;

/// The label that marks the objects of the chart, as a selector.
pub(crate) const PART_OF_QUOTIENT: &str = "app.kubernetes.io/part-of=quotient";

/// A connection to the cluster.
pub(crate) struct Live {
    client: Client,
    /// The namespace that the command is about.
    pub(crate) namespace: String,
    /// What the cluster is called.
    pub(crate) name: String,
}

/// The time now, for which only live commands ask.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
}

impl Live {
    /// Finds the cluster that the flags name.
    pub(crate) async fn connect(args: &ConnectionArgs) -> Result<Self, ClusterError> {
        let (client, namespace, address) = args.client().await?;
        Ok(Self { client, namespace, name: args.context.clone().unwrap_or(address) })
    }

    /// One of this client, for tests.
    #[cfg(test)]
    pub(crate) fn with(client: Client, namespace: &str, name: &str) -> Self {
        Self { client, namespace: namespace.to_owned(), name: name.to_owned() }
    }

    /// The objects of one kind, in `namespace` or in all.
    pub(crate) const fn of<'a>(&'a self, kind: &'a ApiKind, namespace: Option<&'a str>) -> Collection<'a> {
        Collection::new(&self.client, kind, namespace)
    }

    /// The versions of the API server.
    pub(crate) async fn version(&self) -> Result<Info, ClusterError> {
        let failed = |error| ClusterError::of(error, "get", "the version", None);
        self.client.apiserver_version().await.map_err(failed)
    }

    /// The objects of `scope`. A kind that the user may not list is noted as missing.
    pub(crate) async fn snapshot(&self, scope: &Scope) -> Result<Snapshot, ClusterError> {
        let mut snapshot = Snapshot::observed(now(), &format!("cluster {}", self.name));
        snapshot.is_partial = !scope.is_everything();
        let (lists, (operators, leases)) = try_join!(self.lists(scope), self.operators())?;
        for (kind, list) in lists {
            match list {
                Listed::Objects(objects) => snapshot.add(objects),
                Listed::NotServed if kind.is_ours() => snapshot.not_served.push(kind.plural),
                Listed::NotServed | Listed::Forbidden if kind.is_optional => {}
                Listed::NotServed | Listed::Forbidden => {
                    let namespace = scope.namespace.clone().filter(|_| kind.is_namespaced);
                    snapshot.missing.push(Missing { resource: kind.resource(), namespace });
                }
            }
        }
        snapshot.add(leases);
        self.add_operators(&mut snapshot, scope, operators).await?;
        Ok(snapshot)
    }

    /// Has the Queues of all namespaces instead of those of one. If the user may not list them, they are noted as missing.
    pub(crate) async fn add_all_queues(&self, snapshot: &mut Snapshot) -> Result<(), ClusterError> {
        let kind = Kind::Queue.api();
        match self.of(kind, None).list_if_allowed().await? {
            Some(all) => {
                snapshot.entries.retain(|entry| entry.kind() != "Queue");
                snapshot.add(all);
            }
            None => snapshot.missing.push(Missing { resource: kind.resource(), namespace: None }),
        }
        Ok(())
    }

    /// The namespace of the Queue of this name; of several that of the command. A person who may not look for it has it in a
    /// namespace of its name, or else in that of the command.
    pub(crate) async fn namespace_of_queue(&self, name: &str) -> Result<String, CommandError> {
        let fields = format!("metadata.name={name}");
        let called = |namespace| self.of(Kind::Queue.api(), namespace).with_fields(&fields);
        let Some(found) = called(None).list_if_allowed().await? else {
            let own = called(Some(name)).list_if_allowed().await?;
            let has_it = own.is_some_and(|found| !found.is_empty());
            return Ok(if has_it { name.to_owned() } else { self.namespace.clone() });
        };
        let namespaces = found.iter().filter_map(|queue| find_text(queue, "/metadata/namespace"));
        match namespaces.collect::<Vec<_>>().as_slice() {
            [one] => Ok((*one).to_owned()),
            several if several.is_empty() || several.contains(&self.namespace.as_str()) => {
                Ok(self.namespace.clone())
            }
            several => {
                let several = list(several);
                Err(format!("several namespaces have a Queue {name}: name one of them by -n: {several}")
                    .into())
            }
        }
    }

    /// The lists of `scope`, ordered by resource: the order of arrival must not matter.
    async fn lists(&self, scope: &Scope) -> Result<Vec<(&'static ApiKind, Listed<Content>)>, ClusterError> {
        let progress = Progress::begin("reading the cluster");
        let lists = scope.kinds.iter().map(|kind| async move {
            let objects = self.of(kind, scope.namespace.as_deref());
            objects.answer(Content::read).await.map(|list| (*kind, list))
        });
        let mut lists = stream::iter(lists).buffer_unordered(AT_ONCE);
        let mut read = Vec::new();
        while let Some(list) = lists.next().await {
            progress.report(&format!(
                "reading {} of {} kinds",
                read.len().saturating_add(1),
                scope.kinds.len()
            ));
            read.push(list?);
        }
        read.sort_by_key(|(kind, _)| kind.resource());
        Ok(read)
    }

    /// The Deployments of the operator and the Leases beside them. They only inform.
    async fn operators(&self) -> Result<(Vec<Value>, Vec<Value>), ClusterError> {
        let ours = self.of(Kind::Deployment.api(), None).labeled(PART_OF_QUOTIENT);
        let operators = ours.list_if_allowed().await?.unwrap_or_default();
        let namespaces = operators.iter().map(|operator| text(operator, "/metadata/namespace"));
        let mut leases = Vec::new();
        for namespace in namespaces.collect::<BTreeSet<&str>>() {
            leases.extend(self.of(&LEASES, Some(namespace)).list_if_allowed().await?.unwrap_or_default());
        }
        Ok((operators, leases))
    }

    /// Adds these Deployments of the operator, unless they were read anyway. If everything is read, adds the kinds of their
    /// settings, too.
    async fn add_operators(
        &self,
        snapshot: &mut Snapshot,
        scope: &Scope,
        operators: Vec<Value>,
    ) -> Result<(), ClusterError> {
        // Where the API does not serve a kind, it has no objects.
        for kind in operators.iter().filter(|_| scope.is_everything()).flat_map(workload_kinds) {
            let kind = ApiKind::configured(&kind).optional();
            match self.of(&kind, None).list_if_allowed().await? {
                Some(found) => snapshot.add(found),
                None => snapshot.missing.push(Missing { resource: kind.resource(), namespace: None }),
            }
        }
        let read = snapshot.entries.iter().filter(|entry| entry.kind() == "Deployment");
        let read: BTreeSet<(&str, &str)> = read.map(|entry| (entry.namespace(), entry.name())).collect();
        let is_new = |operator: &Value| {
            !read.contains(&(text(operator, "/metadata/namespace"), text(operator, "/metadata/name")))
        };
        let new: Vec<Value> = operators.into_iter().filter(is_new).collect();
        snapshot.add(new);
        Ok(())
    }
}
