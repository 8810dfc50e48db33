//! The rules that the API server checks besides the schema: CEL, as `x-kubernetes-validations`.
//!
//! Every rule that computes with a quantity first matches its text, because the API server runs rules even on
//! values that the schema's pattern refuses, and because it did not get done with the legal quantity
//! `1e999999999` in eight minutes.

use kube::core::Rule;
use serde_json::{Value, json};

/// What a quantity looks like: digits, then a decimal or binary suffix or an exponent of at most two digits.
///
/// It is narrower than what Kubernetes reads; see the module's text for why. The sign is a rule of its own, for
/// the sake of its message.
pub(crate) const QUANTITY: &str =
    "^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$";

/// The rules for one amount; `self` is the amount.
///
/// They stand at the value, not at the map, so that the API server's error names the resource.
pub(crate) fn amount_rules() -> Value {
    let is_quantity = is_quantity("self");
    json!([
        {
            "rule": is_quantity,
            "message": "write a Kubernetes quantity, such as \"500m\", \"4\" or \"10Gi\"",
        },
        {
            "rule": "!string(self).startsWith('-')",
            "message": "an amount must not be negative: write 0 or more",
        },
        {
            "rule": format!("!({is_quantity}) || quantity(string(self)).isLessThan(quantity('1E'))"),
            "message": "an amount must be below 1E (10^18): if no bound is meant, leave the resource out",
        },
    ])
}

/// The rules for the names in a map of amounts; `self` is the map.
pub(crate) fn resource_name_rules(max_length: u32) -> Value {
    json!([
        {
            "rule": format!("self.all(name, size(name) >= 1 && size(name) <= {max_length})"),
            "message": format!(
                "a resource name has 1 to {max_length} characters: \
                 name resources as pods do, such as cpu, memory or nvidia.com/gpu"
            ),
        },
        {
            "rule": "!self.exists(name, name.startsWith('requests.') || name.startsWith('limits.'))",
            "message": "name resources as pods do, such as cpu, memory or nvidia.com/gpu: \
                        leave out the prefix \"requests.\" or \"limits.\"",
        },
    ])
}

/// The rules for the names in a map of default requests; `self` is the map.
pub(crate) fn default_request_rules() -> Value {
    json!([{
        "rule": "self.all(name, name in ['cpu', 'memory'])",
        "message": "a default exists for cpu and memory alone: leave other resources out",
    }])
}

/// The rules for a queue's spec as a whole; `self` is the spec.
pub(crate) fn queue_spec_rules() -> Value {
    let guaranteed = "self.guaranteed[name]";
    let limit = "self.limit[name]";
    // What is no quantity has its own message; this one would only add to the confusion.
    let above = format!(
        "name in self.limit && {} && {} && quantity(string({guaranteed})).isGreaterThan(quantity(string({limit})))",
        is_quantity(guaranteed),
        is_quantity(limit),
    );
    // The message does not name the resource: to put a key, whose length no schema can bound, into a text is
    // above the API server's budget.
    json!([
        {
            "rule": format!(
                "!has(self.guaranteed) || !has(self.limit) || !self.guaranteed.exists(name, {above})"
            ),
            "message": "guaranteed must not be above limit for a resource that both name: \
                        lower guaranteed or raise limit",
            "fieldPath": ".guaranteed",
        },
    ])
}

/// The rules for the end of a pause; `self` is the time.
pub(crate) fn paused_until_rules() -> Value {
    json!([{
        "rule": "self < timestamp('9999-01-01T00:00:00Z')",
        "message": "pausedUntil must lie before the year 9999: write an earlier time",
    }])
}

/// The rules for a Queue as a whole; `self` is the object.
///
/// Rules see no more of the metadata than the name, so a reference that repeats the Queue's own namespace passes
/// here, and ends in a condition. The underscores are how CEL spells a field called like one of its keywords.
pub(crate) fn queue_rule() -> Rule {
    Rule::new(
        "!has(self.spec.parentRef) || has(self.spec.parentRef.__namespace__) \
         || self.spec.parentRef.name != self.metadata.name",
    )
    .message(
        "parentRef must not name the queue itself: write the name of its parent queue, or leave parentRef out",
    )
    .field_path(".spec.parentRef.name")
}

/// The rules for the namespaces that a parent accepts queues of; `self` is `children.namespaces`.
pub(crate) fn child_namespaces_rules() -> Value {
    json!([
        {
            "rule": "self.from != 'Selector' || has(self.selector)",
            "message": "from: Selector needs a selector: write one, such as {matchLabels: {org: research}}",
            "fieldPath": ".from",
        },
        {
            "rule": "self.from == 'Selector' || !has(self.selector)",
            "message": "a selector counts only with from: Selector: write that, or leave selector out",
            "fieldPath": ".selector",
        },
    ])
}

/// The rules for the keys of `matchLabels`; `self` is the map.
pub(crate) fn label_key_rules(max_length: u32) -> Value {
    json!([{
        "rule": format!("self.all(key, size(key) >= 1 && size(key) <= {max_length})"),
        "message": format!("the key of a label has 1 to {max_length} characters: write one such as org or example.com/org"),
    }])
}

/// The rules for one requirement on a label; `self` is the requirement.
pub(crate) fn label_requirement_rules() -> Value {
    json!([
        {
            "rule": "!(self.operator in ['In', 'NotIn']) || (has(self.values) && size(self.values) > 0)",
            "message": "In and NotIn need values: write at least one",
            "fieldPath": ".operator",
        },
        {
            "rule": "self.operator in ['In', 'NotIn'] || !has(self.values) || size(self.values) == 0",
            "message": "Exists and DoesNotExist take no values: leave values out",
            "fieldPath": ".values",
        },
    ])
}

fn is_quantity(value: &str) -> String {
    format!("string({value}).matches('{QUANTITY}') && isQuantity(string({value}))")
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::Regex;

    #[test]
    fn the_pattern_reads_what_people_write() {
        let pattern = Regex::new(QUANTITY).unwrap();
        for text in [
            "0", "4", "+4", "-1", "500m", "1.5", "5.", ".5", "1.5Gi", "1Ki", "8Ei", "1E", "100n", "2u",
            "12e6", "12E-3", "1e+2",
        ] {
            assert!(pattern.is_match(text), "{text}");
        }
        for text in [
            "", "+", ".", "Ki", "abc", " 1", "1 ", "1\n", "1K", "1ki", "1e", "1e.5", "--1", "+-1", "1m5",
            "1.1.1", "0x10", "1_000", "inf", "nan", "1e999", "1e100",
        ] {
            assert!(!pattern.is_match(text), "{text}");
        }
        assert!(!pattern.is_match("1e999999999"), "the API server never gets done with it");
    }

    #[test]
    fn no_rule_computes_with_unmatched_text() {
        let mut computed = 0;
        for rule in [amount_rules(), queue_spec_rules()].iter().flat_map(|list| list.as_array().unwrap()) {
            let text = rule["rule"].as_str().unwrap();
            for (at, opening) in text.match_indices("uantity(string(") {
                let operand = text[at + opening.len()..].split(')').next().unwrap();
                let guard = format!("string({operand}).matches('{QUANTITY}')");
                assert!(
                    text[..at].contains(&guard),
                    "{operand} is computed with before it is matched: {text}"
                );
                computed += 1;
            }
        }
        assert_eq!(computed, 7);
    }
}
