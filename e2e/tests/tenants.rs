//! What tenants cannot do, and what the operator itself cannot be made to do: roles and admission policies of the chart.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, LimitRange, Namespace, Pod, ResourceQuota, Secret};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use quotient_e2e::quotient::{
    ALL_RIGHTS, PATIENCE, Programs, RELEASE, SYSTEM_NAMESPACE, Stage, helm_arguments, queue, quotas,
};
use quotient_e2e::testbed::{Helm, Options, TestBed, eventually, objects};
use serde_json::{Value, json};

/// The chart's values: the rights of mode Full.
const FULL: [&str; 2] = ["replicaCount=0", "config.mode=Full"];

/// The chart, two teams, and a member of the first one, who has the built-in role `edit` in its namespace.
#[tokio::test(flavor = "multi_thread")]
async fn neither_tenants_nor_the_operators_token_get_more_than_they_have() -> Result<()> {
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
    a_stolen_token_is_of_little_use(&bed).await?;
    the_owner_of_a_namespace_cannot_write_its_share(&bed).await?;
    bed.stop().await
}

/// The API server learns of new policies a little later, of all at once.
async fn until_in_force(bed: &TestBed) -> Result<()> {
    let operator = as_operator(bed).await?;
    let maps: Api<ConfigMap> = Api::namespaced(operator, SYSTEM_NAMESPACE);
    let map: ConfigMap = serde_json::from_value(json!({"metadata": {"name": "other"}}))?;
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    let jobs: Api<Job> = Api::namespaced(as_operator(bed).await?, "team-b");
    let job: Job =
        serde_json::from_value(json!({"metadata": {"name": "other"}, "spec": {"template": {"spec": {
            "restartPolicy": "Never", "containers": [{"name": "main", "image": "main"}],
        }}}}))?;
    eventually("the policies are in force", PATIENCE, async || {
        ensure!(maps.create(&dry_run, &map).await.is_err(), "the operator may write any ConfigMap");
        ensure!(jobs.create(&dry_run, &job).await.is_err(), "the operator may create any Job");
        Ok(())
    })
    .await?;
    Ok(())
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

/// What a policy says to what the operator tries.
#[track_caller]
fn by_policy(outcome: kube::Result<()>, why: &str) {
    match outcome {
        Err(kube::Error::Api(status)) if status.message.contains(why) => {}
        other => panic!("not refused with {why:?}: {other:?}"),
    }
}

/// LimitRanges: only those named `quotient` that it keeps itself.
async fn limit_ranges_of_others(bed: &TestBed, thief: &Client) -> Result<()> {
    let range = |name: &str, keeper: &str| -> Result<LimitRange> {
        let labels = json!({"app.kubernetes.io/managed-by": keeper});
        let spec = json!({"limits": [{"type": "Container", "max": {"cpu": "1m"}}]});
        Ok(serde_json::from_value(json!({"metadata": {"name": name, "labels": labels}, "spec": spec}))?)
    };
    let post = PostParams::default();
    let why = "of LimitRanges Quotient writes those";
    let own: Api<LimitRange> = Api::namespaced(thief.clone(), "team-a");
    by_policy(own.create(&post, &range("other", "quotient")?).await.map(drop), why);
    by_policy(own.create(&post, &range("quotient", "somebody")?).await.map(drop), why);
    let system: Api<LimitRange> = Api::namespaced(thief.clone(), "kube-system");
    by_policy(system.create(&post, &range("quotient", "quotient")?).await.map(drop), why);
    let theirs: Api<LimitRange> = Api::namespaced(bed.client(), "team-a");
    theirs.create(&post, &range("quotient", "somebody")?).await?;
    by_policy(own.delete("quotient", &DeleteParams::default()).await.map(drop), why);
    theirs.delete("quotient", &DeleteParams::default()).await?;
    own.create(&post, &range("quotient", "quotient")?).await?;
    own.delete("quotient", &DeleteParams::default()).await?;
    Ok(())
}

/// Jobs: only those of QueueJobs.
async fn jobs_of_others(bed: &TestBed, thief: &Client) -> Result<()> {
    let job = |name: &str, owners: Value| -> Result<Job> {
        Ok(serde_json::from_value(json!({
            "metadata": {"name": name, "ownerReferences": owners},
            "spec": {"suspend": true, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "main"}]}}},
        }))?)
    };
    let post = PostParams::default();
    let owner = |kind: &str, version: &str, controller: bool| json!([{"kind": kind, "apiVersion": version, "name": "it", "uid": "1", "controller": controller}]);
    let theirs: Api<Job> = Api::namespaced(bed.client(), "team-a");
    theirs.create(&post, &job("plain", json!([]))?).await?;
    let jobs: Api<Job> = Api::namespaced(thief.clone(), "team-a");
    let why = "creates and deletes no Jobs but those of QueueJobs";
    by_policy(jobs.delete("plain", &DeleteParams::default()).await.map(drop), why);
    let selector = async |said: Option<bool>| {
        let body = Patch::Merge(json!({"spec": {"manualSelector": said}}));
        jobs.patch("plain", &PatchParams::default(), &body).await
    };
    selector(Some(false)).await?;
    selector(None).await?;
    by_policy(selector(Some(true)).await.map(drop), "manualSelector of a Job only between absent and false");
    let starts = Patch::Merge(json!({"spec": {"suspend": false}}));
    let outcome = jobs.patch("plain", &PatchParams::default(), &starts).await.map(drop);
    by_policy(outcome, "changes nothing in the spec of a workload but its size");
    for owners in [
        json!([]),
        owner("CronJob", "batch/v1", true),
        owner("QueueJob", "example.org/v1", true),
        owner("QueueJob", "quotient.dev/v1alpha1", false),
    ] {
        by_policy(jobs.create(&post, &job("stolen", owners)?).await.map(drop), why);
    }
    let of_queue_job = owner("QueueJob", "quotient.dev/v1alpha1", true);
    for (change, why) in [
        (json!({"volumes": [{"name": "host", "hostPath": {"path": "/"}}]}), "mount no hostPath volumes"),
        (json!({"hostNetwork": true}), "use no host namespaces"),
        (json!({"hostPID": true}), "use no host namespaces"),
        (json!({"hostIPC": true}), "use no host namespaces"),
        (json!({"nodeName": "node-1"}), "name no node"),
        (json!({"priorityClassName": "system-node-critical"}), "no system priority class"),
        (
            json!({"containers": [{"name": "main", "image": "main", "securityContext": {"privileged": true}}]}),
            "no privileged containers",
        ),
        (
            json!({"initContainers": [{"name": "first", "image": "main", "securityContext": {"privileged": true}}]}),
            "no privileged containers",
        ),
        (json!({"serviceAccountName": "robot"}), "run as the service account default"),
        (json!({"serviceAccount": "robot"}), "run as the service account default"),
    ] {
        let mut stolen = serde_json::to_value(job("stolen", of_queue_job.clone())?)?;
        let pod =
            stolen.pointer_mut("/spec/template/spec").and_then(Value::as_object_mut).context("a pod")?;
        pod.extend(change.as_object().context("a map")?.clone());
        by_policy(jobs.create(&post, &serde_json::from_value(stolen)?).await.map(drop), why);
    }
    // A forged owner does not open a protected namespace.
    for namespace in ["kube-system", SYSTEM_NAMESPACE] {
        let system: Api<Job> = Api::namespaced(bed.client(), namespace);
        let theirs = job("theirs", of_queue_job.clone())?;
        system.create(&post, &theirs).await?;
        let stolen: Api<Job> = Api::namespaced(thief.clone(), namespace);
        let why = "no Jobs in protected namespaces";
        by_policy(stolen.create(&post, &job("stolen", of_queue_job.clone())?).await.map(drop), why);
        let gone = |outcome: &kube::Result<()>| matches!(outcome, Err(kube::Error::Api(status)) if status.code == 404);
        // Its owner never was: the garbage collector may be faster.
        let outcome = stolen.delete("theirs", &DeleteParams::default()).await.map(drop);
        if !gone(&outcome) {
            by_policy(outcome, why);
        }
        let run = Patch::Merge(json!({"spec": {"suspend": false}}));
        let outcome = stolen.patch("theirs", &PatchParams::default(), &run).await.map(drop);
        if !gone(&outcome) {
            by_policy(outcome, "no workloads in protected namespaces");
        }
    }
    another_account(bed, &jobs, &job("robots", of_queue_job.clone())?).await?;
    let ours = job("ours", of_queue_job)?;
    jobs.create(&post, &ours).await?;
    match jobs.delete("ours", &DeleteParams::background()).await {
        // Its owner never was: the garbage collector may be faster.
        Ok(_) => {}
        Err(kube::Error::Api(status)) if status.code == 404 => {}
        Err(error) => return Err(error.into()),
    }
    // And the size of others' Jobs only goes down, with a note beside it.
    let scale = Patch::Merge(json!({"spec": {"parallelism": 9}}));
    let outcome = jobs.patch("plain", &PatchParams::default(), &scale).await;
    by_policy(outcome.map(drop), "lowers the size of a workload only with");
    Ok(())
}

/// An administrator names the further service accounts that pods of QueueJobs may run as.
async fn another_account(bed: &TestBed, jobs: &Api<Job>, job: &Job) -> Result<()> {
    let names = "quotient.dev/queue-job-service-accounts=trainer, robot";
    bed.kubectl(["annotate", "namespace", "team-a", names]).await?;
    let mut of_robot = serde_json::to_value(job)?;
    of_robot["spec"]["template"]["spec"]["serviceAccountName"] = "robot".into();
    let of_robot: Job = serde_json::from_value(of_robot)?;
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    eventually("the account is allowed", PATIENCE, async || jobs.create(&dry_run, &of_robot).await).await?;
    Ok(())
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

/// With the operator's own token one gets no further than the operator.
async fn a_stolen_token_is_of_little_use(bed: &TestBed) -> Result<()> {
    let deployment = "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, namespace: team-a, labels: {of: a}}, spec: \
        {replicas: 2, selector: {matchLabels: {of: a}}, template: {metadata: {labels: {of: a}}, spec: {containers: [{name: main, image: main}]}}}}";
    bed.apply(deployment).await?;
    bed.create_pod("kube-system", "dns", &[("cpu", "1")]).await?;
    let thief = as_operator(bed).await?;

    let post = PostParams::default();
    let maps: Api<ConfigMap> = Api::namespaced(thief.clone(), SYSTEM_NAMESPACE);
    let map = serde_json::from_value(json!({"metadata": {"name": "other"}}))?;
    by_policy(maps.create(&post, &map).await.map(drop), "of ConfigMaps Quotient writes its ledger");
    let own: Api<ResourceQuota> = Api::namespaced(thief.clone(), "team-a");
    let other = objects::resource_quota("team-a", "other", &[("pods", "0")]);
    by_policy(own.create(&post, &other).await.map(drop), "writes those named \"quotient\"");
    let system: Api<ResourceQuota> = Api::namespaced(thief.clone(), "kube-system");
    let ours = objects::resource_quota("kube-system", "quotient", &[("pods", "0")]);
    by_policy(system.create(&post, &ours).await.map(drop), "none in protected namespaces");
    let pods: Api<Pod> = Api::namespaced(thief.clone(), "kube-system");
    by_policy(
        pods.evict("dns", &kube::api::EvictParams::default()).await.map(drop),
        "evicts no pod in protected namespaces",
    );
    limit_ranges_of_others(bed, &thief).await?;
    Box::pin(jobs_of_others(bed, &thief)).await?;

    let sets: Api<k8s_openapi::api::apps::v1::ReplicaSet> = Api::namespaced(thief.clone(), "team-a");
    let sized = |size: u32, before: Option<&str>, lowered: Option<&str>| {
        let annotations =
            json!({"quotient.dev/replicas-before": before, "quotient.dev/replicas-lowered-to": lowered});
        json!({"metadata": {"annotations": annotations}, "spec": {"replicas": size}})
    };
    let patch = async |body: Value| sets.patch("web", &PatchParams::default(), &Patch::Merge(body)).await;
    for (body, why) in [
        (json!({"spec": {"minReadySeconds": 9}}), "changes nothing in the spec of a workload but its size"),
        (json!({"spec": {"replicas": 9}}), "lowers the size of a workload only with"),
        (json!({"spec": {"replicas": 1}}), "lowers the size of a workload only with"),
        (sized(1, Some("9"), Some("1")), "lowers the size of a workload only with"),
        (sized(1, Some("2"), Some("0")), "lowers the size of a workload only with"),
        (json!({"metadata": {"annotations": {"quotient.dev/replicas-before": "9"}}}), "sets one annotation"),
        (json!({"metadata": {"labels": {"of": "b"}}}), "changes no labels"),
        (json!({"metadata": {"finalizers": ["example.org/never"]}}), "changes no labels, finalizers"),
        (json!({"metadata": {"annotations": {"example.org/other": "1"}}}), "sets one annotation"),
    ] {
        by_policy(patch(body).await.map(drop), why);
    }
    patch(json!({"metadata": {"annotations": {"quotient.dev/requeued-at": "now"}}})).await?;
    // What it lowers it may raise to what it was, no further.
    patch(sized(1, Some("2"), Some("1"))).await?;
    patch(sized(0, Some("2"), Some("0"))).await?;
    patch(sized(1, Some("2"), Some("1"))).await?;
    by_policy(patch(sized(3, None, None)).await.map(drop), "lowers the size of a workload only with");
    patch(sized(2, None, None)).await?;

    bed.create_pod("team-a", "mine", &[("cpu", "1"), ("memory", "1Mi")]).await?;
    let pods: Api<Pod> = Api::namespaced(thief.clone(), "team-a");
    let patch = async |body: Value| pods.patch("mine", &PatchParams::default(), &Patch::Merge(body)).await;
    let cost = |cost: Option<&str>| json!({"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": cost}}});
    for (body, why) in [
        (json!({"spec": {"activeDeadlineSeconds": 1}}), "changes nothing of a pod but its deletion cost"),
        (json!({"metadata": {"labels": {"of": "b"}}}), "changes nothing of a pod but its deletion cost"),
        (json!({"metadata": {"annotations": {"example.org/other": "1"}}}), "sets one annotation of a pod"),
        (cost(Some("5")), "sets one annotation of a pod"),
    ] {
        by_policy(patch(body).await.map(drop), why);
    }
    patch(cost(Some("-2147483648"))).await?;
    patch(cost(None)).await?;
    let pods: Api<Pod> = Api::namespaced(thief.clone(), "kube-system");
    let body = Patch::Merge(cost(Some("-2147483648")));
    by_policy(
        pods.patch("dns", &PatchParams::default(), &body).await.map(drop),
        "marks no pods in protected",
    );

    // And by its roles alone.
    let list = ListParams::default();
    let secrets: Api<Secret> = Api::all(thief.clone());
    let pods: Api<Pod> = Api::namespaced(thief.clone(), "kube-system");
    let namespaces: Api<Namespace> = Api::all(thief.clone());
    let forbidden = |outcome: kube::Result<()>| by_policy(outcome, "is forbidden");
    forbidden(secrets.list(&list).await.map(drop));
    forbidden(pods.delete("dns", &DeleteParams::default()).await.map(drop));
    forbidden(pods.create(&post, &objects::pod("kube-system", "mine", &[])).await.map(drop));
    forbidden(namespaces.delete("team-a", &DeleteParams::default()).await.map(drop));
    let dns = bed.kubectl(["get", "pod/dns", "--namespace=kube-system", "-o=name"]).await?;
    ensure!(dns.trim() == "pod/dns", "{dns}");
    Ok(())
}
