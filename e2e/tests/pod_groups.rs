//! PodGroups of other schedulers and of Kubernetes itself: read where the API serves them, and their gangs go whole.

use std::time::Duration;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt as _;
use quotient_e2e::quotient::{PATIENCE, PodCounts, Stage};
use quotient_e2e::testbed::{Options, eventually, objects};
use serde_json::{Value, json};

/// Group, version, and how a pod names its PodGroup: fields of its metadata, fields of its spec.
type Way = (&'static str, &'static str, fn(&str) -> (Value, Value));

pub(crate) const WAYS: [Way; 4] = [
    ("scheduling.k8s.io", "v1alpha2", |name| (json!({}), json!({"schedulingGroup": {"podGroupName": name}}))),
    ("scheduling.run.ai", "v2alpha2", |name| (json!({"annotations": {"pod-group-name": name}}), json!({}))),
    ("scheduling.volcano.sh", "v1beta1", |name| {
        (json!({"annotations": {"scheduling.k8s.io/group-name": name}}), json!({}))
    }),
    ("scheduling.x-k8s.io", "v1alpha1", |name| {
        (json!({"labels": {"scheduling.x-k8s.io/pod-group": name}}), json!({}))
    }),
];

/// A cluster that has every kind of PodGroup that there is.
pub(crate) async fn stage_with_pod_groups(nodes: &[(&str, &str, &str)]) -> Result<Stage> {
    let stage = Stage::set_on(Options { pod_groups: true, ..Options::default() }, nodes).await?;
    let custom = WAYS.iter().filter(|(group, ..)| *group != "scheduling.k8s.io");
    let definitions =
        custom.map(|(group, version, _)| objects::custom_kind(group, version, "PodGroup", "podgroups"));
    stage.apply(&objects::list(definitions)).await?;
    for (group, ..) in WAYS {
        eventually(format!("PodGroups of {group} are served"), PATIENCE, async || {
            stage.bed.kubectl(["get", &format!("podgroups.{group}"), "--all-namespaces"]).await.map(drop)
        })
        .await?;
    }
    Ok(stage)
}

/// The PodGroups of two of every kind, in the namespace `a`.
pub(crate) fn all_groups() -> Value {
    objects::list(WAYS.iter().map(pod_group))
}

/// The members of this number of all of them.
pub(crate) fn all_members(number: u32) -> Value {
    objects::list(WAYS.iter().map(|way| member(way, number)))
}

/// A PodGroup of two.
fn pod_group((group, version, _): &Way) -> Value {
    let spec = match *group {
        "scheduling.k8s.io" => json!({"schedulingPolicy": {"gang": {"minCount": 2}}}),
        _ => json!({"minMember": 2}),
    };
    json!({
        "apiVersion": format!("{group}/{version}"),
        "kind": "PodGroup",
        "metadata": {"name": group, "namespace": "a"},
        "spec": spec,
    })
}

/// Its member of this number.
fn member((group, _, named): &Way, number: u32) -> Value {
    let (mut metadata, mut spec) = named(group);
    metadata["name"] = format!("{number}-{group}").into();
    metadata["namespace"] = "a".into();
    spec["containers"] = json!([
        {"name": "main", "image": "train", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}},
    ]);
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
}

/// Four gangs of two, one for each kind of PodGroup, and half of the cluster is of another queue: two gangs go wholly. By age
/// and name alone the second member of each would go, and none would be of any use.
pub(crate) async fn gangs_of_other_schedulers_go_whole(stage: &Stage) -> Result<()> {
    stage.claim("a", json!({})).await?;
    stage.until_allowed("a", "cpu 8, memory 128Gi").await?;
    stage.apply(&all_groups()).await?;
    for number in [1, 2] {
        stage.apply(&all_members(number)).await?;
    }
    stage.until_pods("a", PodCounts::running(8)).await?;

    stage.claim("b", json!({})).await?;
    stage.until_allowed("b", "cpu 4, memory 64Gi").await?;
    stage.until_pods("a", PodCounts::running(4)).await?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let gang = |pod: &Pod| Some(pod.name_any().split_once('-')?.1.to_owned());
    let left = stage.pods_by("a", gang).await?;
    ensure!(left.matches(" 2").count() == 2 && left.matches(',').count() == 1, "{left}");
    for queue in ["a", "b"] {
        stage.remove_queue(queue).await?;
    }
    Ok(())
}
