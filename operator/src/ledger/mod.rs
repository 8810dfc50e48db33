//! The object that all grants go through: a ConfigMap, read when leadership begins and written before any quota.
//!
//! What it means is [`quotient_engine::ledger`]; here is how it is kept. A write replaces the version that was read, so
//! of two leaders one gets a 409: it drops its whole cycle, reads anew and starts over. A write whose answer was lost is
//! read back before anything else is done. Only a leader writes it, so it is not watched: what another leader did
//! shows as a conflict, as a quota with a stamp from the future, or as another version when that is asked for before
//! evictions. Each leads to a new read.
//!
//! RBAC, in the operator's namespace: `configmaps` create; get and update of the one named `quotient-ledger`. Cluster-wide:
//! `queues.quotient.dev` list.

mod document;
mod fit;
mod keeper;
#[cfg(test)]
mod tests;
mod vacancies;

pub use document::LeafTargets;
pub use keeper::{Dropped, LedgerKeeper};
pub use vacancies::Vacancies;
