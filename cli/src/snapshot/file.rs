//! Snapshots as files: JSON, compressed.

use std::fmt;
use std::io::Read as _;
use std::path::Path;

use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use serde::Deserialize;
use serde_json::Value;

use super::{Content, Missing, Snapshot};
use crate::objects::time;
use crate::output::{document, report};

/// The first bytes of compressed data.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// More than a snapshot of 150,000 pods unpacks to; less than a memory full.
const MOST_UNPACKED: u64 = 8 << 30;

report! {
    pub(crate) struct Body(snapshot: &Snapshot) {
        redacted: bool = snapshot.is_redacted,
        /// Whether an API server returned the items; manifests lack what it adds.
        observed: bool = snapshot.is_observed,
        /// Whether only one namespace, or some kinds, were asked for.
        partial: bool = snapshot.is_partial,
        missing: Vec<Missing> = snapshot.missing.clone(),
        #[cfg_attr(test, schemars(with = "Vec<Value>"))]
        items: Vec<Content> = snapshot.entries.iter().map(|entry| entry.content.clone()).collect(),
    }
}

/// What is absent is empty: a list of manifests has a kind and items, too, and is to be told from a snapshot.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Stored {
    kind: String,
    as_of: String,
    source: String,
    redacted: bool,
    observed: bool,
    partial: bool,
    missing: Vec<Missing>,
    items: Vec<Value>,
}

/// Whether the file begins as a compressed snapshot does.
pub(crate) fn is_snapshot(path: &Path) -> bool {
    let mut first = [0_u8; 2];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == GZIP
}

/// Writes `snapshot`; says how many bytes the file has.
pub(crate) fn write_file(snapshot: &Snapshot, path: &Path) -> Result<usize, String> {
    let document =
        document("Snapshot", snapshot.as_of.unwrap_or_default(), &snapshot.source, Body::of(snapshot));
    let text = serde_json::to_vec(&document).map_err(|error| failed("pack", path, error))?;
    let mut packed = Vec::new();
    let mut encoder = GzEncoder::new(text.as_slice(), Compression::default());
    encoder.read_to_end(&mut packed).map_err(|error| failed("pack", path, error))?;
    std::fs::write(path, &packed).map_err(|error| failed("write", path, error))?;
    Ok(packed.len())
}

fn failed(verb: &str, path: &Path, error: impl fmt::Display) -> String {
    format!("{verb} {}: {error}", path.display())
}

/// Reads a snapshot back.
pub(crate) fn read_file(path: &Path) -> Result<Snapshot, String> {
    let bytes = std::fs::read(path).map_err(|error| failed("read", path, error))?;
    let mut text = Vec::new();
    if bytes.starts_with(&GZIP) {
        let unpacked = GzDecoder::new(bytes.as_slice()).take(MOST_UNPACKED).read_to_end(&mut text);
        unpacked.map_err(|error| failed("read", path, error))?;
    } else {
        text = bytes;
    }
    let stored: Stored = serde_json::from_slice(&text).map_err(|error| failed("read", path, error))?;
    if stored.kind != "Snapshot" {
        let advice =
            "it is no snapshot; write one with: kubectl quotient snapshot -o FILE, or name manifests with -f";
        return Err(failed("read", path, advice));
    }
    let Ok(as_of) = time(&stored.as_of) else {
        return Err(failed("read", path, format_args!("asOf {:?} is no time", stored.as_of)));
    };
    let mut snapshot = Snapshot::observed(as_of, &stored.source);
    snapshot.is_observed = stored.observed;
    snapshot.is_partial = stored.partial;
    if stored.observed {
        snapshot.source = format!("{}, snapshot of {}", stored.source, stored.as_of);
    } else {
        snapshot.as_of = None;
    }
    snapshot.is_redacted = stored.redacted;
    snapshot.missing = stored.missing;
    let read: fn(Value) -> Content = if stored.observed { Content::read } else { Content::from };
    snapshot.add(stored.items.into_iter().map(read));
    Ok(snapshot)
}
