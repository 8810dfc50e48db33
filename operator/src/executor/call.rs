//! One operation, from the first request to what its answer tells the view.

use http::Method;
use k8s_openapi::api::policy::v1::Eviction;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    DeleteOptions, ObjectMeta, OwnerReference, Preconditions,
};
use kube::api::{DeleteParams, GetParams, Patch, PatchParams, PostParams};
use kube::core::{PartialObjectMeta, Request as Path};
use quotient_crds::names::FIELD_MANAGER;
use quotient_index::Index;
use serde_json::{Value, json};
use tokio::time::Instant;
use tracing::warn;

use super::{Life, Object, Operation, Outcome, Purpose, Request};
use crate::answer::{Answer, Failure, ask, result, said};
use crate::context::Context;

/// Carries out one operation at this time. No request is sent if this replica may not write any more.
pub(super) async fn call(context: Context, at: Instant, operation: Operation) -> Outcome {
    tokio::select! {
        biased;
        () = context.stop.cancelled() => return Outcome::Skipped,
        () = tokio::time::sleep_until(at) => {}
    }
    let Operation { purpose, object, life, request } = operation;
    Call { context, purpose, object }.carry_out(life, request).await
}

struct Call {
    context: Context,
    purpose: Purpose,
    object: Object,
}

impl Call {
    async fn carry_out(&self, mut life: Option<Life>, mut request: Request) -> Outcome {
        if !self.context.may_write() {
            return Outcome::Skipped;
        }
        if let Request::Read(read, prepare) = request {
            let found = match self.get(&read).await {
                Ok(found) => found,
                Err(failure) => return self.failed(&Method::GET, life.as_ref(), failure).await,
            };
            match prepare(&found) {
                Ok((found, prepared)) => (life, request) = (Some(found), prepared),
                Err(outcome) => return outcome,
            }
            if !self.context.may_write() {
                return Outcome::Skipped;
            }
        }
        if let Request::Impossible(why) = request {
            self.context.view.wake();
            return Outcome::refused(409, &why);
        }
        let built = match self.build(life.as_ref(), request) {
            Ok(built) => built,
            Err(why) => return Outcome::refused(400, &format!("build the request: {why}")),
        };
        let (client, method) = (&self.context.client, built.method().clone());
        let answer = ask(self.purpose.timeout(), client.request_text(built)).await;
        self.context.metrics.wrote(self.purpose.metric(), result(&answer));
        match answer {
            Ok(text) => self.kept(&method, life.as_ref(), &text),
            Err(failure) => self.failed(&method, life.as_ref(), failure).await,
        }
    }

    /// The request as it goes over the wire, with its precondition.
    fn build(&self, life: Option<&Life>, request: Request) -> Result<http::Request<Vec<u8>>, String> {
        let path = Path::new(self.object.kind.path(&self.object.namespace));
        let name = &*self.object.name;
        let manager = || Some(FIELD_MANAGER.to_owned());
        let patching = PatchParams { field_manager: manager(), ..PatchParams::default() };
        let built = match request {
            Request::Create(body) => {
                let posting = PostParams { field_manager: manager(), ..PostParams::default() };
                path.create(&posting, bytes(&body)?)
            }
            Request::Merge(body) => {
                let merge = Patch::Merge(of_life(body, life));
                // Of an object whose answer is of no use only the metadata are asked for.
                match self.purpose {
                    Purpose::Requeue(_) => path.patch_metadata(name, &patching, &merge),
                    _ => path.patch(name, &patching, &merge),
                }
            }
            Request::MergeStatus(status) => {
                path.patch_subresource("status", name, &patching, &Patch::Merge(json!({"status": status})))
            }
            Request::ReplaceStatus(status) => {
                let replacement = json!({"op": "add", "path": "/status", "value": status});
                let operations = json_patch(tests(life).chain([replacement]))?;
                path.patch_subresource("status", name, &patching, &operations)
            }
            Request::Patch(operations) => {
                path.patch(name, &patching, &json_patch(tests(life).chain(operations))?)
            }
            Request::Delete(propagation_policy) => {
                let preconditions = life.map(|life| kube::api::Preconditions {
                    uid: Some(life.uid.to_string()),
                    resource_version: life.resource_version.clone(),
                });
                path.delete(
                    name,
                    &DeleteParams { propagation_policy, preconditions, ..DeleteParams::default() },
                )
            }
            Request::Evict(grace_seconds) => {
                let body = eviction(&self.object, life, grace_seconds);
                path.create_subresource("eviction", name, &PostParams::default(), bytes(&body)?)
            }
            Request::Read(..) | Request::Impossible(_) => return Err("no request is left to send".to_owned()),
        };
        built.map_err(|error| error.to_string())
    }

    async fn get(&self, object: &Object) -> Answer<String> {
        let path = Path::new(object.kind.path(&object.namespace));
        let request = path.get(&object.name, &GetParams::default()).map_err(kube::Error::BuildRequest);
        let client = &self.context.client;
        ask(self.purpose.timeout(), async { client.request_text(request?).await }).await
    }

    /// What an answer means that came: the view knows of it if it can be read.
    fn kept(&self, method: &Method, life: Option<&Life>, answer: &str) -> Outcome {
        self.keep(method, life, answer).map_or_else(Outcome::unreadable, |()| Outcome::Done)
    }

    /// Has the view know what was answered. An error says why the answer cannot be read.
    fn keep(&self, method: &Method, life: Option<&Life>, answer: &str) -> Result<(), String> {
        let Object { namespace, .. } = &self.object;
        match &self.purpose {
            // The watch shows what becomes of them. A size is written only once the watch has shown every mark.
            Purpose::Requeue(_) | Purpose::Eviction { .. } | Purpose::Mark { .. } | Purpose::Expiry(_) => {}
            Purpose::Job { .. } if *method == Method::DELETE => {}
            // An object with a deletion time waits for a finalizer; the watch tells when it is gone.
            _ if *method == Method::DELETE => self.forget(life.filter(|_| !is_terminating(answer))),
            // Only of objects that are kept it is known here whether they were deleted since.
            Purpose::Size(scaling) => {
                return self.show(answer, |index| index.holds_scale_target(namespace, &scaling.scale_target));
            }
            Purpose::Gate(pod) => return self.show(answer, |index| index.holds_pod(pod)),
            // No decision depends on a status. What was edited since it was composed is in the answer, too. An object that cannot
            // be decoded gets one as well: it says so.
            Purpose::Status { .. } | Purpose::JobStatus { .. } => drop(self.show(answer, |_| true)),
            _ => return self.show(answer, |_| true),
        }
        Ok(())
    }

    /// Has the view show the object that an answer has, if `is_held` says so. An error says why it cannot be read.
    fn show(&self, answer: &str, is_held: impl FnOnce(&Index) -> bool) -> Result<(), String> {
        let mut read = Ok(());
        self.context.view.update(|index| {
            let mut changed = false;
            if is_held(index) {
                (changed, read) = self.object.kind.keep(index, answer);
            }
            changed
        });
        read
    }

    /// Has the view forget this life of the object.
    fn forget(&self, life: Option<&Life>) {
        let Object { kind, namespace, name } = &self.object;
        if let Some(life) = life {
            self.context.view.update(|index| kind.forget(index, namespace, name, &life.uid));
        }
    }

    /// What it means that a call has no result.
    async fn failed(&self, method: &Method, life: Option<&Life>, failure: Failure) -> Outcome {
        let status = match failure {
            Failure::Refused(status) => status,
            Failure::Unknown(lost) => return Outcome::Unknown(lost),
        };
        let is_gone = matches!(status.code, 404 | 409);
        match (&self.purpose, method, status.code) {
            // Something is not as it was seen: the next cycle decides with what is there now.
            (Purpose::Quota { .. }, _, 404 | 409 | 422) => {
                self.read_again(life).await;
                Outcome::Refused(status)
            }
            // Another uid is refused as invalid.
            (Purpose::Gate(_) | Purpose::Requeue(_) | Purpose::Mark { .. }, _, 404 | 409 | 422)
            | (Purpose::Size(_), _, 404 | 409)
            | (Purpose::Job { .. }, &Method::GET, 404) => Outcome::Stale(said(&status)),
            (Purpose::Job { .. }, &Method::POST, 409) => self.adopt(life).await,
            (Purpose::Job { .. }, &Method::PATCH, 404) => {
                self.forget(life);
                Outcome::Done
            }
            // What is gone already, or has a successor, needs no deletion.
            (Purpose::Job { .. } | Purpose::Expiry(_), &Method::DELETE, _) if is_gone => Outcome::Done,
            (Purpose::Status { .. } | Purpose::JobStatus { .. }, _, 404) => Outcome::Done,
            _ => Outcome::Refused(status),
        }
    }

    /// Brings what the view has of the object up to date.
    async fn read_again(&self, life: Option<&Life>) {
        let kept = match self.get(&self.object).await {
            Ok(found) => self.show(&found, |_| true),
            Err(Failure::Refused(status)) if status.code == 404 => {
                self.forget(life);
                Ok(())
            }
            Err(failure) => Err(failure.to_string()),
        };
        if let Err(error) = kept {
            let Object { namespace, name, .. } = &self.object;
            warn!(%namespace, %name, error, "cannot read the object again");
        }
    }

    /// A Job of this name exists: the one whose answer was lost, which has the owner with the uid of `life`, or another one.
    async fn adopt(&self, life: Option<&Life>) -> Outcome {
        let name = &self.object.name;
        let found = match self.get(&self.object).await {
            Ok(found) => found,
            Err(Failure::Refused(status)) if status.code == 404 => {
                return Outcome::Stale(format!("the Job {name} was there and is gone"));
            }
            Err(failure) => return failure.into(),
        };
        let metadata = match serde_json::from_str::<PartialObjectMeta>(&found) {
            Ok(read) => read.metadata,
            Err(error) => return Outcome::unreadable(error.to_string()),
        };
        let is_ours = |owner: &OwnerReference| {
            owner.controller == Some(true) && life.is_some_and(|life| *life.uid == *owner.uid)
        };
        if metadata.owner_references.iter().flatten().any(is_ours) {
            return self.kept(&Method::POST, None, &found);
        }
        if metadata.deletion_timestamp.is_some() {
            return Outcome::Stale(format!("the Job {name} of an earlier QueueJob is still being deleted"));
        }
        Outcome::refused(
            409,
            &format!(
                "a Job {name} is there already and is not of this QueueJob: delete it, or give the QueueJob another name"
            ),
        )
    }
}

fn is_terminating(answer: &str) -> bool {
    serde_json::from_str::<PartialObjectMeta>(answer)
        .is_ok_and(|object| object.metadata.deletion_timestamp.is_some())
}

fn bytes(body: &impl serde::Serialize) -> Result<Vec<u8>, String> {
    serde_json::to_vec(body).map_err(|error| error.to_string())
}

/// The operations of a JSON patch that fail on another life, and on another version of it if one is named.
fn tests(life: Option<&Life>) -> impl Iterator<Item = Value> {
    let test = |field: &str, value: &str| json!({"op": "test", "path": format!("/metadata/{field}"), "value": value});
    let version = life.and_then(|life| life.resource_version.as_deref());
    let uid = life.map(|life| test("uid", &life.uid));
    uid.into_iter().chain(version.map(|version| test("resourceVersion", version)))
}

fn json_patch(operations: impl Iterator<Item = Value>) -> Result<Patch<()>, String> {
    serde_json::from_value(operations.collect()).map(Patch::Json).map_err(|error| error.to_string())
}

/// A merge patch that lands on this life, and on this version of it if one is named.
fn of_life(mut body: Value, life: Option<&Life>) -> Value {
    let Some((life, Value::Object(fields))) = life.zip(Some(&mut body)) else { return body };
    let metadata = fields.entry("metadata").or_insert_with(|| json!({}));
    if let Value::Object(metadata) = metadata {
        metadata.insert("uid".to_owned(), (*life.uid).into());
        metadata.extend(
            life.resource_version.as_deref().map(|version| ("resourceVersion".to_owned(), version.into())),
        );
    }
    body
}

/// The eviction of this life of a pod: a successor under its name is not hit. The pod gets `grace_seconds` to end, or its
/// own grace.
///
/// Built by hand and posted to the subresource because kube's `Api::evict` spells `deleteOptions` wrong, and the API server
/// then drops the precondition without a word.
fn eviction(pod: &Object, life: Option<&Life>, grace_seconds: Option<u32>) -> Eviction {
    Eviction {
        metadata: ObjectMeta {
            name: Some(pod.name.to_string()),
            namespace: Some(pod.namespace.as_str().to_owned()),
            ..ObjectMeta::default()
        },
        delete_options: Some(DeleteOptions {
            grace_period_seconds: grace_seconds.map(i64::from),
            preconditions: life
                .map(|life| Preconditions { uid: Some(life.uid.to_string()), ..Preconditions::default() }),
            ..DeleteOptions::default()
        }),
    }
}
