//! When a changed status is written: at once what decides, now and then what only informs.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use quotient_crds::QueueStatus;
use quotient_engine::names::QueueName;
use quotient_engine::stable_hash;
use tokio::time::Instant;

/// When to write a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// It says what the stored one says.
    Never,
    /// At once.
    Now,
    /// Now, or a little later if there are many: it only informs.
    Soon,
    /// At this time, unless something more urgent comes.
    At(Instant),
}

/// How long what only informs has to wait for more of its kind: pods come and go in groups.
const GATHER: Duration = Duration::from_secs(1);

/// So many times as long as usual is waited with what only others have changed. Every pod of any queue moves every deserved
/// share a little.
const OF_OTHERS: u32 = 20;

/// One part in so many of the usual time is waited where no pod waits any more: a report of pods that cannot start is wrong
/// once they run.
const OF_STARTED_PODS: u32 = 5;

/// Remembers when each queue's status was written last.
///
/// Only a hint: forgetting it costs one early write a queue.
#[derive(Debug)]
pub struct Pacer {
    interval: Duration,
    written: BTreeMap<QueueName, Instant>,
    /// Since when what only informs is out of date.
    stale: BTreeMap<QueueName, Instant>,
}

impl Pacer {
    /// Lets what only informs be written every `interval`, and a little later for some queues, so that they do
    /// not all write at the same moment.
    pub fn new(interval: Duration) -> Self {
        Self { interval, written: BTreeMap::new(), stale: BTreeMap::new() }
    }

    /// When `wanted` is to replace `stored`.
    pub fn when(
        &mut self,
        queue: &QueueName,
        stored: Option<&QueueStatus>,
        wanted: &QueueStatus,
        now: Instant,
    ) -> When {
        let Some(stored) = stored else { return When::Now };
        if stored.same_meaning(wanted) {
            self.stale.remove(queue);
            return When::Never;
        }
        if is_urgent(stored, wanted) {
            return When::Now;
        }
        let since = *self.stale.entry(queue.clone()).or_insert(now);
        let gathered = since.checked_add(GATHER.min(self.interval));
        let wait = if stored.same_meaning_but_for_others(wanted) {
            self.interval.saturating_mul(OF_OTHERS)
        } else if wanted.unmet.is_empty() && !stored.unmet.is_empty() {
            self.interval.checked_div(OF_STARTED_PODS).unwrap_or_default()
        } else {
            self.interval
        };
        let wait = wait.saturating_add(self.jitter(queue));
        let rested = self.written.get(queue).and_then(|written| written.checked_add(wait));
        match gathered.max(rested) {
            Some(due) if due > now => When::At(due),
            _ => When::Soon,
        }
    }

    /// The status of `queue` was written.
    pub fn wrote(&mut self, queue: &QueueName, now: Instant) {
        self.written.insert(queue.clone(), now);
        self.stale.remove(queue);
    }

    /// Forgets queues that are gone.
    pub fn retain(&mut self, exists: impl Fn(&QueueName) -> bool) {
        self.written.retain(|queue, _| exists(queue));
        self.stale.retain(|queue, _| exists(queue));
    }

    /// Up to a fifth of the interval, always the same for the same name.
    fn jitter(&self, queue: &QueueName) -> Duration {
        let fifth =
            u64::try_from(self.interval.as_millis()).unwrap_or(u64::MAX).checked_div(5).unwrap_or_default();
        let hash = stable_hash(queue.to_string().bytes());
        Duration::from_millis(hash.checked_rem(fifth).unwrap_or_default())
    }
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

    fn status(deserved: &str, used: &str) -> QueueStatus {
        QueueStatus {
            deserved: Some([("cpu", deserved)].into()),
            used: Some([("cpu", used)].into()),
            ..QueueStatus::default()
        }
    }

    /// A pacer that has just written the status of a queue.
    fn written() -> (Pacer, QueueName, Instant, QueueStatus) {
        let mut pacer = Pacer::new(Duration::from_secs(15));
        let queue = QueueName::new("a", "team");
        let now = Instant::now();
        let stored = status("3", "1");
        pacer.wrote(&queue, now);
        (pacer, queue, now, stored)
    }

    #[tokio::test(start_paused = true)]
    async fn shares_are_written_at_once_and_usage_now_and_then() {
        let mut pacer = Pacer::new(Duration::from_secs(15));
        let queue = QueueName::new("a", "team");
        let now = Instant::now();
        let stored = status("3", "1");
        assert_eq!(pacer.when(&queue, None, &stored, now), When::Now);
        assert_eq!(pacer.when(&queue, Some(&stored), &stored.clone(), now), When::Never);
        // After a quiet time usage is written soon.
        let soon = now + Duration::from_secs(1);
        assert_eq!(pacer.when(&queue, Some(&stored), &status("3", "2"), now), When::At(soon));
        assert_eq!(pacer.when(&queue, Some(&stored), &status("3", "3"), soon), When::Soon);

        pacer.wrote(&queue, now);
        assert_eq!(pacer.when(&queue, Some(&stored), &status("4", "1"), now), When::Now);
        let When::At(due) = pacer.when(&queue, Some(&stored), &status("3", "2"), now) else {
            panic!("usage was written a moment ago")
        };
        let wait = due.duration_since(now);
        assert!((15..18).contains(&wait.as_secs()), "{wait:?}");
        // The last value is written in the end.
        assert_eq!(pacer.when(&queue, Some(&stored), &status("3", "2"), due), When::Soon);
    }

    #[tokio::test(start_paused = true)]
    async fn what_only_others_have_changed_is_seldom_written() {
        let (mut pacer, queue, now, stored) = written();
        let share = |cpu| QueueStatus { nominal: Some([("cpu", cpu)].into()), ..stored.clone() };
        let minute = now + Duration::from_secs(60);
        assert!(matches!(pacer.when(&queue, Some(&stored), &share("4"), minute), When::At(_)));
        // It goes along with whatever else is to be said.
        let used = QueueStatus { used: Some([("cpu", "2")].into()), ..share("4") };
        let gathered = minute + Duration::from_secs(1);
        assert_eq!(pacer.when(&queue, Some(&stored), &used, gathered), When::Soon);
        let minutes = now + Duration::from_secs(320);
        assert_eq!(pacer.when(&queue, Some(&stored), &share("4"), minutes), When::Soon);
    }

    #[tokio::test(start_paused = true)]
    async fn pods_that_have_started_are_not_reported_as_waiting_for_long() {
        let (mut pacer, queue, now, stored) = written();
        let unmet = Unmet { kind: "Deployment".to_owned(), name: "web".to_owned(), ..Unmet::default() };
        let waiting = QueueStatus { unmet: vec![unmet], ..stored.clone() };
        let When::At(due) = pacer.when(&queue, Some(&waiting), &stored, now) else {
            panic!("the status was written a moment ago")
        };
        let wait = due.duration_since(now);
        assert!((3..6).contains(&wait.as_secs()), "{wait:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_later_decision_needs_is_written_at_once_unless_it_changes_all_the_time() {
        let (mut pacer, queue, now, stored) = written();
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
            assert_eq!(pacer.when(&queue, Some(&stored), &urgent, now), When::Now, "{urgent:?}");
        }
        let window = LendingWindow { size: "2".into(), target: "1".into(), used: time(), lost: None };
        let unmet = Unmet { kind: "Pod".to_owned(), name: "x".to_owned(), ..Unmet::default() };
        for paced in [
            QueueStatus { demand_falling: [("cpu".to_owned(), time())].into(), ..stored.clone() },
            QueueStatus { demand: Some([("cpu", "1")].into()), ..stored.clone() },
            QueueStatus { windows: [("cpu".to_owned(), window)].into(), ..stored.clone() },
            QueueStatus { nominal: Some([("cpu", "1")].into()), ..stored.clone() },
            QueueStatus { unmet: vec![unmet], ..stored.clone() },
        ] {
            assert!(matches!(pacer.when(&queue, Some(&stored), &paced, now), When::At(_)), "{paced:?}");
        }
    }

    #[test]
    fn queues_spread_and_each_keeps_its_place() {
        let pacer = Pacer::new(Duration::from_secs(15));
        let jitters: Vec<Duration> =
            (0..20).map(|number| pacer.jitter(&QueueName::new("a", format!("queue-{number}")))).collect();
        let distinct: std::collections::BTreeSet<_> = jitters.iter().collect();
        assert!(distinct.len() > 15, "{jitters:?}");
        assert!(jitters.iter().all(|jitter| *jitter < Duration::from_secs(3)));
        assert_eq!(pacer.jitter(&QueueName::new("a", "queue-3")), jitters[3]);
    }
}
