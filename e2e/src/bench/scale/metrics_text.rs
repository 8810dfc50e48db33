//! Numbers from the text that `/metrics` answers.

use std::time::Duration;

use anyhow::Context as _;

/// A histogram of durations, without its buckets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// How many there were.
    pub count: u32,
    /// How long they took together.
    pub sum: Duration,
}

impl Histogram {
    /// The histogram `name`, without labels, in a metrics text.
    pub fn find(text: &str, name: &str) -> anyhow::Result<Self> {
        let field = |suffix: &str| {
            let value = text
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(suffix)?.strip_prefix(' '));
            value.with_context(|| format!("finding {name}{suffix} among the metrics"))
        };
        let seconds: f64 = field("_sum")?.parse().with_context(|| format!("reading {name}_sum"))?;
        Ok(Self {
            count: field("_count")?.parse().with_context(|| format!("reading {name}_count"))?,
            sum: Duration::try_from_secs_f64(seconds)?,
        })
    }

    /// What has come since `earlier`.
    pub(in crate::bench) fn since(self, earlier: Self) -> Self {
        Self { count: self.count.saturating_sub(earlier.count), sum: self.sum.saturating_sub(earlier.sum) }
    }

    /// How long one took on average; nothing if there was none.
    pub fn mean(self) -> Option<Duration> {
        self.sum.checked_div(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# TYPE cycle_seconds histogram
cycle_seconds_bucket{le=\"0.001\"} 1
cycle_seconds_sum 0.75
cycle_seconds_count 3
";

    #[test]
    fn a_histogram_is_found_by_its_whole_name() {
        let histogram = Histogram::find(TEXT, "cycle_seconds").unwrap();
        assert_eq!(histogram, Histogram { count: 3, sum: Duration::from_millis(750) });
        assert_eq!(histogram.mean(), Some(Duration::from_millis(250)));
        assert!(Histogram::find(TEXT, "cycle").is_err());
    }

    #[test]
    fn what_came_since() {
        let later = Histogram { count: 5, sum: Duration::from_millis(900) };
        let since = later.since(Histogram { count: 3, sum: Duration::from_millis(750) });
        assert_eq!(since.mean(), Some(Duration::from_millis(75)));
        assert_eq!(later.since(later).mean(), None);
    }
}
