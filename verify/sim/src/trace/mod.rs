//! What happened: every request to the API server and every write that it applied, in the order in which it did.
//!
//! A trace is the whole outcome of a simulation, so the checker of a run needs nothing else. Two runs of one seed have the
//! same text ([`Trace::text`]) byte for byte.
//!
//! ```text
//!  n   time      client        what                                        code  write
//!  12  00.034    quotient-0    Patch  ResourceQuota team-1/quotient         200   7      before, after
//!  13  00.041    quota-controller Update ResourceQuota team-1/quotient status 200   8
//!  14  00.102    quotient-0    Create Pod team-1/pod-3 eviction             201   9
//! ```

mod record;

use quotient_snapshot::stable_hash;

pub use record::{Record, Verb};

/// All records of a simulation so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// In the order in which the server dealt with them: the index of each is its [`Record::number`].
    pub records: Vec<Record>,
}

impl Trace {
    /// The records that changed something, in order.
    pub fn writes(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|record| record.write.is_some())
    }

    /// The requests that could change something, answered as they were, of one client.
    pub fn asked_by<'a>(&'a self, client: &'a str) -> impl Iterator<Item = &'a Record> {
        self.records.iter().filter(move |record| &*record.client == client && record.verb.may_write())
    }

    /// One line a record, as people read it and as two runs are compared.
    pub fn text(&self) -> String {
        use std::fmt::Write as _;
        let mut text = String::new();
        for record in &self.records {
            let _ = writeln!(text, "{record}");
        }
        text
    }

    /// A number that two traces share only if they are the same, contents of objects included. Cheaper to keep than the
    /// trace.
    pub fn digest(&self) -> u64 {
        stable_hash(self.records.iter().flat_map(|record| {
            let mut bytes = record.to_string().into_bytes();
            for object in [&record.asked, &record.after].into_iter().flatten() {
                bytes.extend(serde_json::to_vec(&**object).unwrap_or_default());
            }
            bytes
        }))
    }

    pub(crate) fn push(&mut self, mut record: Record) -> u64 {
        let number = u64::try_from(self.records.len()).unwrap_or(u64::MAX);
        record.number = number;
        self.records.push(record);
        number
    }
}
