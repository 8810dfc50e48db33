//! What is reported of what is watched.

use prometheus::{GaugeVec, IntCounterVec, IntGaugeVec};

use super::catalogue::{Catalogue, Label, Unit, label, metric};

/// The metrics of the watches, by kind of object.
#[derive(Clone, Debug)]
pub struct WatchMetrics {
    /// Errors; a watch heals by itself.
    pub errors: IntCounterVec,
    /// Watches that said nothing for too long and were opened anew.
    pub silences: IntCounterVec,
    /// Objects that cannot be decoded, each time that a list or a watch shows one.
    pub undecodable: IntCounterVec,
    /// When each kind was read last, in seconds since 1970.
    pub heard: GaugeVec,
    /// Objects that the index keeps.
    pub objects: IntGaugeVec,
}

const KIND: [Label; 1] = [label("kind", "`pods`, `nodes`, …")];

impl WatchMetrics {
    pub(super) fn declare(into: &mut Catalogue<'_>) -> Result<Self, prometheus::Error> {
        into.under("Watches");
        Ok(Self {
            errors: into.counters(metric(
                "quotient_watch_errors_total",
                Unit::Count,
                &KIND,
                "Errors of watches. A watch recovers by itself.",
            ))?,
            silences: into.counters(metric(
                "quotient_watch_silences_total",
                Unit::Count,
                &KIND,
                "Watches without any event for --watch-silence-seconds. Each was opened again.",
            ))?,
            undecodable: into.counters(metric(
                "quotient_watch_undecodable_objects_total",
                Unit::Count,
                &KIND,
                "Objects that a list or a watch showed and that cannot be decoded. The log names each, and the operator skips it.",
            ))?,
            heard: into.gauges(metric(
                "quotient_watch_heard_timestamp_seconds",
                Unit::Timestamp,
                &KIND,
                "The time of the last event for this kind of object. Bookmarks come about every minute.",
            ))?,
            objects: into.whole_gauges(metric(
                "quotient_index_objects",
                Unit::Count,
                &KIND,
                "Objects that the index keeps.",
            ))?,
        })
    }
}
