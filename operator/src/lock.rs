//! Locks, whatever has happened under them.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What `mutex` guards. A panic under a lock ends the process soon after, because `run` notices the end of every task. What it
/// leaves half done matters no more, and is a hint wherever one task goes on for a moment.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
