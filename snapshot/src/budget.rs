//! A PodDisruptionBudget: how many pods may be evicted now.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::labels::Selector;

/// What the engine needs to know of a PodDisruptionBudget.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Its name within its namespace.
    pub name: Arc<str>,
    /// The pods that it protects, by label. Without requirements it protects every pod of the namespace.
    pub selector: Selector,
    /// How many of them may be disrupted now, as the disruption controller last computed: `disruptionsAllowed`.
    pub allowed: u32,
    /// Whether pods that run and are not Ready may go whatever it allows: by its policy, or because enough others are healthy.
    pub lets_unready_go: bool,
}
