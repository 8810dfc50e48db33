//! Changes that are written as flags.

use std::collections::BTreeMap;

use quotient_engine::amounts::Quantity;
use serde_json::Value;

use crate::snapshot::Setting;

/// What an added node offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeOffer(pub(crate) BTreeMap<String, String>);

/// Reads `queue/[NAMESPACE/]NAME.FIELD=VALUE`; the value is YAML.
pub(crate) fn setting(text: &str) -> Result<Setting, String> {
    let wrong = || format!("{text}: write queue/NAME.FIELD=VALUE, such as queue/team-a.weight=2");
    let (place, value) = text.split_once('=').ok_or_else(wrong)?;
    let object = place.strip_prefix("queue/").or_else(|| place.strip_prefix("queues/")).ok_or_else(wrong)?;
    let (namespace, rest) = match object.split_once('/') {
        Some((namespace, rest)) => (Some(namespace.to_owned()), rest),
        None => (None, object),
    };
    let (name, path) = rest.split_once('.').ok_or_else(wrong)?;
    let path: Vec<String> =
        path.strip_prefix("spec.").unwrap_or(path).split('.').map(str::to_owned).collect();
    if name.is_empty() || path.iter().any(String::is_empty) {
        return Err(wrong());
    }
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
    text.split(',').map(one).collect::<Result<_, String>>().map(NodeOffer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
        assert_eq!(setting("queue/a.spec.limit={cpu: 3}").unwrap().value, json!({"cpu": 3}));
        assert_eq!(setting("queue/a.pausedUntil=null").unwrap().value, Value::Null);
        for wrong in ["a.weight=3", "queue/a=3", "queue/a.weight", "queue/.weight=1", "queue/a..b=1"] {
            assert!(setting(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_node_offers_quantities() {
        let offer = node_offer("cpu=4,memory=16Gi").unwrap();
        assert_eq!(offer.0.get("memory").map(String::as_str), Some("16Gi"));
        assert!(node_offer("cpu").is_err());
        assert!(node_offer("cpu=lots").is_err());
    }
}
