//! Gates: what must not happen.

use std::fmt;

use super::comparison::Comparison;
use crate::output::counted;

/// Something that a change must not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Evict more pods than that.
    Evictions(usize),
    /// Lower the deserved share of a queue by more than so many percent, of any resource.
    ShareDrop(u32),
    /// Leave a guarantee that the cluster cannot meet.
    GuaranteeUnmeetable,
    /// Leave a Queue without a share.
    Stalled,
}

/// What a gate found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) gate: Gate,
    pub(crate) is_passed: bool,
    /// The numbers.
    pub(crate) message: String,
}

/// Reads `evictions>0`.
pub(super) fn gate(text: &str) -> Result<Gate, String> {
    let text = text.trim();
    let read = match text.split_once('>') {
        Some(("evictions", number)) => number.trim().parse().ok().map(Gate::Evictions),
        Some(("share-drop", number)) => number
            .trim()
            .trim_end_matches('%')
            .parse()
            .ok()
            .filter(|percent| *percent <= 100)
            .map(Gate::ShareDrop),
        None if text == "guarantee-unmeetable" => Some(Gate::GuaranteeUnmeetable),
        None if text == "stalled" => Some(Gate::Stalled),
        _ => None,
    };
    read.ok_or_else(|| format!("{text}: write evictions>N, share-drop>N%, guarantee-unmeetable or stalled"))
}

impl Gate {
    /// Whether the change passes it.
    pub(super) fn judge(self, comparison: &Comparison) -> Verdict {
        let (is_passed, message) = match self {
            Self::Evictions(most) => {
                let count = comparison.evicted.len();
                (count <= most, counted(count, "eviction", "evictions"))
            }
            Self::ShareDrop(percent) => match &comparison.deepest_drop {
                Some((queue, drop)) => {
                    let is_passed = *drop <= u64::from(percent).saturating_mul(100);
                    let (whole, rest) = (drop.div_euclid(100), drop.rem_euclid(100).div_euclid(10));
                    (is_passed, format!("the share of queue {queue} falls by {whole}.{rest} %"))
                }
                None => (true, "no share falls".to_owned()),
            },
            Self::GuaranteeUnmeetable => {
                of_queues(&comparison.unmeetable, "guarantees that the cluster cannot meet")
            }
            Self::Stalled => of_queues(&comparison.stalled, "Queues without a share"),
        };
        Verdict { gate: self, is_passed, message }
    }
}

fn of_queues(queues: &[String], what: &str) -> (bool, String) {
    let names = if queues.is_empty() { String::new() } else { format!(": {}", queues.join(", ")) };
    (queues.is_empty(), format!("{} {what}{names}", queues.len()))
}

impl fmt::Display for Gate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evictions(most) => write!(formatter, "evictions>{most}"),
            Self::ShareDrop(percent) => write!(formatter, "share-drop>{percent}%"),
            Self::GuaranteeUnmeetable => formatter.write_str("guarantee-unmeetable"),
            Self::Stalled => formatter.write_str("stalled"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_read_and_written() {
        for text in ["evictions>0", "share-drop>10%", "guarantee-unmeetable", "stalled"] {
            assert_eq!(gate(text).unwrap().to_string(), text);
        }
        for wrong in ["evictions", "evictions>x", "share-drop>101%", "evictions<1"] {
            assert!(gate(wrong).is_err(), "{wrong}");
        }
    }
}
