//! Timestamps of API objects as the engine counts them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use quotient_engine::time::Timestamp;

/// The engine's timestamp of a time in an API object; fractions of a millisecond are dropped.
pub fn timestamp(time: &Time) -> Timestamp {
    Timestamp::from_millis(time.0.as_millisecond())
}
