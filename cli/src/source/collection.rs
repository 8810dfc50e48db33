//! The objects of one kind: their lists, read page by page, and the few writes that a command makes.

use std::convert::identity;

use kube::Client;
use kube::api::{DeleteParams, GetParams, ListParams, Patch, PatchParams, PostParams};
use kube::core::{Request, request};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use super::page::Page;
use crate::exit::ClusterError;
use crate::objects::ApiKind;

/// The most objects of one page of a list.
const PAGE: u32 = 500;

/// What became of a list.
pub(super) enum Listed<T> {
    Objects(Vec<T>),
    Forbidden,
    /// The API server knows no such kind.
    NotServed,
}

/// The objects of one kind, in one namespace or in all. Errors name both.
#[derive(Clone, Copy)]
pub(crate) struct Collection<'a> {
    client: &'a Client,
    kind: &'a ApiKind,
    namespace: Option<&'a str>,
    /// A label selector; empty for all.
    labels: &'a str,
    /// A field selector; empty for all.
    fields: &'a str,
}

impl<'a> Collection<'a> {
    pub(super) const fn new(client: &'a Client, kind: &'a ApiKind, namespace: Option<&'a str>) -> Self {
        Self { client, kind, namespace, labels: "", fields: "" }
    }

    /// Lists only those with these labels; all if the selector is empty.
    pub(crate) const fn labeled(self, labels: &'a str) -> Self {
        Self { labels, ..self }
    }

    /// Lists only those with these values of fields.
    pub(crate) const fn with_fields(self, fields: &'a str) -> Self {
        Self { fields, ..self }
    }

    /// All of them.
    pub(crate) async fn list(self) -> Result<Vec<Value>, ClusterError> {
        match self.read(identity).await {
            Err(error) if error.is_not_found() && self.kind.is_ours() => Err(ClusterError::NotInstalled),
            read => read,
        }
    }

    /// The same; none if the user may not list them. Of an optional kind that is not served there are none, and of Quotient's.
    pub(crate) async fn list_if_allowed(self) -> Result<Option<Vec<Value>>, ClusterError> {
        Ok(match self.answer(identity).await? {
            Listed::Objects(found) => Some(found),
            Listed::NotServed if self.kind.is_optional || self.kind.is_ours() => Some(Vec::new()),
            Listed::NotServed | Listed::Forbidden => None,
        })
    }

    /// What becomes of a list whose objects `read` makes of their JSON.
    pub(super) async fn answer<T: Send + 'static>(
        self,
        read: fn(Value) -> T,
    ) -> Result<Listed<T>, ClusterError> {
        match self.read(read).await {
            Ok(found) => Ok(Listed::Objects(found)),
            Err(error) if error.is_forbidden() => Ok(Listed::Forbidden),
            Err(error) if error.is_not_found() => Ok(Listed::NotServed),
            Err(error) => Err(error),
        }
    }

    async fn read<T: Send + 'static>(self, read: fn(Value) -> T) -> Result<Vec<T>, ClusterError> {
        let selectors = [self.kind.field_selector, self.fields];
        let fields = selectors.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",");
        let unreadable = |error| self.failed("list", kube::Error::SerdeError(error));
        let mut parameters = ListParams::default().limit(PAGE);
        if !fields.is_empty() {
            parameters = parameters.fields(&fields);
        }
        if !self.labels.is_empty() {
            parameters = parameters.labels(self.labels);
        }
        let kind = *self.kind;
        let mut pages = Vec::new();
        loop {
            let page: Page = self.ask("list", self.request().list(&parameters)).await?;
            let next = page.next().to_owned();
            // The next page is on its way while this one is read.
            pages.push(tokio::task::spawn_blocking(move || {
                let objects = page.objects(kind.kind)?.into_iter();
                Ok(objects.map(|object| read(kind.complete(object))).collect::<Vec<T>>())
            }));
            if next.is_empty() {
                break;
            }
            parameters = parameters.continue_token(&next);
        }
        let mut objects = Vec::new();
        for page in pages {
            let page = page.await.map_err(|error| self.failed("list", kube::Error::Service(error.into())))?;
            objects.extend(page.map_err(unreadable)?);
        }
        Ok(objects)
    }

    /// One object; none if it does not exist.
    pub(crate) async fn get(self, name: &str) -> Result<Option<Value>, ClusterError> {
        match self.ask("get", self.request().get(name, &GetParams::default())).await {
            Ok(object) => Ok(Some(self.kind.complete(object))),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Creates one object.
    pub(crate) async fn create(self, object: &Value) -> Result<Value, ClusterError> {
        let body = serde_json::to_vec(object).unwrap_or_default();
        self.ask("create", self.request().create(&PostParams::default(), body)).await
    }

    /// Changes one object.
    pub(crate) async fn patch(self, name: &str, patch: &Patch<&Value>) -> Result<Value, ClusterError> {
        let parameters =
            PatchParams { field_manager: Some("kubectl-quotient".to_owned()), ..PatchParams::default() };
        self.ask("patch", self.request().patch(name, &parameters, patch)).await
    }

    /// Deletes one object, unless it is gone already; what it owns follows by garbage collection.
    pub(crate) async fn delete(self, name: &str) -> Result<(), ClusterError> {
        let request = self.request().delete(name, &DeleteParams::background());
        match self.ask::<IgnoredAny>("delete", request).await {
            Err(error) if !error.is_not_found() => Err(error),
            _ => Ok(()),
        }
    }

    fn request(&self) -> Request {
        Request::new(self.kind.path(self.namespace))
    }

    async fn ask<A: DeserializeOwned>(
        &self,
        verb: &'static str,
        request: Result<http::Request<Vec<u8>>, request::Error>,
    ) -> Result<A, ClusterError> {
        let request = request.map_err(|error| self.failed(verb, kube::Error::BuildRequest(error)))?;
        self.client.request(request).await.map_err(|error| self.failed(verb, error))
    }

    fn failed(&self, verb: &str, error: kube::Error) -> ClusterError {
        ClusterError::of(error, verb, &self.kind.resource(), self.namespace)
    }
}
