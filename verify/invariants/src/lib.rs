//! The invariant checker: what Quotient promises, checked from the API server's side.
//!
//! It is told every write that an API server carried out, keeps the objects that matter, and says
//! which promise a write breaks. It knows nothing of the operator's reasons, and shares no code with it: it sums up requests as
//! Kubernetes does, with an arithmetic of its own. The same checker serves an API server in the process of a test and the audit
//! log of a real one.
//!
//! Every decision of the operator is made from what it saw a moment ago. So a write is not blamed for what *others* did
//! within [`Tolerance::lag`] before it; what the operator itself did counts from the first instant.

mod amounts;
mod checker;
mod cluster_state;
mod rules;
mod violation;
mod write;

pub use amounts::{Amount, Amounts, Resource, requests};
pub use checker::{InvariantChecker, Tolerance};
pub use cluster_state::{
    ClusterState, EntryFacts, GangFacts, LedgerFacts, Mode, NodeFacts, Place, PodFacts, QueueFacts,
    QuotaFacts,
};
pub use violation::{Invariant, Violation};
pub use write::{Verb, Write};
