//! Locks, whatever has happened under them.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What `mutex` guards, after a panic under it as well.
///
/// `run` notices the end of every task, so the process ends soon after a panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
