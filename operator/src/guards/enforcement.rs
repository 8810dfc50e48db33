//! A quota controller that does not run.

use std::collections::BTreeMap;
use std::time::Duration;

use quotient_engine::amounts::Bounds;
use quotient_engine::names::Namespace;
use quotient_engine::snapshot::Snapshot;
use tokio::time::Instant;

/// How long a quota may wait to take effect before the quota controller counts as stopped.
const PATIENCE: Duration = Duration::from_secs(30);

/// Whether kube-controller-manager enforces quotas.
///
/// A pod is evicted for a queue whose quota rises then. If no quota takes effect any more, the pod is evicted in vain. So
/// the quota controller has to be seen at work: once since the process started, and again after a quota has waited too long.
#[derive(Debug, Default)]
pub(super) struct EnforcementGuard {
    /// How often the quota controller has been seen at work.
    enforced: u64,
    /// When it was seen last.
    seen: Option<Instant>,
    /// The quotas that have not taken effect, each with its amounts and since when they are known.
    waiting: BTreeMap<Namespace, (Bounds, Instant)>,
}

impl EnforcementGuard {
    /// Whether the quotas of `snapshot` take effect, where so many have been seen to do so.
    pub(super) fn is_proven(&mut self, snapshot: &Snapshot, enforced: u64, now: Instant) -> bool {
        if enforced != self.enforced {
            self.enforced = enforced;
            self.seen = Some(now);
        }
        let ours = || {
            let quotas =
                snapshot.namespaces.iter().filter_map(|(name, state)| Some((name, state.quota.as_ref()?)));
            quotas.filter(|(_, quota)| quota.ours)
        };
        let mut before = std::mem::take(&mut self.waiting);
        for (name, quota) in ours().filter(|(_, quota)| quota.hard != quota.enforced) {
            let same = before.remove(name).filter(|(hard, _)| *hard == quota.hard);
            self.waiting.insert(name.clone(), same.unwrap_or_else(|| (quota.hard.clone(), now)));
        }
        let is_late = |since: Instant| {
            now.saturating_duration_since(since) >= PATIENCE && self.seen.is_none_or(|seen| seen <= since)
        };
        let is_seen = self.seen.is_some() && !self.waiting.values().any(|(_, since)| is_late(*since));
        is_seen || ours().next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use quotient_engine::snapshot::{NamespaceState, Quota};

    use super::*;
    use crate::tests::plan::cpu;

    /// One quota for each: what was written, and what takes effect.
    fn quotas(all: &[(i128, i128)]) -> Snapshot {
        let namespace = |(number, (hard, enforced)): (usize, &(i128, i128))| {
            let quota = Quota { hard: cpu(*hard), enforced: cpu(*enforced), ours: true, ..Quota::default() };
            let state = NamespaceState { quota: Some(quota), ..NamespaceState::default() };
            (Namespace::new(format!("n{number}")), Arc::new(state))
        };
        Snapshot { namespaces: all.iter().enumerate().map(namespace).collect(), ..Snapshot::default() }
    }

    /// A second, how often the controller was seen by then, and the quotas.
    type Observed<'a> = (u64, u64, &'a [(i128, i128)]);

    /// What is made of each: seconds, how often the controller was seen, and the quotas.
    fn outcomes(seen: &[Observed<'_>]) -> String {
        let start = Instant::now();
        let mut guard = EnforcementGuard::default();
        let outcome = |(second, enforced, all): &Observed<'_>| {
            let now = start + Duration::from_secs(*second);
            if guard.is_proven(&quotas(all), *enforced, now) { '.' } else { '?' }
        };
        seen.iter().map(outcome).collect()
    }

    #[test]
    fn a_fresh_process_has_to_see_it_once() {
        assert_eq!(
            outcomes(&[(0, 0, &[]), (1, 0, &[(5, 5)]), (2, 1, &[(4, 4)]), (900, 1, &[(4, 4)])]),
            ".?.."
        );
    }

    #[test]
    fn a_quota_that_waits_too_long_takes_the_proof_away_until_any_takes_effect() {
        let (waits, two) = ([(4, 5)], [(4, 5), (7, 7)]);
        let seen: [Observed<'_>; 5] =
            [(0, 1, &[(5, 5)]), (10, 1, &waits), (39, 1, &waits), (40, 1, &waits), (41, 2, &two)];
        assert_eq!(outcomes(&seen), "...?.");
        // What was seen since says that it runs, whatever keeps that one quota.
        assert_eq!(outcomes(&[(0, 1, &waits), (10, 2, &waits), (300, 2, &waits)]), "...");
    }

    #[test]
    fn a_quota_that_is_written_again_begins_to_wait_again() {
        let seen: [Observed<'_>; 4] =
            [(0, 1, &[(5, 5)]), (10, 1, &[(4, 5)]), (30, 1, &[(3, 5)]), (59, 1, &[(3, 5)])];
        assert_eq!(outcomes(&seen), "....");
    }
}
