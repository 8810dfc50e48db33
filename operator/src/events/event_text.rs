//! What an event says.

/// Type, reason, action and sentences of an event.
#[derive(Debug)]
pub(super) struct EventText {
    pub(super) type_: &'static str,
    pub(super) reason: &'static str,
    pub(super) action: &'static str,
    pub(super) note: String,
}

impl EventText {
    pub(super) const fn normal(reason: &'static str, action: &'static str, note: String) -> Self {
        Self { type_: "Normal", reason, action, note }
    }

    /// Pods or amounts are taken away, or a person has to act.
    pub(super) const fn warning(reason: &'static str, action: &'static str, note: String) -> Self {
        Self { type_: "Warning", reason, action, note }
    }
}
