//! The chart's roles grant the operator what it uses, and nothing else.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::{LimitRange, ResourceQuota};
use k8s_openapi::api::rbac::v1::{ClusterRole, PolicyRule, Role};
use kube::api::DeleteParams;
use kube::{Api, ResourceExt as _};
use quotient_crds::Queue;
use quotient_e2e::quotient::{
    OPERATOR_USER, Operator, PATIENCE, PodCounts, RELEASE, SYSTEM_NAMESPACE, Stage, nothing_forbidden,
};
use quotient_e2e::testbed::{AuditEvent, TestBed, eventually, objects, ports, until_is};
use serde_json::{Value, json};

use crate::pod_groups::stage_with_pod_groups;

/// What rules grant, one verb on one resource each.
fn granted(rules: Vec<PolicyRule>, place: &str) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    for rule in rules {
        let names = rule.resource_names.unwrap_or_default();
        let names = if names.is_empty() { vec![String::new()] } else { names };
        for group in rule.api_groups.unwrap_or_default() {
            for resource in rule.resources.as_deref().unwrap_or_default() {
                for verb in &rule.verbs {
                    lines.extend(names.iter().map(|name| line(place, &group, resource, verb, name)));
                }
            }
        }
    }
    lines
}

fn line(place: &str, group: &str, resource: &str, verb: &str, name: &str) -> String {
    let group = if group.is_empty() { String::new() } else { format!("{group}/") };
    format!("{place}{group}{resource} {verb} {name}").trim_end().to_owned()
}

const OWN: &str = "in quotient-system: ";

/// What the installed roles grant.
async fn installed_rights(bed: &TestBed) -> Result<BTreeSet<String>> {
    let everywhere: Api<ClusterRole> = Api::all(bed.client());
    let own: Api<Role> = Api::namespaced(bed.client(), SYSTEM_NAMESPACE);
    let mut lines = granted(everywhere.get(RELEASE).await?.rules.unwrap_or_default(), "");
    lines.extend(granted(own.get(RELEASE).await?.rules.unwrap_or_default(), OWN));
    Ok(lines)
}

/// The right that a request used: the narrowest of those granted that covers it.
fn used(event: &AuditEvent, granted: &BTreeSet<String>) -> Option<String> {
    let resource = match event.subresource.as_str() {
        "" => event.resource.clone(),
        subresource => format!("{}/{subresource}", event.resource),
    };
    let candidates = [(OWN, event.name.as_str()), (OWN, ""), ("", event.name.as_str()), ("", "")];
    let candidates =
        candidates.into_iter().filter(|(place, _)| place.is_empty() || event.namespace == SYSTEM_NAMESPACE);
    candidates
        .map(|(place, name)| line(place, &event.group, &resource, &event.verb, name))
        .find(|line| granted.contains(line))
}

/// A story in which every right is used, and none is missed.
#[tokio::test(flavor = "multi_thread")]
async fn every_right_is_used() -> Result<()> {
    let stage = stage_with_pod_groups(&[("node-1", "8", "16Gi")]).await?;
    let operator = stage.start_operator().await?;
    // A quota of that name was there before; its Queue takes it over.
    stage.bed.create_namespace("old").await?;
    stage.bed.create_quota("old", "quotient", &[("requests.cpu", "1"), ("requests.memory", "1Gi")]).await?;
    stage.queue_object("old", "old", json!({})).await?;
    let quotas = stage.api::<ResourceQuota>("old");
    eventually("the quota is owned by its Queue", PATIENCE, async || {
        ensure!(!quotas.get("quotient").await?.owner_references().is_empty(), "it has no owner");
        Ok(())
    })
    .await?;
    let queues = stage.api::<Queue>("old");
    queues.delete("old", &DeleteParams::default()).await?;
    eventually("the quota is gone with its Queue", PATIENCE, async || {
        ensure!(quotas.get_opt("quotient").await?.is_none(), "it is there");
        Ok(())
    })
    .await?;

    // One team holds all; another comes, and has owners of every kind refused until there is room.
    stage.claim("first", json!({"weight": 1})).await?;
    stage.until_allowed("first", "cpu 8, memory 16Gi").await?;
    default_requests(&stage).await?;
    stage.deployment("first", "work", 8, objects::one_cpu(), true).await?;
    stage.until_pods("first", PodCounts::running(8)).await?;
    stage.claim("second", json!({"weight": 1})).await?;
    stage.until_allowed("first", "cpu 4, memory 8Gi").await?;
    stage.apply(&owners()).await?;
    eventually("all four are refused", PATIENCE, async || {
        let events = ["get", "events", "--namespace=second", "--field-selector=reason=FailedCreate"];
        let kinds = ["-o=jsonpath={.items[*].involvedObject.kind}"];
        let said = stage.bed.kubectl(events.into_iter().chain(kinds)).await?;
        for kind in ["ReplicaSet", "StatefulSet", "DaemonSet", "Job"] {
            ensure!(said.contains(kind), "{said}");
        }
        Ok(())
    })
    .await?;
    // By now each waits for ten seconds and more before it tries again (a Job until the 31st second, the others from the
    // 20th to the 40th): it has to be told.
    tokio::time::sleep(Duration::from_secs(22)).await;
    until_is("the room is given back", PodCounts::running(4), async || {
        stage.release("first").await?;
        stage.pod_counts("second").await
    })
    .await?;
    // A node is added below, which would have a pod of it, too.
    stage.bed.kubectl(["delete", "daemonset", "--all", "-n=second"]).await?;
    queue_jobs(&stage).await?;
    priorities(&stage).await?;
    operator.stop().await?;

    // Beyond loopback it asks who it is that wants the metrics, and whether he may.
    let port = ports::free()?;
    let listen = format!("--metrics-listen=0.0.0.0:{port}");
    let operator = Operator::start_with(&stage.bed, &stage.programs.operator, &[&listen]).await?;
    scrape(&stage.bed, SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
    operator.stop().await?;

    nothing_forbidden(&stage.bed)?;
    let granted = installed_rights(&stage.bed).await?;
    let events = stage.bed.audit().events()?;
    let own = events.iter().filter(|event| event.user == OPERATOR_USER && !event.resource.is_empty());
    let own: Vec<&AuditEvent> = own.collect();
    let used: BTreeSet<String> = own.iter().filter_map(|event| used(event, &granted)).collect();
    let idle: Vec<_> = granted.difference(&used).collect();
    assert!(idle.is_empty(), "granted and never used: {idle:#?}");
    stage.bed.stop().await
}

/// Default requests come, change and go.
async fn default_requests(stage: &Stage) -> Result<()> {
    let ranges = stage.api::<LimitRange>("first");
    let steps = [
        (json!({"cpu": "1"}), json!({"cpu": "1"})),
        (json!({"cpu": null, "memory": "1Gi"}), json!({"memory": "1Gi"})),
        (json!({"memory": null}), json!(null)),
    ];
    for (patch, wanted) in steps {
        stage.patch_queue("first", "first", json!({"defaultRequests": patch})).await?;
        until_is(format!("the LimitRange says {wanted}"), wanted, async || {
            let found = serde_json::to_value(ranges.get_opt("quotient").await?)?;
            Ok(found.pointer("/spec/limits/0/defaultRequest").cloned().unwrap_or_default())
        })
        .await?;
    }
    Ok(())
}

/// QueueJobs whose Jobs are created, found to be another's, told how many pods may run, replaced, and gone at last.
async fn queue_jobs(stage: &Stage) -> Result<()> {
    stage.bed.add_node("node-2", &[("cpu", "8"), ("memory", "16Gi")]).await?;
    stage.bed.create_namespace("gangs").await?;
    let queue = "{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: gangs, namespace: gangs}, \
                 spec: {limit: {cpu: 2}}}";
    let container = "{name: c, image: first, resources: {requests: {cpu: 100m, memory: 1Mi}}}";
    let pod = format!("terminationGracePeriodSeconds: 0, containers: [{container}]");
    let taken = format!(
        "{{apiVersion: batch/v1, kind: Job, metadata: {{name: taken-w, namespace: gangs}}, \
         spec: {{suspend: true, template: {{spec: {{restartPolicy: Never, {pod}}}}}}}}}"
    );
    let job = |name: &str, rest: &str| {
        format!(
            "{{apiVersion: quotient.dev/v1alpha1, kind: QueueJob, metadata: {{name: {name}, namespace: gangs}}, \
             spec: {{ttlSecondsAfterFinished: 0, tasks: [{{name: w, template: {{{rest} spec: {{{pod}}}}}}}]}}}}"
        )
    };
    let brief = "metadata: {annotations: {testbed.quotient.dev/complete-after-seconds: '1'}},";
    let all =
        [queue.to_owned(), taken, job("taken", ""), job("edited", ""), job("brief", brief)].join("\n---\n");
    stage.bed.kubectl_with_input(["apply", "-f", "-"], &all).await?;
    let see = async |arguments: &[&str], expected: &str| -> Result<()> {
        until_is(format!("{arguments:?}: {expected}"), expected, async || {
            // The first team may have filled the new node before, and then gives some of it back.
            stage.release("first").await?;
            let all = ["-n=gangs", "--ignore-not-found"].into_iter().chain(arguments.iter().copied());
            let seen = stage.bed.kubectl(["get"].into_iter().chain(all)).await?;
            Ok(seen.trim().to_owned())
        })
        .await?;
        Ok(())
    };
    let reason = "-o=jsonpath={.status.conditions[?(@.type==\"Admitted\")].reason}";
    see(&["qtj", "taken", reason], "JobRefused").await?;
    see(&["qtj", "edited", "-o=jsonpath={.status.state}"], "Running").await?;
    let edited = job("edited", "").replace("first", "second");
    stage.bed.kubectl_with_input(["apply", "-f", "-"], &edited).await?;
    see(&["job", "edited-w", "-o=jsonpath={.spec.template.spec.containers[0].image}"], "second").await?;
    see(&["qtj", "brief", "-o=name"], "").await?;
    stage.bed.kubectl(["delete", "qtj,jobs,qtq", "--all", "-n=gangs"]).await?;
    see(&["pods,resourcequotas", "-o=name"], "").await
}

/// Owners of every kind that yield to one of a higher priority in their queue.
async fn priorities(stage: &Stage) -> Result<()> {
    let class = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}";
    stage.bed.apply(class).await?;
    stage.bed.create_namespace("yields").await?;
    let queue = json!({"limit": {"cpu": "6"}, "guaranteed": {"cpu": "6"}, "preemption": "LowerPriority"});
    stage.queue_object("yields", "yields", queue).await?;
    let kinds = ["Deployment", "ReplicaSet", "StatefulSet"];
    let requests = json!({"cpu": 1, "memory": "1Mi"});
    for kind in kinds {
        stage.apply(&objects::workload(kind, "yields", &kind.to_lowercase(), 2, &requests)).await?;
    }
    // Some of the room is given back by the first team, whose pods end when they are told to.
    let six_run = async || {
        until_is("all six run", PodCounts::running(6), async || {
            stage.release("first").await?;
            stage.pod_counts("yields").await
        })
        .await
    };
    six_run().await?;
    stage.until_quota_is_exact("yields").await?;
    let high = objects::workload("Deployment", "yields", "high", 3, &requests);
    stage.apply(&objects::pods_with(high, "priorityClassName", "high")).await?;
    for kind in kinds {
        let arguments =
            ["get", kind, &kind.to_lowercase(), "--namespace=yields", "-o=jsonpath={.spec.replicas}"];
        until_is(format!("a {kind} yields"), "1", async || stage.bed.kubectl(arguments).await).await?;
    }
    six_run().await?;
    Ok(())
}

/// An owner of each kind that wants one pod.
fn owners() -> Value {
    let requests = objects::one_cpu();
    let kinds = ["ReplicaSet", "StatefulSet", "DaemonSet", "Job"];
    objects::list(kinds.map(|kind| objects::workload(kind, "second", &kind.to_lowercase(), 1, &requests)))
}

/// A client with the right reads the metrics. `helm.rs` has one without it.
async fn scrape(bed: &TestBed, address: SocketAddr) -> Result<()> {
    bed.create_namespace("monitoring").await?;
    bed.kubectl(["create", "serviceaccount", "prometheus", "--namespace=monitoring"]).await?;
    let bind = ["create", "clusterrolebinding", "prometheus", "--clusterrole=quotient-metrics-reader"];
    bed.kubectl(bind.into_iter().chain(["--serviceaccount=monitoring:prometheus"])).await?;
    let token = bed.kubectl(["create", "token", "prometheus", "--namespace=monitoring"]).await?;
    let mut config = kube::Config::new(format!("https://{address}").parse()?);
    config.accept_invalid_certs = true;
    config.auth_info.token = Some(token.trim().to_owned().into());
    let client = kube::Client::try_from(config)?;
    eventually("Prometheus may read the metrics", PATIENCE, async || {
        let metrics = client.request_text(http::Request::get("/metrics").body(Vec::new())?).await?;
        ensure!(metrics.contains("quotient_build_info"), "{metrics}");
        Ok(())
    })
    .await
}
