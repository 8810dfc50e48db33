//! The test bed does what its documentation says: the control plane is a real one, and the pretended kubelets do as
//! they are told.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::policy::v1::Eviction;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{DeleteOptions, Preconditions};
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::core::ObjectMeta;
use quotient_testbed::binaries::helm_version;
use quotient_testbed::{AuditEvent, CENSUS, Component, Options, TestBed, annotations, eventually, objects};
use serde_json::json;

const PATIENCE: Duration = Duration::from_secs(20);

/// A test bed with one node.
async fn with_a_node() -> Result<TestBed> {
    let bed = TestBed::start(Options::default()).await?;
    bed.add_node("node-1", &[("cpu", "6"), ("memory", "15Gi")]).await?;
    Ok(bed)
}

/// One test bed for all that is told of a control plane, each in a namespace of its own.
#[tokio::test(flavor = "multi_thread")]
async fn the_control_plane_is_a_real_one_and_kubelets_do_as_they_are_told() -> Result<()> {
    let bed = with_a_node().await?;
    tokio::try_join!(
        runs_pods_on_a_control_plane_of_the_pinned_version(&bed),
        installs_charts(&bed),
        refuses_what_exceeds_a_quota(&bed),
        refuses_evictions_that_a_disruption_budget_forbids(&bed),
        evicted_pods_are_marked_and_deleted_ones_are_not(&bed),
        evicted_job_pods_are_replaced_and_cost_nothing(&bed),
        identities_have_the_rights_that_rbac_gives_them(&bed),
    )?;
    // Takes the node away in the end.
    annotations_tell_the_kubelets_what_to_do(&bed).await?;
    bed.stop().await
}

/// The pods of a namespace that is made now.
async fn pods(bed: &TestBed, namespace: &str) -> Result<Api<Pod>> {
    bed.create_namespace(namespace).await?;
    Ok(Api::namespaced(bed.client(), namespace))
}

async fn create(bed: &TestBed, namespace: &str, name: &str, annotations: &[(&str, &str)]) -> Result<()> {
    let mut pod = objects::pod(namespace, name, &[("cpu", "100m")]);
    let annotations = annotations.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    pod.metadata.annotations = Some(annotations.collect());
    Api::namespaced(bed.client(), namespace).create(&PostParams::default(), &pod).await?;
    Ok(())
}

async fn evict(pods: &Api<Pod>, pod: &Pod) -> kube::Result<()> {
    let name = pod.metadata.name.clone().unwrap_or_default();
    let eviction = Eviction {
        metadata: ObjectMeta { name: Some(name.clone()), ..ObjectMeta::default() },
        delete_options: Some(DeleteOptions {
            preconditions: Some(Preconditions { uid: pod.metadata.uid.clone(), ..Preconditions::default() }),
            ..DeleteOptions::default()
        }),
    };
    let answer: kube::Result<serde_json::Value> =
        pods.create_subresource("eviction", &name, &PostParams::default(), &eviction).await;
    answer.map(drop)
}

async fn runs_pods_on_a_control_plane_of_the_pinned_version(bed: &TestBed) -> Result<()> {
    bed.create_namespace("runs").await?;
    let version = bed.client().apiserver_version().await?;
    assert_eq!(version.git_version, bed.version());
    assert!(bed.kubectl(["version"]).await?.contains(&format!("Client Version: {}", bed.version())));

    let mark = bed.audit().mark()?;
    bed.apply("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: runs}, spec: {replicas: 3, \
         selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: \
         main, image: web}]}}}}")
        .await?;
    bed.kubectl(["rollout", "status", "deployment/web", "--namespace=runs", "--timeout=20s"]).await?;

    // The judge has seen it, and can tell the actors apart.
    let bound = eventually("three bindings are in the audit log", PATIENCE, async || {
        let events = bed.audit().events_since(mark)?;
        let bound: Vec<AuditEvent> = events
            .into_iter()
            .filter(|event| event.is_about("pods/binding") && event.namespace == "runs")
            .collect();
        ensure!(bound.len() == 3, "{bound:?}");
        Ok(bound)
    })
    .await?;
    for event in bound {
        assert_eq!((event.user.as_str(), event.code), ("system:kube-scheduler", 201), "{event:?}");
        assert!(event.is_write() && event.succeeded() && event.received <= event.answered, "{event:?}");
    }
    Ok(())
}

/// Helm speaks to the test bed, and leaves nothing outside its directory.
async fn installs_charts(bed: &TestBed) -> Result<()> {
    let version = bed.helm(["version", "--template={{.Version}}"]).await?;
    assert_eq!(version, helm_version());
    let chart = bed.directory().join("note");
    std::fs::create_dir_all(chart.join("templates"))?;
    std::fs::write(chart.join("Chart.yaml"), "{apiVersion: v2, name: note, version: 1.0.0}")?;
    let note = "{apiVersion: v1, kind: ConfigMap, metadata: {name: note}, data: {of: {{ .Release.Name }}}}";
    std::fs::write(chart.join("templates/note.yaml"), note)?;
    let chart = chart.to_str().context("the path is no text")?;
    bed.helm(["install", "mine", chart, "--wait"]).await?;
    assert_eq!(bed.kubectl(["get", "configmap/note", "-o=jsonpath={.data.of}"]).await?, "mine");
    let refused = bed.helm(["install", "mine", chart]).await.unwrap_err().to_string();
    assert!(refused.contains("helm install mine") && refused.contains("still in use"), "{refused}");
    bed.helm(["uninstall", "mine"]).await?;
    Ok(())
}

async fn refuses_what_exceeds_a_quota(bed: &TestBed) -> Result<()> {
    bed.create_namespace("full").await?;
    bed.create_quota("full", "quotient", &[("requests.cpu", "2")]).await?;
    bed.create_pod("full", "fits", &[("cpu", "1500m")]).await?;
    let refused = bed.create_pod("full", "too-much", &[("cpu", "1")]).await.unwrap_err().to_string();
    assert!(refused.contains("exceeded quota: quotient, requested: requests.cpu=1"), "{refused}");

    // The API server charges the quota itself, before it answers the create; both bodies are there to judge by.
    let charge = eventually("the charge is in the audit log", PATIENCE, async || {
        let events = bed.audit().events()?.into_iter();
        let mut charges = events.filter(|event| {
            event.is_about("resourcequotas/status") && event.user == "system:apiserver" && event.succeeded()
        });
        charges.next().context("no charge yet")
    })
    .await?;
    for body in [&charge.request, &charge.response] {
        let body = body.as_ref().context("no body")?;
        assert_eq!(body["status"]["used"]["requests.cpu"], "1500m", "{body}");
        assert!(body["metadata"].get("managedFields").is_none(), "{body}");
    }
    Ok(())
}

async fn refuses_evictions_that_a_disruption_budget_forbids(bed: &TestBed) -> Result<()> {
    let pods = pods(bed, "guarded").await?;
    for name in ["guarded", "free"] {
        let mut pod = objects::pod("guarded", name, &[("cpu", "1")]);
        pod.metadata.labels = Some([("app".to_owned(), name.to_owned())].into());
        pods.create(&PostParams::default(), &pod).await?;
    }
    let guarded = bed.wait_until_running("guarded", "guarded").await?;
    let free = bed.wait_until_running("guarded", "free").await?;
    bed.apply("{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: guard, namespace: guarded}, spec: \
         {minAvailable: 1, selector: {matchLabels: {app: guarded}}}}")
        .await?;
    bed.kubectl([
        "wait",
        "pdb/guard",
        "-n=guarded",
        "--for=jsonpath={.status.currentHealthy}=1",
        "--timeout=20s",
    ])
    .await?;

    match evict(&pods, &guarded).await {
        Err(kube::Error::Api(status)) => assert_eq!(status.code, 429, "{status:?}"),
        other => panic!("{other:?}"),
    }
    evict(&pods, &free).await?;
    bed.wait_until_gone("guarded", "free").await?;

    let eviction = eventually("both evictions are in the audit log", PATIENCE, async || {
        let events = bed.audit().events()?;
        let of =
            |name| events.iter().find(|event| event.is_about("pods/eviction") && event.name == name).cloned();
        of("guarded").zip(of("free")).context("not both yet")
    })
    .await?;
    assert_eq!((eviction.0.code, eviction.1.code), (429, 201));
    let asked = eviction.1.request.context("no body")?;
    assert_eq!(asked["deleteOptions"]["preconditions"]["uid"], json!(free.metadata.uid));
    Ok(())
}

async fn annotations_tell_the_kubelets_what_to_do(bed: &TestBed) -> Result<()> {
    let pods = pods(bed, "told").await?;
    let create =
        async |name: &str, annotations: &[(&str, &str)]| create(bed, "told", name, annotations).await;
    create("stuck", &[(annotations::HOLD_START, "true"), (annotations::HOLD_TERMINATION, "true")]).await?;
    create("slow", &[(annotations::TERMINATE_AFTER, "700ms")]).await?;
    create("quick", &[]).await?;
    create("short", &[(annotations::COMPLETE_AFTER_SECONDS, "2")]).await?;
    for name in ["slow", "quick"] {
        bed.wait_until_running("told", name).await?;
    }
    let delete = DeleteParams::default();

    // Without an annotation a deleted pod is gone at once, with one it takes its time.
    let started = std::time::Instant::now();
    pods.delete("slow", &delete).await?;
    pods.delete("quick", &delete).await?;
    bed.wait_until_gone("told", "quick").await?;
    assert!(pods.get("slow").await?.metadata.deletion_timestamp.is_some());
    bed.wait_until_gone("told", "slow").await?;
    assert!(started.elapsed() >= Duration::from_millis(700), "{:?}", started.elapsed());

    // Bound, and Pending for as long as it is held.
    let phase = |pod: &Pod| pod.status.clone().and_then(|status| status.phase);
    let held = eventually("the scheduler has bound the held pod", PATIENCE, async || {
        let pod = pods.get("stuck").await?;
        ensure!(pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some()), "it is not bound");
        Ok(pod)
    })
    .await?;
    assert_eq!(phase(&held).as_deref(), Some("Pending"));
    let release = |annotation: &str| Patch::Merge(json!({"metadata": {"annotations": {annotation: null}}}));
    pods.patch("stuck", &PatchParams::default(), &release(annotations::HOLD_START)).await?;
    bed.wait_until_running("told", "stuck").await?;

    // Terminating, and running for as long as it is held.
    pods.delete("stuck", &delete).await?;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let held = pods.get("stuck").await?;
    assert!(held.metadata.deletion_timestamp.is_some());
    assert_eq!(phase(&held).as_deref(), Some("Running"));
    pods.patch("stuck", &PatchParams::default(), &release(annotations::HOLD_TERMINATION)).await?;
    bed.wait_until_gone("told", "stuck").await?;

    eventually("the short one has succeeded", PATIENCE, async || {
        let now = phase(&pods.get("short").await?);
        ensure!(now.as_deref() == Some("Succeeded"), "it is {now:?}");
        Ok(())
    })
    .await?;

    // A node can be taken away, and comes back.
    let not_ready = r#"{"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "Test"}]}}"#;
    let annotation = format!("{}=true", annotations::HOLD_READY);
    bed.kubectl(["annotate", "node", "node-1", &annotation]).await?;
    bed.kubectl(["patch", "node", "node-1", "--subresource=status", "-p", not_ready]).await?;
    bed.kubectl(["wait", "node/node-1", "--for=condition=Ready=false", "--timeout=10s"]).await?;
    bed.kubectl(["annotate", "node", "node-1", &format!("{}-", annotations::HOLD_READY)]).await?;
    bed.kubectl(["wait", "node/node-1", "--for=condition=Ready", "--timeout=10s"]).await?;
    Ok(())
}

/// What tells victims from pods that others let go: the API server marks every pod that it evicts, one that never ran, too.
async fn evicted_pods_are_marked_and_deleted_ones_are_not(bed: &TestBed) -> Result<()> {
    let pods = pods(bed, "marked").await?;
    let kept = (annotations::HOLD_TERMINATION, "true");
    create(bed, "marked", "runs", &[kept]).await?;
    create(bed, "marked", "never-ran", &[(annotations::HOLD_START, "true"), kept]).await?;
    create(bed, "marked", "deleted", &[kept]).await?;
    for name in ["runs", "deleted"] {
        bed.wait_until_running("marked", name).await?;
    }
    let bound = eventually("the pod that does not start is bound", PATIENCE, async || {
        let pod = pods.get("never-ran").await?;
        ensure!(pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some()), "it is not bound");
        Ok(pod)
    });
    evict(&pods, &bound.await?).await?;
    evict(&pods, &pods.get("runs").await?).await?;
    pods.delete("deleted", &DeleteParams::default()).await?;
    for (name, marked) in [("runs", true), ("never-ran", true), ("deleted", false)] {
        let pod = pods.get(name).await?;
        ensure!(pod.metadata.deletion_timestamp.is_some(), "{name} stays");
        let conditions = pod.status.and_then(|status| status.conditions).unwrap_or_default();
        let mark = conditions.iter().find(|condition| condition.type_ == "DisruptionTarget");
        let reason = mark.and_then(|condition| condition.reason.as_deref());
        assert_eq!(reason, marked.then_some("EvictionByEvictionAPI"), "{name}");
    }
    Ok(())
}

/// What Jobs wait for before they replace a pod: a kubelet that reports the end of the containers.
async fn evicted_job_pods_are_replaced_and_cost_nothing(bed: &TestBed) -> Result<()> {
    let pods = pods(bed, "trains").await?;
    bed.apply("{apiVersion: batch/v1, kind: Job, metadata: {name: train, namespace: trains}, spec: {completionMode: \
         Indexed, completions: 2, parallelism: 2, backoffLimit: 0, podFailurePolicy: {rules: [{action: Ignore, \
         onPodConditions: [{type: DisruptionTarget}]}]}, template: {spec: {restartPolicy: Never, containers: [{name: \
         main, image: train}]}}}}")
        .await?;
    let both_running = async |except: Option<&String>| {
        eventually("two pods of the Job are Running", PATIENCE, async || {
            let list = pods.list(&kube::api::ListParams::default()).await?;
            let is_running = |pod: &Pod| {
                pod.status.as_ref().is_some_and(|status| status.phase.as_deref() == Some("Running"))
                    && pod.metadata.deletion_timestamp.is_none()
                    && pod.metadata.uid.as_ref() != except
            };
            let running: Vec<Pod> = list.items.into_iter().filter(is_running).collect();
            ensure!(running.len() == 2, "{} are", running.len());
            Ok(running)
        })
        .await
    };
    let victim = both_running(None).await?.remove(0);
    evict(&pods, &victim).await?;
    both_running(victim.metadata.uid.as_ref()).await?;
    bed.wait_until_gone("trains", victim.metadata.name.as_deref().unwrap_or_default()).await?;
    let failed = bed.kubectl(["get", "job/train", "-n=trains", "-o=jsonpath={.status.conditions}"]).await?;
    assert_eq!(failed, "");
    Ok(())
}

async fn identities_have_the_rights_that_rbac_gives_them(bed: &TestBed) -> Result<()> {
    bed.create_namespace("team").await?;
    let account = bed.service_account_kubeconfig("team", "default").await?;
    let user = bed.user_kubeconfig("alice", Some("team-members"))?;
    let outcome = async |kubeconfig: &std::path::Path| -> Result<u16> {
        let pods: Api<Pod> = Api::namespaced(bed.client_for(kubeconfig).await?, "team");
        match pods.list(&kube::api::ListParams::default()).await {
            Ok(_) => Ok(200),
            Err(kube::Error::Api(status)) => Ok(status.code),
            Err(error) => Err(error.into()),
        }
    };
    assert_eq!((outcome(&account).await?, outcome(&user).await?), (403, 403));
    let view = ["create", "rolebinding", "view", "-n=team", "--clusterrole=view"];
    let subject = ["--serviceaccount=team:default", "--group=team-members"];
    bed.kubectl(view.into_iter().chain(subject)).await?;
    eventually("both may look", PATIENCE, async || {
        let codes = (outcome(&account).await?, outcome(&user).await?);
        ensure!(codes == (200, 200), "{codes:?}");
        Ok(())
    })
    .await?;
    eventually("both are in the audit log", PATIENCE, async || {
        let events = bed.audit().events()?;
        for user in ["alice", "system:serviceaccount:team:default"] {
            ensure!(events.iter().any(|event| event.user == user && event.code == 403), "{user} is not");
        }
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn components_can_be_paused_killed_and_restarted() -> Result<()> {
    let bed = with_a_node().await?;
    let pods = pods(&bed, "paused").await?;

    bed.pause(Component::Kwok)?;
    create(&bed, "paused", "waits", &[]).await?;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(pods.get("waits").await?.status.and_then(|status| status.phase).as_deref(), Some("Pending"));
    bed.resume(Component::Kwok)?;
    bed.wait_until_running("paused", "waits").await?;

    bed.kill(Component::ApiServer)?;
    assert!(bed.pid(Component::ApiServer).is_none());
    assert!(bed.pause(Component::ApiServer).unwrap_err().to_string().contains("it is not running"));
    assert!(pods.get("waits").await.is_err());
    bed.restart(Component::ApiServer).await?;
    assert_eq!(pods.get("waits").await?.metadata.name.as_deref(), Some("waits"));
    // Every client finds it again, and the audit log goes on in the same file.
    create(&bed, "paused", "after", &[]).await?;
    bed.wait_until_running("paused", "after").await?;
    let created = |name: &str| -> Result<bool> {
        Ok(bed.audit().events()?.iter().any(|event| event.is_about("pods") && event.name == name))
    };
    assert!(created("waits")? && created("after")?);
    // It tells what was there when the API server came back.
    for resource in ["pods", "resourcequotas"] {
        let counted =
            bed.audit().events()?.into_iter().find(|event| event.user == CENSUS && event.is_about(resource));
        let list = counted.and_then(|event| event.response).context("no count")?;
        assert!(list["items"].is_array(), "{resource}: {list}");
    }

    bed.restart(Component::Etcd).await?;
    eventually("the API server has found etcd again", PATIENCE, async || pods.get("after").await).await?;
    bed.stop().await?;
    Ok(())
}
