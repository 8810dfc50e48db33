//! Gate mode: pods that wait for room of their queue are there, with a gate that keeps the scheduler from them.
//!
//! To every other step a gated pod is what a rejected pod is in Quota mode: demand that uses nothing. So the pods are taken
//! out of the snapshot, and what wants them asks for them; pods that no known controller wants ask for themselves. The
//! ledger takes the place of the quota: what it grants is enforced as soon as it is written, because no gate is removed
//! above it. Then gates are removed as far as the granted amounts leave room:
//!
//! ```text
//! snapshot ──► without gated pods ──► demand, targets, grants, victims ──► A ──► gates to remove
//!    └──────────────── gated pods, by priority, age; gangs whole ─────────────────────┘
//! ```
//!
//! *Why*: one set of rules serves both modes. A second one for pods that exist would have to agree with the first on every
//! unit, gang and loan.
//!
//! A gate that a former leader removes late lets in a pod above A. The pod is charged as any other, so it is a loan: it is
//! among the first to be evicted.

mod removals;
mod revisions;
mod separated;
mod unit;

pub(crate) use removals::removals;
pub(crate) use separated::GatedNamespaces;
