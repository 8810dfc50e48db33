//! What a rule sees of a request.

use std::fmt;

use http::{Method, Request};

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// `GET`, `POST`, ….
    pub method: Method,
    /// The path, without the query.
    pub path: String,
    /// Whether it is a watch.
    pub is_watch: bool,
}

impl Call {
    pub(super) fn of<B>(request: &Request<B>) -> Self {
        let query = request.uri().query().unwrap_or_default();
        Self {
            method: request.method().clone(),
            path: request.uri().path().to_owned(),
            is_watch: query.split('&').any(|pair| matches!(pair, "watch=true" | "watch=1")),
        }
    }

    /// Whether it is to change something.
    pub fn is_write(&self) -> bool {
        [Method::POST, Method::PUT, Method::PATCH, Method::DELETE].contains(&self.method)
    }

    /// Whether a part of its path is this word, such as `resourcequotas`, `eviction`, `status` or a namespace.
    pub fn names(&self, word: &str) -> bool {
        self.path.split('/').any(|part| part == word)
    }
}

impl fmt::Display for Call {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.method, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: &str, uri: &str) -> Call {
        Call::of(&Request::builder().method(method).uri(uri).body(()).unwrap())
    }

    #[test]
    fn a_request_is_known_by_its_parts() {
        let evict = call("POST", "/api/v1/namespaces/q1/pods/web-0/eviction?fieldManager=x");
        assert!(evict.is_write() && !evict.is_watch);
        assert!(evict.names("eviction") && evict.names("q1") && !evict.names("web"));
        assert_eq!(evict.to_string(), "POST /api/v1/namespaces/q1/pods/web-0/eviction");
        let watch = call("GET", "/api/v1/pods?watch=true&timeoutSeconds=290");
        assert!(watch.is_watch && !watch.is_write());
    }
}
