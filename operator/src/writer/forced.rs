//! Pods that are long past their deadline and still there: when each was asked to go without grace.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use quotient_engine::names::PodUid;
use quotient_engine::plan::PodId;
use tokio::time::Instant;

/// How long one pod is not asked for again.
const REST: Duration = Duration::from_secs(30);

/// Which pods were asked to go without grace.
///
/// Only a hint: after a restart each is asked once more, which changes nothing for a pod that is held by a finalizer.
#[derive(Debug, Default)]
pub(super) struct Forced {
    asked: BTreeMap<PodUid, Asked>,
    /// When the first of those that are still wanted gone may be asked again.
    next: Option<Instant>,
}

#[derive(Debug)]
struct Asked {
    at: Instant,
    /// Whether people were told that it was done.
    told: bool,
}

impl Forced {
    /// Which of `wanted` may be asked to go now.
    pub(super) fn due<'a>(&mut self, wanted: &'a [PodId], now: Instant) -> Vec<&'a PodId> {
        let again = |asked: &Asked| asked.at.checked_add(REST).unwrap_or(asked.at);
        let uids: BTreeSet<&PodUid> = wanted.iter().map(|pod| &pod.uid).collect();
        self.asked.retain(|uid, asked| uids.contains(uid) || now < again(asked));
        let waiting = |pod: &PodId| self.asked.get(&pod.uid).map(again).filter(|again| now < *again);
        self.next = wanted.iter().filter_map(waiting).min();
        wanted.iter().filter(|pod| waiting(pod).is_none()).collect()
    }

    /// `pod` is being asked to go.
    pub(super) fn asked(&mut self, pod: &PodId, now: Instant) {
        let told = self.asked.get(&pod.uid).is_some_and(|asked| asked.told);
        self.asked.insert(pod.uid.clone(), Asked { at: now, told });
        let again = now.checked_add(REST);
        self.next = self.next.into_iter().chain(again).min();
    }

    /// `pod` went, as far as the API server is concerned. Says whether that is news.
    pub(super) fn granted(&mut self, pod: &PodId) -> bool {
        let asked = self.asked.get_mut(&pod.uid);
        asked.is_some_and(|asked| !std::mem::replace(&mut asked.told, true))
    }

    /// When one of them may be asked again.
    pub(super) fn next(&self) -> Option<Instant> {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(uid: &str) -> PodId {
        PodId { namespace: "a".into(), name: uid.into(), uid: uid.into() }
    }

    #[tokio::test(start_paused = true)]
    async fn each_is_asked_twice_a_minute_and_told_once() {
        let mut forced = Forced::default();
        let start = Instant::now();
        let wanted = [pod("1")];
        let mut asked = Vec::new();
        let mut told = 0;
        for second in 0..100 {
            let now = start + Duration::from_secs(second);
            for pod in forced.due(&wanted, now) {
                forced.asked(pod, now);
                told += u32::from(forced.granted(pod));
                asked.push(second);
            }
        }
        assert_eq!((asked, told), (vec![0, 30, 60, 90], 1));
    }

    #[tokio::test(start_paused = true)]
    async fn what_went_is_forgotten_and_wakes_nobody() {
        let mut forced = Forced::default();
        let now = Instant::now();
        forced.asked(&pod("1"), now);
        assert_eq!(forced.next(), Some(now + REST));
        assert!(forced.due(&[], now).is_empty());
        assert_eq!(forced.next(), None);
        forced.due(&[], now + REST);
        assert!(forced.asked.is_empty());
    }
}
