//! What is reported of what is watched.

use prometheus::{GaugeVec, IntCounterVec, IntGaugeVec};

use super::catalogue::{Label, label, metrics};

const KIND: [Label; 1] = [label("kind", "`pods`, `nodes`, …")];

metrics! {
    /// The metrics of the watches, by kind of object.
    pub struct WatchMetrics: registered {
        pub errors: IntCounterVec = "quotient_watch_errors_total", Count, KIND =>
            "Errors of watches. A watch recovers by itself.";
        pub silences: IntCounterVec = "quotient_watch_silences_total", Count, KIND =>
            "Watches without any event for --watch-silence-seconds. Each was opened again.";
        pub undecodable: IntCounterVec = "quotient_watch_undecodable_objects_total", Count, KIND =>
            "Objects that a list or a watch showed and that cannot be decoded. The log names each, and the operator skips it.";
        pub heard: GaugeVec = "quotient_watch_heard_timestamp_seconds", Timestamp, KIND =>
            "The time of the last event for this kind of object. Bookmarks come about every minute.";
        pub objects: IntGaugeVec = "quotient_index_objects", Count, KIND =>
            "Objects that the index keeps.";
    }
}
