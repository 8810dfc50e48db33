//! The decision about the Lease, without clock and network.

use std::time::Duration;

/// The Lease as this process has seen it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Observed {
    /// Its holder; empty if it was released.
    pub(super) holder: String,
    /// How long it keeps others out when it is not renewed.
    pub(super) duration: Duration,
    /// When this process last saw it change, by its own clock.
    pub(super) changed_at: Duration,
}

/// What to do about the Lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// There is none: create it.
    Create,
    /// It is this process's own: renew it.
    Renew,
    /// It was released or has lapsed: take it.
    Take,
    /// Another replica holds it.
    Wait,
}

/// Decides. `now` and [`Observed::changed_at`] are times on the same local clock.
pub(super) fn evaluate(observed: Option<&Observed>, identity: &str, now: Duration) -> Step {
    match observed {
        None => Step::Create,
        Some(lease) if lease.holder == identity => Step::Renew,
        Some(lease) if lease.holder.is_empty() => Step::Take,
        Some(lease) if now.saturating_sub(lease.changed_at) >= lease.duration => Step::Take,
        Some(_) => Step::Wait,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(holder: &str, unchanged_for: u64, expected: Step) {
        let lease = Observed {
            holder: holder.to_owned(),
            duration: Duration::from_secs(15),
            changed_at: Duration::from_secs(100),
        };
        assert_eq!(evaluate(Some(&lease), "me", Duration::from_secs(100 + unchanged_for)), expected);
    }

    #[test]
    fn an_absent_lease_is_created() {
        assert_eq!(evaluate(None, "me", Duration::ZERO), Step::Create);
    }

    #[test]
    fn ours_is_renewed_however_old() {
        check("me", 0, Step::Renew);
        check("me", 1000, Step::Renew);
    }

    #[test]
    fn a_released_one_is_taken_at_once() {
        check("", 0, Step::Take);
    }

    #[test]
    fn anothers_is_taken_only_when_it_lapsed_before_our_eyes() {
        check("you", 0, Step::Wait);
        check("you", 14, Step::Wait);
        check("you", 15, Step::Take);
    }

    #[test]
    fn a_clock_that_seems_to_run_backwards_waits() {
        let lease = Observed {
            holder: "you".to_owned(),
            duration: Duration::from_secs(15),
            changed_at: Duration::from_secs(100),
        };
        assert_eq!(evaluate(Some(&lease), "me", Duration::from_secs(50)), Step::Wait);
    }
}
