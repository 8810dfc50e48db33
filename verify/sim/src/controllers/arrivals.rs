//! Pods that are admitted, stored at last.

use std::time::Duration;

use super::{Controller, ControllerClient};
use crate::objects::Key;
use crate::server::{Change, Store};

/// The end of admission. What it stores is known to the server.
pub(super) struct Arrivals;

impl Controller for Arrivals {
    fn concerns(&self, _: &Change, _: &Store, _: &mut Vec<Key>) {}

    fn act(&mut self, key: &Key, client: &mut ControllerClient<'_>) -> Option<Duration> {
        client.state.arrive(key);
        None
    }
}
