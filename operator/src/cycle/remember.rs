//! What a plan leaves to the next one.

use quotient_engine::plan::Plan;

use crate::view::View;

/// Has the next snapshot show what `plan` wants to be remembered, whether or not a status is ever written.
///
/// Triggers no cycle: it comes from a decision and is no reason for another.
pub(super) fn remember(view: &View, plan: &Plan) {
    view.read(|index| {
        for (name, queue) in plan.leaves() {
            // Another Queue that has the name by now has nothing to do with it.
            if index.observed_queue(name).is_some_and(|observed| observed.uid == queue.uid) {
                index.remember(name, queue.remember.clone());
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use quotient_crds::{Queue, QueueSpec};
    use quotient_engine::names::QueueName;
    use quotient_engine::plan::QueuePlan;
    use quotient_engine::snapshot::Remembered;
    use quotient_engine::time::Timestamp;
    use quotient_index::{Index, IndexSettings};

    const SINCE: Timestamp = Timestamp::from_seconds(7);

    fn view() -> View {
        let mut queue = Queue::new("team", QueueSpec::default());
        queue.metadata.namespace = Some("a".to_owned());
        queue.metadata.uid = Some("1".to_owned());
        let mut index = Index::new(IndexSettings::default());
        index.apply::<Queue>(&queue);
        View::new(index)
    }

    /// A plan about the life `uid` of the Queue.
    fn plan(uid: &str) -> Plan {
        let remember = Remembered { short_since: Some(SINCE), ..Remembered::default() };
        let queue = QueuePlan { uid: uid.into(), remember, ..QueuePlan::default() };
        Plan { queues: [(QueueName::new("a", "team"), queue)].into(), ..Plan::default() }
    }

    fn remembered(view: &View) -> Option<Timestamp> {
        let snapshot = view.read(|index| index.snapshot(SINCE));
        let state = snapshot.namespaces.values().next().unwrap();
        state.queues[0].remembered.short_since
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_snapshot_shows_it_and_no_cycle_is_triggered() {
        let view = view();
        remember(&view, &plan("1"));
        assert_eq!(remembered(&view), Some(SINCE));
        let woken = tokio::time::timeout(Duration::from_secs(1), view.changed());
        assert!(woken.await.is_err());
    }

    #[test]
    fn another_life_of_the_queue_remembers_nothing() {
        let view = view();
        remember(&view, &plan("2"));
        assert_eq!(remembered(&view), None);
    }
}
