//! How long queues waited for their share, measured when the waiting ends.

use std::collections::BTreeMap;

use prometheus::Histogram;
use quotient_engine::names::{QueueName, QueueUid};
use tokio::time::Instant;

/// Times one state of queues from when it was first seen here until it is over.
#[derive(Debug)]
pub(super) struct Episodes {
    took: Histogram,
    since: BTreeMap<QueueName, (QueueUid, Instant)>,
}

impl Episodes {
    pub(super) const fn new(took: Histogram) -> Self {
        Self { took, since: BTreeMap::new() }
    }

    /// Notes the queues in the state now. The episode of a queue that left it is measured; that of a deleted queue is not.
    pub(super) fn see<'a>(
        &mut self,
        queues: impl Iterator<Item = (&'a QueueName, &'a QueueUid, bool)>,
        now: Instant,
    ) {
        let mut before = std::mem::take(&mut self.since);
        for (name, uid, is_in) in queues {
            let since = before.remove(name).filter(|(former, _)| former == uid).map(|(_, since)| since);
            if is_in {
                self.since.insert(name.clone(), (uid.clone(), since.unwrap_or(now)));
            } else if let Some(since) = since {
                self.took.observe(now.saturating_duration_since(since).as_secs_f64());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use prometheus::HistogramOpts;

    use super::*;

    #[test]
    fn an_episode_counts_when_it_is_over_and_not_when_its_queue_is() {
        let took = Histogram::with_opts(HistogramOpts::new("took", "took")).unwrap();
        let mut episodes = Episodes::new(took.clone());
        let (name, one, other) = (QueueName::new("a", "team"), QueueUid::from("1"), QueueUid::from("2"));
        let start = Instant::now();
        let mut see = |uid, is_in, second| {
            let queues = [(&name, uid, is_in)];
            episodes.see(queues.into_iter(), start + Duration::from_secs(second));
        };
        see(&one, true, 0);
        see(&one, true, 3);
        see(&one, false, 5);
        assert_eq!((took.get_sample_count(), took.get_sample_sum()), (1, 5.0));
        see(&one, true, 6);
        see(&other, false, 7);
        assert_eq!(took.get_sample_count(), 1, "another queue of that name did not wait");
        see(&other, true, 8);
        episodes.see(std::iter::empty(), start + Duration::from_secs(9));
        assert_eq!(took.get_sample_count(), 1);
    }
}
