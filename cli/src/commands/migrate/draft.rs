//! A queue of another system, as far as it is read.

use std::collections::{BTreeMap, BTreeSet};

use json_patch::merge;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Text;
use quotient_crds::{LabelSelector, Mode, QueueSpec};
use quotient_engine::amounts::{Amount, Bounds, Quantity, Resource};
use quotient_index::quotas::bounds_from_hard;
use serde_json::{Value, json};

use super::fields::{Becomes, Fields, Keys, Meaning, Object, Part, leaves};
use super::report::Unmapped;
use crate::objects::plain;

/// A queue of another system.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    /// Kind and name in the other system.
    pub(super) origin: String,
    pub(super) parent: Option<String>,
    /// The namespaces whose pods it is about.
    pub(super) namespaces: BTreeSet<String>,
    /// The namespace of its parent queue; none for the one of all parent queues.
    pub(super) home: Option<String>,
    /// The namespaces that its parent queue accepts; none for exactly those of its children.
    pub(super) accepts: Option<LabelSelector>,
    /// Whether it is a parent queue even with one namespace or none.
    pub(super) is_parent: bool,
    pub(super) weight: Option<Quantity>,
    pub(super) guaranteed: Bounds,
    pub(super) limit: Bounds,
    pub(super) spec: QueueSpec,
    pub(super) unmapped: Vec<Unmapped>,
}

/// How the fields of one object are read.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) fields: Fields,
    /// What a plain bound becomes.
    pub(super) bound: Part,
}

impl Draft {
    pub(super) fn of(origin: String) -> Self {
        let spec = QueueSpec { mode: Mode::Observe, ..QueueSpec::default() };
        Self { origin, spec, ..Self::default() }
    }

    /// Takes every value below the spec of an object.
    pub(super) fn read(&mut self, reading: &Reading, object: Object<'_>) {
        self.read_as(reading, object.kind, &object.origin(), object.value, &["spec"]);
    }

    /// Takes every value below `fields` of what has this name, as the table of this kind says.
    pub(super) fn read_as(
        &mut self,
        reading: &Reading,
        kind: &str,
        origin: &str,
        object: &Value,
        fields: &[&str],
    ) {
        let mut found = leaves(object, fields);
        // The order of the table decides which of several weights counts.
        found.sort_by_key(|leaf| reading.fields.find(kind, &leaf.path).map(|(place, ..)| place));
        let unknown = Becomes::Nothing("a Queue has no such field".to_owned());
        for leaf in found {
            let (_, row, rest) = reading.fields.find(kind, &leaf.path).unwrap_or((0, &unknown, &[]));
            if let Err(advice) = self.take(row, rest, leaf.value, reading.bound) {
                self.refuse(origin, &named(row, &leaf.path, rest), leaf.value, &advice);
            }
        }
    }

    /// Notes something of the queue itself that a Queue has nothing for.
    pub(super) fn refuse_own(&mut self, field: &str, value: impl Into<Value>, advice: &str) {
        let origin = self.origin.clone();
        self.refuse(&origin, field, &value.into(), advice);
    }

    /// Notes a field that a Queue has nothing for.
    pub(super) fn refuse(&mut self, origin: &str, field: &str, value: &Value, advice: &str) {
        let value = plain(value);
        let same = self
            .unmapped
            .iter_mut()
            .find(|known| known.object == origin && known.field == field && known.advice == advice);
        match same {
            Some(known) if known.value.split(", ").any(|one| one == value) => {}
            Some(known) if known.value.ends_with(MORE) => {}
            Some(known) if known.value.len() > LONGEST => known.value.push_str(MORE),
            Some(known) => known.value = format!("{}, {value}", known.value),
            None => self.unmapped.push(Unmapped {
                object: origin.to_owned(),
                field: field.to_owned(),
                value,
                advice: advice.to_owned(),
            }),
        }
    }

    fn take(&mut self, becomes: &Becomes, rest: &[&str], value: &Value, bound: Part) -> Result<(), String> {
        match becomes {
            Becomes::Weight => self.take_weight(value),
            Becomes::Amounts(part, keys) => {
                let (resource, amount) = amount(&rest.join("."), value, *keys)?;
                self.bound(*part, bound, resource, amount);
                Ok(())
            }
            Becomes::Amount(part, resource, suffix) => self.take_number(*part, resource, suffix, value),
            Becomes::Parent => {
                self.parent = value.as_str().filter(|name| !name.is_empty()).map(str::to_owned);
                Ok(())
            }
            Becomes::Choice(choices) => match choices.get(&plain(value)) {
                Some(Meaning::Spec(fields)) => self.set(fields),
                Some(Meaning::Nothing(advice)) => Err(advice.to_owned()),
                None => Err("a Queue has no such choice".to_owned()),
            },
            Becomes::Duration(part, field) => {
                let seconds = seconds(value).ok_or("this is no duration")?;
                self.set(&json!({part: {field: seconds}}))
            }
            Becomes::Known => Ok(()),
            Becomes::Nothing(advice) => Err(advice.to_owned()),
        }
    }

    fn take_weight(&mut self, value: &Value) -> Result<(), String> {
        let weight = quantity(value)?;
        match self.weight {
            None => self.weight = Some(weight),
            Some(known) if known == weight => {}
            Some(_) => return Err("one weight holds for all resources".to_owned()),
        }
        Ok(())
    }

    /// States an amount; the largest of several guarantees counts, and the smallest of several bounds.
    pub(super) fn bound(&mut self, part: Part, bound: Part, resource: Resource, amount: Amount) {
        let target = if part == Part::Bound { bound } else { part };
        let bounds = if target == Part::Limit { &mut self.limit } else { &mut self.guaranteed };
        let known = bounds.get(&resource).unwrap_or(amount);
        let amount = if part == Part::Guaranteed { known.max(amount) } else { known.min(amount) };
        bounds.set(resource, amount);
    }

    fn take_number(&mut self, part: Part, resource: &str, suffix: &str, value: &Value) -> Result<(), String> {
        let value = Value::from(format!("{}{suffix}", plain(value)));
        let quantity = quantity(&value)?;
        if quantity.nano() < 0 {
            let unlimited = "a guarantee has an amount: leave it out and give the queue a large weight";
            return if part == Part::Limit { Ok(()) } else { Err(unlimited.to_owned()) };
        }
        let (resource, amount) = amount(resource, &value, Keys::Resources)?;
        if matches!(resource, Resource::Extended(_)) && resource.quantity(amount) != quantity {
            return Err("a Queue counts whole devices".to_owned());
        }
        // Zero is the default, not a promise of nothing.
        if part == Part::Limit || amount.is_positive() {
            self.bound(part, part, resource, amount);
        }
        Ok(())
    }

    /// Sets these fields of the spec.
    pub(super) fn set(&mut self, fields: &Value) -> Result<(), String> {
        let mut spec = serde_json::to_value(&self.spec).unwrap_or_default();
        merge(&mut spec, fields);
        self.spec = serde_json::from_value(spec).map_err(|error| error.to_string())?;
        Ok(())
    }
}

/// The path of a field. What is below a field without an equivalent is not told apart.
fn named(row: &Becomes, path: &[&str], rest: &[&str]) -> String {
    let first = if path.first() == Some(&"spec") { 2 } else { 1 };
    let length = match row {
        Becomes::Nothing(_) => path.len().saturating_sub(rest.len()).max(first),
        _ => path.len(),
    };
    path.get(..length).unwrap_or(path).join(".")
}

/// Of a field with many values the first ones tell enough, and that there are more.
const LONGEST: usize = 60;
const MORE: &str = ", ...";

/// A quantity, as text or as a number.
pub(super) fn quantity(value: &Value) -> Result<Quantity, String> {
    plain(value).parse().map_err(|error| format!("this is no quantity: {error}"))
}

/// The resource that a key names, and its amount.
pub(super) fn amount(key: &str, value: &Value, keys: Keys) -> Result<(Resource, Amount), String> {
    quantity(value)?;
    let key = match keys {
        Keys::Quota => key.to_owned(),
        Keys::Resources => format!("requests.{}", if key == "vcore" { "cpu" } else { key }),
    };
    let bounds = bounds_from_hard(&BTreeMap::from([(key, Text(plain(value)))]));
    let found = bounds.iter().next().map(|(resource, amount)| (resource.clone(), amount));
    found.ok_or_else(|| {
        "Quotient shares out requests of cpu, memory and devices: keep the old bound".to_owned()
    })
}

/// Whole seconds of a number or of a duration such as `1h30m`.
fn seconds(value: &Value) -> Option<i32> {
    let seconds = match value {
        Value::Number(number) => number.as_i64()?,
        value => value.as_str()?.parse::<jiff::SignedDuration>().ok()?.as_secs(),
    };
    i32::try_from(seconds).ok().filter(|seconds| *seconds >= 0)
}
