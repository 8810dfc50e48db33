//! When each watch was last heard of.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::health::Beat;

/// The last sign of life of every watched kind: an event, a bookmark, a page of a list, a watch that was opened.
///
/// The API server sends a bookmark about every minute where nothing else happens, so that silence means something:
/// a connection that is dead although nobody closed it.
#[derive(Clone, Debug)]
pub struct Pulses(Arc<BTreeMap<&'static str, Beat>>);

impl Pulses {
    /// Those of `kinds`, none of which may be silent for longer than `allowed`. Being born is the first sign.
    pub fn of(kinds: impl IntoIterator<Item = &'static str>, allowed: Duration) -> Self {
        Self(Arc::new(kinds.into_iter().map(|kind| (kind, Beat::new(kind, allowed))).collect()))
    }

    /// The pulse of the kind that a request to `path` is about: its last part is the kind's plural, and a kind that several
    /// groups have is called `plural.version.group`. Lists of single namespaces do not count.
    pub(super) fn of_path(&self, path: &str) -> Option<(&'static str, Beat)> {
        let (before, plural) = path.trim_end_matches('/').rsplit_once('/')?;
        let full = || {
            let (group, version) = before.strip_prefix("/apis/")?.split_once('/')?;
            self.0.get_key_value(format!("{plural}.{version}.{group}").as_str())
        };
        // Of two kinds with one plural the one of the other group has its full name.
        let (kind, beat) = full().or_else(|| self.0.get_key_value(plural))?;
        let everywhere = !before.contains("/namespaces/");
        everywhere.then(|| (*kind, beat.clone()))
    }

    /// Something was heard of `kind`.
    pub(crate) fn beat(&self, kind: &str) {
        self.0.get(kind).into_iter().for_each(Beat::now);
    }

    /// How long each kind has been silent, by name.
    pub fn silences(&self) -> impl Iterator<Item = (&'static str, Duration)> {
        self.0.iter().map(|(kind, beat)| (*kind, beat.silence()))
    }

    /// What is wrong, kind by kind, with those that have been silent for too long.
    pub fn complaints(&self) -> Vec<String> {
        self.0.values().filter_map(Beat::complaint).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_is_silent_for_too_long_is_named() {
        let pulses = Pulses::of(["nodes", "pods"], Duration::from_secs(180));
        tokio::time::advance(Duration::from_secs(100)).await;
        let (kind, pods) = pulses.of_path("/api/v1/pods").unwrap();
        assert_eq!(kind, "pods");
        pods.now();
        tokio::time::advance(Duration::from_secs(81)).await;
        assert_eq!(pulses.complaints(), ["nodes has been silent for 181 s"]);
        let seconds: Vec<_> = pulses.silences().map(|(kind, silence)| (kind, silence.as_secs())).collect();
        assert_eq!(seconds, [("nodes", 181), ("pods", 81)]);
    }

    #[test]
    fn only_lists_of_the_whole_cluster_count() {
        let pulses = Pulses::of(["namespaces", "queues"], Duration::ZERO);
        let kind = |path| pulses.of_path(path).map(|(kind, _)| kind);
        assert_eq!(kind("/apis/quotient.dev/v1alpha1/queues"), Some("queues"));
        assert_eq!(kind("/api/v1/namespaces"), Some("namespaces"));
        assert_eq!(kind("/apis/quotient.dev/v1alpha1/namespaces/a/queues"), None);
        assert_eq!(kind("/api/v1/pods"), None);
        let pulses = Pulses::of(["podgroups.v1.other"], Duration::ZERO);
        assert!(pulses.of_path("/apis/other/v1/podgroups").is_some());
        assert!(pulses.of_path("/apis/other/v2/podgroups").is_none());
        let both = Pulses::of(["jobs", "jobs.v1.other"], Duration::ZERO);
        let kind_of_both = |path| both.of_path(path).map(|(kind, _)| kind);
        assert_eq!(kind_of_both("/apis/batch/v1/jobs"), Some("jobs"));
        assert_eq!(kind_of_both("/apis/other/v1/jobs"), Some("jobs.v1.other"));
        assert_eq!(kind(""), None);
    }
}
