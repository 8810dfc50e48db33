//! When a changed status is written: at once what decides, now and then what only informs.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use quotient_crds::QueueStatus;
use quotient_engine::names::QueueName;
use quotient_engine::stable_hash;
use tokio::time::Instant;

/// When a status is to be written that says something new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    /// Not before, and then unless something more urgent comes.
    pub(super) at: Instant,
    /// Whether it only informs, so that it may be a little later if there are many.
    pub(super) informs: bool,
}

/// How long what only informs has to wait for more of its kind: pods come and go in groups.
const GATHER: Duration = Duration::from_secs(1);

/// So many times as long as usual is waited with what only others have changed. Every pod of any queue moves every deserved
/// share a little.
const OF_OTHERS: u32 = 20;

/// One part in so many of the usual time is waited where no pod waits any more: a report of pods that cannot start is wrong
/// once they run.
const OF_STARTED_PODS: u32 = 5;

/// Paces the status of one queue.
///
/// Only a hint: forgetting it costs one early write.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// When it was written last.
    pub(super) written: Option<Instant>,
    /// Since when what only informs is out of date.
    stale: Option<Instant>,
}

impl Pace {
    /// When `wanted` is to replace `stored`; none if it says the same. What only informs is written every `interval`, and a
    /// little later for some queues, so that they do not all write at the same moment.
    pub(super) fn due(
        &mut self,
        queue: &QueueName,
        stored: Option<&QueueStatus>,
        wanted: &QueueStatus,
        interval: Duration,
        now: Instant,
    ) -> Option<Due> {
        let at_once = Some(Due { at: now, informs: false });
        let Some(stored) = stored else { return at_once };
        if stored.same_meaning(wanted) {
            self.stale = None;
            return None;
        }
        if is_urgent(stored, wanted) {
            return at_once;
        }
        let since = *self.stale.get_or_insert(now);
        let gathered = since.checked_add(GATHER.min(interval));
        let wait = if stored.same_meaning_but_for_others(wanted) {
            interval.saturating_mul(OF_OTHERS)
        } else if wanted.unmet.is_empty() && !stored.unmet.is_empty() {
            interval.checked_div(OF_STARTED_PODS).unwrap_or_default()
        } else {
            interval
        };
        let wait = wait.saturating_add(jitter(queue, interval));
        let rested = self.written.and_then(|written| written.checked_add(wait));
        Some(Due { at: gathered.max(rested).unwrap_or(now), informs: true })
    }

    /// The status was written.
    pub(super) const fn wrote(&mut self, now: Instant) {
        *self = Self { written: Some(now), stale: None };
    }
}

/// Up to a fifth of the interval, always the same for the same name.
fn jitter(queue: &QueueName, interval: Duration) -> Duration {
    let fifth = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX).checked_div(5).unwrap_or_default();
    let hash = stable_hash(queue.to_string().bytes());
    Duration::from_millis(hash.checked_rem(fifth).unwrap_or_default())
}

/// Whether the two differ in more than what only informs: used, demand, the nominal share, counts, the words of a message,
/// since when demand falls, and the windows.
///
/// Of what a status remembers for a later decision, the last two are not urgent: where pods come and go they change with
/// every one of them. To lose them costs at worst that demand follows half a minute too early or too late, once, and that
/// a window has to grow anew.
fn is_urgent(stored: &QueueStatus, wanted: &QueueStatus) -> bool {
    deciding(stored) != deciding(wanted) || states(&stored.conditions) != states(&wanted.conditions)
}

fn deciding(status: &QueueStatus) -> impl PartialEq {
    (
        &status.observed_generation,
        &status.set_aside,
        &status.not_created_since,
        &status.deserved,
        &status.allocated,
        &status.preempting,
        &status.short_since,
    )
}

fn states(conditions: &[Condition]) -> BTreeMap<&str, (&str, &str)> {
    conditions
        .iter()
        .map(|condition| (condition.type_.as_str(), (condition.status.as_str(), condition.reason.as_str())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::jiff::Timestamp;
    use quotient_crds::{LendingWindow, SetAside, Unmet, stored_time};

    const INTERVAL: Duration = Duration::from_secs(15);

    fn queue() -> QueueName {
        QueueName::new("a", "team")
    }

    fn status(deserved: &str, used: &str) -> QueueStatus {
        QueueStatus {
            deserved: Some([("cpu", deserved)].into()),
            used: Some([("cpu", used)].into()),
            ..QueueStatus::default()
        }
    }

    /// A status that was written at this time.
    struct Written {
        pace: Pace,
        start: Instant,
        stored: QueueStatus,
    }

    fn written() -> Written {
        let start = Instant::now();
        Written { pace: Pace { written: Some(start), stale: None }, start, stored: status("3", "1") }
    }

    impl Written {
        /// When `wanted` is due that comes so many seconds later, in seconds, and whether it only informs.
        fn due(&mut self, wanted: &QueueStatus, second: u64) -> Option<(u64, bool)> {
            let now = self.start + Duration::from_secs(second);
            let due = self.pace.due(&queue(), Some(&self.stored), wanted, INTERVAL, now)?;
            Some((due.at.duration_since(self.start).as_secs(), due.informs))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn shares_are_written_at_once_and_usage_now_and_then() {
        let mut it = written();
        let first = Pace::default().due(&queue(), None, &it.stored, INTERVAL, it.start);
        assert_eq!(first, Some(Due { at: it.start, informs: false }));
        assert_eq!(it.due(&status("3", "1"), 0), None);
        assert_eq!(it.due(&status("4", "1"), 0), Some((0, false)));
        let (due, informs) = it.due(&status("3", "2"), 0).unwrap();
        assert!((15..18).contains(&due) && informs, "usage was written a moment ago: {due}");
        // The last value is written in the end.
        assert_eq!(it.due(&status("3", "2"), due + 1), Some((due, true)));
        // After a quiet time usage is written soon.
        it.pace = Pace::default();
        assert_eq!(it.due(&status("3", "2"), 100), Some((101, true)));
        assert_eq!(it.due(&status("3", "3"), 101), Some((101, true)));
    }

    #[tokio::test(start_paused = true)]
    async fn what_only_others_have_changed_is_seldom_written() {
        let mut it = written();
        let share = QueueStatus { nominal: Some([("cpu", "4")].into()), ..it.stored.clone() };
        let (due, informs) = it.due(&share, 60).unwrap();
        assert!((300..304).contains(&due) && informs, "{due}");
        // It goes along with whatever else is to be said.
        let used = QueueStatus { used: Some([("cpu", "2")].into()), ..share };
        assert_eq!(it.due(&used, 61), Some((61, true)));
    }

    #[tokio::test(start_paused = true)]
    async fn pods_that_have_started_are_not_reported_as_waiting_for_long() {
        let mut it = written();
        let started = it.stored.clone();
        it.stored.unmet = vec![unmet("web")];
        let (due, informs) = it.due(&started, 0).unwrap();
        assert!((3..6).contains(&due) && informs, "{due}");
    }

    fn unmet(name: &str) -> Unmet {
        Unmet { kind: "Deployment".to_owned(), name: name.to_owned(), ..Unmet::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_later_decision_needs_is_written_at_once_unless_it_changes_all_the_time() {
        let mut it = written();
        let stored = it.stored.clone();
        let time = || stored_time(Timestamp::UNIX_EPOCH);
        let entry = SetAside {
            kind: "Job".to_owned(),
            name: "train".to_owned(),
            uid: "1".to_owned(),
            revision: 1,
            since: time(),
            times: 1,
            nodes: 3,
            lacked_room: false,
        };
        for urgent in [
            QueueStatus { set_aside: vec![entry], ..stored.clone() },
            QueueStatus { not_created_since: [("2".to_owned(), time())].into(), ..stored.clone() },
            QueueStatus { short_since: Some(time()), ..stored.clone() },
        ] {
            assert_eq!(it.due(&urgent, 0), Some((0, false)), "{urgent:?}");
        }
        let window = LendingWindow { size: "2".into(), target: "1".into(), used: time(), lost: None };
        for paced in [
            QueueStatus { demand_falling: [("cpu".to_owned(), time())].into(), ..stored.clone() },
            QueueStatus { demand: Some([("cpu", "1")].into()), ..stored.clone() },
            QueueStatus { windows: [("cpu".to_owned(), window)].into(), ..stored.clone() },
            QueueStatus { nominal: Some([("cpu", "1")].into()), ..stored.clone() },
            QueueStatus { unmet: vec![unmet("x")], ..stored.clone() },
        ] {
            assert!(it.due(&paced, 0).unwrap().1, "{paced:?}");
        }
    }

    #[test]
    fn queues_spread_and_each_keeps_its_place() {
        let jitter = |number: usize| super::jitter(&QueueName::new("a", format!("queue-{number}")), INTERVAL);
        let jitters: Vec<Duration> = (0..20).map(jitter).collect();
        let distinct: std::collections::BTreeSet<_> = jitters.iter().collect();
        assert!(distinct.len() > 15, "{jitters:?}");
        assert!(jitters.iter().all(|jitter| *jitter < Duration::from_secs(3)));
        assert_eq!(jitter(3), jitters[3]);
    }
}
