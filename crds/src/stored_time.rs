//! Times as they come back from the API server.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;

/// `now` in the whole seconds that a status stores.
///
/// Every time that goes into a status has to pass through here. One with a fraction never equals what is read
/// back, so its status would look changed in every cycle, and be written in every cycle.
pub fn stored_time(now: Timestamp) -> Time {
    // A time without its fraction is always a valid one; were it not, the unrounded one is as good.
    Time(Timestamp::from_second(now.as_second()).unwrap_or(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        let read_back =
            |time: &Time| -> Time { serde_json::from_value(serde_json::to_value(time).unwrap()).unwrap() };
        let now = Timestamp::new(10, 999_999_999).unwrap();
        let stored = stored_time(now);
        assert_eq!(stored.0, Timestamp::from_second(10).unwrap());
        assert_eq!(read_back(&stored), stored);
        assert_ne!(read_back(&Time(now)), Time(now), "this is what the function is for");
    }
}
