//! Snapshots as files: JSON, compressed.

use std::io::Read as _;
use std::path::Path;

use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use quotient_engine::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Missing, Snapshot};
use crate::output::document;

/// The first bytes of compressed data.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// More than a snapshot of 150,000 pods unpacks to; less than a memory full.
const MOST_UNPACKED: u64 = 8 << 30;

/// Why a snapshot file cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SnapshotFileError {
    /// The file itself.
    #[error("{verb} {file}: {source}")]
    Io { verb: &'static str, file: String, source: std::io::Error },
    /// Its text.
    #[error("read {file}: {source}")]
    Json { file: String, source: serde_json::Error },
    /// What it is.
    #[error("read {file}: it is no snapshot; write one with: kubectl quotient snapshot -o FILE")]
    NoSnapshot { file: String },
    /// Its time.
    #[error("read {file}: asOf {text:?} is no time")]
    Time { file: String, text: String },
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Body<'a> {
    redacted: bool,
    /// Whether an API server returned the items; manifests lack what it adds.
    observed: bool,
    /// Whether only one namespace, or some kinds, were asked for.
    partial: bool,
    missing: Vec<MissingText>,
    items: Vec<&'a Value>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct MissingText {
    resource: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored {
    kind: String,
    as_of: String,
    source: String,
    #[serde(default)]
    redacted: bool,
    observed: bool,
    #[serde(default)]
    partial: bool,
    #[serde(default)]
    missing: Vec<MissingText>,
    items: Vec<Value>,
}

/// Whether the file begins as a compressed snapshot does.
pub(crate) fn is_snapshot(path: &Path) -> bool {
    let mut first = [0_u8; 2];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == GZIP
}

/// Writes `snapshot`; says how many bytes the file has.
pub(crate) fn write_file(snapshot: &Snapshot, path: &Path) -> Result<usize, SnapshotFileError> {
    let file = path.display().to_string();
    let packed = pack(snapshot).map_err(|error| match error {
        PackError::Json(source) => SnapshotFileError::Json { file: file.clone(), source },
        PackError::Io(source) => SnapshotFileError::Io { verb: "pack", file: file.clone(), source },
    })?;
    std::fs::write(path, &packed).map_err(|source| SnapshotFileError::Io { verb: "write", file, source })?;
    Ok(packed.len())
}

enum PackError {
    Json(serde_json::Error),
    Io(std::io::Error),
}

fn pack(snapshot: &Snapshot) -> Result<Vec<u8>, PackError> {
    let missing = snapshot.missing.iter().map(|missing| MissingText {
        resource: missing.resource.clone(),
        namespace: missing.namespace.clone(),
    });
    let body = Body {
        redacted: snapshot.is_redacted,
        observed: snapshot.is_observed,
        partial: snapshot.is_partial,
        missing: missing.collect(),
        items: snapshot.entries.iter().map(|entry| &*entry.value).collect(),
    };
    let as_of = snapshot.as_of.unwrap_or_default();
    let text =
        serde_json::to_vec(&document("Snapshot", as_of, &snapshot.source, body)).map_err(PackError::Json)?;
    let mut packed = Vec::new();
    GzEncoder::new(text.as_slice(), Compression::default())
        .read_to_end(&mut packed)
        .map_err(PackError::Io)?;
    Ok(packed)
}

/// Reads a snapshot back.
pub(crate) fn read_file(path: &Path) -> Result<Snapshot, SnapshotFileError> {
    let file = path.display().to_string();
    let failed = |source| SnapshotFileError::Io { verb: "read", file: file.clone(), source };
    let bytes = std::fs::read(path).map_err(failed)?;
    let mut text = Vec::new();
    if bytes.starts_with(&GZIP) {
        GzDecoder::new(bytes.as_slice()).take(MOST_UNPACKED).read_to_end(&mut text).map_err(failed)?;
    } else {
        text = bytes;
    }
    let stored: Stored = serde_json::from_slice(&text)
        .map_err(|source| SnapshotFileError::Json { file: file.clone(), source })?;
    if stored.kind != "Snapshot" {
        return Err(SnapshotFileError::NoSnapshot { file });
    }
    let time = stored.as_of.parse::<jiff::Timestamp>();
    let as_of = time.map_err(|_| SnapshotFileError::Time { file, text: stored.as_of.clone() })?;
    let mut snapshot = Snapshot::observed(Timestamp::from_millis(as_of.as_millisecond()), &stored.source);
    snapshot.is_observed = stored.observed;
    snapshot.is_partial = stored.partial;
    if stored.observed {
        snapshot.source = format!("{}, snapshot of {}", stored.source, stored.as_of);
    } else {
        snapshot.as_of = None;
    }
    snapshot.is_redacted = stored.redacted;
    let missing = stored.missing.into_iter();
    snapshot.missing =
        missing.map(|MissingText { resource, namespace }| Missing { resource, namespace }).collect();
    snapshot.add(stored.items);
    Ok(snapshot)
}
