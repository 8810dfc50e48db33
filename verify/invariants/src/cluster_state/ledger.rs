//! The ledger as it is stored: what is granted and owed to each queue, and what of it is a loan.

use std::collections::BTreeMap;
use std::io::Read as _;

use flate2::read::GzDecoder;
use k8s_openapi::ByteString;
use serde_json::Value;

use super::reading::has;
use crate::amounts::Amounts;

/// What the ledger says, by namespace.
#[derive(Clone, Debug, Default)]
pub struct LedgerFacts {
    /// Its entries.
    pub entries: BTreeMap<String, EntryFacts>,
}

/// What the ledger says of one namespace.
#[derive(Clone, Debug, Default)]
pub struct EntryFacts {
    /// What was granted: A.
    pub granted: Amounts,
    /// The most that a write on its way may still put in force.
    pub largest: Amounts,
    /// What is free or being freed for its queue and not granted yet.
    pub owed: Amounts,
    /// The target that it was granted for: T. What is granted above it is a loan.
    pub target: Amounts,
}

impl EntryFacts {
    /// What is granted within the target.
    pub fn firm(&self) -> Amounts {
        self.granted.min(&self.target)
    }

    /// What is granted above the target.
    pub fn lent(&self) -> Amounts {
        self.granted.less(&self.target)
    }
}

impl LedgerFacts {
    /// The ledger in a ConfigMap; none if it cannot be read.
    pub(super) fn of(object: &Value) -> Option<Self> {
        let data = object.pointer("/binaryData/ledger.json.gz")?;
        let packed: ByteString = serde_json::from_value(data.clone()).ok()?;
        let mut text = String::new();
        GzDecoder::new(packed.0.as_slice()).read_to_string(&mut text).ok()?;
        let document: Value = serde_json::from_str(&text).ok()?;
        let entries = document.pointer("/entries")?.as_object()?;
        let entries = entries.iter().map(|(namespace, line)| (namespace.clone(), entry(line)));
        Some(Self { entries: entries.collect() })
    }

    /// What is owed in all.
    pub fn owed(&self) -> Amounts {
        self.entries.values().map(|entry| &entry.owed).sum()
    }

    /// What is granted within targets in all.
    pub fn firm(&self) -> Amounts {
        self.entries.values().map(EntryFacts::firm).sum()
    }
}

fn entry(line: &Value) -> EntryFacts {
    let granted = Amounts::at(line, "/granted");
    let or_granted = |pointer| if has(line, pointer) { Amounts::at(line, pointer) } else { granted.clone() };
    EntryFacts {
        largest: or_granted("/largest").max(&granted),
        owed: Amounts::at(line, "/owed"),
        target: or_granted("/target"),
        granted,
    }
}
