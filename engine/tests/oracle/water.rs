//! Shares as exact fractions: as if quanta could be cut.

use super::fraction::Fraction;
use super::{PendingPods, Tier};

/// The exact shares of `quanta`.
///
/// In the tier where the quanta run out, each with a weight has clamp(ground + λ·weight) between where the
/// tier starts and ends for it; λ makes the sum right. The weightless divide what those leave.
pub(crate) fn shares(quanta: i128, asks: &[PendingPods]) -> Vec<Fraction> {
    let tier = Tier::of(quanta, asks);
    let starts = |weightless: bool| -> i128 {
        asks.iter().filter(|ask| (ask.weight == 0) == weightless).map(|ask| tier.start(ask)).sum()
    };
    let ends = |weightless: bool| -> i128 {
        asks.iter().filter(|ask| (ask.weight == 0) == weightless).map(|ask| tier.end(ask)).sum()
    };
    let weighted = (quanta - starts(true)).min(ends(false));
    let weightless = (quanta - weighted).min(ends(true));
    let levels = [level(tier, weighted, asks, false), level(tier, weightless, asks, true)];
    asks.iter().map(|ask| at(tier, ask, levels[usize::from(ask.weight == 0)])).collect()
}

/// What `ask` has at `level`.
fn at(tier: Tier, ask: &PendingPods, level: Fraction) -> Fraction {
    let unclamped = Fraction::whole(tier.ground(ask)) + level * Fraction::whole(ask.weight.max(1));
    unclamped.max(Fraction::whole(tier.start(ask))).min(Fraction::whole(tier.end(ask)))
}

/// The level at which those with a weight, or those without, have `quanta` together.
///
/// Their sum grows with the level and is straight between two neighboring points where one of them starts or
/// ends; so the highest point that is not too high, and the lowest that is not too low, give it.
fn level(tier: Tier, quanta: i128, asks: &[PendingPods], weightless: bool) -> Fraction {
    let among: Vec<&PendingPods> = asks.iter().filter(|ask| (ask.weight == 0) == weightless).collect();
    let sum = |level: Fraction| among.iter().map(|ask| at(tier, ask, level)).sum::<Fraction>();
    let points = || {
        let of = |ask: &&PendingPods| [tier.start(ask), tier.end(ask)].map(|share| tier.level(ask, share));
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
