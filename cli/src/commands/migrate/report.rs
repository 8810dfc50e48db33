//! What a migration proposes, and what it cannot.

use serde::Serialize;
use serde_json::Value;

use crate::output::{counted, report};
use crate::proposals::{BETWEEN, ProposedQueue};

/// A field of the other system that a Queue has nothing for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Unmapped {
    /// Kind and name, such as `ClusterQueue team-a`.
    pub(crate) object: String,
    /// The path of the field, without places in lists.
    pub(crate) field: String,
    pub(crate) value: String,
    /// Why, or what to do instead.
    pub(crate) advice: String,
}

impl Unmapped {
    /// The line above a Queue. What stands behind a line break would be no comment.
    pub(super) fn comment(&self) -> String {
        let Self { object, field, value, advice } = self;
        format!("No equivalent: {object} {field}: {value} ({advice})").replace(['\n', '\r'], " ")
    }
}

/// What a migration proposes.
#[derive(Debug)]
pub(crate) struct Migration {
    pub(super) system: &'static str,
    /// The namespace of the parent queues, if there are any.
    pub(super) namespace: Option<String>,
    pub(super) queues: Vec<ProposedQueue>,
    pub(super) unmapped: Vec<Unmapped>,
}

report! {
    /// The same for programs. A stable interface; fields are only added.
    pub(crate) struct MigrationText(migration: &Migration) {
        system: &'static str = migration.system,
        /// The namespace to create for parent queues.
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<String> = migration.namespace.clone(),
        /// The Queues as objects.
        queues: Vec<Value> = migration.queues.iter().map(ProposedQueue::object).collect(),
        /// Fields that a Queue has nothing for.
        unmapped: Vec<Unmapped> = migration.unmapped.clone(),
    }
}

impl Migration {
    /// Manifests with comments; fields that belong to no Queue stand at the top.
    pub(crate) fn manifests(&self) -> String {
        let of_queues: Vec<&String> = self.queues.iter().flat_map(|queue| &queue.comments).collect();
        let mut head = String::new();
        let loose =
            self.unmapped.iter().map(Unmapped::comment).filter(|comment| !of_queues.contains(&comment));
        for comment in loose {
            head.extend(["# ", &comment, "\n"]);
        }
        let of_namespace = |name| format!("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n");
        let namespace = self.namespace.iter().map(of_namespace);
        let manifests: Vec<String> =
            namespace.chain(self.queues.iter().map(ProposedQueue::manifest)).collect();
        head + &manifests.join(BETWEEN)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let queues = self.queues.iter();
        queues.map(|queue| format!("queue.quotient.dev/{}/{}", queue.namespace, queue.name)).collect()
    }

    /// What stands on standard error.
    pub(crate) fn summary(&self) -> String {
        let fields = match self.unmapped.len() {
            0 => "every field has an equivalent".to_owned(),
            count => {
                format!("{} without an equivalent, named in comments", counted(count, "field", "fields"))
            }
        };
        format!(
            "{} of {}, leaf queues in mode Observe; {fields}. Nothing was applied. Next: kubectl quotient diff -f FILE",
            counted(self.queues.len(), "Queue", "Queues"),
            self.system
        )
    }
}
