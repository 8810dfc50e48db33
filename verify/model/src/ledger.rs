//! The ledger as the API server keeps it: the engine's, small enough to be part of millions of states.

use quotient_engine::ledger as engine;
use quotient_engine::names::Namespace;
use quotient_engine::time::Timestamp;

use crate::numbers::{Generation, NAMES, PerQueue, Version};
use crate::units::{amounts, bounds, cpu, only};

/// The ledger object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ledger {
    /// Its resource version.
    pub version: Version,
    /// The generation of its last change.
    pub generation: Generation,
    /// What is granted to each queue.
    pub entries: PerQueue<Option<Entry>>,
    /// Whether it was made up because the one before was lost.
    pub rebuilt: bool,
}

/// What the ledger says of one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    /// The amount granted last.
    pub granted: u8,
    /// The largest amount granted since the entry was last fenced.
    pub largest: u8,
    /// What is free or being freed for the queue and not granted yet.
    pub owed: u8,
    /// The generation of its last change.
    pub changed: Generation,
}

/// When everything before now happened: long ago for a wait, and a moment ago for requests in flight.
const BEFORE: Timestamp = Timestamp::from_seconds(900);

/// The generation as the engine has it.
pub(crate) const fn stamp(generation: Generation) -> engine::Generation {
    engine::Generation::new(generation as u64)
}

/// How far beyond all others a generation counts that the engine took a long step to.
const FAR: u64 = 64;

/// The generation as the model has it.
///
/// A ledger that is made up begins far beyond every stamp. Here it begins just far enough: only their order counts.
fn number(generation: engine::Generation) -> Generation {
    let number = generation.number();
    let near = number.checked_sub(engine::LOST).map_or(number, |beyond| beyond + FAR);
    Generation::try_from(near).expect("generations are counted anew after every step")
}

impl Ledger {
    /// The ledger as the engine has it.
    pub(crate) fn to_engine(self) -> engine::Ledger {
        let entry = |(at, entry): (usize, &Option<Entry>)| {
            let entry = (*entry)?;
            let engines = engine::Entry {
                granted: bounds(entry.granted),
                largest: bounds(entry.largest),
                owed: amounts(entry.owed),
                generation: stamp(entry.changed),
                changed: BEFORE,
            };
            Some((Namespace::from(NAMES[at]), engines))
        };
        engine::Ledger {
            generation: stamp(self.generation),
            entries: self.entries.iter().enumerate().filter_map(entry).collect(),
            // Pods of one unit fill every share of whole units, so that every target is the deserved share.
            targets: None,
            rebuilt: self.rebuilt.then_some(BEFORE),
            inherited: None,
        }
    }

    /// The engine's ledger as it is kept. It has no version yet.
    pub(crate) fn of_engine(ledger: &engine::Ledger) -> Self {
        let entry = |name: &str| {
            let entry = ledger.entries.get(&Namespace::from(name))?;
            let (granted, largest) = (only(&entry.granted), only(&entry.largest));
            Some(Entry { granted, largest, owed: cpu(&entry.owed), changed: number(entry.generation) })
        };
        Self {
            version: 0,
            generation: number(ledger.generation),
            entries: NAMES.map(entry),
            rebuilt: ledger.rebuilt.is_some(),
        }
    }
}
