//! What makes pods a gang, and which pods of it share what.

use kube::Resource as _;
use serde_json::{Value, json};

use super::{index_of, namespace_a};
use quotient_index::{Index, POD_GROUPS, PodGroup, PodGroupApi};

const COSCHEDULING: &str = "scheduling.x-k8s.io/v1alpha1";
const VOLCANO: &str = "scheduling.volcano.sh/v1beta1";
const KAI: &str = "scheduling.run.ai/v2alpha2";
const KUBERNETES_V1ALPHA2: &str = "scheduling.k8s.io/v1alpha2";
const KUBERNETES_V1ALPHA3: &str = "scheduling.k8s.io/v1alpha3";
const KUBERNETES_V1BETA1: &str = "scheduling.k8s.io/v1beta1";

fn api(api_version: &str) -> &'static PodGroupApi {
    POD_GROUPS.iter().find(|api| api.api_version == api_version).unwrap()
}

/// The gang of a pod of the ReplicaSet `r-1` with this metadata, as `name/minimum`.
fn gang(metadata: &str) -> Option<String> {
    gang_of(&format!(
        "{metadata}, ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: r-1, controller: true}}]"
    ))
}

fn gang_of(metadata: &str) -> Option<String> {
    let pod =
        format!("{{kind: Pod, metadata: {{name: p, namespace: a, {metadata}}}, spec: {{containers: []}}}}");
    let gang = namespace_a(&mut index_of(&pod)).pods[0].gang().cloned();
    gang.map(|gang| format!("{}/{}", gang.name, gang.min_available))
}

/// A pod `p` with this metadata and these fields in its spec, and a ReplicaSet of a template like it.
fn pod_and_owner(metadata: &str, spec: &str) -> Index {
    index_of(&format!(
        "{{kind: Queue, metadata: {{name: a, namespace: a}}, spec: {{}}}}
---
{{kind: Pod, metadata: {{name: p, namespace: a, {metadata}}}, spec: {{containers: [], {spec}}}}}
---
{{kind: ReplicaSet, metadata: {{name: r, namespace: a}}, spec: {{replicas: 2, selector: {{}}, template:
  {{metadata: {{{metadata}}}, spec: {{containers: [], {spec}}}}}}}}}"
    ))
}

/// A PodGroup `g` of this namespace.
fn group(namespace: &str, spec: &Value) -> PodGroup {
    let metadata = json!({"name": "g", "namespace": namespace, "uid": format!("{namespace}/g")});
    serde_json::from_value(json!({"metadata": metadata, "spec": spec})).unwrap()
}

/// What the snapshot says of the gang of pod and owner, which are members of the same one.
fn shown(index: &mut Index) -> Option<String> {
    let state = namespace_a(index);
    let gang = state.pods[0].gang().cloned();
    assert_eq!(state.owners[0].gang.clone().filter(|gang| gang.min_available > 0), gang);
    gang.map(|gang| format!("{}/{}", gang.name, gang.min_available))
}

fn follows_its_pod_group(api: &PodGroupApi, metadata: &str, spec: &str, size: fn(u32) -> Value) {
    let mut index = pod_and_owner(metadata, spec);
    assert_eq!(shown(&mut index), None, "its size is unknown");
    index.apply_of(api, &group("a", &size(3)));
    assert_eq!(shown(&mut index), Some(format!("podgroup.{}/g/3", PodGroup::group(api))));
    index.apply_of(api, &group("a", &json!({"minMember": -1})));
    assert_eq!(shown(&mut index), None, "no number of pods");
}

#[test]
fn a_pod_group_says_how_large_a_gang_is() {
    let members: fn(u32) -> Value = |size| json!({"minMember": size});
    let count: fn(u32) -> Value = |size| json!({"schedulingPolicy": {"gang": {"minCount": size}}});
    let core = "schedulingGroup: {podGroupName: g}";
    for (api_version, metadata, spec, size) in [
        (COSCHEDULING, "labels: {scheduling.x-k8s.io/pod-group: g}", "", members),
        (VOLCANO, "annotations: {scheduling.k8s.io/group-name: g}", "", members),
        (VOLCANO, "annotations: {scheduling.volcano.sh/group-name: g}", "", members),
        (KAI, "annotations: {pod-group-name: g}", "", members),
        (KUBERNETES_V1ALPHA2, "labels: {}", core, count),
        (KUBERNETES_V1ALPHA3, "labels: {}", core, count),
        (KUBERNETES_V1BETA1, "labels: {}", core, count),
    ] {
        follows_its_pod_group(api(api_version), metadata, spec, size);
    }
}

/// The Job controller makes a PodGroup for a Job with `spec.scheduling`, and names it in the pods, not in the template.
#[test]
fn the_pods_that_a_workload_lacks_are_members_of_the_pod_group_that_it_controls() {
    let job = "{kind: Job, apiVersion: batch/v1, metadata: {name: train, namespace: a, uid: j}, spec: {parallelism: 3,
        template: {metadata: {}, spec: {containers: []}}}}";
    let queue = "{kind: Queue, apiVersion: quotient.dev/v1alpha1, metadata: {name: a, namespace: a, uid: q}, spec: {}}";
    let controlled = |size: u32| {
        let mut group = group("a", &json!({"schedulingPolicy": {"gang": {"minCount": size}}}));
        let owner =
            json!({"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "j", "controller": true});
        group.meta_mut().owner_references = Some(vec![serde_json::from_value(owner).unwrap()]);
        group
    };
    let gang = |index: &mut Index| {
        let owner = &namespace_a(index).owners[0];
        owner.gang.as_ref().map(|gang| format!("{}/{}", gang.name, gang.min_available))
    };
    let mut index = index_of(&[queue, job].join("\n---\n"));
    assert_eq!(gang(&mut index), None);
    assert!(index.apply_of(api(KUBERNETES_V1ALPHA3), &controlled(3)));
    assert_eq!(gang(&mut index).as_deref(), Some("podgroup.scheduling.k8s.io/g/3"));
}

/// While a cluster is upgraded, the same PodGroup is seen in two versions.
#[test]
fn in_which_version_a_pod_group_is_seen_makes_no_difference() {
    let mut index = pod_and_owner("labels: {}", "schedulingGroup: {podGroupName: g}");
    let size = json!({"schedulingPolicy": {"gang": {"minCount": 3}}});
    index.apply_of(api(KUBERNETES_V1ALPHA2), &group("a", &size));
    index.apply_of(api(KUBERNETES_V1BETA1), &group("a", &size));
    // The former version is not served any more.
    index.relist_begin::<PodGroup>(api(KUBERNETES_V1ALPHA2));
    index.relist_finish::<PodGroup>(api(KUBERNETES_V1ALPHA2));
    assert_eq!(shown(&mut index).as_deref(), Some("podgroup.scheduling.k8s.io/g/3"));
    // One that is scheduled pod by pod is no gang.
    index.apply_of(api(KUBERNETES_V1BETA1), &group("a", &json!({"schedulingPolicy": {"basic": {}}})));
    assert_eq!(shown(&mut index), None);
}

#[test]
fn what_stands_with_the_pod_comes_before_its_pod_group() {
    let mut index = pod_and_owner(
        "labels: {scheduling.x-k8s.io/pod-group: g}, \
         annotations: {quotient.dev/gang: ours, quotient.dev/gang-min-available: '2'}",
        "",
    );
    assert!(!index.apply_of(api(COSCHEDULING), &group("a", &json!({"minMember": 5}))));
    assert_eq!(shown(&mut index).as_deref(), Some("ours/2"));
}

#[test]
fn ours() {
    let named = "annotations: {quotient.dev/gang: train, quotient.dev/gang-min-available: '3'}";
    assert_eq!(gang(named).as_deref(), Some("train/3"));
    assert_eq!(gang_of(named).as_deref(), Some("train/3"));
    // Without a name the owner is the gang; without an owner there is none.
    let unnamed = "annotations: {quotient.dev/gang-min-available: '3'}";
    assert_eq!(gang(unnamed).as_deref(), Some("r-1/3"));
    assert_eq!(gang_of(unnamed), None);
    assert_eq!(gang("annotations: {quotient.dev/gang: train}"), None);
}

#[test]
fn a_size_that_is_none_is_ignored() {
    for size in ["", "0", "-1", "two", "1.5", "4294967296", "'3 '"] {
        let size = format!("annotations: {{quotient.dev/gang-min-available: '{}'}}", size.replace('\'', ""));
        assert_eq!(gang(&size), None, "{size}");
    }
}

#[test]
fn of_other_schedulers() {
    for (metadata, expected) in [
        (
            "labels: {pod-group.scheduling.sigs.k8s.io/name: g, pod-group.scheduling.sigs.k8s.io/min-available: '2'}",
            Some("g/2"),
        ),
        ("labels: {scheduling.x-k8s.io/pod-group: g}", None),
        (
            "labels: {kueue.x-k8s.io/pod-group-name: g}, annotations: {kueue.x-k8s.io/pod-group-total-count: '4'}",
            Some("g/4"),
        ),
        ("labels: {kueue.x-k8s.io/pod-group-name: g}", None),
        ("annotations: {scheduling.k8s.io/group-name: g}", None),
        (
            "annotations: {scheduling.k8s.io/group-name: g, scheduling.volcano.sh/group-min-member: '5'}",
            Some("g/5"),
        ),
        (
            "annotations: {scheduling.volcano.sh/group-name: g, scheduling.volcano.sh/group-min-member: '5'}",
            Some("g/5"),
        ),
    ] {
        assert_eq!(gang(metadata).as_deref(), expected, "{metadata}");
    }
}

#[test]
fn of_yunikorn() {
    let metadata = |labels: &str, groups: &str| {
        format!(
            "labels: {{{labels}}}, annotations: {{yunikorn.apache.org/task-group-name: workers, \
             yunikorn.apache.org/task-groups: '{groups}'}}"
        )
    };
    let groups =
        r#"[{"name": "driver", "minMember": 1}, {"name": "workers", "minMember": 6, "minResource": {}}]"#;
    assert_eq!(gang(&metadata("", groups)).as_deref(), Some("r-1/workers/6"));
    assert_eq!(gang(&metadata("applicationId: spark", groups)).as_deref(), Some("spark/workers/6"));
    assert_eq!(
        gang(&metadata("yunikorn.apache.org/app-id: spark", groups)).as_deref(),
        Some("spark/workers/6")
    );
    for groups in [
        "",
        "[",
        "{}",
        "[1]",
        r#"[{"name": "driver", "minMember": 1}]"#,
        r#"[{"name": "workers"}]"#,
        r#"[{"name": "workers", "minMember": -1}]"#,
        r#"[{"name": "workers", "minMember": 4294967296}]"#,
    ] {
        assert_eq!(gang(&metadata("", groups)), None, "{groups}");
    }
}

#[test]
fn ours_is_heard_first() {
    let both = "annotations: {quotient.dev/gang: ours, quotient.dev/gang-min-available: '3', \
                kueue.x-k8s.io/pod-group-total-count: '4'}, labels: {kueue.x-k8s.io/pod-group-name: theirs}";
    assert_eq!(gang(both).as_deref(), Some("ours/3"));
    // Where ours cannot be read, theirs still counts.
    assert_eq!(gang(&both.replace("'3'", "many")).as_deref(), Some("theirs/4"));
}
