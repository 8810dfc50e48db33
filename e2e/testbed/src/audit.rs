//! The audit log: what the API server noted about every request. The neutral stopwatch, and the judge of rights, of
//! the number of writes and of their order.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

/// One answered request.
///
/// Texts are empty where the request has none (no subresource, no namespace; no resource at all for `/readyz`).
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "Entry")]
pub struct AuditEvent {
    /// What was asked for: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// Path and query.
    pub uri: String,
    /// Who asked.
    pub user: String,
    /// By which program, as it calls itself. `kube-apiserver/…` is the API server itself, charging quotas.
    pub user_agent: String,
    /// API group, empty for the core group.
    pub group: String,
    /// Plural name of the resource.
    pub resource: String,
    /// `status`, `eviction`, `scale`, ….
    pub subresource: String,
    /// The object's namespace.
    pub namespace: String,
    /// The object's name; empty for a create whose name was in the body only.
    pub name: String,
    /// HTTP status of the answer; 0 if there was none.
    pub code: u16,
    /// What the answer says of a failure; empty otherwise.
    pub message: String,
    /// When the request came in, to the microsecond.
    pub received: Timestamp,
    /// When it was answered (a watch: when it ended), to the microsecond.
    pub answered: Timestamp,
    /// The request's body: of writes to quotas, limit ranges, config maps, evictions and `quotient.dev`.
    pub request: Option<Value>,
    /// The answer's body, of the same.
    pub response: Option<Value>,
    /// What authorization and admission noted.
    pub annotations: BTreeMap<String, String>,
}

impl AuditEvent {
    /// Whether the request was to change something (which it may have been refused). A dry run was not.
    pub fn is_write(&self) -> bool {
        matches!(self.verb.as_str(), "create" | "update" | "patch" | "delete" | "deletecollection")
            && !self.uri.contains("dryRun=All")
    }

    /// Whether the answer was a success (2xx).
    pub fn succeeded(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// Whether it is about this resource, such as `resourcequotas` or `pods/eviction`; `resourcequotas` is not about
    /// `resourcequotas/status`.
    pub fn is_about(&self, resource: &str) -> bool {
        resource.split_once('/').unwrap_or((resource, ""))
            == (self.resource.as_str(), self.subresource.as_str())
    }
}

/// The audit log of a test bed.
#[derive(Debug, Clone)]
pub struct AuditLog {
    path: PathBuf,
}

/// A place in the audit log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct AuditMark(u64);

impl AuditLog {
    /// The audit log in a file.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// The file: one JSON object per line.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The end of what is there now; see [`AuditLog::events_since`].
    ///
    /// A request is noted just before or after its client has the answer: leave some milliseconds between the two.
    pub fn mark(&self) -> anyhow::Result<AuditMark> {
        let text = std::fs::read(&self.path).with_context(|| self.reading())?;
        // The API server may be writing a line.
        let lines = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last.saturating_add(1));
        Ok(AuditMark(u64::try_from(lines).unwrap_or(u64::MAX)))
    }

    /// Everything so far, in the order of the answers.
    pub fn events(&self) -> anyhow::Result<Vec<AuditEvent>> {
        self.events_since(AuditMark::default())
    }

    /// Everything that was answered after the mark was made, in the order of the answers.
    pub fn events_since(&self, mark: AuditMark) -> anyhow::Result<Vec<AuditEvent>> {
        let mut text = Vec::new();
        File::open(&self.path)
            .and_then(|mut file| {
                file.seek(SeekFrom::Start(mark.0))?;
                file.read_to_end(&mut text)
            })
            .with_context(|| self.reading())?;
        parse(&text).with_context(|| self.reading())
    }

    fn reading(&self) -> String {
        format!("reading the audit log {}", self.path.display())
    }
}

/// Whole lines only: the API server may be writing the last one.
fn parse(text: &[u8]) -> Result<Vec<AuditEvent>, serde_json::Error> {
    let complete = text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    complete.map(serde_json::from_slice).collect()
}

/// An event as it is written: `audit.k8s.io/v1 Event`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    verb: String,
    #[serde(rename = "requestURI")]
    request_uri: String,
    user: User,
    #[serde(default)]
    user_agent: String,
    #[serde(default)]
    object_ref: Object,
    #[serde(default)]
    response_status: Status,
    request_received_timestamp: Timestamp,
    stage_timestamp: Timestamp,
    request_object: Option<Value>,
    response_object: Option<Value>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct User {
    #[serde(default)]
    username: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Object {
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
    api_group: String,
}

#[derive(Deserialize, Default)]
struct Status {
    #[serde(default)]
    code: u16,
    #[serde(default)]
    message: String,
}

impl From<Entry> for AuditEvent {
    fn from(entry: Entry) -> Self {
        Self {
            verb: entry.verb,
            uri: entry.request_uri,
            user: entry.user.username,
            user_agent: entry.user_agent,
            group: entry.object_ref.api_group,
            resource: entry.object_ref.resource,
            subresource: entry.object_ref.subresource,
            namespace: entry.object_ref.namespace,
            name: entry.object_ref.name,
            code: entry.response_status.code,
            message: entry.response_status.message,
            received: entry.request_received_timestamp,
            answered: entry.stage_timestamp,
            request: entry.request_object,
            response: entry.response_object,
            annotations: entry.annotations,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_in_the_middle_of_a_line_is_at_its_start() {
        let directory = tempfile::tempdir().unwrap();
        let log = AuditLog::new(directory.path().join("audit.log"));
        let line = |name: &str| {
            let now = "2026-01-01T00:00:00Z";
            serde_json::json!({
                "verb": "get", "requestURI": "/", "user": {}, "objectRef": {"name": name},
                "requestReceivedTimestamp": now, "stageTimestamp": now,
            })
            .to_string()
        };
        let (first, second) = (line("first"), line("second"));
        let (half, rest) = second.split_at(20);
        std::fs::write(log.path(), format!("{first}\n{half}")).unwrap();
        let mark = log.mark().unwrap();
        std::fs::write(log.path(), format!("{first}\n{half}{rest}\n")).unwrap();
        let since = log.events_since(mark).unwrap();
        let names: Vec<&str> = since.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, ["second"]);
    }
}
