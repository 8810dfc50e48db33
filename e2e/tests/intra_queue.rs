//! S-MCM on a real control plane: owners of a lower priority yield by being scaled down, and get their size back.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use quotient_e2e::quotient::{Operator, PATIENCE, Stage, Write, label, writes_of_operator};
use quotient_e2e::testbed::{annotations, eventually, objects, until_is};
use serde_json::{Value, json};

use crate::reader::shell_blocks;

const NAMESPACE: &str = "team";

/// Longer than many cycles take.
const WHILE: Duration = Duration::from_secs(3);
const A_CYCLE: Duration = Duration::from_secs(1);

const CLASSES: [(&str, i32); 3] = [("low", 10), ("middle", 100), ("high", 1000)];

/// A control plane with these GPU nodes (name, GPUs, for which Deployments), three priorities, and a queue inside which they
/// count.
async fn stage(nodes: &[(&str, &str, &str)]) -> anyhow::Result<(Stage, Operator)> {
    let stage = Stage::set(&[]).await?;
    for (name, gpus, whose) in nodes {
        let room = [("cpu", "32"), ("memory", "64Gi"), ("nvidia.com/gpu", *gpus)];
        stage.bed.add_node(name, &room).await?;
        stage.bed.kubectl(["label", "node", name, &format!("for={whose}")]).await?;
    }
    for (name, value) in CLASSES {
        // kube-scheduler would preempt on its own where a pod finds no node.
        let class = format!(
            "{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {{name: {name}}}, value: {value}, \
             preemptionPolicy: Never}}"
        );
        stage.bed.apply(&class).await?;
    }
    let operator = stage.start_operator().await?;
    let all = json!({"cpu": "1k", "memory": "1Ti", "nvidia.com/gpu": "1k"});
    let spec =
        json!({"request": all, "preemption": "LowerPriority", "eviction": {"forceAfterSeconds": 3600}});
    stage.queue(NAMESPACE, spec).await?;
    Ok((stage, operator))
}

/// A workload of pods that request `gpus` GPUs each and stay Terminating until they are released.
fn workload(kind: &str, name: &str, class: &str, size: u32, gpus: u32) -> Value {
    let requests = json!({"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": gpus});
    let workload = objects::held(objects::workload(kind, NAMESPACE, name, size, &requests));
    let mut workload = objects::pods_with(workload, "priorityClassName", class);
    if kind == "StatefulSet" {
        workload["spec"]["podManagementPolicy"] = json!("Parallel");
    }
    workload
}

/// A Deployment that only runs on nodes that are for it.
fn at_home(workload: Value) -> Value {
    let home = json!({"for": workload["metadata"]["name"]});
    objects::pods_with(workload, "nodeSelector", home)
}

/// The pods of every app.
async fn seen(stage: &Stage) -> anyhow::Result<String> {
    stage.pods_by(NAMESPACE, |pod| label(pod, "app")).await
}

async fn until(stage: &Stage, expected: &str) -> anyhow::Result<()> {
    until_is(expected, expected, async || seen(stage).await).await?;
    if !expected.contains("leaving") {
        stage.until_quota_is_exact(NAMESPACE).await?;
    }
    Ok(())
}

/// Size and what is remembered beside it: `2`, `1 of 3`.
async fn size(stage: &Stage, kind: &str, name: &str) -> anyhow::Result<String> {
    let field = if kind == "job" { "parallelism" } else { "replicas" };
    let path = format!(
        "-o=jsonpath={{.spec.{field}}} {{.metadata.annotations.quotient\\.dev/replicas-lowered-to}} \
         {{.metadata.annotations.quotient\\.dev/replicas-before}}"
    );
    let said = stage.bed.kubectl(["get", kind, name, "-n", NAMESPACE, &path]).await?;
    let words: Vec<&str> = said.split_whitespace().collect();
    Ok(match words.as_slice() {
        [size] => (*size).to_owned(),
        [size, lowered, before] if size == lowered => format!("{size} of {before}"),
        _ => format!("unclear: {said}"),
    })
}

/// What the operator wrote since `mark` about sizes and marks, in order.
fn scale_writes(stage: &Stage, mark: quotient_e2e::testbed::AuditMark) -> anyhow::Result<Vec<String>> {
    let concerns = |write: &Write| {
        ["deployments", "replicasets", "statefulsets", "jobs", "pods"].contains(&write.resource.as_str())
            && write.verb == "patch"
    };
    let writes = writes_of_operator(&stage.bed.audit().events_since(mark)?);
    Ok(writes
        .iter()
        .filter(|write| concerns(write))
        .map(|write| format!("{} {}", write.resource, write.object))
        .collect())
}

/// The same, requeues left out.
fn sizes_written(stage: &Stage, mark: quotient_e2e::testbed::AuditMark) -> anyhow::Result<Vec<String>> {
    let mut writes = scale_writes(stage, mark)?;
    writes.retain(|write| !write.starts_with("replicasets "));
    Ok(writes)
}

/// Lets one pod of `app` go that is held in Terminating.
async fn release_one(stage: &Stage, app: &str) -> anyhow::Result<()> {
    let pods = stage.api::<Pod>(NAMESPACE);
    let all = pods.list(&ListParams::default().labels(&format!("app={app}"))).await?;
    let held = |pod: &&Pod| {
        let held = pod
            .metadata
            .annotations
            .as_ref()
            .is_some_and(|all| all.contains_key(annotations::HOLD_TERMINATION));
        pod.metadata.deletion_timestamp.is_some() && held
    };
    let pod = all.items.iter().find(held).context("no pod is held")?;
    let patch = json!({"metadata": {"annotations": {annotations::HOLD_TERMINATION: null}}});
    let name = pod.metadata.name.as_deref().unwrap_or_default();
    pods.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await?;
    Ok(())
}

/// The last event of this reason: about what, and its note.
async fn event(stage: &Stage, reason: &str) -> anyhow::Result<String> {
    let path = "-o=jsonpath={.items[-1:].involvedObject.kind} {.items[-1:].involvedObject.name}: {.items[-1:].message}";
    let selector = format!("--field-selector=reason={reason}");
    let said = eventually(format!("there is an event {reason}"), PATIENCE, async || {
        let said = stage.bed.kubectl(["get", "events", "-n", NAMESPACE, &selector, path]).await?;
        ensure!(said.len() > 3, "there is none");
        Ok(said)
    })
    .await?;
    Ok(said)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lower_priority_yields_and_is_deleted_where_it_hangs() -> anyhow::Result<()> {
    let (stage, operator) = stage(&[("node-1", "4", "all")]).await?;
    stage.until_allowed(NAMESPACE, "cpu 32, memory 64Gi, nvidia.com/gpu 4").await?;
    the_lowest_priority_yields_and_comes_back(&stage).await?;
    stage.clear(NAMESPACE).await?;
    let operator = a_pod_that_hangs_is_deleted_where_the_queue_allows_it(&stage, operator).await?;
    stage.end(operator).await
}

/// One GPU: the lowest priority yields, then the next; the last replica stays; each gets its size back when there is room.
async fn the_lowest_priority_yields_and_comes_back(stage: &Stage) -> anyhow::Result<()> {
    stage.apply(&workload("Deployment", "middle", "middle", 2, 1)).await?;
    stage.apply(&workload("Deployment", "low", "low", 2, 1)).await?;
    until(stage, "low 2, middle 2").await?;

    let mark = stage.bed.audit().mark()?;
    stage.apply(&workload("Deployment", "high", "high", 1, 1)).await?;
    until(stage, "low 1, middle 2, leaving 1").await?;
    assert_eq!(size(stage, "deployment", "low").await?, "1 of 2");
    let printed = event(stage, "Outranked").await?;
    assert!(printed.starts_with("Deployment low: Scaled from 2 to 1 because "), "{printed}");
    assert!(
        printed.contains("of a higher priority than 10 lacks room in queue team. It gets its 2 back"),
        "{printed}"
    );
    assert!(printed.contains("It loses low-"), "{printed}");
    stage.release(NAMESPACE).await?;
    until(stage, "high 1, low 1, middle 2").await?;
    let said = "GaveWay: Quotient lowered Deployment low from 2 to 1 because other pods of the queue needed \
                the room; in mode Full Quotient restores the size when the queue and a node have room";
    eventually("the Queue says what became of low", PATIENCE, async || {
        let path = "-o=jsonpath={range .status.unmet[*]}{.reason}: {.message}{\"\\n\"}{end}";
        let unmet = stage.bed.kubectl(["get", "queues.quotient.dev", "team", "-n", NAMESPACE, path]).await?;
        ensure!(unmet.lines().any(|line| line == said), "{unmet}");
        Ok(())
    })
    .await?;
    let writes = sizes_written(stage, mark)?;
    assert_eq!(writes.len(), 2, "a mark and a size: {writes:?}");
    assert!(writes[0].starts_with("pods team/low-") && writes[1] == "deployments team/low", "{writes:?}");

    // The last replica of the lowest stays, so the next one goes; and then no pod is left that may.
    stage.bed.kubectl(["scale", "deployment/high", "--replicas=2", "-n", NAMESPACE]).await?;
    until(stage, "high 1, low 1, middle 1, leaving 1").await?;
    stage.release(NAMESPACE).await?;
    until(stage, "high 2, low 1, middle 1").await?;
    assert_eq!(size(stage, "deployment", "middle").await?, "1 of 2");
    let mark = stage.bed.audit().mark()?;
    stage.bed.kubectl(["scale", "deployment/high", "--replicas=3", "-n", NAMESPACE]).await?;
    tokio::time::sleep(WHILE).await;
    assert_eq!(seen(stage).await?, "high 2, low 1, middle 1");
    assert_eq!(sizes_written(stage, mark)?, [""; 0]);

    // Room for one: the more important one first. Room for all: all.
    stage.bed.kubectl(["scale", "deployment/high", "--replicas=1", "-n", NAMESPACE]).await?;
    until(stage, "high 1, low 1, middle 1, leaving 1").await?;
    stage.release(NAMESPACE).await?;
    until(stage, "high 1, low 1, middle 2").await?;
    assert_eq!(size(stage, "deployment", "middle").await?, "2");
    assert_eq!(size(stage, "deployment", "low").await?, "1 of 2");
    let deployments = stage.api::<Deployment>(NAMESPACE);
    deployments.delete("high", &DeleteParams::default()).await?;
    until(stage, "low 1, middle 2, leaving 1").await?;
    stage.release(NAMESPACE).await?;
    until(stage, "low 2, middle 2").await?;
    assert_eq!(size(stage, "deployment", "low").await?, "2");
    let printed = event(stage, "Restored").await?;
    assert!(printed.contains("because queue team has room for it again"), "{printed}");
    stage.until_quiet_for(WHILE).await
}

#[tokio::test(flavor = "multi_thread")]
async fn whole_nodes_are_found_and_every_kind_yields() -> anyhow::Result<()> {
    let nodes = [
        ("node-1", "4", "middle"),
        ("node-2", "4", "low"),
        ("node-3", "1", "middle"),
        ("node-4", "1", "low"),
    ];
    let (stage, operator) = stage(&nodes).await?;
    stage.until_allowed(NAMESPACE, "cpu 128, memory 256Gi, nvidia.com/gpu 10").await?;
    four_gpus_are_found_where_they_cost_least(&stage).await?;
    stage.clear(NAMESPACE).await?;
    every_kind_yields_and_who_may_not_be_scaled_is_left_alone(&stage).await?;
    operator.stop().await?;
    stage.promises_were_kept()?;
    sizes_are_restored_without_the_operator(&stage).await?;
    stage.bed.stop().await
}

/// Four GPUs: the node whose victims are the cheapest, and the same victims in every cycle while they move on.
async fn four_gpus_are_found_where_they_cost_least(stage: &Stage) -> anyhow::Result<()> {
    stage.apply(&at_home(workload("Deployment", "middle", "middle", 5, 1))).await?;
    stage.apply(&at_home(workload("Deployment", "low", "low", 5, 1))).await?;
    until(stage, "low 5, middle 5").await?;

    let mark = stage.bed.audit().mark()?;
    stage.apply(&workload("Deployment", "high", "high", 1, 4)).await?;
    until(stage, "low 1, middle 5, leaving 4").await?;
    assert_eq!(size(stage, "deployment", "low").await?, "1 of 5");
    for pod in stage.pods(NAMESPACE).await? {
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref());
        let goes = pod.metadata.deletion_timestamp.is_some();
        assert_eq!(goes, node == Some("node-2"), "{:?} on {node:?}", pod.metadata.name);
    }
    let decided = sizes_written(stage, mark)?;
    assert_eq!(decided.len(), 5, "four marks and a size: {decided:?}");
    assert_eq!(decided[4], "deployments team/low");
    // Surplus, terminating, gone one by one: nothing else is chosen.
    let later = stage.bed.audit().mark()?;
    for left in (0..4).rev() {
        tokio::time::sleep(A_CYCLE).await;
        release_one(stage, "low").await?;
        let expected = if left == 0 {
            "high 1, low 1, middle 5".to_owned()
        } else {
            format!("low 1, middle 5, leaving {left}")
        };
        until(stage, &expected).await?;
    }
    stage.until_quiet_for(WHILE).await?;
    assert_eq!(sizes_written(stage, later)?, [""; 0]);
    Ok(())
}

/// Owners that an autoscaler keeps or that opted out are left alone; other kinds yield in their own way.
async fn every_kind_yields_and_who_may_not_be_scaled_is_left_alone(stage: &Stage) -> anyhow::Result<()> {
    let mut opted_out = workload("Deployment", "opted-out", "low", 2, 1);
    opted_out["metadata"]["annotations"] = json!({"quotient.dev/within-queue": "Never"});
    let autoscaler = json!({
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "scaler", "namespace": NAMESPACE},
        "spec": {
            "minReplicas": 2,
            "maxReplicas": 9,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "autoscaled"},
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}],
        },
    });
    for object in [
        opted_out,
        autoscaler,
        workload("Deployment", "autoscaled", "low", 2, 1),
        workload("ReplicaSet", "set", "middle", 2, 1),
        workload("StatefulSet", "stateful", "middle", 2, 1),
        workload("Job", "job", "middle", 2, 1),
    ] {
        stage.apply(&object).await?;
    }
    until(stage, "autoscaled 2, job 2, opted-out 2, set 2, stateful 2").await?;

    stage.apply(&workload("Deployment", "high", "high", 3, 1)).await?;
    until(stage, "autoscaled 2, job 1, opted-out 2, set 1, stateful 1, leaving 3").await?;
    for (kind, name) in [("replicaset", "set"), ("statefulset", "stateful"), ("job", "job")] {
        assert_eq!(size(stage, kind, name).await?, "1 of 2", "{kind}");
    }
    for name in ["autoscaled", "opted-out"] {
        assert_eq!(size(stage, "deployment", name).await?, "2", "{name}");
    }
    stage.release(NAMESPACE).await?;
    until(stage, "autoscaled 2, high 3, job 1, opted-out 2, set 1, stateful 1").await?;

    // A person that sets a size has the last word, until both annotations are gone.
    stage.bed.kubectl(["scale", "replicaset/set", "--replicas=2", "-n", NAMESPACE]).await?;
    stage.bed.kubectl(["delete", "deployment/high", "-n", NAMESPACE, "--wait=false"]).await?;
    until(stage, "autoscaled 2, job 1, opted-out 2, set 1, stateful 1, leaving 3").await?;
    assert!(
        size(stage, "replicaset", "set").await?.starts_with("unclear"),
        "the annotations are still there"
    );
    stage.release(NAMESPACE).await?;
    until(stage, "autoscaled 2, job 2, opted-out 2, set 2, stateful 2").await?;

    // With both annotations gone the size is Quotient's to lower again.
    let forget = ["annotate", "replicaset/set", "-n", NAMESPACE];
    let annotations = ["quotient.dev/replicas-before-", "quotient.dev/replicas-lowered-to-"];
    stage.bed.kubectl(forget.into_iter().chain(annotations)).await?;
    // A Deployment that yields, instead of the one that opted out.
    stage.bed.kubectl(["delete", "deployment/opted-out", "-n", NAMESPACE, "--wait=false"]).await?;
    until(stage, "autoscaled 2, job 2, set 2, stateful 2, leaving 2").await?;
    stage.release(NAMESPACE).await?;
    stage.apply(&workload("Deployment", "web", "middle", 2, 1)).await?;
    until(stage, "autoscaled 2, job 2, set 2, stateful 2, web 2").await?;
    stage.apply(&workload("Deployment", "high", "high", 4, 1)).await?;
    until(stage, "autoscaled 2, job 1, set 1, stateful 1, web 1, leaving 4").await?;
    stage.until_quiet_for(WHILE).await
}

/// The commands of the page: one lists the lowered sizes, the other restores those that are unchanged since.
async fn sizes_are_restored_without_the_operator(stage: &Stage) -> anyhow::Result<()> {
    let (list, restore) = leaving_commands()?;
    let shell = async |commands: &str| stage.shell(&stage.bed.kubeconfig_path(), commands).await;
    let lowered = "Deployment team/web: 1 of 2\nReplicaSet team/set: 1 of 2\nStatefulSet team/stateful: 1 of 2\nJob team/job: 1 of 2\n";
    assert_eq!(shell(&list).await?, lowered);
    stage.bed.kubectl(["scale", "replicaset/set", "--replicas=0", "-n", NAMESPACE]).await?;
    shell(&restore).await?;
    for (kind, name) in [("deployment", "web"), ("statefulset", "stateful"), ("job", "job")] {
        assert_eq!(size(stage, kind, name).await?, "2", "{kind}");
    }
    assert!(size(stage, "replicaset", "set").await?.starts_with("unclear: 0"));
    assert_eq!(shell(&list).await?, "ReplicaSet team/set: 1 of 2\n");
    Ok(())
}

/// What docs/how-to/install.md says of lowered sizes: the command that lists them, and the one that restores them.
pub(crate) fn leaving_commands() -> anyhow::Result<(String, String)> {
    let page = include_str!("../../docs/how-to/install.md");
    let (_, section) = page.split_once("### Restore lowered sizes").context("no section")?;
    let mut blocks = shell_blocks(section).into_iter();
    blocks.next().zip(blocks.next()).context("no two commands")
}

/// Victims that do not end are deleted without grace, where the queue says so; the operator may end meanwhile.
async fn a_pod_that_hangs_is_deleted_where_the_queue_allows_it(
    stage: &Stage,
    operator: Operator,
) -> anyhow::Result<Operator> {
    stage.patch_queue(NAMESPACE, NAMESPACE, json!({"eviction": {"forceAfterSeconds": 1}})).await?;
    let low = workload("Deployment", "low", "low", 4, 1);
    stage.apply(&objects::pods_with(low, "terminationGracePeriodSeconds", 2)).await?;
    until(stage, "low 4").await?;
    stage.apply(&workload("Deployment", "high", "high", 1, 1)).await?;
    until(stage, "low 3, leaving 1").await?;
    operator.stop().await?;
    let operator = stage.start_operator().await?;
    until(stage, "high 1, low 3").await?;
    assert_eq!(size(stage, "deployment", "low").await?, "3 of 4");
    let printed = event(stage, "ForceDeleted").await?;
    assert!(printed.starts_with("Queue team: Evicted 1 pod without grace"), "{printed}");
    Ok(operator)
}
