//! What a user types: QueueJobs with plain kubectl, and what the API server refuses of them.

use anyhow::{Context as _, ensure};
use quotient_e2e::quotient::PATIENCE;
use quotient_e2e::testbed::{TestBed, eventually};

const QUEUE_JOB: &str = r"
apiVersion: quotient.dev/v1alpha1
kind: QueueJob
metadata: {name: train, namespace: team-a}
spec:
  minAvailable: 3
  tasks:
  - {name: launcher, minAvailable: 1, template: {spec: {containers: [{name: main, image: launcher}]}}}
  - name: worker
    replicas: 4
    template:
      metadata: {labels: {app: train}}
      spec:
        serviceAccountName: trainer
        containers: [{name: main, image: worker, resources: {requests: {cpu: '1', memory: 1Gi}}}]
        volumes: [{name: scratch, emptyDir: {}}]
        aFieldOfTomorrow: {isKept: true}
";

/// In the namespace `team-a`, which ends as it was. `kubectl.rs` has the control plane.
pub(crate) async fn queue_jobs_are_pleasant_with_kubectl(bed: &TestBed) -> anyhow::Result<()> {
    fields_are_explained(bed).await?;

    let applied = bed.kubectl_with_input(["apply", "-f", "-"], QUEUE_JOB).await?;
    assert_eq!(applied.trim(), "queuejob.quotient.dev/train created");
    let applied = bed.kubectl_with_input(["apply", "-f", "-"], QUEUE_JOB).await?;
    assert_eq!(applied.trim(), "queuejob.quotient.dev/train unchanged");
    for name in ["qtj", "queuejob", "queuejobs.quotient.dev"] {
        let found = bed.kubectl(["get", name, "-n=team-a", "-o=name"]).await?;
        assert_eq!(found.trim(), "queuejob.quotient.dev/train", "kubectl get {name}");
    }
    let category = bed.kubectl(["get", "quotient", "-n=team-a", "-o=name"]).await?;
    ensure!(category.lines().any(|line| line == "queuejob.quotient.dev/train"), "{category}");
    let printed = bed.kubectl(["get", "qtj", "-n=team-a"]).await?;
    let titles: Vec<&str> = printed.lines().next().unwrap_or_default().split_whitespace().collect();
    assert_eq!(titles, ["NAME", "STATE", "MIN", "SLOTS", "RUNNING", "SUCCEEDED", "REASON", "AGE"]);

    let path =
        "-o=jsonpath={.spec.tasks[1].template.spec.aFieldOfTomorrow.isKept} {.spec.startTimeoutSeconds}";
    let stored = bed.kubectl(["get", "qtj", "train", "-n=team-a", path]).await?;
    assert_eq!(stored.trim(), "true 300", "what only a template knows is kept, and defaults are filled in");

    refusals_name_the_field_and_the_way_out(bed).await?;
    edits_are_checked(bed).await?;
    bed.kubectl(["delete", "qtj", "train", "-n=team-a"]).await?;
    Ok(())
}

async fn fields_are_explained(bed: &TestBed) -> anyhow::Result<()> {
    for (field, explained) in [
        ("queuejob", "A QueueJob is an elastic gang in the namespace of a Queue"),
        ("queuejob.spec.minAvailable", "Succeeded pods count, evicted pods do not"),
        ("queuejob.spec.tasks.template.spec.nodeName", "the scheduler chooses the node"),
        ("queuejob.status.conditions", "`GangReady`: minAvailable pods run or have succeeded"),
    ] {
        // The API server publishes the schema a moment after it serves the kind.
        let explain = ["explain", field, "--api-version=quotient.dev/v1alpha1"];
        let text =
            eventually("QueueJobs are explained", PATIENCE, async || bed.kubectl(explain).await).await?;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(explained), "{field}: {text}");
    }
    Ok(())
}

/// Bodies of specs that are wrong in one way each, and what the refusal has to say.
const REFUSED: [(&str, &[&str]); 15] = [
    ("{minAvailable: 0, tasks: [TASK]}", &["spec.minAvailable", "greater than or equal to 1"]),
    ("{minAvailable: -1, tasks: [TASK]}", &["spec.minAvailable", "greater than or equal to 1"]),
    (
        "{minAvailable: 3, tasks: [TASK]}",
        &["spec.minAvailable", "must not be above the replicas of all tasks"],
    ),
    ("{minAvailable: 1, tasks: [{name: w, replicas: 2, minAvailable: 2, TEMPLATE}]}", &["must not be below"]),
    (
        "{tasks: [{name: w, replicas: 2, minAvailable: 3, TEMPLATE}]}",
        &["minAvailable must not be above replicas"],
    ),
    ("{tasks: [{name: w, replicas: 5001, TEMPLATE}]}", &["replicas", "less than or equal to 5000"]),
    (
        "{tasks: [{name: a, replicas: 2500, TEMPLATE}, {name: b, replicas: 2501, TEMPLATE}]}",
        &["all tasks together have at most 5000 replicas"],
    ),
    ("{tasks: [TASK, TASK]}", &["spec.tasks[1]", "Duplicate"]),
    ("{tasks: [{name: Worker, TEMPLATE}]}", &["spec.tasks[0].name"]),
    ("{tasks: [{name: a-task-with-a-long-name, TEMPLATE}]}", &["spec.tasks[0].name", "16"]),
    (
        "{tasks: [{name: w, template: {spec: {nodeName: node-1, CONTAINERS}}}]}",
        &["spec.tasks[0].template.spec.nodeName", "leave nodeName out"],
    ),
    (
        "{tasks: [{name: w, template: {spec: {volumes: [{name: root, hostPath: {path: /}}], CONTAINERS}}}]}",
        &["volumes[0].hostPath", "leave hostPath out"],
    ),
    (
        "{tasks: [{name: w, template: {spec: {serviceAccountName: kube-system/admin, CONTAINERS}}}]}",
        &["serviceAccountName", "write its plain name"],
    ),
    (
        "{tasks: [{name: w, template: {spec: {serviceAccountName: 'system:serviceaccount:b:admin', CONTAINERS}}}]}",
        &["serviceAccountName", "write its plain name"],
    ),
    (
        "{tasks: [{name: w, template: {spec: {restartPolicy: Always, CONTAINERS}}}]}",
        &["restartPolicy", "leave it out"],
    ),
];

async fn refusals_name_the_field_and_the_way_out(bed: &TestBed) -> anyhow::Result<()> {
    for (body, named) in REFUSED {
        refused(bed, "bad", body, named).await?;
    }
    let long = "a-name-that-is-longer-than-forty-characters";
    refused(bed, long, "{tasks: [TASK]}", &["write at most 40 characters"]).await?;
    refused(bed, "with.dots", "{tasks: [TASK]}", &["write at most 40 characters"]).await
}

async fn refused(bed: &TestBed, name: &str, body: &str, named: &[&str]) -> anyhow::Result<()> {
    let spec = spec(body);
    let manifest = format!(
        "{{apiVersion: quotient.dev/v1alpha1, kind: QueueJob, metadata: {{name: {name}, namespace: team-a}}, spec: {spec}}}"
    );
    let refusal = bed.kubectl_with_input(["create", "-f", "-"], &manifest).await;
    let error = refusal.err().with_context(|| format!("{body} was accepted"))?.to_string();
    for word in named {
        assert!(error.contains(word), "{body}: the refusal does not say {word}: {error}");
    }
    Ok(())
}

fn spec(body: &str) -> String {
    body.replace("TASK", "{name: w, replicas: 2, TEMPLATE}")
        .replace("TEMPLATE", "template: {spec: {CONTAINERS}}")
        .replace("CONTAINERS", "containers: [{name: main, image: none}]")
}

/// An edit is checked as the whole that it leads to.
async fn edits_are_checked(bed: &TestBed) -> anyhow::Result<()> {
    let patch = async |patch: &str| {
        bed.kubectl(["patch", "qtj", "train", "-n=team-a", "--type=merge", "-p", patch]).await
    };
    patch(r#"{"spec": {"suspend": true, "minAvailable": 5}}"#).await?;
    let refusal = patch(r#"{"spec": {"minAvailable": 6}}"#).await;
    let error = refusal.err().context("more than there are replicas was accepted")?.to_string();
    ensure!(error.contains("must not be above the replicas"), "{error}");
    Ok(())
}
