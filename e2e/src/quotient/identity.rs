//! The operator's user at the API server, and where it is installed.

/// The user that the operator is for the API server, so that the audit log can tell its writes: the chart's account.
pub const OPERATOR_USER: &str = "system:serviceaccount:quotient-system:quotient";
/// The group of accounts that it is in. What it may do, the chart says: see [`install_chart`](super::install_chart).
pub const OPERATOR_GROUP: &str = "system:serviceaccounts:quotient-system";
/// The operator's own namespace.
pub const SYSTEM_NAMESPACE: &str = "quotient-system";
/// The release's name, which its objects have, too.
pub const RELEASE: &str = "quotient";
