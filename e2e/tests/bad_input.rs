//! Bad input: refused by the API server or reported in a condition, and no other queue is disturbed.

use anyhow::{Context as _, ensure};
use kube::api::DeleteParams;
use quotient_crds::{ConditionType, Queue};
use quotient_e2e::quotient::{PATIENCE, SYSTEM_NAMESPACE, Stage, queue, quotas, writes_of_operator};
use quotient_e2e::testbed::eventually;
use serde_json::{Value, json};

const PROTECTED: [&str; 2] = ["kube-system", SYSTEM_NAMESPACE];
const GOOD: &str = "good/good: deserved cpu 8, memory 16Gi; allocated cpu 8, memory 16Gi; preempting nothing";

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_is_refused_or_reported_and_disturbs_no_other_queue() -> anyhow::Result<()> {
    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    let operator = stage.start_operator().await?;
    stage.claim("good", json!({"defaultRequests": {}})).await?;
    stage.until_shares("the only queue has everything", GOOD).await?;

    stage.until_condition("good", ConditionType::Ready, ("True", "Reconciled")).await?;

    the_api_server_refuses(&stage).await?;
    a_second_queue_is_told(&stage).await?;
    no_queue_governs_protected_namespaces(&stage).await?;
    an_empty_namespace_is_nothing_special(&stage).await?;
    a_queue_that_its_parent_does_not_accept_says_so(&stage).await?;

    stage.end(operator).await
}

/// What the schema and its rules can see never reaches the operator.
async fn the_api_server_refuses(stage: &Stage) -> anyhow::Result<()> {
    stage.bed.create_namespace("bad").await?;
    let cases = [
        ("spec: {request: {cpu: '-1'}}", "spec.request"),
        ("spec: {request: {cpu: abc}}", "spec.request"),
        ("spec: {request: {cpu: '1e999999999'}}", "spec.request"),
        ("spec: {limit: {memory: 99999999999999999999E}}", "spec.limit"),
        ("spec: {weight: -1}", "spec.weight"),
        ("spec: {weight: two}", "spec.weight"),
        ("spec: {wieght: 2}", "wieght"),
        ("spec: {guaranteed: {cpu: '5'}, limit: {cpu: '4'}}", "guaranteed"),
        ("spec: {request: {requests.cpu: '5'}}", "requests."),
        ("specification: {}", "specification"),
    ];
    let before = stage.bed.audit().mark()?;
    for (body, named) in cases {
        let manifest = format!(
            "apiVersion: quotient.dev/v1alpha1\nkind: Queue\nmetadata: {{name: bad, namespace: bad}}\n{body}\n"
        );
        let refusal = stage.bed.apply(&manifest).await;
        let error = refusal.err().with_context(|| format!("{body} was accepted"))?;
        let text = format!("{error:#}");
        assert!(text.contains(named), "{body}: the refusal does not name {named}: {text}");
    }
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let writes = writes_of_operator(&stage.bed.audit().events_since(before)?);
    assert!(writes.is_empty(), "{writes:#?}");
    Ok(())
}

/// The oldest Queue governs its namespace; the other one says so.
async fn a_second_queue_is_told(stage: &Stage) -> anyhow::Result<()> {
    // Queues of the same second would be ordered by chance.
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    stage.queue_object("good", "late", json!({"weight": 100})).await?;
    let queues = stage.api::<Queue>("good");
    eventually("the second Queue is stalled", PATIENCE, async || {
        let status = queues.get("late").await?.status.unwrap_or_default();
        let stalled = status.condition(ConditionType::Stalled).context("no condition Stalled")?;
        ensure!(stalled.status == "True" && stalled.reason == "NamespaceTaken", "{stalled:?}");
        ensure!(
            stalled.message.contains("good"),
            "the message does not name the other Queue: {}",
            stalled.message
        );
        Ok(())
    })
    .await?;
    let good = queues.get("good").await?.status.unwrap_or_default();
    assert_eq!(good.condition(ConditionType::Ready).map(|ready| ready.status.as_str()), Some("True"));
    stage.bed.kubectl(["delete", "queues.quotient.dev", "late", "-n", "good"]).await?;
    stage.until_shares("the first Queue is as before", GOOD).await
}

/// The admission policy refuses a Queue there, and where there is no policy the operator refuses its namespace. A parent, which
/// governs nothing, may be anywhere.
async fn no_queue_governs_protected_namespaces(stage: &Stage) -> anyhow::Result<()> {
    let create = async |namespace, spec: &Value| stage.queue_object(namespace, "system", spec.clone()).await;
    let delete = async |namespace| {
        let queues = stage.api::<Queue>(namespace);
        queues.delete("system", &DeleteParams::default()).await
    };
    let heavy = json!({"weight": 1_000_000});
    for namespace in PROTECTED {
        let refused = create(namespace, &heavy).await.err().context("the policy lets it in")?;
        let why = format!("a Queue cannot manage the namespace {namespace}");
        assert!(format!("{refused:#}").contains(&why), "{refused:#}");
    }
    create(SYSTEM_NAMESPACE, &json!({"children": {"namespaces": {"from": "All"}}})).await?;
    delete(SYSTEM_NAMESPACE).await?;
    stage.bed.kubectl(["delete", "validatingadmissionpolicybinding", "quotient-queues"]).await?;
    for namespace in PROTECTED {
        eventually("the API server takes the Queue", PATIENCE, async || create(namespace, &heavy).await)
            .await?;
        let queues = stage.api::<Queue>(namespace);
        eventually("the Queue says why it is stalled", PATIENCE, async || {
            let status = queues.get("system").await?.status.unwrap_or_default();
            let ready = status.condition(ConditionType::Ready).context("no condition Ready")?;
            let stalled = status.condition(ConditionType::Stalled).context("no condition Stalled")?;
            ensure!(ready.status == "False" && ready.message.contains("is protected"), "{ready:?}");
            ensure!(stalled.message.contains("because it is protected"), "{stalled:?}");
            Ok(())
        })
        .await?;
    }
    let with_quota: Vec<String> = quotas(&stage.bed).await?.into_keys().collect();
    assert_eq!(with_quota, ["good"]);
    for namespace in PROTECTED {
        delete(namespace).await?;
    }
    stage.until_shares("the other Queue is as before", GOOD).await
}

/// A Queue in a namespace without pods, and a namespace without anything, are ordinary.
async fn an_empty_namespace_is_nothing_special(stage: &Stage) -> anyhow::Result<()> {
    stage.bed.create_namespace("empty").await?;
    stage.claim("idle", json!({"weight": 0})).await?;
    stage
        .until_shares(
            "weight 0 gets nothing while others want everything",
            &format!("{GOOD}\nidle/idle: deserved nothing; allocated nothing; preempting nothing"),
        )
        .await
}

/// A reference that leads nowhere stalls its own queue and no other.
async fn a_queue_that_its_parent_does_not_accept_says_so(stage: &Stage) -> anyhow::Result<()> {
    let before = queue(&stage.bed, "good", "good").await?.deserved;
    stage.queue("closed", json!({"children": {"namespaces": {"from": "Same"}}})).await?;
    stage.claim("refused", json!({"parentRef": {"namespace": "closed", "name": "closed"}})).await?;
    stage.claim("lost", json!({"parentRef": {"namespace": "closed", "name": "absent"}})).await?;
    for (namespace, reason) in [("refused", "ParentNotAccepting"), ("lost", "ParentNotFound")] {
        stage.until_condition(namespace, ConditionType::Stalled, ("True", reason)).await?;
    }
    assert_eq!(queue(&stage.bed, "good", "good").await?.deserved, before);
    Ok(())
}
