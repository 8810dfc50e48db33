//! Queues that a command proposes: `init`, `adopt` and `migrate` print them, and nothing is applied.

mod files;
mod queue;

pub(crate) use files::OutputDirectory;
pub(crate) use queue::{ProposedQueue, documents, namespace_manifest, resource_map};
