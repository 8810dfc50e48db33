//! What tenants cannot do: roles and admission policies of the chart.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::{ConfigMap, ResourceQuota};
use kube::api::PostParams;
use kube::{Api, Client};
use quotient_e2e::quotient::{
    ALL_RIGHTS, PATIENCE, Programs, RELEASE, SYSTEM_NAMESPACE, Stage, helm_arguments, queue, quotas,
};
use quotient_e2e::testbed::{Helm, Options, TestBed, eventually, objects};
use serde_json::json;

/// The chart's values: the rights of mode Full.
const FULL: [&str; 2] = ["replicaCount=0", "config.mode=Full"];

/// The chart, two teams, and a member of the first one, who has the built-in role `edit` in its namespace.
#[tokio::test(flavor = "multi_thread")]
async fn tenants_do_not_get_more_than_they_have() -> Result<()> {
    let bed = TestBed::start(Options::default()).await?;
    bed.add_node("node-1", &[("cpu", "4"), ("memory", "8Gi")]).await?;
    let values = [&FULL[..], &ALL_RIGHTS].concat();
    bed.helm(helm_arguments(&["install", "--create-namespace"], &values)).await?;
    for namespace in ["team-a", "team-b"] {
        bed.create_namespace(namespace).await?;
        bed.apply(&queue_of(namespace, "{weight: 1}")).await?;
    }
    let member = bed.user_kubeconfig("member", None)?;
    let edit = ["create", "rolebinding", "edit", "--clusterrole=edit", "--user=member", "--namespace=team-a"];
    bed.kubectl(edit).await?;
    until_in_force(&bed).await?;
    quota(&bed, "team-a").await?;
    a_tenant_cannot_give_itself_more(&bed, &member).await?;
    no_queue_governs_protected_namespaces(&bed).await?;
    the_owner_of_a_namespace_cannot_write_its_share(&bed).await?;
    bed.stop().await
}

/// The API server learns of new policies a little later, of all at once.
async fn until_in_force(bed: &TestBed) -> Result<()> {
    let operator = as_operator(bed).await?;
    let maps: Api<ConfigMap> = Api::namespaced(operator, SYSTEM_NAMESPACE);
    let map: ConfigMap = serde_json::from_value(json!({"metadata": {"name": "other"}}))?;
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    eventually("the policies are in force", PATIENCE, async || {
        ensure!(maps.create(&dry_run, &map).await.is_err(), "the operator may write any ConfigMap");
        Ok(())
    })
    .await
}

fn queue_of(namespace: &str, spec: &str) -> String {
    format!(
        "{{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {{name: {namespace}, namespace: {namespace}}}, spec: {spec}}}"
    )
}

/// kubectl as another user.
async fn kubectl_as(bed: &TestBed, who: &Path, arguments: &[&str], input: &str) -> Result<String> {
    let who = who.to_str().context("the path is no text")?;
    let arguments = ["--kubeconfig", who].into_iter().chain(arguments.iter().copied());
    bed.kubectl_with_input(arguments, input).await
}

/// Asserts that the API server refuses, for a reason that contains `why`.
async fn refused(bed: &TestBed, who: &Path, arguments: &[&str], input: &str, why: &str) {
    match kubectl_as(bed, who, arguments, input).await {
        Ok(said) => panic!("{arguments:?} {input}: allowed: {said}"),
        Err(error) => {
            let error = error.to_string();
            assert!(error.contains(why), "{arguments:?} {input}: {error}");
        }
    }
}

const QUEUE_JOB: &str = "{apiVersion: quotient.dev/v1alpha1, kind: QueueJob, metadata: {name: train}, spec: {tasks: \
    [{name: worker, replicas: 2, template: {spec: {containers: [{name: main, image: main}]}}}]}}";

/// A user that may edit the namespace sees its Queue, runs QueueJobs, and cannot give itself more.
async fn a_tenant_cannot_give_itself_more(bed: &TestBed, member: &Path) -> Result<()> {
    let see = ["get", "queues.quotient.dev/team-a", "--namespace=team-a", "-o=name"];
    eventually("the roles are aggregated", PATIENCE, async || {
        kubectl_as(bed, member, &see, "").await?;
        kubectl_as(bed, member, &["auth", "can-i", "create", "queuejobs.quotient.dev", "-n=team-a"], "").await
    })
    .await?;
    let create = |namespace: &'static str| ["create", "-f", "-", namespace];
    kubectl_as(bed, member, &create("--namespace=team-a"), QUEUE_JOB).await?;
    refused(bed, member, &create("--namespace=team-b"), QUEUE_JOB, "forbidden").await;

    let weight = [r#"-p={"spec":{"weight":9}}"#, "--type=merge", "--namespace=team-a"];
    let status = [r#"-p={"status":{"deserved":{"cpu":"9"}}}"#, "--type=merge", "--namespace=team-a"];
    let hard = [r#"-p={"spec":{"hard":{"requests.cpu":"9"}}}"#, "--type=merge", "--namespace=team-a"];
    let queue = "queues.quotient.dev/team-a";
    for arguments in [
        [&["patch", queue][..], &weight].concat(),
        [&["patch", queue, "--subresource=status"][..], &status].concat(),
        vec!["delete", queue, "--namespace=team-a"],
        [&["patch", "resourcequota/quotient"][..], &hard].concat(),
        [&["patch", "resourcequota/quotient", "--subresource=status"][..], &hard].concat(),
        vec!["delete", "resourcequota/quotient", "--namespace=team-a"],
        vec!["get", "configmap/quotient-ledger", "--namespace=quotient-system"],
    ] {
        refused(bed, member, &arguments, "", "(Forbidden)").await;
    }
    Ok(())
}

/// A quota as the operator leaves it; written as the operator, because no other account may.
async fn quota(bed: &TestBed, namespace: &str) -> Result<()> {
    let quotas: Api<ResourceQuota> = Api::namespaced(as_operator(bed).await?, namespace);
    let quota = objects::resource_quota(namespace, "quotient", &[("requests.cpu", "2")]);
    quotas.create(&PostParams::default(), &quota).await?;
    Ok(())
}

async fn as_operator(bed: &TestBed) -> Result<Client> {
    let kubeconfig = bed.service_account_kubeconfig(SYSTEM_NAMESPACE, RELEASE).await?;
    bed.client_for(&kubeconfig).await
}

/// A user with every right in the namespaces `team-a` and `team-b`, and none elsewhere.
async fn owner_of_namespaces(bed: &TestBed) -> Result<PathBuf> {
    let owner = bed.user_kubeconfig("owner", None)?;
    for namespace in ["--namespace=team-a", "--namespace=team-b"] {
        let bind =
            ["create", "rolebinding", "owner", "--clusterrole=cluster-admin", "--user=owner", namespace];
        bed.kubectl(bind).await?;
    }
    Ok(owner)
}

/// A right to write all quotas of a namespace is no right to write that one, nor its status.
async fn the_owner_of_a_namespace_cannot_write_its_share(bed: &TestBed) -> Result<()> {
    let owner = owner_of_namespaces(bed).await?;
    let why = "is written by Quotient";
    let hard = ["-p={\"spec\":{\"hard\":{\"requests.cpu\":\"9\"}}}", "--type=merge", "--namespace=team-a"];
    let patch = [&["patch", "resourcequota/quotient"][..], &hard].concat();
    let create = ["create", "quota", "quotient", "--hard=cpu=9", "--namespace=team-b"];
    for arguments in [
        patch.clone(),
        vec!["delete", "resourcequota/quotient", "--namespace=team-a"],
        vec!["delete", "resourcequota", "--all", "--namespace=team-a"],
        vec!["delete", "--raw=/api/v1/namespaces/team-a/resourcequotas"],
        create.to_vec(),
    ] {
        refused(bed, &owner, &arguments, "", why).await;
    }
    let open = [
        "patch",
        "resourcequota/quotient",
        "--subresource=status",
        "--type=merge",
        "--namespace=team-a",
        "-p={\"status\":{\"hard\":{\"requests.cpu\":\"99\"}}}",
    ];
    let why = "the status of the ResourceQuota";
    refused(bed, &owner, &open, "", why).await;
    refused(bed, &bed.kubeconfig_path(), &open, "", why).await;
    // Quotas of other names are free.
    bed.kubectl(["create", "quota", "own", "--hard=pods=9", "--namespace=team-a"]).await?;
    bed.kubectl(["delete", "quota", "own", "--namespace=team-a"]).await?;
    // A namespace takes it along.
    bed.kubectl(["delete", "namespace", "team-a", "--timeout=3m"]).await?;
    assert!(quotas(bed).await?.is_empty());

    // A backup tool, say, has the verb share and the rights to write quotas.
    let restorer = bed.user_kubeconfig("restorer", None)?;
    bed.kubectl(["create", "clusterrole", "restorer", "--verb=share", "--resource=queues.quotient.dev"])
        .await?;
    bed.kubectl(["create", "clusterrolebinding", "restorer", "--clusterrole=restorer", "--user=restorer"])
        .await?;
    let binding = ["create", "rolebinding", "restorer", "--clusterrole=cluster-admin", "--user=restorer"];
    bed.kubectl(binding.into_iter().chain(["--namespace=team-b"])).await?;
    eventually("a user with the verb share may create it", PATIENCE, async || {
        kubectl_as(bed, &restorer, &create, "").await
    })
    .await?;
    Ok(())
}

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

/// No Queue governs what keeps the cluster running; a parent, which governs nothing, may be anywhere.
async fn no_queue_governs_protected_namespaces(bed: &TestBed) -> Result<()> {
    let admin = bed.kubeconfig_path();
    for namespace in ["kube-system", SYSTEM_NAMESPACE] {
        let why = format!("a Queue cannot manage the namespace {namespace}");
        refused(bed, &admin, &["create", "-f", "-"], &queue_of(namespace, "{weight: 1}"), &why).await;
    }
    bed.apply(&queue_of(SYSTEM_NAMESPACE, "{children: {namespaces: {from: All}}}")).await?;
    assert!(queue(bed, SYSTEM_NAMESPACE, SYSTEM_NAMESPACE).await?.is_parent);
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
