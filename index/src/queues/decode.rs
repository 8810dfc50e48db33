//! From the Queue of the API to the Queue of the engine.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quotient_crds::{MAX_WEIGHT, Queue as Written, ResourceMap};
use quotient_engine::amounts::{Amount, Bounds};
use quotient_engine::names::QueueUid;
use quotient_engine::snapshot::Queue;

use crate::governable::governable;
use crate::reading::{Reading, Rounding, uid_of};
use crate::time::timestamp;

/// The Queue as the engine reads it.
///
/// Requests and guarantees are rounded up to the unit of their resource, limits down. A spec with a mistake
/// gives a Queue that is `invalid`, with a text that names the field and says what to do, and with nothing else
/// in it: half of an intention is not acted on.
pub fn decode(queue: &Written) -> Queue {
    let mut spec = Spec { reading: Reading::default(), mistakes: Vec::new() };
    let request = queue.spec.request.as_ref().map(|map| spec.bounds(map, Rounding::Up, "request"));
    let guaranteed = spec.optional(queue.spec.guaranteed.as_ref(), Rounding::Up, "guaranteed");
    let limit = spec.optional(queue.spec.limit.as_ref(), Rounding::Down, "limit");
    let weight = u32::try_from(queue.spec.weight.clamp(0, MAX_WEIGHT)).unwrap_or_default();
    if !(0..=MAX_WEIGHT).contains(&queue.spec.weight) {
        spec.mistakes.push(format!("spec.weight is {}: write 0 to {MAX_WEIGHT}", queue.spec.weight));
    }
    match spec.mistakes() {
        Some(text) => undecodable(&queue.metadata, &text),
        None => Queue { weight, request, guaranteed, limit, ..blank(&queue.metadata) },
    }
}

/// A Queue of which nothing but the metadata could be read, and why.
pub fn undecodable(metadata: &ObjectMeta, problem: &str) -> Queue {
    Queue { invalid: Some(problem.into()), ..blank(metadata) }
}

fn blank(metadata: &ObjectMeta) -> Queue {
    Queue {
        uid: QueueUid::new(uid_of(metadata).unwrap_or_default()),
        name: metadata.name.as_deref().unwrap_or_default().into(),
        created: metadata.creation_timestamp.as_ref().map(timestamp).unwrap_or_default(),
        weight: 0,
        request: None,
        guaranteed: Bounds::new(),
        limit: Bounds::new(),
        invalid: None,
    }
}

/// Reads the maps of one spec and collects what is wrong with them.
struct Spec {
    reading: Reading,
    mistakes: Vec<String>,
}

impl Spec {
    fn bounds(&mut self, map: &ResourceMap, rounding: Rounding, field: &str) -> Bounds {
        let mut bounds = Bounds::new();
        for (name, quantity) in map.iter() {
            let Some(resource) = governable(name) else {
                self.mistakes.push(format!(
                    "spec.{field} names {name:?}, of which there are no shares: \
                     use cpu, memory or an extended resource such as nvidia.com/gpu"
                ));
                continue;
            };
            let path = format_args!("spec.{field}.{name}");
            let amount: Amount = self.reading.amount(&resource, quantity.as_str(), rounding, path);
            bounds.set(resource, amount);
        }
        bounds
    }

    fn optional(&mut self, map: Option<&ResourceMap>, rounding: Rounding, field: &str) -> Bounds {
        map.map(|map| self.bounds(map, rounding, field)).unwrap_or_default()
    }

    /// All mistakes as one text, if there are any.
    fn mistakes(self) -> Option<String> {
        let unreadable = self.reading.unreadable.iter().map(ToString::to_string);
        let all: Vec<String> = unreadable.chain(self.mistakes).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}
