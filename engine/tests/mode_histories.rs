//! The laws of histories where pods wait at gates, or yield to others of their queue.

use std::sync::Arc;

use proptest::prelude::*;
use quotient_engine::snapshot::{Admission, Preemption, Queue};

use crate::effort;
use crate::histories::play;
use crate::history::{Event, History, history};

/// `history` with a `change` to some of its leaves.
fn with(mut history: History, some: &[bool], change: fn(&mut Queue)) -> History {
    let mut some = some.iter().copied().cycle();
    let mut change_some = |queue: &mut Queue| {
        if queue.children.is_none() && some.next().unwrap_or_default() {
            change(queue);
        }
    };
    for state in history.beginning.namespaces.values_mut().map(Arc::make_mut) {
        state.queues.iter_mut().for_each(&mut change_some);
    }
    let episodes = history.episodes.iter_mut().map(|episode| &mut episode.event);
    for event in episodes.chain(&mut history.last) {
        if let Event::QueueCreated(_, queue) = event {
            change_some(queue);
        }
    }
    history
}

fn some() -> impl Strategy<Value = Vec<bool>> {
    proptest::collection::vec(any::<bool>(), 1..8)
}

proptest! {
    #![proptest_config(effort::cases(80))]

    #[test]
    fn every_history_with_gates_keeps_the_laws_and_comes_to_rest(history in history(), gated in some()) {
        play(with(history, &gated, |queue| queue.admission = Admission::Gate))?;
    }

    #[test]
    fn every_history_with_preemption_keeps_the_laws_and_comes_to_rest(history in history(), preempting in some()) {
        play(with(history, &preempting, |queue| queue.preemption = Preemption::LowerPriority))?;
    }
}
