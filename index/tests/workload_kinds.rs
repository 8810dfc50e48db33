//! What a snapshot shows of workloads of configured kinds.

use expect_test::expect;
use kube::core::DynamicObject;
use serde_json::Value;

use super::{QUEUE, documents, printed};
use quotient_index::{Decoded, Index, IndexSettings, Undecodable, WorkloadKind, WorkloadObject};

/// A kind with one template, and a kind with a head and any number of groups.
fn kinds() -> Vec<WorkloadKind> {
    let setting = r#"[
        {"group": "example.org", "version": "v1", "kind": "Fleet", "plural": "fleets",
         "replicasPath": "spec.size", "templatePath": "spec.template"},
        {"group": "ray.io", "version": "v1", "kind": "RayCluster", "plural": "rayclusters",
         "templatePath": "spec.headGroupSpec.template"},
        {"group": "ray.io", "version": "v1", "kind": "RayCluster", "plural": "rayclusters",
         "replicasPath": "spec.workerGroupSpecs[*].replicas", "templatePath": "spec.workerGroupSpecs[*].template"}
    ]"#;
    WorkloadKind::read_setting(setting).unwrap()
}

/// The kind of an object, and what is read of it.
fn read(object: &Value) -> Result<(WorkloadKind, Decoded<WorkloadObject>), String> {
    let kind = kinds().into_iter().find(|kind| object["kind"] == kind.kind()).unwrap();
    let read = kind.read(serde_json::from_value::<Decoded<DynamicObject>>(object.clone()).unwrap());
    match &read.0 {
        Err(Undecodable { error, .. }) => Err(error.clone()),
        Ok(_) => Ok((kind, read)),
    }
}

/// Applies workloads of configured kinds, and everything else as ever.
fn feed(index: &mut Index, yaml: &str) {
    for object in documents(yaml) {
        if object["kind"] == "Fleet" || object["kind"] == "RayCluster" {
            let (kind, read) = read(&object).unwrap();
            index.apply_decoded(&kind, &read);
        } else {
            super::apply_value(index, &object);
        }
    }
}

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
    let mut index = Index::new(IndexSettings::default());
    let pods = [
        pod("fleet-0", "f", 9),
        pod("head", "ray", 1),
        pod("worker-0", "ray", 4),
        pod("worker-1", "ray", 8),
        pod("worker-2", "ray", 3),
    ];
    let all = [QUEUE, &fleet("f", 1, 3), &ray(1, &[(2, 4), (1, 8), (3, 4)]), &pods.concat()].concat();
    feed(&mut index, &all);
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
fn pods_and_their_object_come_in_any_order() {
    let pods = [pod("head", "ray", 1), pod("worker", "ray", 4), pod("other", "f", 4)].concat();
    let changes = [
        ray(2, &[(2, 4), (1, 8)]),
        ray(3, &[(1, 8), (2, 4)]),
        ray(4, &[(2, 5)]),
        ray(5, &[]),
        ray(6, &[(0, 4)]),
    ];
    for (at, change) in changes.iter().enumerate() {
        let mut pods_first = Index::new(IndexSettings::default());
        feed(&mut pods_first, &[QUEUE, &pods].concat());
        changes[..at].iter().for_each(|former| feed(&mut pods_first, former));
        feed(&mut pods_first, change);
        let mut pods_last = Index::new(IndexSettings::default());
        feed(&mut pods_last, &[QUEUE, change, &pods].concat());
        assert_eq!(printed(&mut pods_first), printed(&mut pods_last), "{change}");
    }
}

#[test]
fn what_is_gone_leaves_nothing() {
    let pods = [QUEUE, &pod("head", "ray", 1), &pod("worker", "ray", 4)].concat();
    let objects = [fleet("f", 2, 3), ray(2, &[(2, 4)])].concat();
    let mut index = Index::new(IndexSettings::default());
    feed(&mut index, &pods);
    let without = printed(&mut index);
    feed(&mut index, &objects);
    let with = printed(&mut index);
    // An older version, and the end of a predecessor.
    feed(&mut index, &fleet("f", 1, 9));
    let [fleets, rays] = &kinds()[..] else { panic!() };
    assert!(!index.delete::<WorkloadObject>(fleets, "a", "f", "other"));
    assert_eq!(printed(&mut index), with);
    assert!(
        index.delete::<WorkloadObject>(fleets, "a", "f", "f")
            && index.delete::<WorkloadObject>(rays, "a", "r", "ray")
    );
    assert_eq!(printed(&mut index), without);

    // A list without them, with one of them, and one that wants nothing any more.
    feed(&mut index, &objects);
    index.relist_begin::<WorkloadObject>(rays);
    assert_eq!(printed(&mut index), with);
    assert!(index.relist_finish::<WorkloadObject>(rays));
    index.relist_begin::<WorkloadObject>(fleets);
    feed(&mut index, &fleet("f", 3, 3));
    assert!(!index.relist_finish::<WorkloadObject>(fleets));
    feed(&mut index, &fleet("f", 4, 0));
    assert_eq!(printed(&mut index), without);
}

#[test]
fn what_cannot_be_read_is_named_and_changes_nothing() {
    let mut index = Index::new(IndexSettings::default());
    feed(&mut index, &[QUEUE, &fleet("f", 1, 3)].concat());
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
        said.push(read(&object(spec)).err().unwrap());
        let kind = &kinds()[0];
        let read = kind.read(serde_json::from_value(object(spec)).unwrap());
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
