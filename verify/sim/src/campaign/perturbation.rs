//! One fault at one place of one workload: a line of text.

use std::fmt;
use std::str::FromStr;

use quotient_invariants::Tolerance;

use crate::campaign::family::{Family, Place};
use crate::campaign::swarm;
use crate::campaign::trial::{BLIND, LAG, Trial};
use crate::campaign::workloads::Case;
use crate::faults::OperatorOptions;

/// How many pods may go for the next tries of workloads that look late.
const TRIES: usize = 2;

/// One fault at one place of one workload, in one execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Perturbation {
    /// The workload's name.
    pub workload: String,
    /// What goes wrong.
    pub family: Family,
    /// Where: the nth write, event or try.
    pub nth: u64,
    /// Which execution.
    pub seed: u64,
}

impl Perturbation {
    /// The execution that it is.
    pub fn trial(&self, case: &Case) -> Trial {
        let family = self.family;
        let loser = case.loser();
        let by_chance = family.place() == Place::Chance;
        let (mut operators, mut families) = if by_chance {
            swarm::draw(family, self.nth, self.seed, loser, case.writes().max(1))
        } else {
            (vec![family.strike(OperatorOptions::default(), self.nth, loser)], Vec::new())
        };
        if family == Family::Frozen {
            operators.push(OperatorOptions::default());
        }
        families.push(family);
        let any = |is: fn(Family) -> bool| families.iter().copied().any(is);
        // An eviction that is refused twice has another pod go.
        let refusals = families.iter().filter(|family| family.refuses()).count();
        let diverts = any(Family::diverts) || refusals > 1;
        let mut reference = case.reference();
        if any(Family::looks_late) {
            let most = case.evictions.end().saturating_add(TRIES);
            reference.case.evictions = *case.evictions.start()..=most;
        }
        Trial {
            operators,
            tolerance: Tolerance {
                lag: if by_chance || family.blinds() { BLIND } else { LAG },
                repeats: true,
                under_way: families.iter().map(|family| family.under_way()).max().unwrap_or_default(),
                progress: !matches!(family.place(), Place::Event(_) | Place::Chance) && !family.blinds(),
                ..case.tolerance.clone()
            },
            quiet: families.iter().filter_map(|family| family.heals_after()).max(),
            ends_alike: !(diverts
                || case.fragments && any(Family::blinds)
                || case.ages && any(Family::delays)),
            counts_evictions: !any(Family::lets_in) && !any(Family::deceives),
            seed: self.seed,
            ..reference
        }
    }
}

/// What names it, and is enough to play it again: `newcomer/crash-before/12#0`.
impl fmt::Display for Perturbation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workload, family, nth, seed } = self;
        write!(formatter, "{workload}/{family}/{nth}#{seed}")
    }
}

impl FromStr for Perturbation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let usage = || format!("{text} is no perturbation: they look like newcomer/crash-before/12#0");
        let (rest, seed) = text.split_once('#').ok_or_else(usage)?;
        let mut parts = rest.split('/');
        let (Some(workload), Some(family), Some(nth), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(usage());
        };
        Ok(Self {
            workload: workload.to_owned(),
            family: family.parse()?,
            nth: nth.parse().map_err(|_| usage())?,
            seed: seed.parse().map_err(|_| usage())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_text_names_it() {
        let text = "newcomer/stale-list-pods-5/12#3";
        assert_eq!(text.parse::<Perturbation>().unwrap().to_string(), text);
        for wrong in ["newcomer", "newcomer/crash/1#0", "newcomer/crash-before/x#0", "a/b/c/d#0"] {
            assert!(wrong.parse::<Perturbation>().is_err(), "{wrong}");
        }
    }
}
