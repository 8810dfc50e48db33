//! Several runs of a scenario, as their median and their worst.

use serde::{Deserialize, Serialize};

use super::{Measures, Timeline};

/// All runs of one scenario.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Series {
    /// The scenario's name.
    pub name: String,
    /// The scenario in a sentence.
    pub says: String,
    /// One after the other.
    pub runs: Vec<Measures>,
    /// Of each run, where the time went.
    pub timelines: Vec<Timeline>,
}

/// A number that was measured several times; lower is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// The middle one; of an even count the higher of the two.
    pub median: u64,
    /// The highest.
    pub worst: u64,
}

impl Series {
    /// A number of all runs; none if some run does not have it.
    pub fn figure(&self, of: impl Fn(&Measures) -> Option<u64>) -> Option<Figure> {
        let mut numbers: Vec<u64> = self.runs.iter().map(of).collect::<Option<_>>()?;
        numbers.sort_unstable();
        Some(Figure { median: *numbers.get(numbers.len() / 2)?, worst: *numbers.last()? })
    }

    /// The run whose last pod ran at the median time, for a picture.
    pub fn typical(&self) -> Option<&Timeline> {
        let median = self.figure(|run| run.last_running)?.median;
        let at = self.runs.iter().position(|run| run.last_running == Some(median))?;
        self.timelines.get(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one() {
        let run = |last| Measures { last_running: Some(last), ..Measures::default() };
        let runs = [5, 1, 9, 3, 4].map(run).into();
        let series = Series { runs, ..Series::default() };
        assert_eq!(series.figure(|run| run.last_running), Some(Figure { median: 4, worst: 9 }));
        assert_eq!(series.figure(|run| run.first_eviction), None);
    }
}
