//! Damage: one place of a manifest is changed into something that its author did not mean.

use serde_json::{Map, Value, json};

/// Repeatable chance, by the method called `SplitMix64`.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 to `bound` − 1.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.roll() % bound.max(1) as u64) as usize
    }

    fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}

/// Quantities at the edges of what can be written.
const QUANTITIES: [&str; 26] = [
    "",
    "0",
    "-1",
    "1",
    "1m",
    "0.5",
    "1e3",
    "1e30",
    "1e999999999",
    "-1e30",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "9223372036854775807Gi",
    "1Ki ",
    "10 kB",
    "NaN",
    "inf",
    "1E",
    "1Ei",
    "0.0000001",
    "+5",
    ".5",
    "5.",
    "💥",
    "0x10",
];

/// Names that lead elsewhere, or nowhere.
const NAMES: [&str; 8] = ["", "team-1", "research", "org", "bystander", "quotient", "a/b", "\u{0}"];

/// A copy of `object` with one to three places changed. Its kind stays.
pub(super) fn damaged(object: &Value, dice: &mut Dice) -> Value {
    let mut copy = object.clone();
    for _ in 0..=dice.below(3) {
        change_somewhere(&mut copy, dice);
    }
    if !copy.is_object() {
        copy = object.clone();
    }
    for key in ["apiVersion", "kind"] {
        copy[key] = object[key].clone();
    }
    if copy.get("metadata").is_none_or(|metadata| !metadata.is_object()) {
        copy["metadata"] = object["metadata"].clone();
    }
    copy
}

fn change_somewhere(value: &mut Value, dice: &mut Dice) {
    match value {
        Value::Object(map) if !map.is_empty() && dice.below(8) != 0 => {
            let keys: Vec<String> = map.keys().cloned().collect();
            let key = dice.one_of(&keys).clone();
            match dice.below(12) {
                0 => drop(map.remove(&key)),
                1 => add(map, &key, dice),
                _ => change_somewhere(&mut map[&key], dice),
            }
        }
        Value::Array(list) if !list.is_empty() && dice.below(8) != 0 => {
            let at = dice.below(list.len());
            match dice.below(8) {
                0 => drop(list.remove(at)),
                1 => list.push(list[at].clone()),
                _ => change_somewhere(&mut list[at], dice),
            }
        }
        _ => *value = something(value, dice),
    }
}

/// Another member beside `key`: a resource or a label that is unknown.
fn add(map: &mut Map<String, Value>, key: &str, dice: &mut Dice) {
    let names = ["cpu", "memory", "nvidia.com/gpu", "example.org/fpga", "pods", "x", key];
    let name = (*dice.one_of(&names)).to_owned();
    let value = something(map.get(key).unwrap_or(&Value::Null), dice);
    map.insert(name, value);
}

/// Something of the same type more often than not: what does not decode is not seen by the engine.
fn something(like: &Value, dice: &mut Dice) -> Value {
    match (like, dice.below(10)) {
        (_, 0) => Value::Null,
        (Value::String(_), 1..=6) => json!(dice.one_of(&QUANTITIES)),
        (Value::String(_), 7) => json!("2026-11-21T12:00:00Z"),
        (Value::String(_), _) => json!(dice.one_of(&NAMES)),
        (Value::Number(_), 1..=8) => {
            json!(dice.one_of(&[0i64, 1, -1, 2, i64::from(i32::MAX), i64::from(i32::MIN), 1_000_001,]))
        }
        (Value::Bool(now), 1..=8) => json!(!now),
        (Value::Object(_), 1..=5) => json!({}),
        (Value::Array(_), 1..=5) => json!([]),
        (_, 6) => json!(i64::MAX),
        (_, 7) => json!([{"name": "x"}]),
        (_, 8) => json!({"cpu": dice.one_of(&QUANTITIES)}),
        _ => json!(dice.one_of(&QUANTITIES)),
    }
}
