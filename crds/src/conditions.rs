//! Conditions: how a new report joins the ones an object already has.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;
use schemars::{Schema, SchemaGenerator, json_schema};

/// What one pass over the cluster found for one condition of an object.
///
/// It has no time: [`merge_conditions`] knows since when the state holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionReport {
    /// Whether the condition holds.
    pub holds: bool,
    /// One CamelCase word for programs, never empty.
    pub reason: String,
    /// A sentence for people; may be empty.
    pub message: String,
}

impl ConditionReport {
    /// That the condition holds, or that it does not.
    pub fn new(holds: bool, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self { holds, reason: reason.into(), message: message.into() }
    }
}

/// The conditions that an object has after `reports`, each for the condition of this type.
///
/// - A condition whose status is unchanged keeps its `lastTransitionTime`, otherwise it gets `now` (whole
///   seconds, as they are stored).
/// - Conditions that `reports` does not mention stay as they are: none is ever removed. They come last.
pub fn merge_conditions(
    old: &[Condition],
    reports: impl IntoIterator<Item = (&'static str, ConditionReport)>,
    observed_generation: Option<i64>,
    now: Timestamp,
) -> Vec<Condition> {
    let now = stored_time(now);
    let reported = reports.into_iter().map(|(type_, ConditionReport { holds, reason, message })| {
        let status = status_text(holds);
        let former = old.iter().find(|former| former.type_ == type_ && former.status == status);
        Condition {
            type_: type_.to_owned(),
            status: status.to_owned(),
            reason,
            message,
            observed_generation,
            last_transition_time: former.map_or(&now, |former| &former.last_transition_time).clone(),
        }
    });
    let mut merged: Vec<Condition> = reported.collect();
    let is_reported = |former: &Condition| merged.iter().any(|condition| condition.type_ == former.type_);
    let others: Vec<Condition> = old.iter().filter(|former| !is_reported(former)).cloned().collect();
    merged.extend(others);
    merged
}

/// The text in the `status` of a condition.
pub const fn status_text(holds: bool) -> &'static str {
    if holds { "True" } else { "False" }
}

/// Whether two lists of conditions say the same, whatever their times and order.
pub fn same_conditions(left: &[Condition], right: &[Condition]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(one, other)| timeless(one) == timeless(other))
        || by_type(left) == by_type(right)
}

fn by_type(conditions: &[Condition]) -> BTreeMap<&str, impl PartialEq> {
    conditions.iter().map(|condition| (condition.type_.as_str(), timeless(condition))).collect()
}

/// What a condition says, but for since when.
fn timeless(condition: &Condition) -> impl PartialEq {
    let Condition { type_, status, reason, message, observed_generation, last_transition_time: _ } =
        condition;
    (type_, status, reason, message, observed_generation)
}

/// The entry of `conditions` for the condition of this type, if it was ever reported.
pub fn condition<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.type_ == type_)
}

/// The schema of a list of conditions: keyed by type, so that several writers can each keep their own.
pub(crate) fn conditions_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": {
            "type": "object",
            "required": ["type", "status", "reason", "message", "lastTransitionTime"],
            "properties": {
                "type": {
                    "type": "string",
                    "description": "Which condition this is, such as Ready.",
                },
                "status": {
                    "type": "string",
                    "enum": ["True", "False", "Unknown"],
                    "description": "Whether the condition holds: True, False, or Unknown while it cannot be told.",
                },
                "reason": {
                    "type": "string",
                    "description": "Why the condition has this status, in one CamelCase word for programs.",
                },
                "message": {
                    "type": "string",
                    "description": "Why the condition has this status, in a sentence for people.",
                },
                "lastTransitionTime": {
                    "type": "string",
                    "format": "date-time",
                    "description": "When the status last changed. A new reason or message does not move it.",
                },
                "observedGeneration": {
                    "type": "integer",
                    "format": "int64",
                    "description": "The metadata.generation of the object that this condition was computed from.",
                },
            },
        },
    })
}

/// `now` in the whole seconds that a status stores.
///
/// Every time that goes into a status has to pass through here. One with a fraction never equals what is read
/// back, so its status would look changed in every cycle, and be written in every cycle.
pub fn stored_time(now: Timestamp) -> Time {
    // A time without its fraction is always a valid one; were it not, the unrounded one is as good.
    Time(Timestamp::from_second(now.as_second()).unwrap_or(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn report(type_: &'static str, holds: bool, reason: &str) -> (&'static str, ConditionReport) {
        (type_, ConditionReport::new(holds, reason, format!("because of {reason}")))
    }

    fn shown(conditions: &[Condition]) -> Vec<String> {
        let line = |c: &Condition| {
            format!("{}={} {} @{}", c.type_, c.status, c.reason, c.last_transition_time.0.as_second())
        };
        conditions.iter().map(line).collect()
    }

    #[test]
    fn the_time_moves_only_with_the_status() {
        let reports = [report("Ready", true, "A"), report("Starved", true, "B")];
        let first = merge_conditions(&[], reports, Some(1), at(10));
        assert_eq!(shown(&first), ["Ready=True A @10", "Starved=True B @10"]);

        let reports = [report("Ready", true, "C"), report("Starved", false, "D")];
        let second = merge_conditions(&first, reports, Some(2), at(20));
        assert_eq!(shown(&second), ["Ready=True C @10", "Starved=False D @20"]);
        assert_eq!(second[0].message, "because of C");
        assert_eq!(second[0].observed_generation, Some(2));
    }

    #[test]
    fn nothing_is_removed_and_strangers_come_last() {
        let old = [report("Approved", true, "X"), report("Ready", true, "A"), report("Failed", false, "A")];
        let old = merge_conditions(&[], old, Some(1), at(10));
        let merged = merge_conditions(&old, [report("Ready", true, "B")], Some(1), at(20));
        assert_eq!(shown(&merged), ["Ready=True B @10", "Approved=True X @10", "Failed=False A @10"]);
    }

    #[test]
    fn a_new_time_is_the_one_that_is_stored() {
        let now = Timestamp::new(10, 999_999_999).unwrap();
        let written = merge_conditions(&[], [report("Ready", true, "A")], None, now);
        let read: Vec<Condition> = serde_json::from_value(serde_json::to_value(&written).unwrap()).unwrap();
        assert_eq!(read, written);
    }

    #[test]
    fn sameness_ignores_times_and_order_and_nothing_else() {
        let reports = || [report("Ready", true, "A"), report("Starved", false, "B")];
        let early = merge_conditions(&[], reports(), Some(1), at(10));
        let mut late = merge_conditions(&[], reports(), Some(1), at(99));
        late.reverse();
        assert!(same_conditions(&early, &late));
        assert!(!same_conditions(&early, &early[..1]));
        assert!(!same_conditions(&early, &merge_conditions(&[], reports(), Some(2), at(10))));
        for change in [report("Ready", false, "A"), report("Ready", true, "C")] {
            assert!(!same_conditions(&early, &merge_conditions(&early, [change], Some(1), at(10))));
        }
    }
}
