//! Annotations by which a test tells the pretended kubelets what to do with a pod.
//!
//! Set them before the event that they are about: kwok decides when an object changes, and does not take back what
//! it has already decided.

/// Pods: `"true"` keeps a bound pod Pending until the annotation is removed or changed: an image that does not come.
pub const HOLD_START: &str = "testbed.quotient.dev/hold-start";

/// Pods: `"true"` keeps a deleted pod running, and so Terminating, until the annotation is removed or changed: a
/// process that does not listen to signals. The API server deletes it all the same when asked with grace 0.
pub const HOLD_TERMINATION: &str = "testbed.quotient.dev/hold-termination";

/// Pods: how many whole seconds after its `status.startTime` a pod succeeds (`"5"`). Kubernetes cuts the start
/// time to whole seconds, so it may be up to one second earlier.
pub const COMPLETE_AFTER_SECONDS: &str = "testbed.quotient.dev/complete-after-seconds";
