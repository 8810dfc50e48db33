//! The ledger as it is stored: JSON, compressed.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::sync::Arc;

use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use k8s_openapi::jiff;
use quotient_engine::amounts::{Amount, Amounts, Bounds, Quantity, Resource};
use quotient_engine::ledger::{Entry, Generation, Ledger};
use quotient_engine::names::Namespace;
use quotient_engine::snapshot::{KeptTarget, Targets};
use quotient_engine::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::message::texts;

/// The target of every leaf queue, by its namespace.
pub type LeafTargets = BTreeMap<Namespace, Amounts>;

/// What is written here. What other versions mean by their fields is not known.
const VERSION: u32 = 2;

/// More than a ledger that fits into a ConfigMap unpacks to; less than a memory full.
const MOST_UNPACKED: u64 = 64 << 20;

/// Why a stored ledger cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum DocumentError {
    #[error("unpack it: {0}")]
    Packed(#[from] io::Error),
    #[error("read it as JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("read it: it is of version {0}, and this operator knows version {VERSION}")]
    Version(u32),
    #[error("read the entry of {namespace}: {resource} {text:?} is no amount")]
    Amount { namespace: String, resource: String, text: String },
    #[error("read the entry of {namespace}: {text:?} is no time")]
    Time { namespace: String, text: String },
    #[error("read the targets: {0:?} is no stamp")]
    Stamp(String),
}

#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    generation: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rebuilt: Option<String>,
    entries: BTreeMap<String, Line>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    targets: Option<TargetLines>,
}

/// The entry of one namespace.
#[derive(Serialize, Deserialize)]
struct Line {
    granted: BTreeMap<String, String>,
    /// As granted if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    largest: Option<BTreeMap<String, String>>,
    /// Nothing if left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    owed: BTreeMap<String, String>,
    /// As granted if left out; what is granted above it is a loan. Nothing here reads it back, because the next decision
    /// makes its own targets. It is for people, and for the invariants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target: Option<BTreeMap<String, String>>,
    generation: u64,
    changed: String,
}

/// The targets of the last decision.
#[derive(Serialize, Deserialize)]
struct TargetLines {
    /// In hexadecimal: not every reader of JSON keeps the last digits of a number as large.
    stamp: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    newest: Option<String>,
    /// By namespace.
    of: BTreeMap<String, TargetLine>,
}

/// The target of one leaf queue.
#[derive(Serialize, Deserialize)]
struct TargetLine {
    target: BTreeMap<String, String>,
    shown: BTreeMap<String, String>,
}

/// `ledger` in as few bytes as possible, with the targets that it was decided for; the same of both gives the same bytes.
pub(super) fn pack(ledger: &Ledger, targets: &LeafTargets) -> Result<Vec<u8>, DocumentError> {
    let line = |(namespace, entry): (&Namespace, &Entry)| {
        (namespace.to_string(), line(entry, targets.get(namespace)))
    };
    let entries = ledger.entries.iter().map(line);
    let document = Document {
        version: VERSION,
        generation: ledger.generation.number(),
        rebuilt: ledger.rebuilt.map(time_text),
        entries: entries.collect(),
        targets: ledger.targets.as_deref().map(target_lines),
    };
    let json = serde_json::to_vec(&document)?;
    let mut packed = Vec::new();
    GzEncoder::new(json.as_slice(), Compression::default()).read_to_end(&mut packed)?;
    Ok(packed)
}

/// The ledger in `packed`.
pub(super) fn unpack(packed: &[u8]) -> Result<Ledger, DocumentError> {
    let mut json = Vec::new();
    GzDecoder::new(packed).take(MOST_UNPACKED).read_to_end(&mut json)?;
    let document: Document = serde_json::from_slice(&json)?;
    if document.version != VERSION {
        return Err(DocumentError::Version(document.version));
    }
    let entry = |(namespace, line): (String, Line)| {
        let granted = bounds(&namespace, &line.granted)?;
        let largest = line.largest.as_ref().map(|largest| bounds(&namespace, largest)).transpose()?;
        let entry = Entry {
            // Whatever else it says, what was granted may be in force.
            largest: largest.map_or_else(|| granted.clone(), |largest| largest.max(&granted)),
            granted,
            owed: amounts(&namespace, &line.owed)?,
            generation: Generation::new(line.generation),
            changed: time(&namespace, &line.changed)?,
        };
        Ok((Namespace::from(namespace.as_str()), entry))
    };
    let entries: Result<_, DocumentError> = document.entries.into_iter().map(entry).collect();
    Ok(Ledger {
        generation: Generation::new(document.generation),
        entries: entries?,
        targets: document.targets.map(targets).transpose()?.map(Arc::new),
        rebuilt: document.rebuilt.map(|text| time("all", &text)).transpose()?,
        inherited: None,
    })
}

fn line(entry: &Entry, target: Option<&Amounts>) -> Line {
    let is_granted =
        |target: &&Amounts| entry.granted.iter().all(|(resource, granted)| target.get(resource) == granted);
    Line {
        target: target.filter(|target| !is_granted(target)).map(|target| texts(target.iter())),
        granted: texts(entry.granted.iter()),
        largest: (entry.largest != entry.granted).then(|| texts(entry.largest.iter())),
        owed: texts(entry.owed.iter()),
        generation: entry.generation.number(),
        changed: time_text(entry.changed),
    }
}

fn target_lines(targets: &Targets) -> TargetLines {
    let line = |(namespace, kept): (&Namespace, &KeptTarget)| {
        let line = TargetLine { target: texts(kept.target.iter()), shown: texts(kept.shown.iter()) };
        (namespace.to_string(), line)
    };
    let of = targets.of.iter().map(line);
    TargetLines {
        stamp: format!("{:x}", targets.stamp),
        newest: targets.newest.map(time_text),
        of: of.collect(),
    }
}

fn targets(lines: TargetLines) -> Result<Targets, DocumentError> {
    let target = |(namespace, line): (String, TargetLine)| {
        let read = |texts| amounts(&namespace, texts);
        let kept = KeptTarget { target: read(&line.target)?, shown: read(&line.shown)? };
        Ok((Namespace::from(namespace.as_str()), kept))
    };
    let of: Result<_, DocumentError> = lines.of.into_iter().map(target).collect();
    let stamp = u64::from_str_radix(&lines.stamp, 16).map_err(|_| DocumentError::Stamp(lines.stamp))?;
    Ok(Targets { stamp, newest: lines.newest.map(|text| time("all", &text)).transpose()?, of: of? })
}

fn amounts(namespace: &str, texts: &BTreeMap<String, String>) -> Result<Amounts, DocumentError> {
    Ok(bounds(namespace, texts)?.amounts())
}

fn bounds(namespace: &str, texts: &BTreeMap<String, String>) -> Result<Bounds, DocumentError> {
    let read = |(name, text): (&String, &String)| {
        let resource = Resource::from_name(name);
        let amount = exactly(&resource, text).ok_or_else(|| DocumentError::Amount {
            namespace: namespace.to_owned(),
            resource: name.clone(),
            text: text.clone(),
        })?;
        Ok((resource, amount))
    };
    texts.iter().map(read).collect()
}

/// What `text` says, if it is a whole number of units and no debt.
fn exactly(resource: &Resource, text: &str) -> Option<Amount> {
    let quantity: Quantity = text.parse().ok()?;
    let amount = resource.rounded_down(quantity);
    (resource.rounded_up(quantity) == amount && amount >= Amount::ZERO).then_some(amount)
}

fn time_text(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.millis()).unwrap_or_default().to_string()
}

fn time(namespace: &str, text: &str) -> Result<Timestamp, DocumentError> {
    let read: Result<jiff::Timestamp, _> = text.parse();
    read.map(|at| Timestamp::from_millis(at.as_millisecond()))
        .map_err(|_| DocumentError::Time { namespace: namespace.to_owned(), text: text.to_owned() })
}
