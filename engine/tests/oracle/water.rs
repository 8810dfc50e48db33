//! Shares as exact fractions: as if quanta could be cut.

use super::fraction::Fraction;
use super::{PendingPods, Tier};

/// The exact shares of `quanta`.
///
/// In the tier where the quanta run out, each with a weight has clamp(ground + λ·weight) between where the
/// tier starts and ends for it; λ makes the sum right. The weightless divide what those leave.
pub(crate) fn shares(quanta: i128, pending_pods: &[PendingPods]) -> Vec<Fraction> {
    let tier = Tier::of(quanta, pending_pods);
    let starts = |weightless: bool| -> i128 {
        pending_pods
            .iter()
            .filter(|pending| (pending.weight == 0) == weightless)
            .map(|pending| tier.start(pending))
            .sum()
    };
    let ends = |weightless: bool| -> i128 {
        pending_pods
            .iter()
            .filter(|pending| (pending.weight == 0) == weightless)
            .map(|pending| tier.end(pending))
            .sum()
    };
    let weighted = (quanta - starts(true)).min(ends(false));
    let weightless = (quanta - weighted).min(ends(true));
    let levels = [level(tier, weighted, pending_pods, false), level(tier, weightless, pending_pods, true)];
    pending_pods.iter().map(|pending| at(tier, pending, levels[usize::from(pending.weight == 0)])).collect()
}

/// What `pending` has at `level`.
fn at(tier: Tier, pending: &PendingPods, level: Fraction) -> Fraction {
    let unclamped = Fraction::whole(tier.ground(pending)) + level * Fraction::whole(pending.weight.max(1));
    unclamped.max(Fraction::whole(tier.start(pending))).min(Fraction::whole(tier.end(pending)))
}

/// The level at which those with a weight, or those without, have `quanta` together.
///
/// Their sum grows with the level and is straight between two neighboring points where one of them starts or
/// ends; so the highest point that is not too high, and the lowest that is not too low, give it.
fn level(tier: Tier, quanta: i128, pending_pods: &[PendingPods], weightless: bool) -> Fraction {
    let among: Vec<&PendingPods> =
        pending_pods.iter().filter(|pending| (pending.weight == 0) == weightless).collect();
    let sum = |level: Fraction| among.iter().map(|pending| at(tier, pending, level)).sum::<Fraction>();
    let points = || {
        let of = |pending: &&PendingPods| {
            [tier.start(pending), tier.end(pending)].map(|share| tier.level(pending, share))
        };
        among.iter().flat_map(of).map(|point| (point, sum(point)))
    };
    let quanta = Fraction::whole(quanta);
    let low = points().filter(|(_, sum)| *sum <= quanta).max_by_key(|(point, _)| *point);
    let high = points().filter(|(_, sum)| *sum >= quanta).min_by_key(|(point, _)| *point);
    match (low, high) {
        (Some((low, below)), Some((high, above))) if below < above => {
            low + (quanta - below) * (high - low) / (above - below)
        }
        (Some((level, _)), _) | (None, Some((level, _))) => level,
        (None, None) => Fraction::whole(0),
    }
}
