//! What a snapshot shows of workloads of configured kinds.

use expect_test::expect;

use super::kinds::{configured, workload};
use super::{QUEUE, documents, index_of, namespace_a, printed};
use quotient_index::WorkloadObject;

fn template(cpu: u32) -> String {
    format!("{{spec: {{containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}]}}}}")
}

fn fleet(uid: &str, version: u32, size: u32) -> String {
    let template = template(2);
    format!(
        "{{kind: Fleet, apiVersion: example.org/v1, metadata: {{name: f, namespace: a, uid: {uid}, generation: 3, \
         resourceVersion: '{version}'}}, spec: {{size: {size}, template: {template}}}}}\n---\n"
    )
}

/// A `RayCluster` with a head of one cpu and groups of these numbers of pods and cpus.
fn ray(version: u32, groups: &[(u32, u32)]) -> String {
    let groups: Vec<String> = groups
        .iter()
        .map(|(replicas, cpu)| format!("{{replicas: {replicas}, template: {}}}", template(*cpu)))
        .collect();
    format!(
        "{{kind: RayCluster, apiVersion: ray.io/v1, metadata: {{name: r, namespace: a, uid: ray, \
         resourceVersion: '{version}'}}, spec: {{headGroupSpec: {{template: {}}}, workerGroupSpecs: [{}]}}}}\n---\n",
        template(1),
        groups.join(", ")
    )
}

fn pod(name: &str, owner: &str, cpu: u32) -> String {
    let (kind, version) =
        if owner == "ray" { ("RayCluster", "ray.io/v1") } else { ("Fleet", "example.org/v1") };
    format!(
        "{{kind: Pod, metadata: {{name: {name}, namespace: a, ownerReferences: [{{apiVersion: {version}, kind: {kind}, \
         name: x, uid: {owner}, controller: true}}]}}, spec: {{containers: [{{name: c, resources: {{requests: \
         {{cpu: {cpu}}}}}}}]}}}}\n---\n"
    )
}

#[test]
fn each_template_is_an_owner_of_its_own() {
    let pods = [
        pod("fleet-0", "f", 9),
        pod("head", "ray", 1),
        pod("worker-0", "ray", 4),
        pod("worker-1", "ray", 8),
        pod("worker-2", "ray", 3),
    ];
    let all = [QUEUE, &fleet("f", 1, 3), &ray(1, &[(2, 4), (1, 8), (3, 4)]), &pods.concat()].concat();
    let mut index = index_of(&all);
    // The third group requests the same as the first. A pod that requests what no template does belongs to the first owner.
    expect![[r#"
        namespace a
          queue q: uid a/q
          owner f: uid f, kind Configured [example.org/v1, Fleet], generation 3, wanted 3, shape {requests {cpu 2}}
          owner r: uid ray, kind Configured [ray.io/v1, RayCluster], wanted 1, shape {requests {cpu 1}}
          owner r/1: uid ray#1, kind Configured [ray.io/v1, RayCluster], wanted 5, shape {requests {cpu 4}}
          owner r/2: uid ray#2, kind Configured [ray.io/v1, RayCluster], wanted 1, shape {requests {cpu 8}}
          pod fleet-0: uid a/fleet-0, shape {requests {cpu 9}}, metadata {owner {api_version example.org/v1, kind Fleet, name x, uid f}}
          pod head: uid a/head, shape {requests {cpu 1}}, metadata {owner {api_version ray.io/v1, kind RayCluster, name x, uid ray}}
          pod worker-0: uid a/worker-0, shape {requests {cpu 4}}, metadata {owner {api_version ray.io/v1, kind RayCluster, name x, uid ray#1}}
          pod worker-1: uid a/worker-1, shape {requests {cpu 8}}, metadata {owner {api_version ray.io/v1, kind RayCluster, name x, uid ray#2}}
          pod worker-2: uid a/worker-2, shape {requests {cpu 3}}, metadata {owner {api_version ray.io/v1, kind RayCluster, name x, uid ray}}
    "#]]
    .assert_eq(&printed(&mut index));
}

#[test]
fn what_cannot_be_read_is_named_and_changes_nothing() {
    let mut index = index_of(&[QUEUE, &fleet("f", 1, 3)].concat());
    let before = printed(&mut index);
    let object = |spec: &str| {
        documents(&format!("{{kind: Fleet, apiVersion: example.org/v1, metadata: {{name: f, namespace: a, uid: f}}, spec: {spec}}}"))
            .remove(0)
    };
    let mut said = Vec::new();
    for spec in [
        "{}",
        "{size: 2}",
        "{size: -1}",
        "{size: many}",
        "{size: 1, template: {spec: {containers: 5}}}",
        "{size: 1, template: {}}",
    ] {
        let kind = configured("Fleet").unwrap();
        let read = workload(kind, &object(spec));
        said.push(read.0.as_ref().unwrap_err().error.clone());
        index.relist_begin::<WorkloadObject>(kind);
        index.apply_decoded(kind, &read);
        assert!(!index.relist_finish::<WorkloadObject>(kind));
        let skipped = index.skipped_objects(&"a".into()).unwrap();
        assert_eq!((skipped.len(), Some(&skipped[0].error)), (1, said.last()));
    }
    assert_eq!(printed(&mut index), before);
    expect![[r#"
        spec.size: the field is absent
        spec.template: the field is absent
        spec.size: it is not a number of pods
        spec.size: it is not a number of pods
        spec.template: invalid type: integer `5`, expected a sequence
        spec.template: it is not a pod template with containers"#]]
    .assert_eq(&said.join("\n"));
}

/// A tenant who writes an object of thousands of templates, and as many pods that name it, has them compared in no time.
#[test]
fn an_object_with_too_many_templates_is_named_and_not_kept() {
    let groups = |number: u32| -> Vec<(u32, u32)> { (0..number).map(|cpu| (1, cpu + 2)).collect() };
    let owners = |groups: &[(u32, u32)]| {
        let mut index = index_of(&[QUEUE, &ray(1, groups)].concat());
        let owners = namespace_a(&mut index).owners.len();
        (owners, index.skipped_objects(&"a".into()).map(|skipped| skipped[0].error.clone()))
    };
    assert_eq!(owners(&groups(63)), (64, None), "one is that of the head");
    // Templates that request the same are one.
    assert_eq!(owners(&[(1, 4); 500]), (2, None));
    let said =
        "spec.workerGroupSpecs[*].template: more than 64 templates request different amounts; write fewer";
    assert_eq!(owners(&groups(64)), (0, Some(said.to_owned())));
}
