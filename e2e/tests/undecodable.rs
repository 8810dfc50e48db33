//! Objects that no decoder of the operator takes: each is skipped, counted and named, and stops neither a running operator
//! nor one that starts.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use quotient_crds::ConditionType;
use quotient_e2e::quotient::{Operator, PATIENCE, PodCounts, Stage, queue};
use quotient_e2e::testbed::{TestBed, eventually, objects};
use serde_json::{Value, json};

/// A map in a map, so many times.
fn nested(levels: usize) -> Value {
    (0..levels).fold(json!({}), |inner, _| json!({"f:a": inner}))
}

/// What any writer may put into the metadata of its own object.
fn managed_fields(version: &str) -> Value {
    json!([{
        "manager": "odd", "operation": "Update", "apiVersion": version, "time": "9999-12-31T23:59:59Z",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:annotations": nested(120)}},
    }])
}

/// One object of every kind that the operator watches: its version, the path of its kind and what it says.
fn one_of_each_kind() -> Vec<(&'static str, &'static str, Value)> {
    let template = objects::template("odd", &json!({"cpu": "1m", "memory": "1Mi"}));
    let selector = json!({"matchLabels": {"app": "odd"}});
    let of_template = |size: u32| json!({"replicas": size, "selector": selector, "template": template});
    let mut job = template.clone();
    job["spec"]["restartPolicy"] = "Never".into();
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "odd"});
    vec![
        ("v1", "/api/v1/nodes", json!({"spec": {"unschedulable": true}})),
        ("v1", "/api/v1/namespaces", json!({})),
        ("v1", "/api/v1/namespaces/team/pods", json!({"spec": template["spec"]})),
        ("v1", "/api/v1/namespaces/team/limitranges", json!({"spec": {"limits": []}})),
        ("v1", "/api/v1/namespaces/team/resourcequotas", json!({"spec": {"hard": {"pods": "100"}}})),
        ("apps/v1", "/apis/apps/v1/namespaces/team/replicasets", json!({"spec": of_template(0)})),
        ("apps/v1", "/apis/apps/v1/namespaces/team/statefulsets", json!({"spec": of_template(0)})),
        ("apps/v1", "/apis/apps/v1/namespaces/team/deployments", json!({"spec": of_template(0)})),
        (
            "batch/v1",
            "/apis/batch/v1/namespaces/team/jobs",
            json!({"spec": {"suspend": true, "template": job}}),
        ),
        (
            "autoscaling/v2",
            "/apis/autoscaling/v2/namespaces/team/horizontalpodautoscalers",
            json!({"spec": {"scaleTargetRef": target, "maxReplicas": 2}}),
        ),
        (
            "policy/v1",
            "/apis/policy/v1/namespaces/team/poddisruptionbudgets",
            json!({"spec": {"selector": selector, "maxUnavailable": 1}}),
        ),
        ("scheduling.k8s.io/v1", "/apis/scheduling.k8s.io/v1/priorityclasses", json!({"value": 5})),
        (
            "quotient.dev/v1alpha1",
            "/apis/quotient.dev/v1alpha1/namespaces/odd/queues",
            json!({"kind": "Queue", "spec": {"weight": 1}}),
        ),
        (
            "quotient.dev/v1alpha1",
            "/apis/quotient.dev/v1alpha1/namespaces/team/queuejobs",
            json!({"kind": "QueueJob", "spec": {"suspend": true, "tasks": [{"name": "w", "replicas": 1, "template": {"spec": template["spec"]}}]}}),
        ),
    ]
}

async fn post(bed: &TestBed, path: &str, object: &Value) -> Result<()> {
    bed.kubectl_with_input(["create", "--raw", path, "-f", "-"], &object.to_string()).await?;
    Ok(())
}

/// The value of a metric of one kind of object; 0 if it is not there.
async fn count(operator: &Operator, metric: &str, kind: &str) -> Result<f64> {
    operator.metric(&format!("{metric}{{kind=\"{kind}\"}}")).await
}

/// A Queue that is made now gets its quota.
async fn shares_move(stage: &Stage, namespace: &str) -> Result<()> {
    stage.queue(namespace, json!({"weight": 1})).await?;
    eventually(format!("{namespace} gets a share"), PATIENCE, async || {
        let view = queue(&stage.bed, namespace, namespace).await?;
        ensure!(!view.allocated.is_empty(), "{view:?}");
        Ok(())
    })
    .await
}

/// A budget and a node first, whose meaning is judged by what happens then; then an object of every kind.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_is_skipped_and_stops_nothing() -> Result<()> {
    let stage = Stage::set(&[("node-1", "6", "12Gi")]).await?;
    a_budget_that_cannot_be_read_allows_no_disruption(&stage).await?;
    stage.promises_were_kept()?;
    one_bad_object_of_any_kind_stops_nothing(&stage).await?;
    stage.bed.stop().await
}

async fn one_bad_object_of_any_kind_stops_nothing(stage: &Stage) -> Result<()> {
    let bed = &stage.bed;
    let operator = stage.start_operator().await?;
    shares_move(stage, "team").await?;

    let mut kinds = Vec::new();
    for (version, path, mut object) in one_of_each_kind() {
        let kind = path.rsplit('/').next().context("a path")?;
        object["apiVersion"] = version.into();
        object["metadata"] = json!({"name": "odd", "managedFields": managed_fields(version)});
        post(bed, path, &object).await.with_context(|| format!("creating {path}"))?;
        let stored = bed.kubectl(["get", "--raw", &format!("{path}/odd")]).await?;
        ensure!(stored.contains("9999-12-31T23:59:59Z"), "{path} was stored without: {stored}");
        kinds.push(kind);
    }
    let deep = json!({
        "apiVersion": "quotient.dev/v1alpha1", "kind": "QueueJob", "metadata": {"name": "deep"},
        "spec": {"tasks": [{"name": "w", "replicas": 1, "template": {"spec": {
            "containers": [{"name": "main", "image": "main"}], "affinity": nested(140),
        }}}]},
    });
    let jobs = "/apis/quotient.dev/v1alpha1/namespaces/team/queuejobs";
    post(bed, jobs, &deep).await?;

    shares_move(stage, "later").await?;
    the_deep_one_is_counted_and_told(bed, &operator, jobs).await?;
    operator.stop().await?;
    let operator = stage.start_operator().await?;
    shares_move(stage, "latest").await?;
    the_deep_one_is_counted_and_told(bed, &operator, jobs).await?;
    for kind in kinds {
        ensure!(count(&operator, "quotient_watch_errors_total", kind).await? < 1.0, "{kind}");
    }
    let log = operator.process().log();
    ensure!(log.contains("cannot be decoded") && log.contains("deep"), "{log}");
    operator.stop().await
}

async fn the_deep_one_is_counted_and_told(bed: &TestBed, operator: &Operator, jobs: &str) -> Result<()> {
    eventually("the deep QueueJob is counted, and says why nothing starts", PATIENCE, async || {
        let counted = count(operator, "quotient_watch_undecodable_objects_total", "queuejobs").await?;
        ensure!(counted >= 1.0, "{counted}");
        let stored = bed.kubectl(["get", "--raw", &format!("{jobs}/deep")]).await?;
        ensure!(stored.contains("nested more than 128 levels deep"), "{stored}");
        Ok(())
    })
    .await
}

/// A condition that no decoder of the operator takes: its time is beyond what it knows.
fn beyond_time(kind: &str) -> String {
    let condition = json!({
        "type": kind, "status": "True", "reason": "Odd", "message": "odd", "lastTransitionTime": "9999-12-31T23:59:59Z",
    });
    json!([{"op": "add", "path": "/status/conditions/-", "value": condition}]).to_string()
}

/// Gives the status of an object that condition.
async fn break_status(bed: &TestBed, object: &[&str]) -> Result<()> {
    let patch = beyond_time("Odd");
    let arguments = ["patch"].iter().chain(object).copied();
    let arguments = arguments.chain(["--subresource=status", "--type=json", "-p", patch.as_str()]);
    eventually(format!("{object:?} has conditions"), PATIENCE, async || {
        bed.kubectl(arguments.clone()).await?;
        anyhow::Ok(())
    })
    .await
}

async fn named_in_the_condition(stage: &Stage) -> Result<()> {
    stage.until_condition("a", ConditionType::Ready, ("True", "ObjectsSkipped")).await?;
    let stored = stage.bed.kubectl(["get", "queues", "a", "-n", "a", "-o", "yaml"]).await?;
    ensure!(stored.contains("poddisruptionbudgets.policy odd"), "{stored}");
    Ok(())
}

/// A budget whose selector is not known withholds the evictions of its namespace, and no more than that: a free share moves to
/// another queue, before and after a start. Nor does a node that cannot be read hide the others.
async fn a_budget_that_cannot_be_read_allows_no_disruption(stage: &Stage) -> Result<()> {
    let bed = &stage.bed;
    stage.claim("a", json!({})).await?;
    stage.deployment("a", "web", 4, json!({"cpu": "1", "memory": "2Gi"}), false).await?;
    stage.until_pods("a", PodCounts::running(4)).await?;
    let budget = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "odd", "namespace": "a"},
        "spec": {"selector": {"matchLabels": {"app": "another"}}, "maxUnavailable": 1},
    });
    let node = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "odd"}, "spec": {"unschedulable": true},
        "status": {"conditions": [{"type": "First", "status": "True"}]},
    });
    bed.apply(&budget.to_string()).await?;
    bed.apply(&node.to_string()).await?;
    break_status(bed, &["poddisruptionbudget", "odd", "-n", "a"]).await?;
    break_status(bed, &["node", "odd"]).await?;

    let begin = bed.audit().mark()?;
    let operator = stage.start_operator().await?;
    named_in_the_condition(stage).await?;
    stage.claim("b", json!({})).await?;
    stage.until_allowed("b", "cpu 2, memory 4Gi").await?;
    operator.stop().await?;
    let operator = stage.start_operator().await?;
    named_in_the_condition(stage).await?;
    eventually("b is starved", PATIENCE, async || {
        let view = queue(bed, "b", "b").await?;
        ensure!(view.conditions.contains_key("Starved"), "{view:?}");
        Ok(())
    })
    .await?;
    tokio::time::sleep(Duration::from_secs(5)).await;
    ensure!(stage.evictions(begin)?.is_empty(), "{:?}", stage.evictions(begin)?);
    stage.until_pods("a", PodCounts::running(4)).await?;
    for kind in ["poddisruptionbudgets", "nodes"] {
        ensure!(count(&operator, "quotient_watch_undecodable_objects_total", kind).await? >= 1.0, "{kind}");
    }

    bed.kubectl(["delete", "poddisruptionbudget", "odd", "-n", "a"]).await?;
    stage.until_allowed("b", "cpu 3, memory 6Gi").await?;
    ensure!(stage.evictions(begin)?.len() == 1, "{:?}", stage.evictions(begin)?);
    stage.until_condition("a", ConditionType::Ready, ("True", "Reconciled")).await?;
    for team in ["a", "b"] {
        stage.remove_queue(team).await?;
    }
    operator.stop().await?;
    bed.kubectl(["delete", "node", "odd"]).await?;
    Ok(())
}
