//! Capacity that vanishes at one stroke.

use std::collections::VecDeque;
use std::time::Duration;

use quotient_engine::amounts::{Amounts, Resource};
use tokio::time::Instant;

use crate::watch::ListCounts;

/// Doubts a deep fall of what nodes offer until a second full list shows the same and some time has passed.
///
/// ```text
///             deep fall                        list begun since, and grace over
///  trusted ──────────────► doubted since then ─────────────────────────────────► trusted, as it is now
///     ▲                       │      ▲ │ falls deeper still: doubted anew
///     └───────────────────────┘      └─┘
///        is back
/// ```
///
/// Falls within the grace add up: a cluster that loses its nodes one after the other loses them all the same.
#[derive(Debug)]
pub(super) struct CapacityGuard {
    drop_percent: u32,
    grace: Duration,
    /// What was trusted, oldest first: everything of the last `grace`, and the one before.
    trusted: VecDeque<(Instant, Amounts)>,
    doubt: Option<Doubt>,
}

#[derive(Debug)]
struct Doubt {
    since: Instant,
    /// What was offered when it began.
    offered: Amounts,
    /// How many full lists had been begun by then.
    lists: u64,
}

/// What to make of what nodes offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CapacityTrust {
    /// It is what they offer.
    Trusted,
    /// It may not be.
    Doubted {
        /// What is missing, if that was not missing before. Then nodes are to be listed anew.
        news: Option<String>,
    },
}

impl CapacityGuard {
    /// Doubts what falls by more than `drop_percent`, for at least `grace`.
    pub(super) const fn new(drop_percent: u32, grace: Duration) -> Self {
        Self { drop_percent, grace, trusted: VecDeque::new(), doubt: None }
    }

    /// What to make of `offered`, seen at `now`, after so many full lists of nodes. `promised` is what the quotas that stand
    /// allow: nodes offered that much when they were written.
    pub(super) fn check(
        &mut self,
        offered: Amounts,
        promised: &Amounts,
        lists: ListCounts,
        now: Instant,
    ) -> CapacityTrust {
        if self.doubt.is_none() {
            self.forget_old(now);
        }
        let reference = if self.trusted.is_empty() { promised.clone() } else { self.reference() };
        let loss = self.loss(&reference, &offered);
        if loss.is_empty() {
            self.doubt = None;
            self.trust(offered, now);
            return CapacityTrust::Trusted;
        }
        let Some(doubt) = self.doubt.as_ref().filter(|doubt| self.loss(&doubt.offered, &offered).is_empty())
        else {
            self.doubt = Some(Doubt { since: now, offered, lists: lists.begun });
            return CapacityTrust::Doubted { news: Some(loss) };
        };
        if lists.finished <= doubt.lists || now.saturating_duration_since(doubt.since) < self.grace {
            return CapacityTrust::Doubted { news: None };
        }
        self.doubt = None;
        self.trusted.clear();
        self.trust(offered, now);
        CapacityTrust::Trusted
    }

    /// Per resource the most that was trusted lately.
    fn reference(&self) -> Amounts {
        self.trusted.iter().fold(Amounts::new(), |most, (_, offered)| most.max(offered))
    }

    /// What is missing, such as `cpu 1 of 8`; empty if nothing is.
    fn loss(&self, before: &Amounts, now: &Amounts) -> String {
        let left = i128::from(100_u32.saturating_sub(self.drop_percent));
        let lost = before.iter().filter(|(resource, before)| {
            now.get(resource).units().saturating_mul(100) < before.units().saturating_mul(left)
        });
        let shown = |(resource, before): (&Resource, _)| {
            format!("{resource} {} of {}", resource.format(now.get(resource)), resource.format(before))
        };
        lost.map(shown).collect::<Vec<_>>().join(", ")
    }

    fn trust(&mut self, offered: Amounts, now: Instant) {
        if self.trusted.back().is_none_or(|(_, last)| *last != offered) {
            self.trusted.push_back((now, offered));
        }
    }

    fn forget_old(&mut self, now: Instant) {
        // One that was replaced before the grace began says nothing about the time since.
        let grace = self.grace;
        let is_old = |replaced: &Instant| now.saturating_duration_since(*replaced) >= grace;
        while self.trusted.get(1).is_some_and(|(replaced, _)| is_old(replaced)) {
            self.trusted.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::plan::cpu;
    use quotient_engine::amounts::Amount;

    const GRACE: u64 = 60;

    /// What is seen at a second: cpu and devices; and how many lists were begun, and which was finished last.
    type Seen = (u64, i128, i128, (u64, u64));

    /// One list, long ago.
    const ONE: (u64, u64) = (1, 1);
    /// And another one since.
    const TWO: (u64, u64) = (2, 2);

    /// What is made of each where quotas allow so much cpu: `.` trusted, `!` doubted anew, `?` doubted still.
    fn outcomes(mut guard: CapacityGuard, promised: i128, all: &[Seen]) -> String {
        let start = Instant::now();
        let cpu = |units| (Resource::Cpu, Amount::new(units));
        let outcome = |(second, units, devices, (begun, finished)): &Seen| {
            let devices = (Resource::from_name("nvidia.com/gpu"), Amount::new(*devices));
            let offered = [cpu(*units), devices].into_iter().collect();
            let lists = ListCounts { begun: *begun, finished: *finished };
            let now = start + Duration::from_secs(*second);
            match guard.check(offered, &[cpu(promised)].into_iter().collect(), lists, now) {
                CapacityTrust::Trusted => '.',
                CapacityTrust::Doubted { news: Some(_) } => '!',
                CapacityTrust::Doubted { news: None } => '?',
            }
        };
        all.iter().map(outcome).collect()
    }

    fn check(what: &str, all: &[Seen], expected: &str) {
        let guard = CapacityGuard::new(30, Duration::from_secs(GRACE));
        assert_eq!(outcomes(guard, 0, all), expected, "{what}");
    }

    #[test]
    fn a_deep_fall_is_doubted_until_it_has_lasted_and_a_later_list_agrees() {
        check("less than a third", &[(0, 100, 0, ONE), (100, 70, 0, ONE), (200, 50, 0, ONE)], "...");
        check("more than that", &[(0, 100, 0, ONE), (100, 69, 0, ONE)], ".!");
        check("growth", &[(0, 0, 0, ONE), (1, 100, 8, ONE), (2, 1000, 80, ONE)], "...");
        check("it is back", &[(0, 100, 0, ONE), (5, 0, 0, ONE), (6, 0, 0, ONE), (7, 100, 0, ONE)], ".!?.");
        check(
            "it is back to what is believed at once",
            &[(0, 100, 0, ONE), (5, 50, 0, ONE), (6, 71, 0, ONE)],
            ".!.",
        );
        let fall = (10, 50, 0, ONE);
        let begun = (10, 50, 0, (2, 1));
        let lasting = [(0, 100, 0, ONE), begun, (69, 50, 0, TWO), (200, 50, 0, TWO)];
        check("a list that was begun before says nothing", &lasting, ".!??");
        check("a later list", &[(0, 100, 0, ONE), fall, (69, 50, 0, TWO), (70, 50, 0, TWO)], ".!?.");
        let further = [(0, 100, 0, ONE), fall, (70, 50, 0, TWO), (71, 40, 0, TWO)];
        check("a further fall is measured by what is believed then", &further, ".!..");
        let deeper =
            [(0, 100, 0, ONE), (10, 50, 0, ONE), (60, 10, 0, TWO), (75, 10, 0, (3, 3)), (120, 10, 0, (3, 3))];
        check("a deeper fall is doubted from its own time", &deeper, ".!!?.");
        check("a device plugin restarts", &[(0, 100, 8, ONE), (1, 100, 0, ONE), (20, 100, 8, ONE)], ".!.");
        let steps = |seconds: u64| {
            (0..4).map(|step| (step * seconds, 100 - 15 * i128::from(step), 0, ONE)).collect::<Vec<Seen>>()
        };
        check("small falls one after the other", &steps(100), "....");
        check("small falls within the grace add up", &steps(5), "...!");
    }

    #[test]
    fn a_fresh_process_measures_its_first_view_by_what_quotas_allow() {
        let guard = |percent, grace| CapacityGuard::new(percent, Duration::from_secs(grace));
        let (is_back, seen) = ([(0, 50, 0, ONE), (0, 100, 0, TWO)], [(0, 80, 0, ONE), (0, 60, 0, ONE)]);
        assert_eq!(outcomes(guard(30, GRACE), 100, &is_back), "!.");
        // Once it has seen for itself, what quotas allow says nothing any more.
        assert_eq!(outcomes(guard(30, GRACE), 100, &seen), "..");
        // A cluster that is smaller by now is believed in the end; without grace the list alone decides.
        assert_eq!(outcomes(guard(30, 0), 100, &[(0, 50, 0, ONE), (0, 50, 0, TWO), (0, 10, 0, TWO)]), "!.!");
        assert_eq!(outcomes(guard(100, GRACE), 1000, &[(0, 100, 0, ONE), (0, 0, 0, ONE)]), "..");
    }

    #[test]
    fn a_loss_reads_as_what_is_left_of_what() {
        let guard = CapacityGuard::new(30, Duration::ZERO);
        assert_eq!(guard.loss(&cpu(8000), &cpu(1000)), "cpu 1 of 8");
    }
}
