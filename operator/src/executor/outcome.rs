//! What became of an operation.

use kube::core::Status;

use crate::answer::{Failure, Lost, said};
use crate::rights::Feature;

/// What became of an operation.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It was carried out, or there is nothing left to carry it out on.
    Done,
    /// It was not tried: this replica may not write any more.
    Skipped,
    /// The object is not as it was when the operation was decided on. The watch shows how it is.
    Stale(String),
    /// The API server decided against it: it was not carried out and never will be.
    Refused(Box<Status>),
    /// It was carried out, will be, or never will be: the answer was lost, or is no answer.
    Unknown(Lost),
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(status) => Self::Refused(status),
            Failure::Unknown(lost) => Self::Unknown(lost),
        }
    }
}

impl Outcome {
    /// A refusal of our own, in the form of the API server's.
    pub(crate) fn refused(code: u16, why: &str) -> Self {
        Self::Refused(Status::failure(why, "").with_code(code).boxed())
    }

    /// An answer that came and cannot be read.
    pub(crate) const fn unreadable(why: String) -> Self {
        Self::Unknown(Lost::Connection(why))
    }

    /// Why it was not carried out; empty if it was. Where a right is missing, the value of the chart that grants `feature`.
    pub(crate) fn why(&self, feature: Option<Feature>) -> String {
        match self {
            Self::Done | Self::Skipped => String::new(),
            Self::Stale(why) => why.clone(),
            Self::Refused(status) => feature.map_or_else(|| said(status), |feature| feature.refused(status)),
            Self::Unknown(lost) => lost.to_string(),
        }
    }
}
