//! How queues, generations and versions are counted.

/// The most queues that a scenario may have.
pub const MOST_QUEUES: usize = 3;

/// One entry a queue; those beyond the scenario's queues stay at their default.
pub type PerQueue<T> = [T; MOST_QUEUES];

/// A generation as it stands in annotations and in the ledger. Only their order matters; see
/// [`canonical`](crate::canonical).
pub type Generation = u8;

/// A resource version; only whether two are equal matters.
pub type Version = u8;

/// The names that queues have in traces.
pub const NAMES: [&str; MOST_QUEUES] = ["a", "b", "c"];
