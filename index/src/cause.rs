//! What withholds an eviction or the write of a quota, in words.

use k8s_openapi::jiff;
use quotient_engine::plan::{Pause, Withheld};

/// `queue team-a is in mode Quota`.
pub fn cause(withheld: &Withheld) -> String {
    match withheld {
        Withheld::OperatorMode(mode) => format!("the operator runs in mode {mode}"),
        Withheld::QueueMode(queue, mode) => format!("queue {} is in mode {mode}", queue.in_words()),
        Withheld::Pause(pause) => paused(pause),
    }
}

/// `queue team-a is paused until 2026-12-01T08:00:00Z`.
pub fn paused(pause: &Pause) -> String {
    let until = jiff::Timestamp::from_millisecond(pause.until.millis()).unwrap_or_default();
    format!("queue {} is paused until {until}", pause.of.in_words())
}

#[cfg(test)]
mod tests {
    use super::*;
    use quotient_engine::names::QueueName;
    use quotient_engine::snapshot::Mode;
    use quotient_engine::time::Timestamp;

    #[test]
    fn it_names_the_queue_and_the_time() {
        let team = QueueName::new("team-a", "team-a");
        let parent = QueueName::new("org", "research");
        assert_eq!(cause(&Withheld::OperatorMode(Mode::Observe)), "the operator runs in mode Observe");
        assert_eq!(cause(&Withheld::QueueMode(team, Mode::Quota)), "queue team-a is in mode Quota");
        let pause = Pause { until: Timestamp::from_seconds(1_796_112_000), of: parent };
        assert_eq!(cause(&Withheld::Pause(pause)), "queue org/research is paused until 2026-12-01T08:00:00Z");
    }
}
