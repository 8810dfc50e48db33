//! Admission webhooks of other parties that refuse evictions by being down, or hang.

use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use quotient_crds::ConditionType;
use quotient_e2e::quotient::{PATIENCE, Stage};
use quotient_e2e::testbed::{AuditEvent, AuditMark, eventually};
use serde_json::{Value, json};

/// A webhook that the API server calls for evictions that `applies` holds for, on `port` of this machine.
fn webhook(name: &str, port: u16, timeout_seconds: u32, applies: &str) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [{
            "name": format!("{name}.example.com"),
            "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Fail",
            "timeoutSeconds": timeout_seconds,
            "clientConfig": {"url": format!("https://127.0.0.1:{port}/")},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/eviction"]}],
            "matchConditions": [{"name": "applies", "expression": applies}],
        }],
    })
}

fn evictions(stage: &Stage, since: AuditMark) -> Result<Vec<AuditEvent>> {
    let events = stage.bed.audit().events_since(since)?;
    Ok(events.into_iter().filter(|event| event.is_about("pods/eviction")).collect())
}

/// Of two queues that give, the pods of one hang in a webhook, and the first victim of the other is refused by a webhook that
/// is down: the other queue's next pod goes within seconds, and the gainer says why.
#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_that_is_down_or_hangs_holds_up_no_other_pod() -> Result<()> {
    // The listener accepts connections and never answers.
    let hangs = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = |listener: &TcpListener| Ok::<u16, std::io::Error>(listener.local_addr()?.port());
    let (hanging, refusing) = (port(&hangs)?, port(&closed)?);
    drop(closed);

    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    // One slot in each namespace.
    let slots = ["--evictions-in-parallel=1", "--status-interval-seconds=1"];
    let operator =
        quotient_e2e::quotient::Operator::start_with(&stage.bed, &stage.programs.operator, &slots).await?;
    let requests = [("cpu", "1"), ("memory", "1Gi")];
    for namespace in ["down", "hang"] {
        stage.claim(namespace, json!({"weight": 1})).await?;
    }
    for namespace in ["down", "hang"] {
        stage.until_allowed(namespace, "cpu 4, memory 8Gi").await?;
        for number in 0..4 {
            let name = format!("p{number}");
            stage.bed.create_pod(namespace, &name, &requests).await?;
            stage.bed.wait_until_running(namespace, &name).await?;
            // The last to start is the first to go.
            tokio::time::sleep(Duration::from_millis(1100)).await;
        }
    }
    for hook in [
        webhook("is-down", refusing, 5, "request.namespace == 'down' && request.name == 'p3'"),
        webhook("hangs", hanging, 30, "request.namespace == 'hang'"),
    ] {
        stage.apply(&hook).await?;
    }
    // The API server learns of webhooks a little later.
    tokio::time::sleep(Duration::from_secs(2)).await;

    let mark = stage.bed.audit().mark()?;
    stage.claim("gains", json!({"weight": 2})).await?;
    let gone = |name: &'static str| {
        let is_it =
            move |event: &&AuditEvent| event.namespace == "down" && event.name == name && event.succeeded();
        move |events: &[AuditEvent]| events.iter().find(is_it).map(|event| event.received)
    };
    eventually("another pod goes for the one that is refused", PATIENCE, async || {
        let events = evictions(&stage, mark)?;
        ensure!(gone("p2")(&events).is_some() && gone("p1")(&events).is_some(), "{events:#?}");
        Ok(())
    })
    .await?;
    let events = evictions(&stage, mark)?;
    let first = events.iter().map(|event| event.received).min().context("evictions")?;
    let second = gone("p1")(&events).context("p1 is gone")?;
    let waited = second.duration_since(first);
    ensure!(waited.as_secs() < 8, "a hanging namespace held up another for {waited}");
    let refused = |event: &&AuditEvent| event.name == "p3" && event.code == 500;
    ensure!(events.iter().filter(refused).count() >= 2, "{events:#?}");

    let said = stage.until_condition("gains", ConditionType::Starved, ("True", "EvictionRefused")).await?;
    ensure!(said.contains("webhook"), "{said}");
    operator.process().kill()?;
    stage.bed.stop().await
}
