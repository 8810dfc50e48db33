//! The cluster: lists of objects, read side by side, and the few writes that a command makes.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::{StreamExt as _, stream, try_join};
use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use kube::api::{DeleteParams, GetParams, ListParams, Patch, PatchParams, PostParams};
use kube::core::Request;
use quotient_engine::time::Timestamp;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use super::page::Page;
use super::{ApiKind, ConnectionArgs, LEASES, Scope, kind};
use crate::exit::ClusterError;
use crate::manifests::workload_kinds;
use crate::objects::{decoded, find_text, text};
use crate::output::Progress;
use crate::snapshot::{Missing, Snapshot};

/// The most objects of one page of a list.
const PAGE: u32 = 500;

/// How many lists are read at the same time.
const AT_ONCE: usize = 8;

const DEPLOYMENTS: &str = "deployments";

/// Where the label stands that marks the objects of the chart.
const PART_OF: &str = "/metadata/labels/app.kubernetes.io~1part-of";

/// Which objects of a list are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Selection<'a> {
    /// A label selector; empty for all.
    pub(crate) labels: &'a str,
    /// A field selector; empty for all.
    pub(crate) fields: &'a str,
}

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

    /// The objects of `scope`. A kind that the user may not list is noted as missing.
    pub(crate) async fn snapshot(&self, scope: &Scope) -> Result<Snapshot, ClusterError> {
        let mut snapshot = Snapshot::observed(now(), &format!("cluster {}", self.name));
        let (lists, deployments) = try_join!(self.lists(scope), self.operator_beside(scope))?;
        for (kind, list) in lists {
            match list {
                Some((objects, pods)) => {
                    snapshot.add(objects);
                    snapshot.pods.extend(pods);
                }
                None if kind.is_optional => {}
                None => {
                    let namespace = scope.namespace.clone().filter(|_| kind.is_namespaced);
                    snapshot.missing.push(Missing { resource: kind.resource(), namespace });
                }
            }
        }
        snapshot.add(deployments);
        snapshot.is_partial = !scope.is_everything();
        if has_deployments(scope) {
            self.add_operator(&mut snapshot, scope).await?;
        }
        Ok(snapshot)
    }

    /// The lists of `scope`, none where the user may not, ordered by resource: the order of arrival must not matter.
    async fn lists(&self, scope: &Scope) -> Result<Vec<(&'static ApiKind, Option<Objects>)>, ClusterError> {
        let progress = Progress::begin("reading the cluster");
        let lists = scope.kinds.iter().map(|kind| async move {
            let namespace = scope.namespace.as_deref();
            let reads_pods = kind.plural == "pods" && !scope.is_verbatim;
            let list = self.pages(kind, namespace, &Selection::default(), reads_pods).await;
            if_allowed(kind, list).map(|list| (*kind, list))
        });
        let mut lists = stream::iter(lists).buffer_unordered(AT_ONCE);
        let mut read = Vec::new();
        while let Some(list) = lists.next().await {
            progress.tell(&format!(
                "reading {} of {} kinds",
                read.len().saturating_add(1),
                scope.kinds.len()
            ));
            read.push(list?);
        }
        read.sort_by_key(|(kind, _)| kind.resource());
        Ok(read)
    }

    /// An error that names the rights to list these resources, if the snapshot lacks one of them.
    pub(crate) fn require(snapshot: &Snapshot, plurals: &[&str]) -> Result<(), ClusterError> {
        let is_required =
            |missing: &&Missing| plurals.contains(&missing.resource.split('.').next().unwrap_or_default());
        ClusterError::missing(snapshot.missing.iter().filter(is_required))
    }

    /// The Deployment of the operator with the Leases of its namespace, unless all Deployments are read anyway. Both only inform.
    async fn operator_beside(&self, scope: &Scope) -> Result<Vec<Value>, ClusterError> {
        if has_deployments(scope) {
            return Ok(Vec::new());
        }
        let selection = Selection { labels: "app.kubernetes.io/part-of=quotient", fields: "" };
        let found = self.list_if_allowed(kind(DEPLOYMENTS), None, &selection).await?;
        let mut found = found.unwrap_or_default();
        let leases = self.leases(&found).await?;
        found.extend(leases);
        Ok(found)
    }

    /// The Leases beside these Deployments.
    async fn leases(&self, deployments: &[Value]) -> Result<Vec<Value>, ClusterError> {
        let namespaces: BTreeSet<&str> =
            deployments.iter().filter_map(|value| find_text(value, "/metadata/namespace")).collect();
        let mut leases = Vec::new();
        for namespace in namespaces {
            let found = self.list_if_allowed(&LEASES, Some(namespace), &Selection::default()).await?;
            leases.extend(found.unwrap_or_default());
        }
        Ok(leases)
    }

    /// What is read because an operator is among the Deployments: the kinds of its settings, and the Leases of its namespace.
    async fn add_operator(&self, snapshot: &mut Snapshot, scope: &Scope) -> Result<(), ClusterError> {
        let of_operator: Vec<Value> = (snapshot.entries.iter())
            .filter(|entry| text(&entry.value, "/kind") == "Deployment")
            .filter(|entry| text(&entry.value, PART_OF) == "quotient")
            .map(|entry| Value::clone(&entry.value))
            .collect();
        // Where the API does not serve a kind, it has no objects.
        for kind in of_operator.iter().filter(|_| scope.is_everything()).flat_map(workload_kinds) {
            let kind = ApiKind::configured(&kind).optional();
            match self.list_if_allowed(&kind, None, &Selection::default()).await? {
                Some(found) => snapshot.add(found),
                None => snapshot.missing.push(Missing { resource: kind.resource(), namespace: None }),
            }
        }
        snapshot.add(self.leases(&of_operator).await?);
        Ok(())
    }

    /// The same as [`list`](Self::list); none if the user may not list them. Of an optional kind that is not served there are
    /// none.
    pub(crate) async fn list_if_allowed(
        &self,
        kind: &ApiKind,
        namespace: Option<&str>,
        selection: &Selection<'_>,
    ) -> Result<Option<Vec<Value>>, ClusterError> {
        if_allowed(kind, self.list(kind, namespace, selection).await)
    }

    /// All objects of one kind, page by page.
    pub(crate) async fn list(
        &self,
        kind: &ApiKind,
        namespace: Option<&str>,
        selection: &Selection<'_>,
    ) -> Result<Vec<Value>, ClusterError> {
        self.pages(kind, namespace, selection, false).await.map(|(objects, _)| objects)
    }

    /// The same, the pods apart from the other objects if `reads_pods`. One that cannot be read is among the others.
    async fn pages(
        &self,
        kind: &ApiKind,
        namespace: Option<&str>,
        selection: &Selection<'_>,
        reads_pods: bool,
    ) -> Result<Objects, ClusterError> {
        let selectors = [kind.field_selector, selection.fields];
        let selector =
            selectors.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(",");
        let failed = |error| ClusterError::of(error, "list", &kind.resource(), namespace);
        let unreadable = |error| failed(kube::Error::SerdeError(error));
        let plural = kind.plural;
        let mut pages = Vec::new();
        let mut parameters = ListParams::default().limit(PAGE);
        if !selector.is_empty() {
            parameters = parameters.fields(&selector);
        }
        if !selection.labels.is_empty() {
            parameters = parameters.labels(selection.labels);
        }
        loop {
            let request = Request::new(kind.path(namespace)).list(&parameters);
            let page = Page(self.text(request, kind, namespace).await?);
            let next = page.next().map_err(unreadable)?;
            // The next page is on its way while this one is read.
            pages.push(tokio::task::spawn_blocking(move || {
                page.objects(plural)
                    .map(|objects| if reads_pods { pods_apart(objects) } else { (objects, Vec::new()) })
            }));
            if next.is_empty() {
                break;
            }
            parameters = parameters.continue_token(&next);
        }
        let (mut objects, mut pods) = Objects::default();
        for page in pages {
            let page = page.await.map_err(|error| failed(kube::Error::Service(error.into())))?;
            let (others, read) = page.map_err(unreadable)?;
            objects.extend(others.into_iter().map(|object| with_kind(object, kind)));
            pods.extend(read);
        }
        Ok((objects, pods))
    }

    /// One object; none if it does not exist.
    pub(crate) async fn get(
        &self,
        kind: &ApiKind,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<Value>, ClusterError> {
        let request = Request::new(kind.path(namespace)).get(name, &GetParams::default());
        match self.ask(request, "get", kind, namespace).await {
            Ok(object) => Ok(Some(with_kind(object, kind))),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Creates one object.
    pub(crate) async fn create(
        &self,
        kind: &ApiKind,
        namespace: Option<&str>,
        object: &Value,
    ) -> Result<Value, ClusterError> {
        let body = serde_json::to_vec(object).unwrap_or_default();
        let request = Request::new(kind.path(namespace)).create(&PostParams::default(), body);
        self.ask(request, "create", kind, namespace).await
    }

    /// Changes one object.
    pub(crate) async fn patch(
        &self,
        kind: &ApiKind,
        namespace: &str,
        name: &str,
        patch: &Patch<&Value>,
    ) -> Result<Value, ClusterError> {
        let parameters =
            PatchParams { field_manager: Some("kubectl-quotient".to_owned()), ..PatchParams::default() };
        let request = Request::new(kind.path(Some(namespace))).patch(name, &parameters, patch);
        self.ask(request, "patch", kind, Some(namespace)).await
    }

    /// Deletes one object; what it owns follows by garbage collection.
    pub(crate) async fn delete(
        &self,
        kind: &ApiKind,
        namespace: &str,
        name: &str,
    ) -> Result<(), ClusterError> {
        let request = Request::new(kind.path(Some(namespace))).delete(name, &DeleteParams::background());
        self.ask::<IgnoredAny>(request, "delete", kind, Some(namespace)).await.map(drop)
    }

    /// What the API server says of its version.
    pub(crate) async fn version(&self) -> Result<Value, ClusterError> {
        let request = http::Request::get("/version").body(Vec::new());
        let failed = |error| ClusterError::of(error, "get", "the version", None);
        let request = request.map_err(kube::Error::HttpError).map_err(failed)?;
        self.client.request(request).await.map_err(failed)
    }

    /// The text of a list.
    async fn text(
        &self,
        request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
        kind: &ApiKind,
        namespace: Option<&str>,
    ) -> Result<String, ClusterError> {
        let failed = |error| ClusterError::of(error, "list", &kind.resource(), namespace);
        let request = request.map_err(kube::Error::BuildRequest).map_err(failed)?;
        self.client.request_text(request).await.map_err(failed)
    }

    /// Sends a request, and names it if it fails.
    async fn ask<A: DeserializeOwned>(
        &self,
        request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
        verb: &'static str,
        kind: &ApiKind,
        namespace: Option<&str>,
    ) -> Result<A, ClusterError> {
        let failed = |error| ClusterError::of(error, verb, &kind.resource(), namespace);
        let request = request.map_err(kube::Error::BuildRequest).map_err(failed)?;
        self.client.request(request).await.map_err(failed)
    }
}

/// Whether the Deployment of the operator is among what is read.
fn has_deployments(scope: &Scope) -> bool {
    scope.namespace.is_none() && scope.kinds.iter().any(|kind| kind.plural == DEPLOYMENTS)
}

/// Objects as they were written, and pods that were read.
type Objects = (Vec<Value>, Vec<Arc<Pod>>);

/// Reads the pods of a list, and leaves what is none.
fn pods_apart(objects: Vec<Value>) -> Objects {
    let mut apart = Objects::default();
    for object in objects {
        match decoded(&object) {
            Some(pod) => apart.1.push(Arc::new(pod)),
            None => apart.0.push(object),
        }
    }
    apart
}

/// What was `listed`, none where the user may not. Of an optional kind that is not served there are none.
fn if_allowed<T: Default>(
    kind: &ApiKind,
    listed: Result<T, ClusterError>,
) -> Result<Option<T>, ClusterError> {
    match listed {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_forbidden() => Ok(None),
        Err(error) if error.is_not_found() => Ok(kind.is_optional.then(T::default)),
        Err(error) => Err(error),
    }
}

/// Items of a list leave kind and version out.
fn with_kind(mut object: Value, kind: &ApiKind) -> Value {
    if let Value::Object(fields) = &mut object {
        fields.entry("apiVersion").or_insert_with(|| kind.api_version.into());
        fields.entry("kind").or_insert_with(|| kind.kind.into());
    }
    object
}
