//! The cluster: lists of objects, read side by side, and the few writes that a command makes.

use std::collections::BTreeSet;

use futures::StreamExt as _;
use futures::stream;
use kube::Client;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use quotient_engine::time::Timestamp;
use serde_json::Value;

use super::{ApiKind, ClusterError, ConnectionArgs, LEASES, Scope, kind};
use crate::manifests::workload_kinds;
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

    /// The client, for calls with a type.
    pub(crate) const fn client(&self) -> &Client {
        &self.client
    }

    /// The objects of `scope`. A kind that the user may not list is noted as missing.
    pub(crate) async fn snapshot(&self, scope: &Scope) -> Result<Snapshot, ClusterError> {
        let progress = Progress::begin("reading the cluster");
        let mut snapshot = Snapshot::observed(now(), &format!("cluster {}", self.name));
        let lists = scope.kinds.iter().map(|kind| async move {
            (*kind, self.list(kind, scope.namespace.as_deref(), &Selection::default()).await)
        });
        let mut lists = stream::iter(lists).buffer_unordered(AT_ONCE);
        let mut read = Vec::new();
        while let Some((kind, list)) = lists.next().await {
            progress.tell(&format!(
                "reading {} of {} kinds",
                read.len().saturating_add(1),
                scope.kinds.len()
            ));
            match list {
                Ok(objects) => read.push((kind.resource(), objects)),
                Err(error) if error.is_not_found() && kind.is_optional => {}
                Err(error) if error.is_forbidden() && kind.is_optional => {}
                Err(error) if error.is_forbidden() || error.is_not_found() => {
                    let namespace = scope.namespace.clone().filter(|_| kind.is_namespaced);
                    snapshot.missing.push(Missing { resource: kind.resource(), namespace });
                }
                Err(error) => return Err(error),
            }
        }
        // The order of arrival must not matter.
        read.sort_by(|(one, _), (other, _)| one.cmp(other));
        snapshot.missing.sort_by(|one, other| one.resource.cmp(&other.resource));
        for (_, objects) in read {
            snapshot.add(objects);
        }
        drop(progress);
        snapshot.is_partial = !scope.is_everything();
        self.add_operator(&mut snapshot, scope).await?;
        Ok(snapshot)
    }

    /// The Deployment of the operator, unless all are read anyway, and the Leases of its namespace. Both only inform.
    async fn add_operator(&self, snapshot: &mut Snapshot, scope: &Scope) -> Result<(), ClusterError> {
        let has_deployments =
            scope.namespace.is_none() && scope.kinds.iter().any(|kind| kind.plural == DEPLOYMENTS);
        if !has_deployments {
            let selection = Selection { labels: "app.kubernetes.io/part-of=quotient", fields: "" };
            self.add_if_allowed(snapshot, kind(DEPLOYMENTS), None, &selection).await?;
        }
        let of_operator = snapshot.entries.iter().map(|entry| &entry.value).filter(|value| {
            value.get("kind").and_then(Value::as_str) == Some("Deployment")
                && value.pointer(PART_OF).and_then(Value::as_str) == Some("quotient")
        });
        let namespaces: BTreeSet<String> = of_operator
            .filter_map(|value| value.pointer("/metadata/namespace").and_then(Value::as_str))
            .map(str::to_owned)
            .collect();
        if scope.is_everything() {
            self.add_workloads(snapshot).await?;
        }
        for namespace in namespaces {
            self.add_if_allowed(snapshot, &LEASES, Some(&namespace), &Selection::default()).await?;
        }
        Ok(())
    }

    /// The objects of the kinds that the operator's settings name. Where the API does not serve one, there are none.
    async fn add_workloads(&self, snapshot: &mut Snapshot) -> Result<(), ClusterError> {
        let deployments = snapshot.entries.iter().map(|entry| &entry.value).filter(|value| {
            value.get("kind").and_then(Value::as_str) == Some("Deployment")
                && value.pointer(PART_OF).and_then(Value::as_str) == Some("quotient")
        });
        let kinds: Vec<ApiKind> =
            deployments.flat_map(workload_kinds).map(|kind| ApiKind::configured(&kind)).collect();
        for kind in &kinds {
            match self.list(kind, None, &Selection::default()).await {
                Ok(found) => snapshot.add(found),
                Err(error) if error.is_not_found() => {}
                Err(error) if error.is_forbidden() => {
                    snapshot.missing.push(Missing { resource: kind.resource(), namespace: None });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn add_if_allowed(
        &self,
        snapshot: &mut Snapshot,
        kind: &ApiKind,
        namespace: Option<&str>,
        selection: &Selection<'_>,
    ) -> Result<(), ClusterError> {
        match self.list(kind, namespace, selection).await {
            Ok(found) => snapshot.add(found),
            Err(error) if error.is_forbidden() => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// All objects of one kind, page by page.
    pub(crate) async fn list(
        &self,
        kind: &ApiKind,
        namespace: Option<&str>,
        selection: &Selection<'_>,
    ) -> Result<Vec<Value>, ClusterError> {
        let resource = kind.resource();
        let failed = |error| ClusterError::of(error, "list", &resource, namespace);
        let selectors = [kind.field_selector, selection.fields];
        let selector =
            selectors.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(",");
        let mut objects = Vec::new();
        let mut parameters = ListParams::default().limit(PAGE);
        if !selector.is_empty() {
            parameters = parameters.fields(&selector);
        }
        if !selection.labels.is_empty() {
            parameters = parameters.labels(selection.labels);
        }
        loop {
            let request = kube::core::Request::new(kind.path(namespace)).list(&parameters);
            let request = request.map_err(kube::Error::BuildRequest).map_err(failed)?;
            let mut page: Value = self.client.request(request).await.map_err(failed)?;
            let token =
                page.pointer("/metadata/continue").and_then(Value::as_str).unwrap_or_default().to_owned();
            if let Some(Value::Array(items)) = page.get_mut("items").map(Value::take) {
                objects.extend(items.into_iter().map(|item| with_kind(item, kind)));
            }
            if token.is_empty() {
                return Ok(objects);
            }
            parameters = parameters.continue_token(&token);
        }
    }

    /// One object; none if it does not exist.
    pub(crate) async fn get(
        &self,
        kind: &ApiKind,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<Value>, ClusterError> {
        let resource = kind.resource();
        let failed = |error| ClusterError::of(error, "get", &resource, namespace);
        let request =
            kube::core::Request::new(kind.path(namespace)).get(name, &kube::api::GetParams::default());
        let request = request.map_err(kube::Error::BuildRequest).map_err(failed)?;
        match self.client.request::<Value>(request).await {
            Ok(object) => Ok(Some(with_kind(object, kind))),
            Err(error) => match failed(error) {
                error if error.is_not_found() => Ok(None),
                error => Err(error),
            },
        }
    }

    /// Changes one object by a merge patch.
    pub(crate) async fn patch(
        &self,
        kind: &ApiKind,
        namespace: &str,
        name: &str,
        patch: &Value,
    ) -> Result<Value, ClusterError> {
        self.patch_by(kind, namespace, name, &Patch::Merge(patch)).await
    }

    /// Changes one object by a patch of this kind.
    pub(crate) async fn patch_by(
        &self,
        kind: &ApiKind,
        namespace: &str,
        name: &str,
        patch: &Patch<&Value>,
    ) -> Result<Value, ClusterError> {
        let resource = kind.resource();
        let failed = |error| ClusterError::of(error, "patch", &resource, Some(namespace));
        let parameters =
            PatchParams { field_manager: Some("kubectl-quotient".to_owned()), ..PatchParams::default() };
        let request = kube::core::Request::new(kind.path(Some(namespace)));
        let request = request.patch(name, &parameters, patch);
        let request = request.map_err(kube::Error::BuildRequest).map_err(failed)?;
        self.client.request(request).await.map_err(failed)
    }

    /// Deletes one object; what it owns follows by garbage collection.
    pub(crate) async fn delete(
        &self,
        kind: &ApiKind,
        namespace: &str,
        name: &str,
    ) -> Result<(), ClusterError> {
        let resource = kind.resource();
        let failed = |error| ClusterError::of(error, "delete", &resource, Some(namespace));
        let request =
            kube::core::Request::new(kind.path(Some(namespace))).delete(name, &DeleteParams::background());
        let request = request.map_err(kube::Error::BuildRequest).map_err(failed)?;
        self.client.request::<Value>(request).await.map(|_| ()).map_err(failed)
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
