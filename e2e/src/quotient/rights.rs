//! What the operator was refused for want of rights, by the API server's audit log.

use anyhow::ensure;

use super::identity::OPERATOR_USER;
use crate::testbed::{AuditEvent, TestBed};

/// Fails if RBAC or an admission policy refused the operator anything since the test bed was started.
pub fn nothing_forbidden(bed: &TestBed) -> anyhow::Result<()> {
    let events = bed.audit().events()?;
    let refused: Vec<String> = events.iter().filter(|event| is_forbidden(event)).map(line).collect();
    ensure!(refused.is_empty(), "the operator's rights are too narrow:\n{}", refused.join("\n"));
    Ok(())
}

/// Not every 403: one for a namespace that is going says nothing of rights.
fn is_forbidden(event: &AuditEvent) -> bool {
    let decision = event.annotations.get("authorization.k8s.io/decision");
    let by_rbac = decision.is_some_and(|decision| decision == "forbid");
    event.user == OPERATOR_USER && (by_rbac || event.message.contains("ValidatingAdmissionPolicy"))
}

fn line(event: &AuditEvent) -> String {
    let AuditEvent { verb, uri, message, .. } = event;
    format!("{verb} {uri}: {message}")
}
