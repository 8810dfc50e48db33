//! What flags say: changes, and gates, which are what must not happen.

use std::fmt;

use quotient_engine::amounts::Quantity;
use serde_json::Value;

use super::comparison::Comparison;
use crate::output::{counted, list};
use crate::snapshot::{NodeOffer, Setting};

/// The fields of a Queue that have an amount for each resource.
const BY_RESOURCE: [&str; 4] = ["request", "guaranteed", "limit", "defaultRequests"];

/// Reads `queue/[NAMESPACE/]NAME.FIELD=VALUE`; the value is YAML.
pub(crate) fn setting(text: &str) -> Result<Setting, String> {
    let wrong = || format!("{text}: write queue/NAME.FIELD=VALUE, such as queue/team-a.weight=2");
    let (place, value) = text.split_once('=').ok_or_else(wrong)?;
    let object = place.strip_prefix("queue/").or_else(|| place.strip_prefix("queues/")).ok_or_else(wrong)?;
    let (queue, path) = object.split_once('.').ok_or_else(wrong)?;
    let (namespace, name) = match queue.split_once('/') {
        Some((namespace, name)) => (Some(namespace.to_owned()), name),
        None => (None, queue),
    };
    let path = path.strip_prefix("spec.").unwrap_or(path);
    let path: Vec<&str> = match path.split_once('.') {
        // The name of a resource may have points.
        Some((field, resource)) if BY_RESOURCE.contains(&field) => vec![field, resource],
        _ => path.split('.').collect(),
    };
    if name.is_empty() || path.contains(&"") {
        return Err(wrong());
    }
    let path = path.into_iter().map(str::to_owned).collect();
    let value: Value =
        serde_yaml_ng::from_str(value).map_err(|error| format!("{text}: read {value}: {error}"))?;
    Ok(Setting { namespace, name: name.to_owned(), path, value })
}

/// Reads `cpu=4,memory=16Gi`.
pub(super) fn node_offer(text: &str) -> Result<NodeOffer, String> {
    let one = |part: &str| {
        let (name, amount) =
            part.split_once('=').ok_or_else(|| format!("{part}: write NAME=AMOUNT, such as cpu=4"))?;
        amount.parse::<Quantity>().map_err(|error| format!("{part}: {error}"))?;
        Ok((name.trim().to_owned(), amount.to_owned()))
    };
    text.split(',').map(one).collect()
}

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
    pub(super) fn check(self, comparison: &Comparison) -> Verdict {
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
                let one = "guarantee that the cluster cannot meet";
                of_queues(comparison.unmeetable.keys(), one, "guarantees that the cluster cannot meet")
            }
            Self::Stalled => {
                of_queues(comparison.stalled.iter(), "Queue without a share", "Queues without a share")
            }
        };
        Verdict { gate: self, is_passed, message }
    }
}

fn of_queues<'q>(
    queues: impl ExactSizeIterator<Item = &'q String>,
    one: &str,
    several: &str,
) -> (bool, String) {
    let count = queues.len();
    let names = if count == 0 { String::new() } else { format!(": {}", list(queues)) };
    (count == 0, counted(count, one, several) + &names)
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
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_of_a_queue_is_named_by_its_path() {
        let read = setting("queue/org/research.guaranteed.cpu=3").unwrap();
        let expected = Setting {
            namespace: Some("org".to_owned()),
            name: "research".to_owned(),
            path: vec!["guaranteed".to_owned(), "cpu".to_owned()],
            value: json!(3),
        };
        assert_eq!(read, expected);
        let gpus = setting("queue/a.guaranteed.nvidia.com/gpu=8").unwrap();
        assert_eq!((gpus.namespace, gpus.path), (None, vec!["guaranteed".into(), "nvidia.com/gpu".into()]));
        assert_eq!(setting("queue/a.spec.limit={cpu: 3}").unwrap().value, json!({"cpu": 3}));
        assert_eq!(setting("queue/a.pausedUntil=null").unwrap().value, Value::Null);
        for wrong in ["a.weight=3", "queue/a=3", "queue/a.weight", "queue/.weight=1", "queue/a..b=1"] {
            assert!(setting(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_node_offers_quantities() {
        let offer = node_offer("cpu=4,memory=16Gi").unwrap();
        assert_eq!(offer.get("memory").map(String::as_str), Some("16Gi"));
        assert!(node_offer("cpu").is_err());
        assert!(node_offer("cpu=lots").is_err());
    }

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
