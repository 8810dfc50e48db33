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

/// Annotation on the quota: which of our writes its amounts come from, a decimal number that every write raises.
///
/// A write applies only to the generation that it was decided on, so an older one never replaces a newer one.
pub const GENERATION_ANNOTATION: &str = "quotient.dev/generation";

/// Annotation on a pod: how readily it may be evicted for another queue.
///
/// The one value is [`PREEMPTIBLE_LAST`].
pub const PREEMPTIBLE_ANNOTATION: &str = "quotient.dev/preemptible";

/// The value of [`PREEMPTIBLE_ANNOTATION`] for a pod that, once started, goes only when nothing else is left.
pub const PREEMPTIBLE_LAST: &str = "last";
