//! What the operator takes, and what the API server is asked, while something happens.

use std::time::Duration;

use super::ProcessNumbers;
use crate::quotient::Operator;
use crate::testbed::{AuditEvent, AuditMark, TestBed};

/// A measurement that has begun.
#[derive(Debug)]
pub struct Meter<'a> {
    bed: &'a TestBed,
    operator: &'a Operator,
    mark: AuditMark,
    before: ProcessNumbers,
}

/// What was measured between two moments.
#[derive(Debug)]
pub struct Cost {
    /// The operator's process at the beginning.
    pub before: ProcessNumbers,
    /// The operator's process at the end.
    pub after: ProcessNumbers,
    /// The requests that the API server answered.
    pub events: Vec<AuditEvent>,
}

impl<'a> Meter<'a> {
    /// Begins now.
    pub fn start(bed: &'a TestBed, operator: &'a Operator) -> anyhow::Result<Self> {
        let mark = bed.audit().mark()?;
        Ok(Self { bed, operator, mark, before: ProcessNumbers::of(operator.process().pid())? })
    }

    /// Ends now.
    ///
    /// # Errors
    ///
    /// When the operator does not run any more.
    pub fn stop(self) -> anyhow::Result<Cost> {
        self.operator.process().must_run()?;
        let after = ProcessNumbers::of(self.operator.process().pid())?;
        Ok(Cost { before: self.before, after, events: self.bed.audit().events_since(self.mark)? })
    }
}

impl Cost {
    /// The operator's time on the processors.
    pub fn cpu(&self) -> Duration {
        self.after.cpu.saturating_sub(self.before.cpu)
    }
}
