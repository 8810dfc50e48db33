//! Refusals, as the API server words them.

use serde_json::{Value, json};

use crate::objects::Key;

/// A refused request.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The HTTP status.
    pub code: u16,
    /// The body: a `Status`.
    pub status: Value,
    /// Seconds after which the server would like to be asked again, as a header.
    pub retry_after: Option<u32>,
}

impl Failure {
    /// A refusal with this code, reason and message.
    pub fn new(code: u16, reason: &str, message: impl Into<String>) -> Self {
        let message: String = message.into();
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": message, "reason": reason, "code": code,
        });
        Self { code, status, retry_after: None }
    }

    /// With something to read for programs.
    pub fn with_details(mut self, details: Value) -> Self {
        self.status["details"] = details;
        self
    }

    /// What it says.
    pub fn message(&self) -> &str {
        self.status["message"].as_str().unwrap_or_default()
    }

    /// `pods "a" not found`.
    pub(crate) fn not_found(key: &Key) -> Self {
        Self::new(404, "NotFound", format!("{} \"{}\" not found", key.kind.resource(), key.name))
    }

    pub(crate) fn exists(key: &Key) -> Self {
        Self::new(409, "AlreadyExists", format!("{} \"{}\" already exists", key.kind.resource(), key.name))
    }

    /// The object is not the one, or not as it was, when the request was decided on.
    pub(crate) fn conflict(key: &Key, why: &str) -> Self {
        let resource = key.kind.resource();
        Self::new(
            409,
            "Conflict",
            format!("Operation cannot be fulfilled on {resource} \"{}\": {why}", key.name),
        )
    }

    pub(crate) fn stale(key: &Key) -> Self {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(key, why)
    }

    pub(crate) fn forbidden(key: &Key, why: &str) -> Self {
        Self::new(403, "Forbidden", format!("{} \"{}\" is forbidden: {why}", key.kind.resource(), key.name))
    }

    pub(crate) fn invalid(key: &Key, why: &str) -> Self {
        let kind = key.kind.name();
        Self::new(422, "Invalid", format!("{kind} \"{}\" is invalid: {why}", key.name))
    }

    pub(crate) fn bad_request(why: &str) -> Self {
        Self::new(400, "BadRequest", why)
    }

    /// Versions before this one have been forgotten.
    pub(crate) fn expired() -> Self {
        Self::new(410, "Expired", "too old resource version")
    }

    /// A failure that is injected: what the API server, or something before it, answers with `code`.
    pub fn injected(code: u16, key: &Key) -> Self {
        match code {
            403 => Self::forbidden(key, "User \"quotient\" cannot do this at the moment"),
            404 => Self::not_found(key),
            409 => Self::stale(key),
            422 => Self::invalid(key, "spec: Invalid value: injected"),
            429 => Self::new(429, "TooManyRequests", "Too many requests, please try again later."),
            503 => {
                Self::new(503, "ServiceUnavailable", "the server is currently unable to handle the request")
            }
            504 => Self::new(
                504,
                "Timeout",
                "Timeout: request did not complete within requested timeout - injected",
            ),
            code => Self::new(code, "InternalError", "Internal error occurred: injected"),
        }
    }
}
