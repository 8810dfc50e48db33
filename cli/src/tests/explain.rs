//! `explain`: of what the operator reported, and of manifests.

use expect_test::{Expect, expect};
use serde_json::json;

use super::{PAGE, example, observed, observed_yaml};
use crate::commands::explain::{Question, Target, explain};
use crate::commands::simulate::at_rest;
use crate::exit::CommandError;
use crate::manifests::{self, Cluster};
use crate::output::{Explanation, Screen};
use crate::snapshot::Snapshot;

fn explained(
    snapshot: &Snapshot,
    target: &str,
    namespace: Option<&str>,
) -> Result<Explanation, CommandError> {
    let cluster = at_rest(Cluster::of(snapshot, None)?);
    let question = Question { arithmetic: true, ..Question::default() };
    explain(&cluster, &Target::parse(target).unwrap(), namespace, &question)
}

fn check(snapshot: &Snapshot, target: &str, expected: &Expect) -> Explanation {
    let (namespace, target) = match target.split_once(' ') {
        Some((namespace, target)) => (Some(namespace), target),
        None => (None, target),
    };
    let explanation = explained(snapshot, target, namespace).unwrap();
    expected.assert_eq(&explanation.text(Screen::plain()));
    explanation
}

/// As a command reads it.
fn ml() -> Snapshot {
    Snapshot { is_partial: true, ..observed("ml.yaml", "2026-11-24T14:02:00Z") }
}

fn files(name: &str) -> Snapshot {
    manifests::read_snapshot(&[example(name)], None).unwrap()
}

#[test]
fn an_evicted_pod_is_shown_the_numbers_and_what_comes_next() {
    let explanation = check(
        &ml(),
        "pod/trainer-46",
        &expect![[r#"
            Evicted 40 s ago by Quotient to return 1 gpu to queue ml-dev (not node pressure, not the scheduler).

            Why           now ml-train uses 47 gpu and deserves 44: 3 over. ml-dev uses 9 gpu and deserves 12: 3 below.
            Why this pod  rank 3 of the candidates of its queue: lowest priority (0), started last (4 min ago), no protecting
                          annotation
            Comes back    when ml-train uses less than 44 gpu, or its deserved share rises. Job trainer creates it again by itself;
                          the eviction does not count against backoffLimit (podFailurePolicy is set).
            You can       protect it: annotate quotient.dev/preemptible=last · ask your administrator for a guarantee (16 gpu now)
            Record        event on Pod and Job (1 h) · status.recentReclaims of Queue ml-train (the last 20)

            It ends within 8 s.
        "#]],
    );
    assert!(!explanation.needs_a_person);
    assert_eq!(explanation.reason.as_deref(), Some("Reclaimed"));
}

#[test]
fn rejected_pods_are_told_with_what_helps() {
    let explanation = check(
        &ml(),
        "deploy/notebooks",
        &expect![[r#"
            Deployment notebooks has 0 of 2 pods.
             √ Queue ml-train is Ready
             × a container sets no cpu or memory request, and no LimitRange gives one
             › 2 pods of ReplicaSet notebooks-5d9c: the API server rejects its pods: the quota demands a request for cpu of each
               container, and one has none; set the requests in its template, or defaultRequests of the Queue
            The pods do not start until you change something.
        "#]],
    );
    assert!(explanation.needs_a_person);
}

#[test]
fn a_pod_that_others_hold_back_names_them() {
    check(
        &ml(),
        "pod/gated",
        &expect![[r#"
        Pod gated is pending: no node has taken it.
         × scheduling gates hold it: example.com/review
        The scheduler looks at it when the program that set the gates removes them.
    "#]],
    );
    let explanation = check(
        &ml(),
        "pod/broken",
        &expect![[r#"
            Pod broken is on gpu-1 and does not run: container main: ImagePullBackOff.

            Cause     the kubelet reports it; Quotient has nothing to do with it
            Eviction  Queue web uses no more than its deserved 8 gpu, so none of its pods is evicted for the share of another queue
        "#]],
    );
    assert!(explanation.needs_a_person);
}

/// A StatefulSet creates a pod of the same name again.
#[test]
fn a_pod_that_was_created_again_is_explained_as_it_is() {
    let mut snapshot = ml();
    let pod = snapshot.entries.iter_mut().find(|entry| entry.name() == "trainer-46").unwrap();
    pod.change(|pod| {
        pod["metadata"]["uid"] = "p-46-again".into();
        pod["metadata"]["deletionTimestamp"].take();
        pod["status"] = json!({"phase": "Pending", "containerStatuses": [{
            "name": "main", "image": "x", "imageID": "", "ready": false, "restartCount": 0,
            "state": {"waiting": {"reason": "ImagePullBackOff"}},
        }]});
    });
    let explanation = check(
        &snapshot,
        "pod/trainer-46",
        &expect![[r#"
            Pod trainer-46 is on gpu-1 and does not run: container main: ImagePullBackOff.

            Cause        the kubelet reports it; Quotient has nothing to do with it
            Eviction     Queue ml-train uses 3 gpu above its deserved share; if another queue is starved, the least protected of its
                         pods are evicted
            Earlier pod  Evicted 40 s ago by Quotient to return 1 gpu to queue ml-dev (not node pressure, not the scheduler).
        "#]],
    );
    assert!(explanation.needs_a_person);
}

#[test]
fn a_pod_whose_containers_are_created_is_starting() {
    let mut snapshot = ml();
    let pod = snapshot.entries.iter_mut().find(|entry| entry.name() == "broken").unwrap();
    let reason = "/status/containerStatuses/0/state/waiting/reason";
    pod.change(|pod| *pod.pointer_mut(reason).unwrap() = "ContainerCreating".into());
    let explanation = check(
        &snapshot,
        "pod/broken",
        &expect![[r#"
            Pod broken is on gpu-1 and is starting.

            Eviction  Queue web uses no more than its deserved 8 gpu, so none of its pods is evicted for the share of another queue
        "#]],
    );
    assert!(!explanation.needs_a_person);
}

#[test]
fn a_queue_is_shown_with_its_arithmetic() {
    let explanation = check(
        &ml(),
        "queue/ml-dev",
        &expect![[r#"
            Queue ml-dev deserves 12 gpu; its quota allows 9 gpu; its pods use 9 gpu. State: starved for 40 s.
             √ the spec is understood and the quota is in sync
             × The queue lacks nvidia.com/gpu 3 of the deserved nvidia.com/gpu 12 because terminating pods use the room. The quota
               rises as these pods end.
             › 3 pods of ml-train are terminating (22 s of 30 s grace)
             √ the cluster has the guaranteed amounts

            Weight      1 of 4 among the child queues of ml that you may see
            Demand      12 gpu: what its pods request and its workloads lack
            Nominal     14 gpu: the share if every queue asked for everything
            Guaranteed  8 gpu: granted before shares by weight, as far as there is demand
            Reclaiming  3 gpu: deserved and not allocated yet

            nvidia.com/gpu: 56 are divided among 2 queues
              QUEUE     WEIGHT  GUARANTEED  DEMAND  DESERVED  LEVEL
              ml-dev    1       8           12      12        4      has all it asks for
              ml-train  3       16          60      44        9.3    at the level
              1 more would go to ml-train, and 1 less would come from ml-train.
        "#]],
    );
    assert!(PAGE.contains(&explanation.lines.join("\n")), "docs/reference/cli.md shows something else");
}

#[test]
fn a_workload_that_waits_for_a_reclaim_has_nothing_to_do() {
    let explanation = check(
        &files("reclaim"),
        "deploy/web",
        &expect![[r#"
            Deployment web has 1 of 5 pods.
             √ Queue team-2 is Ready, its quota is enforced     √ all containers set requests, or have defaults
             √ one pod (1 cpu 1Gi) is smaller than the share (4 cpu 4Gi), and no node has room for it now
             × the queue uses 1 of its 1 cpu, 1Gi of its 1Gi quota
             › deserves 4 cpu 4Gi: 3 cpu 3Gi are being reclaimed from team-1 (3 pods evicted next)
            Expected to start within 3 s. Nothing to do.
        "#]],
    );
    assert_eq!(explanation.reason.as_deref(), Some("WaitingForPreemption"));
}

#[test]
fn a_workload_that_no_queue_reports_on_waits_for_its_controller() {
    check(
        &ml(),
        "job/trainer",
        &expect![[r#"
            Job trainer has 0 of 47 pods.
             √ Queue ml-train is Ready                          √ all containers set requests, or have defaults
             √ one pod (1 gpu) is smaller than the share (44 gpu)
             × the queue uses 47 of its 44 gpu quota
             › the Queue reports nothing in the way; the controller has not created the pods yet
        "#]],
    );
}

#[test]
fn the_next_victim_is_shown_beforehand() {
    check(
        &files("tree"),
        "team-2 pod/pod-1",
        &expect![[r#"
            Pod pod-1 runs on node-1.

            Eviction  Queue team-2 uses 6 cpu above its deserved share; if another queue is starved, the least protected of its pods
                      are evicted
            Next      the next decision evicts it: team-1/team-1 is short of 4c; team-2/team-2 uses 10c 3Gi and deserves 4c 8Gi
        "#]],
    );
}

#[test]
fn what_does_not_exist_is_named() {
    let refused = |target, namespace| explained(&ml(), target, namespace).unwrap_err();
    assert_eq!(
        refused("deploy/nothing", None).to_string(),
        "there is no Deployment nothing in cluster prod-eu"
    );
    let never = refused("pod/nothing", Some("web")).to_string();
    assert!(never.contains("kubectl quotient explain deploy/NAME -n web"), "{never}");
}

#[test]
fn a_queue_job_is_shown_task_by_task() {
    check(
        &files("queue-jobs"),
        "queuejob/train",
        &expect![[r#"
            QueueJob train is Starting: it has 5 slots, needs 5 at once, and 0 of its pods run.
             √ its slots: Admitted

            Deserved   5 cpu 5Gi
            Allocated  5 cpu 5Gi

            Nothing to do: the pods start by themselves.
        "#]],
    );
    let explanation = check(
        &files("queue-jobs"),
        "queuejob/wide",
        &expect![[r#"
            QueueJob wide is Waiting: it has 0 slots, needs 4 at once, and 0 of its pods run.
             × The gang needs room for 4 pods at once, and other pods of queue team-1/team-1 use too much. It starts when they end.

            Deserved   nothing
            Allocated  nothing

            Nothing to do: the pods start by themselves.
        "#]],
    );
    assert!(!explanation.needs_a_person);
}

/// A part of a cluster has no plan.
#[test]
fn of_a_part_of_a_cluster_a_queue_job_shows_what_the_operator_reported() {
    let yaml = r#"
        apiVersion: quotient.dev/v1alpha1
        kind: QueueJob
        metadata: {name: train, namespace: a}
        spec: {tasks: []}
        status:
          state: Waiting
          minAvailable: 4
          slots: 0
          running: 0
          conditions:
          - {type: Admitted, status: "False", reason: WaitingForRoom, message: It needs room., lastTransitionTime: "2026-11-24T14:00:00Z"}
    "#;
    let part = Snapshot { is_partial: true, ..observed_yaml(yaml, "2026-11-24T14:02:00Z") };
    check(
        &part,
        "a queuejob/train",
        &expect![[r#"
            QueueJob train is Waiting: it has 0 slots, needs 4 at once, and 0 of its pods run.
             × WaitingForRoom: It needs room.

            Deserved   nothing
            Allocated  nothing

            Nothing to do: the pods start by themselves.
        "#]],
    );
}
