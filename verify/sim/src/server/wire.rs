//! Requests and answers as kube's client sends and reads them.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::request::Parts;
use http::{Method, Response};
use serde_json::{Value, json};

use super::{Body, Call, Failure, Query, Reply};
use crate::objects::{Key, Kind, object};
use crate::trace::Verb;

/// Reads a request.
pub(crate) fn parse(parts: &Parts, body: &Bytes) -> Result<Call, Failure> {
    let path = parts.uri.path();
    let unknown = || Failure::new(404, "NotFound", format!("the server could not find {path}"));
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let (group, rest) = match segments.as_slice() {
        ["api", "v1", rest @ ..] => ("", rest),
        ["apis", group, _, rest @ ..] => (*group, rest),
        _ => return Err(unknown()),
    };
    let served = |plural: &str| Kind::served(group, plural);
    let (namespace, rest) = match rest {
        ["namespaces", namespace, rest @ ..]
            if rest.first().is_some_and(|plural| served(plural).is_some()) =>
        {
            (*namespace, rest)
        }
        rest => ("", rest),
    };
    let (plural, name, subresource) = match rest {
        [plural] => (*plural, "", ""),
        [plural, name] => (*plural, *name, ""),
        [plural, name, subresource] => (*plural, *name, *subresource),
        _ => return Err(unknown()),
    };
    let kind = served(plural).ok_or_else(unknown)?;
    let known = ["", "status", "eviction"].into_iter().find(|known| *known == subresource);
    let subresource = known.ok_or_else(unknown)?;
    let (query, watch) = query(parts)?;
    let verb = match (&parts.method, name) {
        (&Method::GET, "") if watch => Verb::Watch,
        (&Method::GET, "") => Verb::List,
        (&Method::GET, _) => Verb::Get,
        (&Method::POST, _) => Verb::Create,
        (&Method::PUT, _) => Verb::Update,
        (&Method::PATCH, _) => Verb::Patch,
        (&Method::DELETE, name) if !name.is_empty() => Verb::Delete,
        _ => return Err(Failure::new(405, "MethodNotAllowed", format!("{} {path}", parts.method))),
    };
    let body = self::body(parts, body)?;
    let mut key = Key::new(kind, namespace, name);
    if let (Verb::Create, Body::Object(created), "") = (verb, &body, name) {
        key.name = object::name(created).into();
    }
    Ok(Call { verb, key, subresource, body, query })
}

fn query(parts: &Parts) -> Result<(Query, bool), Failure> {
    let mut query = Query::default();
    let mut watch = false;
    let accept = parts.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    query.only_metadata = accept.contains("as=PartialObjectMetadata");
    for (name, value) in form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()) {
        match &*name {
            "watch" => watch = &*value == "true" || &*value == "1",
            "limit" => query.limit = value.parse().ok(),
            "continue" => query.after = Some(value.into_owned()),
            // The newest is not older than any.
            "resourceVersion" => query.version = value.parse().ok().filter(|version| *version > 0),
            "timeoutSeconds" => query.seconds = value.parse().ok(),
            "allowWatchBookmarks" => query.bookmarks = &*value == "true",
            "fieldSelector" => {
                for term in value.split(',') {
                    let phase = term.strip_prefix("status.phase!=");
                    let unknown = || Failure::bad_request(&format!("the selector {term} is not simulated"));
                    query.phases_left_out.push(phase.ok_or_else(unknown)?.to_owned());
                }
            }
            "fieldManager" | "fieldValidation" | "pretty" => {}
            other => return Err(Failure::bad_request(&format!("the parameter {other} is not simulated"))),
        }
    }
    Ok((query, watch))
}

fn body(parts: &Parts, bytes: &Bytes) -> Result<Body, Failure> {
    if bytes.is_empty() {
        return Ok(Body::Nothing);
    }
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| Failure::bad_request(&error.to_string()))?;
    let value = Arc::new(value);
    let content = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match content {
        "application/json-patch+json" => Ok(Body::JsonPatch(value)),
        "application/merge-patch+json" => Ok(Body::MergePatch(value)),
        "application/json" | "" => Ok(Body::Object(value)),
        other => Err(Failure::new(415, "UnsupportedMediaType", format!("{other} is not simulated"))),
    }
}

/// The answer to `call` as it goes over the wire.
pub(crate) fn respond(only_metadata: bool, reply: Reply) -> Response<Bytes> {
    let (code, bytes, retry_after) = match reply {
        Ok(answer)
            if only_metadata && answer.body["metadata"].is_object() && answer.body["kind"] != "Status" =>
        {
            let partial = json!({
                "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
                "metadata": answer.body["metadata"],
            });
            (answer.code, serde_json::to_vec(&partial), None)
        }
        Ok(answer) => (answer.code, serde_json::to_vec(&*answer.body), None),
        Err(failure) => (failure.code, serde_json::to_vec(&failure.status), failure.retry_after),
    };
    let mut response = Response::builder().status(code).header(CONTENT_TYPE, "application/json");
    if let Some(seconds) = retry_after {
        response = response.header("Retry-After", seconds);
    }
    response.body(bytes.unwrap_or_default().into()).expect("the parts of a response are sound")
}
