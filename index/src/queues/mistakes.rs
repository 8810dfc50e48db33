//! What is wrong with a spec, collected while it is read.

use quotient_crds::ResourceMap;
use quotient_snapshot::amounts::Bounds;

use crate::reading::{Reading, Rounding, governable};

/// The mistakes of one spec: those in its amounts, and the others as texts for its administrator.
#[derive(Debug, Default)]
pub(super) struct Mistakes {
    reading: Reading,
    others: Vec<String>,
}

impl Mistakes {
    /// Adds one, which names the field and says what to do.
    pub(super) fn add(&mut self, text: String) {
        self.others.push(text);
    }

    /// A whole number from 0 to `most`, the nearest one if it is none.
    pub(super) fn whole(&mut self, value: i32, most: i32, field: &str) -> u32 {
        if !(0..=most).contains(&value) {
            self.add(format!("spec.{field} is {value}: write 0 to {most}"));
        }
        u32::try_from(value.clamp(0, most)).unwrap_or_default()
    }

    /// The amounts of the map at `spec.{field}`; none where there is no map.
    pub(super) fn amounts(&mut self, map: Option<&ResourceMap>, rounding: Rounding, field: &str) -> Bounds {
        let mut bounds = Bounds::new();
        for (name, quantity) in map.into_iter().flat_map(ResourceMap::iter) {
            let Some(resource) = governable(name) else {
                self.add(format!(
                    "spec.{field} names {name:?}, of which there are no shares: \
                     use cpu, memory or an extended resource such as nvidia.com/gpu"
                ));
                continue;
            };
            let path = format_args!("spec.{field}.{name}");
            bounds.set(resource.clone(), self.reading.amount(&resource, quantity.as_str(), rounding, path));
        }
        bounds
    }

    /// All of them as one text, if there are any.
    pub(super) fn text(self) -> Option<String> {
        let unreadable = self.reading.unreadable.iter().map(ToString::to_string);
        let all: Vec<String> = unreadable.chain(self.others).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}
