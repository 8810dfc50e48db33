//! One bad object, one namespace that may not be written: its Queue says so, and the rest goes on.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use k8s_openapi::api::core::v1::ResourceQuota;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use quotient_crds::ConditionType;
use quotient_e2e::quotient::{OPERATOR_GROUP, OPERATOR_USER, Operator, PATIENCE, Stage};
use quotient_e2e::testbed::{eventually, until_is};
use serde_json::{Value, json};

/// The operator may change no quota in this namespace, whatever its roles say.
const POLICY: &str = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: locked}
spec:
  failurePolicy: Fail
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: locked}}
    resourceRules:
      - {apiGroups: [''], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [resourcequotas]}
  validations:
    - expression: request.userInfo.username != 'system:serviceaccount:quotient-system:quotient'
      message: this namespace is locked
      reason: Forbidden
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: locked}
spec: {policyName: locked, validationActions: [Deny]}
";

/// What a Queue says of a condition: status, reason and message.
async fn condition(stage: &Stage, namespace: &str, kind: ConditionType) -> anyhow::Result<[String; 3]> {
    let status = stage.queue_status(namespace).await?;
    let condition = status.condition(kind).context("no such condition yet")?;
    Ok([condition.status.clone(), condition.reason.clone(), condition.message.clone()])
}

/// Waits until the API server refuses the operator's writes of quotas in `locked`, or until it does not.
async fn until_locked(stage: &Stage, locked: bool) -> anyhow::Result<()> {
    let as_operator = stage.bed.user_kubeconfig(OPERATOR_USER, Some(OPERATOR_GROUP))?;
    let quotas: Api<ResourceQuota> = Api::namespaced(stage.bed.client_for(&as_operator).await?, "locked");
    let only_asked = PatchParams { dry_run: true, ..PatchParams::default() };
    let patch = Patch::Merge(json!({"spec": {"hard": {"requests.cpu": "1"}}}));
    until_is(format!("locked: {locked}"), locked, async || {
        Ok(quotas.patch("quotient", &only_asked, &patch).await.is_err())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn one_bad_queue_and_one_locked_namespace_stop_no_other() -> anyhow::Result<()> {
    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    store_a_queue_that_cannot_be_read(&stage).await?;
    let operator = stage.start_operator().await?;
    for namespace in ["good", "locked"] {
        stage.claim(namespace, json!({"weight": 1})).await?;
    }
    stage.until_allowed("good", "cpu 4, memory 8Gi").await?;
    stage.until_allowed("locked", "cpu 4, memory 8Gi").await?;
    a_queue_that_cannot_be_read_is_told_once(&stage).await?;
    a_namespace_without_rights_stops_no_other(&stage, &operator).await?;
    operator.stop().await?;
    stage.bed.stop().await
}

async fn a_namespace_without_rights_stops_no_other(stage: &Stage, operator: &Operator) -> anyhow::Result<()> {
    stage.bed.apply(POLICY).await?;
    until_locked(stage, true).await?;

    // Half of what `late` deserves is good's to give, the other half locked's, which cannot be told.
    stage.claim("late", json!({"weight": 2})).await?;
    stage.until_allowed("good", "cpu 2, memory 4Gi").await?;
    stage.until_allowed("late", "cpu 2, memory 4Gi").await?;
    stage.until_allowed("locked", "cpu 4, memory 8Gi").await?;
    eventually("locked is told why", PATIENCE, async || {
        let synced = condition(stage, "locked", ConditionType::QuotaSynced).await?;
        let [status, reason, message] = &synced;
        ensure!(status == "False" && reason == "WriteRefused" && message.contains("is locked"), "{synced:?}");
        Ok(())
    })
    .await?;
    let (_, metrics) = operator.get("/metrics").await?;
    let refused = "quotient_api_writes_total{kind=\"resourcequota\",result=\"forbidden\"}";
    assert!(metrics.lines().any(|line| line.starts_with(refused)), "{metrics}");
    // Others go on as if nothing was: good gives all that it has.
    stage.patch_queue("good", "good", json!({"weight": 0})).await?;
    stage.until_allowed("good", "nothing").await?;
    stage.until_allowed("late", "cpu 4, memory 8Gi").await?;

    stage
        .bed
        .kubectl(["delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", "locked"])
        .await?;
    until_locked(stage, false).await?;
    // Tried again at the latest a minute after it was last refused.
    stage.patch_queue("good", "good", json!({"weight": 1})).await?;
    stage.until_allowed("locked", "cpu 2, memory 4Gi").await?;
    stage.until_allowed("good", "cpu 2, memory 4Gi").await?;
    stage.until_allowed("late", "cpu 4, memory 8Gi").await
}

/// The kind Queue, as it is stored.
async fn weight_may_be(stage: &Stage, schema: &Value) -> anyhow::Result<Value> {
    let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let kinds: Api<DynamicObject> = Api::all_with(stage.bed.client(), &ApiResource::from_gvk(&kind));
    let place = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/weight";
    let name = "queues.quotient.dev";
    let former = kinds.get(name).await?.data.pointer(place).cloned().context("no schema of the weight")?;
    let replace = json!([{"op": "replace", "path": place, "value": schema}]);
    let patch: Patch<()> = Patch::Json(serde_json::from_value(replace)?);
    kinds.patch(name, &PatchParams::default(), &patch).await?;
    Ok(former)
}

/// A Queue that was written before the CRD had its schema: no type can hold it.
async fn store_a_queue_that_cannot_be_read(stage: &Stage) -> anyhow::Result<()> {
    let anything = json!({"x-kubernetes-preserve-unknown-fields": true});
    let schema = weight_may_be(stage, &anything).await?;
    stage.bed.create_namespace("odd").await?;
    let odd = "{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: odd, namespace: odd}, spec: {weight: heavy}}";
    eventually("the odd Queue is stored", PATIENCE, async || {
        stage.bed.apply(odd).await?;
        Ok::<_, anyhow::Error>(())
    })
    .await?;
    weight_may_be(stage, &schema).await?;
    Ok(())
}

/// Its status says why. `P78` of the fault campaign waits for longer than a minute, after which a status is sent again.
async fn a_queue_that_cannot_be_read_is_told_once(stage: &Stage) -> anyhow::Result<()> {
    let why = [
        "get",
        "queues.quotient.dev",
        "odd",
        "-n",
        "odd",
        "-o",
        "jsonpath={.status.conditions[?(@.type==\"Stalled\")].reason}: {.status.conditions[?(@.type==\"Stalled\")].message}",
    ];
    eventually("the odd Queue is told", PATIENCE, async || {
        let printed = stage.bed.kubectl(why).await?;
        ensure!(printed.contains("InvalidSpec") && printed.contains("spec.weight"), "{printed}");
        Ok(())
    })
    .await?;
    stage.until_quiet_for(Duration::from_secs(10)).await
}
