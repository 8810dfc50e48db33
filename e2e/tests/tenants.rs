//! Rights and admission policies that values of the chart turn on or off. `share_verb.rs` tells what tenants may do.

use anyhow::{Result, ensure};
use quotient_e2e::quotient::{ALL_RIGHTS, PATIENCE, RELEASE, SYSTEM_NAMESPACE, Stage, helm_arguments};
use quotient_e2e::testbed::{Options, eventually};
use serde_json::json;

/// The chart's values: the rights of mode Full.
const FULL: [&str; 2] = ["replicaCount=0", "config.mode=Full"];

const QUEUE_JOB: &str = "{apiVersion: quotient.dev/v1alpha1, kind: QueueJob, metadata: {name: train}, spec: {tasks: \
    [{name: worker, replicas: 2, template: {spec: {containers: [{name: main, image: main}]}}}]}}";

/// Jobs, sizes and deletion costs are rights of their own, which the chart leaves out.
#[tokio::test(flavor = "multi_thread")]
async fn rights_that_are_not_used_are_not_granted() -> Result<()> {
    let stage = Stage::bare(Options::default()).await?;
    stage.bed.add_node("node-1", &[("cpu", "4"), ("memory", "8Gi")]).await?;
    stage.bed.helm(helm_arguments(&["install", "--create-namespace"], &FULL)).await?;
    let user = format!("--as=system:serviceaccount:{SYSTEM_NAMESPACE}:{RELEASE}");
    let may = async |verb: &str, resource: &str| -> Result<bool> {
        // kubectl fails where the answer is no.
        let words = ["auth", "can-i", verb, resource, "--namespace=team-a", &user];
        Ok(stage.bed.kubectl(words).await.is_ok_and(|said| said.trim() == "yes"))
    };
    let features = [
        (
            "rbac.createJobs",
            &[("create", "jobs.batch"), ("delete", "jobs.batch"), ("delete", "queuejobs.quotient.dev")][..],
        ),
        ("rbac.scaleWorkloads", &[("patch", "deployments.apps")]),
        ("rbac.patchPods", &[("patch", "pods")]),
    ];
    for (value, rights) in features {
        for (verb, resource) in rights {
            assert!(!may(verb, resource).await?, "{verb} {resource} without {value}");
        }
    }
    assert!(may("create", "resourcequotas").await?, "the rights of the mode are granted");
    a_queue_job_says_that_the_right_to_create_jobs_is_missing(&stage).await?;
    let values = [&FULL[..], &ALL_RIGHTS].concat();
    stage.bed.helm(helm_arguments(&["upgrade"], &values)).await?;
    for (value, rights) in features {
        for (verb, resource) in rights {
            eventually(format!("{verb} {resource} with {value}"), PATIENCE, async || {
                ensure!(may(verb, resource).await?, "no");
                Ok(())
            })
            .await?;
        }
    }
    stage.bed.stop().await
}

/// Without the right to create Jobs a QueueJob says so, and what grants it.
async fn a_queue_job_says_that_the_right_to_create_jobs_is_missing(stage: &Stage) -> Result<()> {
    let operator = stage.start_operator().await?;
    stage.claim("team-a", json!({"weight": 1})).await?;
    stage.bed.kubectl_with_input(["create", "--namespace=team-a", "-f", "-"], QUEUE_JOB).await?;
    let path = "-o=jsonpath={.status.conditions[?(@.type==\"Admitted\")].message}";
    eventually("the QueueJob says what is missing", PATIENCE, async || {
        let said = stage.bed.kubectl(["get", "qtj/train", "--namespace=team-a", path]).await?;
        ensure!(said.contains("rbac.createJobs=true"), "{said:?}");
        Ok(())
    })
    .await?;
    operator.stop().await
}
