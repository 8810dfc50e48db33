//! What is to be looked at, and when.

use std::collections::BTreeMap;

use crate::objects::Key;
use crate::random::Random;

/// Items by time; those of one millisecond in an order drawn from the seed. An item is on it once: the earliest time
/// counts.
#[derive(Debug)]
pub(super) struct Agenda {
    random: Random,
    items: BTreeMap<(u64, u64), (usize, Key)>,
    places: BTreeMap<(usize, Key), (u64, u64)>,
}

impl Agenda {
    pub(super) const fn new(random: Random) -> Self {
        Self { random, items: BTreeMap::new(), places: BTreeMap::new() }
    }

    /// `controller` is to look at `key` at `due`, a number of milliseconds.
    pub(super) fn put(&mut self, due: u64, controller: usize, key: Key) {
        let item = (controller, key);
        if let Some(place) = self.places.get(&item) {
            if place.0 <= due {
                return;
            }
            self.items.remove(place);
        }
        let mut place = (due, self.random.next());
        while self.items.contains_key(&place) {
            place.1 = self.random.next();
        }
        self.items.insert(place, item.clone());
        self.places.insert(item, place);
    }

    /// Takes the first item that is due.
    pub(super) fn due(&mut self, now: u64) -> Option<(usize, Key)> {
        let entry = self.items.first_entry().filter(|entry| entry.key().0 <= now)?;
        let item = entry.remove();
        self.places.remove(&item);
        Some(item)
    }

    /// When the first item is due.
    pub(super) fn next(&self) -> Option<u64> {
        self.items.first_key_value().map(|((due, _), _)| *due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::Kind;

    #[test]
    fn an_item_is_there_once_and_its_earliest_time_counts() {
        let mut agenda = Agenda::new(Random::new(1));
        let key = |name| Key::new(Kind::Pod, "a", name);
        agenda.put(5, 0, key("x"));
        agenda.put(9, 0, key("x"));
        agenda.put(3, 0, key("x"));
        agenda.put(4, 1, key("x"));
        assert_eq!(agenda.due(2), None);
        assert_eq!(agenda.due(9), Some((0, key("x"))));
        assert_eq!(agenda.next(), Some(4));
        assert_eq!(agenda.due(9), Some((1, key("x"))));
        assert_eq!(agenda.due(9), None);
    }
}
