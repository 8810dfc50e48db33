//! What a snapshot shows of a pod.

use expect_test::expect;
use quotient_snapshot::{GatePosition, Phase, Pod};

use super::{at, check, index_of, namespace_a, printed};

/// A pod with this beside what every pod has in its metadata, its spec and its status.
fn pod(metadata: &str, spec: &str, status: &str) -> Pod {
    let yaml = format!(
        "{{kind: Pod, metadata: {{name: p, namespace: a, {metadata}}}, spec: {{containers: [], {spec}}}, status: {{{status}}}}}"
    );
    namespace_a(&mut index_of(&yaml)).pods[0].clone()
}

#[test]
fn a_running_pod() {
    check(
        "
kind: Pod
metadata: {name: web-0, namespace: team-a, uid: u-1, creationTimestamp: 2026-01-01T11:00:00Z}
spec:
  nodeName: n1
  priority: 100
  containers:
  - name: app
    resources: {requests: {cpu: 500m, memory: 1Gi, nvidia.com/gpu: 1, ephemeral-storage: 5Gi}}
  - name: log
    resources: {limits: {cpu: 250m, memory: 64Mi}}
status:
  phase: Running
  startTime: 2026-01-01T11:00:01Z
  containerStatuses:
  - {name: app, image: i, imageID: i, ready: true, restartCount: 0,
     state: {running: {startedAt: 2026-01-01T11:00:09Z}}}
  - {name: log, image: i, imageID: i, ready: true, restartCount: 1,
     state: {running: {startedAt: 2026-01-01T11:30:00Z}},
     lastState: {terminated: {exitCode: 1, startedAt: 2026-01-01T11:00:07Z}}}
",
        &expect![[r#"
            namespace team-a
              pod web-0: uid u-1, shape {requests {cpu 750m, memory 1088Mi, nvidia.com/gpu 1}}, node n1, phase Running, priority 100, created 11:00:00, started 11:00:07
        "#]],
    );
}

#[test]
fn phases() {
    for (phase, expected) in [
        ("Pending", Phase::Pending),
        ("Running", Phase::Running),
        ("Succeeded", Phase::Finished),
        ("Failed", Phase::Finished),
        ("Unknown", Phase::Pending),
        ("", Phase::Pending),
    ] {
        assert_eq!(pod("", "", &format!("phase: {phase:?}")).phase, expected, "{phase}");
    }
}

#[test]
fn a_pod_has_started_when_a_container_has() {
    // The kubelet took it on, but still pulls the image.
    check(
        "
kind: Pod
metadata: {name: pulling, namespace: a}
spec: {containers: [], nodeName: n1}
status: {phase: Pending, startTime: 2026-01-01T11:00:01Z}
---
kind: Pod
metadata: {name: unreported, namespace: a}
spec: {containers: [], nodeName: n1}
status: {phase: Running, startTime: 2026-01-01T11:00:01Z}
",
        &expect![[r#"
            namespace a
              pod pulling: uid a/pulling, node n1
              pod unreported: uid a/unreported, node n1, phase Running, started 11:00:01
        "#]],
    );
}

#[test]
fn terminating_and_immune_pods() {
    check(
        "
kind: Pod
metadata: {name: leaving, namespace: a, deletionTimestamp: 2026-01-01T12:00:30Z, deletionGracePeriodSeconds: 30}
spec: {containers: []}
status: {phase: Running}
---
kind: Pod
metadata: {name: evicted, namespace: a, deletionTimestamp: 2026-01-01T12:00:30Z, deletionGracePeriodSeconds: 30}
spec: {containers: []}
status: {phase: Running, conditions: [{type: DisruptionTarget, status: 'True', reason: EvictionByEvictionAPI}]}
---
kind: Pod
metadata: {name: ousted, namespace: a, deletionTimestamp: 2026-01-01T12:00:30Z, deletionGracePeriodSeconds: 30}
spec: {containers: []}
status: {phase: Running, conditions: [{type: DisruptionTarget, status: 'True', reason: PreemptionByScheduler}]}
---
kind: Pod
metadata: {name: forced, namespace: a, deletionTimestamp: 2026-01-01T12:00:00Z, deletionGracePeriodSeconds: 0}
spec: {containers: []}
status: {phase: Running}
---
kind: Pod
metadata: {name: mirror, namespace: a, annotations: {kubernetes.io/config.mirror: abc}}
spec: {containers: [], priorityClassName: system-node-critical}
---
kind: Pod
metadata:
  name: agent
  namespace: a
  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: d, controller: true}]
spec: {containers: []}
---
kind: Pod
metadata:
  name: not-agent
  namespace: a
  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: d}]
spec: {containers: [], priorityClassName: important}
---
kind: Pod
metadata: {name: dns, namespace: a}
spec: {containers: [], priorityClassName: system-cluster-critical}
---
kind: Pod
metadata: {name: labeled-alike, namespace: a, labels: {kubevirt.io: virt-launcher}}
spec: {containers: []}
---
kind: Pod
metadata:
  name: virt-launcher-vm
  namespace: a
  labels: {kubevirt.io: virt-launcher}
  ownerReferences: [{apiVersion: kubevirt.io/v1, kind: VirtualMachineInstance, name: vm, uid: vm, controller: true}]
spec: {containers: []}
",
        &expect![[r#"
            namespace a
              pod agent: uid a/agent, metadata {owner {api_version apps/v1, kind DaemonSet, name agent, uid d}}
              pod dns: uid a/dns
              pod evicted: uid a/evicted, phase Running, deletion 12:00:30, deletion_seconds 30, evicted
              pod forced: uid a/forced, phase Running, deletion 12:00:00, forced
              pod labeled-alike: uid a/labeled-alike, metadata {labels [[kubevirt.io, virt-launcher]]}
              pod leaving: uid a/leaving, phase Running, deletion 12:00:30, deletion_seconds 30
              pod mirror: uid a/mirror, kept MirrorPod
              pod not-agent: uid a/not-agent
              pod ousted: uid a/ousted, phase Running, deletion 12:00:30, deletion_seconds 30
              pod virt-launcher-vm: uid a/virt-launcher-vm, metadata {owner {api_version kubevirt.io/v1, kind VirtualMachineInstance, name vm, uid vm}, labels [[kubevirt.io, virt-launcher]]}, kept VirtualMachine
        "#]],
    );
}

#[test]
fn reluctant_pods() {
    let annotated = |annotation: &str| pod(&format!("annotations: {{{annotation}}}"), "", "").do_not_disrupt;
    for annotation in [
        "quotient.dev/preemptible: last",
        "cluster-autoscaler.kubernetes.io/safe-to-evict: 'false'",
        "karpenter.sh/do-not-disrupt: 'true'",
        "app: x, karpenter.sh/do-not-disrupt: 'true'",
    ] {
        assert!(annotated(annotation), "{annotation}");
    }
    for annotation in [
        "",
        "quotient.dev/preemptible: first",
        "cluster-autoscaler.kubernetes.io/safe-to-evict: 'true'",
        "karpenter.sh/do-not-disrupt: ''",
    ] {
        assert!(!annotated(annotation), "{annotation}");
    }
}

#[test]
fn the_owner_is_the_controller() {
    check(
        "
kind: Pod
metadata:
  name: web-1
  namespace: a
  ownerReferences:
  - {apiVersion: v1, kind: Node, name: n1, uid: other}
  - {apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: r-1, controller: true}
spec: {containers: []}
---
kind: Pod
metadata:
  name: from-a-manifest
  namespace: a
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: train, controller: true}]
spec: {containers: []}
---
kind: Pod
metadata:
  name: nobodys
  namespace: a
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: c, uid: u}]
spec: {containers: []}
",
        &expect![[r#"
            namespace a
              pod from-a-manifest: uid a/from-a-manifest, metadata {owner {api_version batch/v1, kind Job, name train, uid a/Job/train}}
              pod nobodys: uid a/nobodys
              pod web-1: uid a/web-1, metadata {owner {api_version apps/v1, kind ReplicaSet, name web, uid r-1}}
        "#]],
    );
}

#[test]
fn all_that_kubernetes_charges_counts() {
    check(
        "
kind: Pod
metadata: {name: init-needs-most, namespace: a}
spec:
  initContainers:
  - {name: mesh, restartPolicy: Always, resources: {requests: {cpu: 500m}}}
  - {name: migrate, resources: {requests: {cpu: 2}}}
  containers: [{name: app, resources: {requests: {cpu: 1}}}]
---
kind: Pod
metadata: {name: pod-level, namespace: a}
spec:
  resources: {requests: {cpu: 3}}
  overhead: {cpu: 250m, memory: 10Mi}
  containers: [{name: app, resources: {requests: {cpu: 1, memory: 1Gi}}}]
---
kind: Pod
metadata: {name: shrinking, namespace: a}
spec: {containers: [{name: app, resources: {requests: {cpu: 1}}}]}
status:
  containerStatuses:
  - {name: app, image: i, imageID: i, ready: true, restartCount: 0,
     allocatedResources: {cpu: 2}, resources: {requests: {cpu: 2}}}
---
kind: Pod
metadata: {name: shrinking-mesh, namespace: a}
spec:
  initContainers: [{name: mesh, restartPolicy: Always, resources: {requests: {cpu: 1}}}]
  containers: [{name: app, resources: {requests: {cpu: 1}}}]
status:
  initContainerStatuses:
  - {name: mesh, image: i, imageID: i, ready: true, restartCount: 0,
     allocatedResources: {cpu: 2}, resources: {requests: {cpu: 2}}}
---
kind: Pod
metadata: {name: cannot-grow, namespace: a}
spec: {containers: [{name: app, resources: {requests: {cpu: 4}}}]}
status:
  conditions: [{type: PodResizePending, status: 'True', reason: Infeasible}]
  containerStatuses:
  - {name: app, image: i, imageID: i, ready: true, restartCount: 0,
     allocatedResources: {cpu: 1}, resources: {requests: {cpu: 1}}}
---
kind: Pod
metadata: {name: absurd, namespace: a}
spec: {containers: [{name: app, resources: {requests: {cpu: 1e40, memory: nonsense}}}]}
",
        &expect![[r#"
            namespace a
              pod absurd: uid a/absurd, shape {requests {cpu 9223372036854775807m}}
              pod cannot-grow: uid a/cannot-grow, shape {requests {cpu 1}}
              pod init-needs-most: uid a/init-needs-most, shape {requests {cpu 2500m}}
              pod pod-level: uid a/pod-level, shape {requests {cpu 3250m, memory 1034Mi}}
              pod shrinking: uid a/shrinking, shape {requests {cpu 2}}
              pod shrinking-mesh: uid a/shrinking-mesh, shape {requests {cpu 3}}
        "#]],
    );
}

#[test]
fn quantities_that_cannot_be_read_are_named() {
    let pod = |resources: &str| {
        let yaml = format!(
            "{{metadata: {{name: p}}, spec: {{containers: [{{name: app, resources: {resources}}}]}}}}"
        );
        let pod = serde_yaml_ng::from_str(&yaml).unwrap();
        quotient_index::pod_requests::unreadable(&pod)
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(pod("{requests: {cpu: 1, memory: 1Gi, ephemeral-storage: much}}"), "");
    expect![[r#"
        read spec.containers[app].resources.requests.cpu: read quantity "1 core": " core" is no suffix; those that exist are n u m k M G T P E, Ki Mi Gi Ti Pi Ei and exponents such as e3
        read spec.containers[app].resources.requests.memory: "-1Gi" is negative; write 0 or more
        read spec.containers[app].resources.requests.nvidia.com/gpu: "10000000000000000000" is beyond 2^63; if no bound is meant, leave the resource out"#]]
        .assert_eq(&pod("{requests: {cpu: 1 core, memory: -1Gi}, limits: {nvidia.com/gpu: 1e19}}"));
}

#[test]
fn pods_without_a_name_are_ignored() {
    let mut index = index_of("{kind: Pod, metadata: {namespace: a}, spec: {containers: []}}");
    assert_eq!(printed(&mut index), "");
}

#[test]
fn pods_that_do_not_get_on() {
    let stuck = |node: &str, phase: &str, condition: &str| {
        let status = format!(
            "phase: {phase}, conditions: [{{type: Initialized, status: 'False', lastTransitionTime: 2026-01-01T10:00:00Z}}, \
             {{{condition}, lastTransitionTime: 2026-01-01T11:00:00Z}}]"
        );
        pod("", node, &status).stuck == Some(at("11:00:00"))
    };
    let unschedulable = "type: PodScheduled, status: 'False', reason: Unschedulable";
    let node = "nodeName: n1";
    for (node, phase, condition, expected) in [
        ("", "Pending", unschedulable, true),
        ("", "Pending", "type: PodScheduled, status: 'False', reason: SchedulingGated", false),
        ("", "Pending", "type: PodScheduled, status: 'True'", false),
        ("", "Pending", "type: Ready, status: 'False'", false),
        ("", "Failed", unschedulable, false),
        // Its kubelet has said nothing.
        (node, "Pending", unschedulable, true),
        (node, "Pending", "type: PodScheduled, status: 'True'", true),
        (node, "Pending", "type: Ready, status: 'False', reason: ContainersNotReady", true),
        (node, "Running", "type: Ready, status: 'False', reason: ContainersNotReady", true),
        (node, "Running", "type: Ready, status: 'True'", false),
        (node, "Running", "type: Ready, status: Unknown", false),
        (node, "Succeeded", "type: Ready, status: 'False', reason: PodCompleted", false),
    ] {
        assert_eq!(stuck(node, phase, condition), expected, "{node} {phase} {condition}");
    }
}

#[test]
fn a_pod_with_a_node_name_of_its_own_does_not_get_on_since_it_was_created() {
    let bound = pod("creationTimestamp: 2026-01-01T11:00:00Z", "nodeName: n1", "phase: Pending");
    assert_eq!(bound.stuck, Some(at("11:00:00")));
}

#[test]
fn pods_of_which_the_kubelet_reports_a_failure() {
    let failing = |state: &str| {
        let container =
            format!("{{name: a, image: i, imageID: i, ready: false, restartCount: 0, state: {state}}}");
        let [failing, init] = ["containerStatuses", "initContainerStatuses"].map(|statuses| {
            pod("", "nodeName: n1", &format!("phase: Pending, {statuses}: [{container}]")).failing
        });
        assert_eq!(failing, init, "{state}");
        failing
    };
    for reason in ["CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "CreateContainerConfigError"] {
        assert!(failing(&format!("{{waiting: {{reason: {reason}}}}}")), "{reason}");
    }
    for state in [
        "{waiting: {reason: ContainerCreating}}",
        "{waiting: {reason: PodInitializing}}",
        "{running: {}}",
        "{}",
    ] {
        assert!(!failing(state), "{state}");
    }
}

#[test]
fn labels_are_those_that_pods_of_an_owner_share() {
    check(
        "
kind: Pod
metadata:
  name: db-0
  namespace: a
  labels:
    app: db
    apps.kubernetes.io/pod-index: '0'
    statefulset.kubernetes.io/pod-name: db-0
    controller-revision-hash: db-5d8
spec: {containers: []}
---
kind: Pod
metadata: {name: train-1, namespace: a, labels: {batch.kubernetes.io/job-completion-index: '1', job-name: train}}
spec: {containers: []}
---
kind: Pod
metadata: {name: only-a-number, namespace: a, labels: {spark-exec-id: '7'}}
spec: {containers: []}
",
        &expect![[r#"
            namespace a
              pod db-0: uid a/db-0, metadata {labels [[app, db], [controller-revision-hash, db-5d8]]}
              pod only-a-number: uid a/only-a-number
              pod train-1: uid a/train-1, metadata {labels [[job-name, train]]}
        "#]],
    );
}

#[test]
fn the_gate_of_a_pod_is_known_by_its_place() {
    let place =
        |gates: &str| pod("", &format!("schedulingGates: [{gates}]"), "").gate.map(GatePosition::number);
    assert_eq!(place("{name: example.org/other}"), None);
    assert_eq!(place("{name: example.org/other}, {name: quotient.dev/share}"), Some(1));
}
