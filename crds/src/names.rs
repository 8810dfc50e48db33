//! The names that Quotient uses on objects of the cluster.
//!
//! They are part of the API: scripts, policies and the text of refusals mention them, so a change here is a
//! change for users.

/// The API group of every kind that Quotient defines.
pub const GROUP: &str = "quotient.dev";

/// The served and stored version of the API group.
pub const VERSION: &str = "v1alpha1";

/// Group and version as they stand in an object's `apiVersion`.
pub const API_VERSION: &str = "quotient.dev/v1alpha1";

/// The name of the `ResourceQuota` that Quotient keeps in a governed namespace.
///
/// It is the only word of ours in the 403 that a refused user reads.
pub const QUOTA: &str = "quotient";

/// The field manager of every server-side apply of the operator.
pub const FIELD_MANAGER: &str = "quotient";

/// Label that says which program keeps an object; on the quota its value is [`MANAGED_BY_QUOTIENT`].
pub const MANAGED_BY_LABEL: &str = "app.kubernetes.io/managed-by";

/// The value of [`MANAGED_BY_LABEL`] on objects that the operator keeps.
pub const MANAGED_BY_QUOTIENT: &str = "quotient";

/// Annotation on the quota: the ledger's generation that its amounts belong to, a decimal number.
///
/// A grant counts as fenced only when the quota was seen with it; an older generation never replaces a newer
/// one.
pub const GENERATION_ANNOTATION: &str = "quotient.dev/generation";

/// Annotation on a Queue: what happens to the namespace's quota when the Queue is deleted.
///
/// Without it the quota stays, lowered to what the namespace's pods hold: removing it would open the namespace.
/// With [`ON_DELETE_REMOVE`] the quota goes with the Queue.
pub const ON_DELETE_ANNOTATION: &str = "quotient.dev/on-delete";

/// The value of [`ON_DELETE_ANNOTATION`] that has the quota removed with its Queue.
pub const ON_DELETE_REMOVE: &str = "Remove";

/// Annotation on a pod: how readily it may be evicted for another queue.
///
/// The one value is [`PREEMPTIBLE_LAST`].
pub const PREEMPTIBLE_ANNOTATION: &str = "quotient.dev/preemptible";

/// The value of [`PREEMPTIBLE_ANNOTATION`] for a pod that, once started, goes only when nothing else is left.
pub const PREEMPTIBLE_LAST: &str = "last";

/// Annotation on a workload whose pods were refused: changed when there is room again.
///
/// The change wakes its controller, which otherwise retries only after its back-off of up to minutes. The value
/// has no meaning beyond being new.
pub const NUDGE_ANNOTATION: &str = "quotient.dev/nudge";
