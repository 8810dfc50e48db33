//! What is wrong with the input, and where.

use std::fmt;

use crate::snapshot::Place;

/// Something in the input that is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The file as the user named it, with the document if there are several.
    pub(crate) place: Place,
    /// Kind, namespace and name, as far as they are known.
    pub(crate) object: Option<String>,
    /// What is wrong; names the field where there is one.
    pub(crate) message: String,
}

impl Problem {
    pub(crate) fn of_file(file: &str, message: impl fmt::Display) -> Self {
        Self { place: Place::file(file), object: None, message: message.to_string() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: ", self.place)?;
        if let Some(object) = &self.object {
            write!(formatter, "{object}: ")?;
        }
        formatter.write_str(&self.message)
    }
}

/// All problems of one input; it has at least one.
#[derive(Debug, thiserror::Error)]
pub(crate) struct Problems(pub(crate) Vec<Problem>);

/// A line for each.
impl fmt::Display for Problems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(|problem| format!("error: {problem}")).collect();
        formatter.write_str(&lines.join("\n"))
    }
}
