//! What is wrong with a spec, collected while it is read.

use crate::reading::Reading;

/// The mistakes of one spec: those in its amounts, and the others as texts for its administrator.
#[derive(Debug, Default)]
pub(super) struct Mistakes {
    pub(super) reading: Reading,
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

    /// All of them as one text, if there are any.
    pub(super) fn text(self) -> Option<String> {
        let unreadable = self.reading.unreadable.iter().map(ToString::to_string);
        let all: Vec<String> = unreadable.chain(self.others).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}
