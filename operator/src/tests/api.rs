//! An API server made of a closure, for tests.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::{Method, Request, Response};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tower::service_fn;

/// One request, as it would go over the wire.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) content_type: String,
    pub(crate) body: Value,
}

impl Asked {
    /// `PATCH /api/v1/…`.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// What it says of a status, as a merge or in place of all.
    pub(crate) fn status(&self) -> &Value {
        let last = self.body.as_array().and_then(|operations| operations.last());
        last.map_or(&self.body["status"], |operation| &operation["value"])
    }
}

/// What the server does.
pub(crate) enum Reply {
    /// Answers with this status and body.
    Json(u16, Value),
    /// Answers with these lines, each so long after the one before, and then says nothing more.
    Lines(Vec<(Duration, Value)>),
    /// Answers so much later.
    Late(Duration, Box<Self>),
    /// Never answers.
    Silence,
}

impl Reply {
    /// A failure as the API server words it.
    pub(crate) fn failure(code: u16, reason: &str, message: &str) -> Self {
        Self::detailed_failure(code, reason, message, &Value::Null)
    }

    /// The same with `details`.
    pub(crate) fn detailed_failure(code: u16, reason: &str, message: &str, details: &Value) -> Self {
        Self::Json(
            code,
            json!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "message": message, "reason": reason, "details": details, "code": code,
            }),
        )
    }
}

/// One object with optimistic locking, as the API server keeps it: every write counts its version up.
#[derive(Clone, Default)]
pub(crate) struct OneObject(Arc<Mutex<Option<Value>>>);

impl OneObject {
    pub(crate) fn of(object: Value) -> Self {
        Self(Arc::new(Mutex::new(Some(object))))
    }

    pub(crate) fn get(&self) -> Option<Value> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn set(&self, object: Option<Value>) {
        *self.0.lock().unwrap() = object;
    }

    pub(crate) fn answer(&self, asked: &Asked) -> Reply {
        let mut stored = self.0.lock().unwrap();
        let version =
            |object: &Value| object["metadata"]["resourceVersion"].as_str().unwrap_or("0").to_owned();
        match (&asked.method, stored.as_ref()) {
            (&Method::GET | &Method::PUT, None) => Reply::failure(404, "NotFound", "it is not found"),
            (&Method::GET, Some(object)) => Reply::Json(200, object.clone()),
            (&Method::PUT, Some(object)) if version(object) != version(&asked.body) => {
                Reply::failure(409, "Conflict", "the object has been modified")
            }
            (&Method::POST, Some(_)) => Reply::failure(409, "AlreadyExists", "already exists"),
            (_, standing) => {
                let next: u32 = standing.map_or(0, |object| version(object).parse().unwrap()) + 1;
                let mut object = asked.body.clone();
                object["metadata"]["resourceVersion"] = next.to_string().into();
                *stored = Some(object.clone());
                Reply::Json(200, object)
            }
        }
    }
}

/// The requests that were made, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Asked>>>);

impl Log {
    pub(crate) fn all(&self) -> Vec<Asked> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.all().iter().map(Asked::line).collect()
    }
}

/// A client whose server is `answer`.
pub(crate) fn client(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> (Client, Log) {
    let log = Log::default();
    let answer = Arc::new(answer);
    let logged = log.clone();
    let service = service_fn(move |request: Request<Body>| {
        let (answer, log) = (Arc::clone(&answer), logged.clone());
        async move {
            let (parts, body) = request.into_parts();
            let bytes = body.collect_bytes().await.unwrap();
            let header = parts.headers.get(http::header::CONTENT_TYPE);
            let asked = Asked {
                method: parts.method,
                path: parts.uri.path().to_owned(),
                query: parts.uri.query().unwrap_or_default().to_owned(),
                content_type: header.map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default(),
                body: if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() },
            };
            log.0.lock().unwrap().push(asked.clone());
            let mut reply = answer(&asked);
            let (code, body) = loop {
                match reply {
                    Reply::Json(code, body) => break (code, whole(&body)),
                    Reply::Lines(lines) => break (200, line_by_line(lines)),
                    Reply::Late(wait, then) => {
                        tokio::time::sleep(wait).await;
                        reply = *then;
                    }
                    Reply::Silence => std::future::pending().await,
                }
            };
            Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap())
        }
    });
    (Client::new(service, "default"), log)
}

fn whole(body: &Value) -> UnsyncBoxBody<Bytes, Infallible> {
    Full::new(Bytes::from(serde_json::to_vec(body).unwrap())).boxed_unsync()
}

fn line_by_line(lines: Vec<(Duration, Value)>) -> UnsyncBoxBody<Bytes, Infallible> {
    let said = stream::iter(lines).then(|(wait, line)| async move {
        tokio::time::sleep(wait).await;
        // The type comes first, as the API server writes it.
        let (what, object) = (&line["type"], &line["object"]);
        Ok(Frame::data(Bytes::from(format!("{{\"type\":{what},\"object\":{object}}}\n"))))
    });
    StreamBody::new(said.chain(stream::pending())).boxed_unsync()
}
