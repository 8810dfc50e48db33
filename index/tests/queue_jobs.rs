//! What a snapshot shows of QueueJobs and their Jobs.

use std::fmt::Write as _;

use quotient_snapshot::NamespaceState;
use serde_json::Value;

use super::{apply, at, index_of, namespace_a};
use quotient_index::Index;

const QUEUE_JOB: &str = r"
kind: QueueJob
metadata: {name: train, namespace: a, uid: q-1, generation: 1, creationTimestamp: '2026-01-01T11:00:00Z'}
spec:
  minAvailable: 3
  priorityClassName: high
  tasks:
  - {name: launcher, minAvailable: 1, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 500m}}}]}}}
  - {name: worker, replicas: 4, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}}}
";

const HIGH: &str = "{kind: PriorityClass, metadata: {name: high, uid: h}, value: 7}";

/// The Job of the workers, as the API server shows it.
fn workers(rest: &str) -> String {
    format!(
        "{{kind: Job, metadata: {{name: train-worker, namespace: a, uid: j-1, ownerReferences: [{{apiVersion: \
         quotient.dev/v1alpha1, kind: QueueJob, name: train, uid: q-1, controller: true}}]}}, {rest}}}"
    )
}

fn printed(index: &mut Index) -> String {
    let snapshot = index.snapshot(at("12:00:00"));
    let Some(state) = snapshot.namespaces.get(&"a".into()) else { return "nothing".to_owned() };
    describe(state)
}

fn describe(state: &NamespaceState) -> String {
    let mut printed = String::new();
    for job in &state.queue_jobs {
        write!(printed, "{} min {} priority {}", job.name, job.min_available, job.priority).unwrap();
        if let Some(ended) = job.ended {
            write!(printed, " {ended:?}").unwrap();
        }
        if let Some(problem) = &job.invalid {
            write!(printed, " invalid: {problem}").unwrap();
        }
        for task in &job.tasks {
            let (name, now, all) = (&task.name, task.parallelism, task.replicas);
            write!(printed, "; {name} {now}/{all} succeeded {}", task.succeeded).unwrap();
        }
        printed.push('\n');
    }
    for owner in &state.owners {
        let (kind, name, uid) = (owner.kind.name(), &owner.name, &owner.uid);
        writeln!(printed, "{kind} {name} ({uid}) wants {} of {}", owner.wanted, owner.shape.requests)
            .unwrap();
    }
    printed
}

#[test]
fn a_queue_job_alone_wants_all_its_pods() {
    let mut index = index_of(&format!("{QUEUE_JOB}---\n{HIGH}"));
    assert_eq!(
        printed(&mut index),
        "train min 3 priority 7; launcher 0/1 succeeded 0; worker 0/4 succeeded 0\n\
         QueueJob train/launcher (a/QueueJob/train/launcher) wants 1 of cpu 500m\n\
         QueueJob train/worker (a/QueueJob/train/worker) wants 4 of cpu 2\n"
    );
    assert_eq!(apply(&mut index, "{kind: PriorityClass, metadata: {name: high, uid: h}, value: 9}"), [true]);
    assert!(printed(&mut index).starts_with("train min 3 priority 9;"));
}

#[test]
fn its_jobs_say_what_runs_and_what_has_succeeded() {
    let job =
        workers("spec: {parallelism: 2, completions: 4, template: {}}, status: {succeeded: 1, failed: 2}");
    let expected = "train min 3 priority 0; launcher 0/1 succeeded 0; worker 2/4 succeeded 1\n\
         QueueJob train/launcher (a/QueueJob/train/launcher) wants 1 of cpu 500m\n\
         QueueJob train/worker (j-1) wants 3 of cpu 2\n";
    // In any order, and not as a Job that wants pods of its own.
    assert_eq!(printed(&mut index_of(&format!("{QUEUE_JOB}---\n{job}"))), expected);
    let mut index = index_of(&format!("{job}\n---{QUEUE_JOB}"));
    assert_eq!(printed(&mut index), expected);

    let suspended = workers("spec: {parallelism: 2, completions: 4, suspend: true, template: {}}");
    assert_eq!(apply(&mut index, &suspended), [true]);
    assert!(printed(&mut index).contains("worker 0/4 succeeded 0"));
    let observed = index.observed_queue_job(&"a".into(), "train").unwrap();
    let job = observed.tasks[1].job.clone().unwrap();
    assert_eq!((job.parallelism, job.completions, job.suspended), (2, 4, true));
    assert!(observed.tasks[0].job.is_none());
}

#[test]
fn a_job_of_another_life_or_without_an_owner_is_not_its_own() {
    let other = workers("spec: {parallelism: 2, template: {}}").replace("uid: q-1", "uid: q-0");
    assert!(printed(&mut index_of(&format!("{QUEUE_JOB}---\n{other}"))).contains("worker 0/4"));
    let foreign = "{kind: Job, metadata: {name: train-worker, namespace: a, uid: j-9}, spec: {template: {}}}";
    let mut index = index_of(&format!("{QUEUE_JOB}---\n{foreign}"));
    assert!(printed(&mut index).contains("Job train-worker (j-9) wants 1"));
    assert!(printed(&mut index).contains("worker 0/4"));
}

#[test]
fn the_end_of_its_jobs_is_its_end_and_it_wants_nothing_any_more() {
    let end = |kind: &str| {
        let status = format!("status: {{succeeded: 4, conditions: [{{type: {kind}, status: 'True'}}]}}");
        workers(&format!("spec: {{parallelism: 4, completions: 4, template: {{}}}}, {status}"))
    };
    let failed = printed(&mut index_of(&format!("{QUEUE_JOB}---\n{}", end("Failed"))));
    assert!(failed.starts_with("train min 3 priority 0 Failed;") && !failed.contains("wants"), "{failed}");
    // Not before the last of them.
    let mut index = index_of(&format!("{QUEUE_JOB}---\n{}", end("Complete")));
    assert!(printed(&mut index).contains("train/launcher"));
    // What is added to a task that is complete never runs, so nothing is kept for it.
    apply(
        &mut index,
        &QUEUE_JOB.replace("replicas: 4", "replicas: 6").replace("generation: 1", "generation: 2"),
    );
    let grown = printed(&mut index);
    assert!(grown.contains("worker 0/4 succeeded 4") && !grown.contains("train/worker"), "{grown}");
    let launcher = end("Complete").replace("worker", "launcher").replace("j-1", "j-2");
    apply(&mut index, &launcher);
    assert!(printed(&mut index).starts_with("train min 3 priority 0 Complete;"));
    // What its status says outlives its Jobs.
    let status = "status: {conditions: [{type: Failed, status: 'True', reason: x, message: '', \
                  lastTransitionTime: '2026-01-01T11:00:00Z'}]}";
    assert!(printed(&mut index_of(&format!("{QUEUE_JOB}{status}"))).contains(" Failed;"));
}

#[test]
fn a_template_that_cannot_be_read_is_said_to_be_so() {
    let wrong = QUEUE_JOB.replace("cpu: 500m", "cpu: [1]");
    let printed = printed(&mut index_of(&wrong));
    assert!(printed.contains("invalid: the template of the task launcher cannot be read:"), "{printed}");
    assert!(printed.contains("apply it again"), "{printed}");
}

#[test]
fn what_is_labeled_for_kueue_is_refused() {
    for labeled in [
        QUEUE_JOB.replace("uid: q-1,", "uid: q-1, labels: {kueue.x-k8s.io/queue-name: main},"),
        QUEUE_JOB.replace(
            "replicas: 4, template: {",
            "replicas: 4, template: {metadata: {labels: {kueue.x-k8s.io/queue-name: main}}, ",
        ),
    ] {
        let printed = printed(&mut index_of(&labeled));
        assert!(
            printed.contains("invalid: the label kueue.x-k8s.io/queue-name gives its pods to Kueue"),
            "{printed}"
        );
    }
}

/// That an earlier spec did not start says nothing about this one.
#[test]
fn a_queue_job_rests_until_its_spec_changes() {
    let rests = |generation: i64| {
        let status = "{observedGeneration: 3, startFailures: 6, retryAt: '2026-01-01T12:30:00Z'}";
        let mut job: Value = serde_yaml_ng::from_str(QUEUE_JOB).unwrap();
        job["metadata"]["generation"] = generation.into();
        job["status"] = serde_yaml_ng::from_str(status).unwrap();
        let mut index = index_of(&serde_json::to_string(&job).unwrap());
        let job = &namespace_a(&mut index).queue_jobs[0];
        (job.remembered.start_failures, job.rests_until(at("12:00:00")).is_some())
    };
    assert_eq!(rests(3), (6, true));
    assert_eq!(rests(4), (0, false));
}
