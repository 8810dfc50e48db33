//! What a pod requests, and for how long a quota is charged for it.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use quotient_invariants::{Amount, Resource};
use serde_json::Value;

use crate::objects::object;

/// Amounts by resource, in billionths of the unit: `cpu`, `memory`, `nvidia.com/gpu`.
pub type Amounts = BTreeMap<String, i128>;

/// The quantity that `value` says.
pub fn quantity(value: &Value) -> i128 {
    Amount::from_value(value).map_or(0, Amount::nano)
}

/// All quantities of a map of them.
pub fn quantities(map: &Value) -> Amounts {
    map.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), quantity(value))).collect()
}

/// What the pod requests.
pub fn requests(pod: &Value) -> Amounts {
    let requests = quotient_invariants::requests(pod);
    requests.iter().map(|(resource, amount)| (resource.name().to_owned(), amount.nano())).collect()
}

pub(crate) fn add(sum: &mut Amounts, amounts: &Amounts) {
    for (name, amount) in amounts {
        *sum.entry(name.clone()).or_default() += amount;
    }
}

/// Whether the pod has ended and holds nothing any more.
pub fn is_terminal(pod: &Value) -> bool {
    matches!(object::phase(pod), "Succeeded" | "Failed")
}

/// Whether a quota is charged for the pod at `now`: where it is to go, for its grace once more after its deadline.
pub fn is_charged(pod: &Value, now: Timestamp) -> bool {
    let grace = pod["metadata"]["deletionGracePeriodSeconds"].as_u64().unwrap_or_default();
    let deadline: Option<Timestamp> = object::meta(pod, "deletionTimestamp").parse().ok();
    let until = deadline.and_then(|deadline| deadline.checked_add(Duration::from_secs(grace)).ok());
    !is_terminal(pod) && until.is_none_or(|until| now <= until)
}

/// What quotas call what a pod requests: `cpu` bounds the same as `requests.cpu`; `pods` counts pods.
pub(crate) fn in_words_of_quota(requests: &Amounts) -> Amounts {
    let mut words = Amounts::from([("pods".to_owned(), NANO), ("count/pods".to_owned(), NANO)]);
    for (name, amount) in requests {
        if matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") {
            words.insert(name.clone(), *amount);
        }
        words.insert(format!("requests.{name}"), *amount);
    }
    words
}

/// Billionths in one.
const NANO: i128 = 1_000_000_000;

/// An amount as Kubernetes prints it.
pub fn text(name: &str, amount: i128) -> String {
    Resource::named(name).format(Amount::from_nano(amount))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pod_that_leaves_is_charged_for_its_grace_twice() {
        let pod = json!({"metadata": {
            "deletionTimestamp": "2030-01-01T00:00:30Z", "deletionGracePeriodSeconds": 30,
        }});
        let at = |text: &str| is_charged(&pod, text.parse().unwrap());
        assert!(at("2030-01-01T00:01:00Z") && !at("2030-01-01T00:01:01Z"));
    }
}
