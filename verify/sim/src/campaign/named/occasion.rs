//! One execution of a named perturbation: `P06/3#0`.

use std::fmt;

use super::{Named, all};
use crate::campaign::trial::Trial;

/// One play of a named perturbation, in one execution.
#[derive(Clone, Debug)]
pub struct Occasion {
    /// `P06`.
    pub name: &'static str,
    /// Which of its plays.
    pub nth: usize,
    /// The play, in its execution.
    pub trial: Trial,
}

impl Occasion {
    /// Every play of `named`, in so many executions.
    pub fn all(named: &Named, seeds: u64) -> Vec<Self> {
        let name = named.name;
        let plays = named.plays().into_iter().enumerate();
        let each = |(nth, play): (usize, Trial)| {
            (0..seeds).map(move |seed| Self { name, nth, trial: Trial { seed, ..play.clone() } })
        };
        plays.flat_map(each).collect()
    }

    /// The one of this line of text; none if there is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (rest, seed) = text.split_once('#')?;
        let (name, nth) = rest.split_once('/')?;
        let (nth, seed) = (nth.parse().ok()?, seed.parse().ok()?);
        let named = all().into_iter().find(|named| named.name == name)?;
        let play = named.plays().into_iter().nth(nth)?;
        Some(Self { name: named.name, nth, trial: Trial { seed, ..play } })
    }
}

impl fmt::Display for Occasion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}#{}", self.name, self.nth, self.trial.seed)
    }
}
