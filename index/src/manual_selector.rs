//! What a Job says of the selector of its pods.

/// `manualSelector` in the spec of a Job. Absent and false mean the same: the API server makes the selector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ManualSelector {
    /// The field is absent.
    #[default]
    Absent,
    /// The field is false.
    False,
    /// The author of the Job wrote the selector.
    True,
}

impl From<Option<bool>> for ManualSelector {
    fn from(field: Option<bool>) -> Self {
        match field {
            None => Self::Absent,
            Some(false) => Self::False,
            Some(true) => Self::True,
        }
    }
}
