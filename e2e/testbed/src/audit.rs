//! The audit log: what the API server noted about every request. The neutral stopwatch, and the record of rights, of
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
#[serde(try_from = "Value")]
pub struct AuditEvent {
    /// What was asked for: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// Path and query.
    pub uri: String,
    /// The user of the request.
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

/// What every event begins with.
const BEGINNING: &[u8] = br#"{"kind":"Event","apiVersion":"audit.k8s.io"#;

/// Whole lines only: the API server may be writing the last one. If it was killed while it wrote one, the next event follows in
/// the same line.
fn parse(text: &[u8]) -> Result<Vec<AuditEvent>, serde_json::Error> {
    let complete = text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let last = |line: &[u8]| line.windows(BEGINNING.len()).rposition(|part| part == BEGINNING);
    let whole = |line: &'_ [u8]| line.split_at(last(line).unwrap_or(0)).1.to_owned();
    let event = |line| serde_json::from_slice(line).or_else(|_| serde_json::from_slice(&whole(line)));
    complete.map(event).collect()
}

/// Reads an event as it is written: `audit.k8s.io/v1 Event`.
impl TryFrom<Value> for AuditEvent {
    type Error = serde_json::Error;

    fn try_from(mut entry: Value) -> Result<Self, serde_json::Error> {
        let mut body = |name: &str| entry.get_mut(name).map(Value::take).filter(|body| !body.is_null());
        let (request, response) = (body("requestObject"), body("responseObject"));
        let at = |path: &str| entry.pointer(path).unwrap_or(&Value::Null);
        let text = |path: &str| at(path).as_str().unwrap_or_default().to_owned();
        Ok(Self {
            verb: text("/verb"),
            uri: text("/requestURI"),
            user: text("/user/username"),
            user_agent: text("/userAgent"),
            group: text("/objectRef/apiGroup"),
            resource: text("/objectRef/resource"),
            subresource: text("/objectRef/subresource"),
            namespace: text("/objectRef/namespace"),
            name: text("/objectRef/name"),
            code: Option::deserialize(at("/responseStatus/code"))?.unwrap_or_default(),
            message: text("/responseStatus/message"),
            received: Timestamp::deserialize(at("/requestReceivedTimestamp"))?,
            answered: Timestamp::deserialize(at("/stageTimestamp"))?,
            request,
            response,
            annotations: Option::deserialize(at("/annotations"))?.unwrap_or_default(),
        })
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

    #[test]
    fn an_event_after_one_that_was_cut_off_is_read() {
        let event = |name: &str| {
            let now = "2026-01-01T00:00:00Z";
            format!(
                r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","verb":"get","requestURI":"/","user":{{}},"objectRef":{{"name":"{name}"}},"requestReceivedTimestamp":"{now}","stageTimestamp":"{now}"}}"#
            )
        };
        let (cut_off, whole) = (event("first"), event("second"));
        let events = parse(format!("{}{whole}\n", cut_off.split_at(90).0).as_bytes()).unwrap();
        assert_eq!(events.iter().map(|event| event.name.as_str()).collect::<Vec<_>>(), ["second"]);
    }
}
