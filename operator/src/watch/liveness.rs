//! When each watch was last read.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::health::Heartbeat;

/// The last sign of life of every watched kind: an object that was read, the end of a list, a bookmark, a watch that was opened.
///
/// Bytes alone are no sign of life: a kind whose lists arrive and cannot be read is not known. The API server sends a bookmark
/// about every minute if nothing else happens. Silence therefore means that the connection is dead, although neither side closed
/// it.
#[derive(Clone, Debug)]
pub struct WatchLiveness(Arc<BTreeMap<&'static str, KindLiveness>>);

/// The signs of life of one kind.
#[derive(Clone, Debug)]
pub(super) struct KindLiveness {
    beat: Heartbeat,
    /// Whether something was sent that could not be read, and nothing was read since.
    is_unread: Arc<AtomicBool>,
}

impl KindLiveness {
    /// Something was read.
    pub(super) fn read(&self) {
        self.is_unread.store(false, Ordering::Relaxed);
        self.beat.now();
    }

    /// A watch was opened. That is no sign of life where what the last one said could not be read.
    pub(super) fn opened(&self) {
        if !self.is_unread.load(Ordering::Relaxed) {
            self.beat.now();
        }
    }
}

impl WatchLiveness {
    /// Those of `kinds`, none of which may be silent for longer than `allowed`. Being born is the first sign.
    pub fn of(kinds: impl IntoIterator<Item = &'static str>, allowed: Duration) -> Self {
        let of_kind = |kind| KindLiveness { beat: Heartbeat::new(kind, allowed), is_unread: Arc::default() };
        Self(Arc::new(kinds.into_iter().map(|kind| (kind, of_kind(kind))).collect()))
    }

    /// That of `kind`, if it is one of them.
    pub(super) fn of_kind(&self, kind: &str) -> Option<KindLiveness> {
        self.0.get(kind).cloned()
    }

    /// Something of `kind` was read, or all that can be read.
    pub(crate) fn beat(&self, kind: &str) {
        self.0.get(kind).into_iter().for_each(KindLiveness::read);
    }

    /// What was sent of `kind` could not be read.
    pub(super) fn unread(&self, kind: &str) {
        self.0.get(kind).into_iter().for_each(|of_kind| of_kind.is_unread.store(true, Ordering::Relaxed));
    }

    /// How long each kind has been silent, by name.
    pub fn silences(&self) -> impl Iterator<Item = (&'static str, Duration)> {
        self.0.iter().map(|(kind, of_kind)| (*kind, of_kind.beat.silence()))
    }

    /// What is wrong, kind by kind, with those that have been silent for too long.
    pub fn failures(&self) -> Vec<String> {
        self.0.values().filter_map(|of_kind| of_kind.beat.failure()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_is_silent_for_too_long_is_named() {
        let liveness = WatchLiveness::of(["nodes", "pods"], Duration::from_secs(180));
        tokio::time::advance(Duration::from_secs(100)).await;
        liveness.beat("pods");
        tokio::time::advance(Duration::from_secs(81)).await;
        assert_eq!(liveness.failures(), ["nodes has been silent for 181 s"]);
        let seconds: Vec<_> = liveness.silences().map(|(kind, silence)| (kind, silence.as_secs())).collect();
        assert_eq!(seconds, [("nodes", 181), ("pods", 81)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_that_is_opened_after_one_that_could_not_be_read_is_no_sign_of_life() {
        let liveness = WatchLiveness::of(["pods"], Duration::from_secs(180));
        let pods = liveness.of_kind("pods").unwrap();
        tokio::time::advance(Duration::from_secs(100)).await;
        pods.opened();
        liveness.unread("pods");
        tokio::time::advance(Duration::from_secs(181)).await;
        pods.opened();
        assert_eq!(liveness.failures(), ["pods has been silent for 181 s"]);
        liveness.beat("pods");
        assert_eq!(liveness.failures(), [""; 0]);
        tokio::time::advance(Duration::from_secs(100)).await;
        pods.opened();
        assert_eq!(liveness.silences().next().map(|(_, silence)| silence), Some(Duration::ZERO));
    }
}
