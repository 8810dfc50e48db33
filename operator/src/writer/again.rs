//! Terminating pods that are given less grace: when each was evicted again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use quotient_engine::names::PodUid;
use quotient_engine::plan::{Eviction, PodId};
use tokio::time::Instant;

/// How long one pod is not asked for again.
const RETRY_INTERVAL: Duration = Duration::from_secs(30);

/// Which terminating pods were evicted again.
///
/// Only a hint: after a restart each is asked once more, which changes nothing for a pod that is held by a finalizer.
#[derive(Debug, Default)]
pub(super) struct Again {
    asked: BTreeMap<PodUid, Asked>,
    /// When the first of those that are still wanted gone may be asked again.
    next: Option<Instant>,
}

#[derive(Debug)]
struct Asked {
    at: Instant,
    /// Whether people were told that it was done.
    reported: bool,
}

impl Again {
    /// Which of `wanted` may be asked to go now.
    pub(super) fn due<'a>(
        &mut self,
        wanted: impl Iterator<Item = &'a Eviction>,
        now: Instant,
    ) -> BTreeSet<PodUid> {
        let again = |asked: &Asked| asked.at.checked_add(RETRY_INTERVAL).unwrap_or(asked.at);
        let mut due: BTreeSet<PodUid> = wanted.map(|eviction| eviction.pod.uid.clone()).collect();
        self.asked.retain(|uid, asked| due.contains(uid) || now < again(asked));
        let waiting = |uid: &PodUid| self.asked.get(uid).map(again).filter(|again| now < *again);
        self.next = due.iter().filter_map(waiting).min();
        due.retain(|uid| waiting(uid).is_none());
        due
    }

    /// `pod` is being asked to go.
    pub(super) fn asked(&mut self, pod: &PodId, now: Instant) {
        let reported = self.asked.get(&pod.uid).is_some_and(|asked| asked.reported);
        self.asked.insert(pod.uid.clone(), Asked { at: now, reported });
        let again = now.checked_add(RETRY_INTERVAL);
        self.next = self.next.into_iter().chain(again).min();
    }

    /// `pod` went, as far as the API server is concerned. Says whether that is news.
    pub(super) fn granted(&mut self, pod: &PodId) -> bool {
        let asked = self.asked.get_mut(&pod.uid);
        asked.is_some_and(|asked| !std::mem::replace(&mut asked.reported, true))
    }

    /// When one of them may be asked again.
    pub(super) fn next(&self) -> Option<Instant> {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::tests::again::again as eviction;

    #[tokio::test(start_paused = true)]
    async fn each_is_asked_twice_a_minute_and_told_once() {
        let mut again = Again::default();
        let start = Instant::now();
        let wanted = [eviction("1")];
        let mut asked = Vec::new();
        let mut reported = 0;
        for second in 0..100 {
            let now = start + Duration::from_secs(second);
            if !again.due(wanted.iter(), now).is_empty() {
                again.asked(&wanted[0].pod, now);
                reported += u32::from(again.granted(&wanted[0].pod));
                asked.push(second);
            }
        }
        assert_eq!((asked, reported), (vec![0, 30, 60, 90], 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_pod_that_is_gone_is_forgotten_and_triggers_no_cycle() {
        let mut again = Again::default();
        let now = Instant::now();
        again.asked(&eviction("1").pod, now);
        assert_eq!(again.next(), Some(now + RETRY_INTERVAL));
        assert!(again.due([].iter(), now).is_empty());
        assert_eq!(again.next(), None);
        again.due([].iter(), now + RETRY_INTERVAL);
        assert!(again.asked.is_empty());
    }
}
