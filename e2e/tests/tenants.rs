//! Rights and admission policies that values of the chart turn on or off. `share_verb.rs` tells what tenants may do.

use anyhow::{Result, ensure};
use quotient_e2e::quotient::{
    ALL_RIGHTS, PATIENCE, Programs, RELEASE, SYSTEM_NAMESPACE, Stage, helm_arguments,
};
use quotient_e2e::testbed::{Helm, Options, TestBed, eventually};
use serde_json::json;

/// The chart's values: the rights of mode Full.
const FULL: [&str; 2] = ["replicaCount=0", "config.mode=Full"];

const QUEUE_JOB: &str = "{apiVersion: quotient.dev/v1alpha1, kind: QueueJob, metadata: {name: train}, spec: {tasks: \
    [{name: worker, replicas: 2, template: {spec: {containers: [{name: main, image: main}]}}}]}}";

/// The policy does not depend on what installs the CRDs.
#[tokio::test(flavor = "multi_thread")]
async fn protected_namespaces_need_no_crds_of_the_chart() -> Result<()> {
    let helm = Helm::find().await?;
    let rendered = helm.run(helm_arguments(&["template"], &["crds.install=false"])).await?;
    assert!(!rendered.contains("kind: CustomResourceDefinition"));
    let policies = rendered.split("\n---\n").filter(|document| document.contains("name: quotient-queues"));
    assert_eq!(policies.count(), 2, "a policy and its binding");
    Ok(())
}

/// Jobs, sizes and deletion costs are rights of their own, which the chart leaves out.
#[tokio::test(flavor = "multi_thread")]
async fn rights_that_are_not_used_are_not_granted() -> Result<()> {
    let bed = TestBed::start(Options::default()).await?;
    bed.add_node("node-1", &[("cpu", "4"), ("memory", "8Gi")]).await?;
    bed.helm(helm_arguments(&["install", "--create-namespace"], &FULL)).await?;
    let stage = Stage { bed, programs: Programs::build().await? };
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

/// Without the policies the notes say what a stolen token is worth.
#[tokio::test(flavor = "multi_thread")]
async fn without_policies_the_notes_say_what_the_token_is_worth() -> Result<()> {
    let helm = Helm::find().await?;
    let notes = async |values: &[&str]| -> Result<String> {
        let command = ["install", "--dry-run=client", "--skip-schema-validation"];
        helm.run(helm_arguments(&command, values)).await
    };
    let confined = notes(&["config.mode=Full"]).await?;
    assert!(confined.contains("rbac.createJobs=true") && !confined.contains("stolen token"), "{confined}");
    let unconfined = notes(&["config.mode=Full", "admission.confineOperator=false"]).await?;
    assert!(unconfined.contains("only roles limit a stolen token of the operator"), "{unconfined}");
    Ok(())
}
