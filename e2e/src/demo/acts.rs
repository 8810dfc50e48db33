//! The acts: two queues, one borrows, the other gets its share back, S-PREEMPT's third queue with claims, its pods.

use std::time::{Duration, Instant};

use super::Narrator;
use crate::quotient::{
    Operator, PodCounts, SYSTEM_NAMESPACE, build_program, install_crds, queue, until_pods, until_shares,
    workspace_root,
};
use crate::testbed::{Options, TestBed, until_is};

/// How long an evicted pod takes to go: long enough to look at what happens meanwhile.
const TERMINATION: Duration = Duration::from_secs(4);

/// The columns by which an event is worth reading.
const EVENT_COLUMNS: &str = "-o custom-columns=OBJECT:.involvedObject.name,MESSAGE:.message";

/// A demo that has been played and still runs.
pub struct Demo {
    /// The control plane with everything on it.
    pub bed: TestBed,
    /// The operator.
    pub operator: Operator,
}

/// Plays the demo and leaves everything running.
pub async fn play(narrator: &mut Narrator) -> anyhow::Result<Demo> {
    let demo = open(narrator).await?;
    two_teams(narrator, &demo.bed).await?;
    borrower(narrator, &demo.bed).await?;
    owner(narrator, &demo.bed).await?;
    claims(narrator, &demo.bed).await?;
    its_work(narrator, &demo.bed).await?;
    narrator.say(
        "Every team has the share of its weight: 2, 4 and 3 of 9 cpu.
         docs/concepts/README.md explains every word and number.",
    );
    Ok(demo)
}

/// The control plane, two nodes and the operator.
async fn open(narrator: &Narrator) -> anyhow::Result<Demo> {
    narrator
        .line("Quotient: two teams share a cluster, one borrows from the other, then a third team joins.");
    narrator.line("Only nodes and containers are pretended; the rest is a real Kubernetes.");
    narrator.line("");
    let program = build_program("quotient-operator").await?;
    let started = Instant::now();
    let options = Options { termination_delay: TERMINATION, ..Options::default() };
    let bed = TestBed::start(options).await?;
    let what = format!("the control plane of Kubernetes {}, on loopback", bed.version());
    narrator.done(&what, started);
    let started = Instant::now();
    bed.add_node("node-1", &[("cpu", "6"), ("memory", "15Gi")]).await?;
    bed.add_node("node-2", &[("cpu", "3"), ("memory", "12Gi")]).await?;
    narrator.done("two nodes: 6 cpu and 15Gi, 3 cpu and 12Gi", started);
    let started = Instant::now();
    // Without the chart, whose Helm takes minutes to be built.
    install_crds(&bed).await?;
    bed.create_namespace(SYSTEM_NAMESPACE).await?;
    // What is used is reported every 15 s by default; a demo has no patience.
    let arguments = ["--status-interval-seconds", "1"];
    let operator = Operator::start_as_admin(&bed, &program, &arguments).await?;
    narrator.done("the Queue CRD and the operator", started);
    Ok(Demo { bed, operator })
}

async fn two_teams(narrator: &mut Narrator, bed: &TestBed) -> anyhow::Result<()> {
    narrator.act("Two teams with weights 2 and 4");
    narrator.say(
        "A Queue in each namespace is all that Quotient needs. NOMINAL is the share of a team while
         both teams ask for everything: 3 and 6 of 9 cpu.",
    );
    apply(narrator, bed, "1-two-teams.yaml").await?;
    for (team, share) in [("team-a", "cpu 3, memory 9Gi"), ("team-b", "cpu 6, memory 18Gi")] {
        until_is(format!("{team} has its nominal share"), share, async || {
            Ok(queue(bed, team, team).await?.nominal.to_string())
        })
        .await?;
    }
    narrator.kubectl(bed, "get queues.quotient.dev -A -o wide").await
}

async fn borrower(narrator: &mut Narrator, bed: &TestBed) -> anyhow::Result<()> {
    narrator.act("team-b borrows what team-a does not need");
    narrator.say(
        "Ordinary Deployments, the stock scheduler, no webhook: a workload needs nothing of Quotient's.
         team-a has no work, so team-b may use the whole cluster.",
    );
    apply(narrator, bed, "2-borrower.yaml").await?;
    until_pods(bed, "team-b", PodCounts::running(7)).await?;
    until_used(bed, &[("team-b", "cpu 9, memory 7Gi")]).await?;
    narrator.kubectl(bed, "get queues.quotient.dev -A").await
}

async fn owner(narrator: &mut Narrator, bed: &TestBed) -> anyhow::Result<()> {
    narrator.act("team-a starts work, and gets its share back");
    narrator.say(
        "The quota of team-b falls first. Once it is enforced, Quotient evicts as few pods as possible,
         and the last replica of a workload only if nothing else is left.",
    );
    let started = Instant::now();
    apply(narrator, bed, "3-owner.yaml").await?;
    until_pods(bed, "team-a", PodCounts::running(3)).await?;
    narrator.line("");
    let what = format!("three pods of team-a run; the evicted pods took {} s to stop", TERMINATION.as_secs());
    narrator.done(&what, started);
    until_pods(bed, "team-b", PodCounts::running(4)).await?;
    until_used(bed, &[("team-a", "cpu 3, memory 3Gi"), ("team-b", "cpu 6, memory 4Gi")]).await?;
    narrator.kubectl(bed, "get queues.quotient.dev -A").await?;
    why(narrator, bed).await
}

async fn claims(narrator: &mut Narrator, bed: &TestBed) -> anyhow::Result<()> {
    narrator.act("A third team joins with weight 3, and all claim the cluster");
    narrator.say(
        "The batch of team-b is done. From now on each queue has a request: a standing claim, with pods
         or without. The shares are 2, 4 and 3 of 9 cpu, so team-a and team-b each use one cpu too much.
         team-c gets free capacity at once; PREEMPTING is what is being freed for it.",
    );
    narrator.kubectl(bed, "scale deployment batch -n team-b --replicas=0").await?;
    until_pods(bed, "team-b", PodCounts::running(3)).await?;
    apply(narrator, bed, "4-claims.yaml").await?;
    until_shares(
        bed,
        "two cpu are pending for team-c",
        "team-a/team-a: deserved cpu 2, memory 6Gi; allocated cpu 2, memory 6Gi; preempting nothing
             team-b/team-b: deserved cpu 4, memory 12Gi; allocated cpu 4, memory 12Gi; preempting nothing
             team-c/team-c: deserved cpu 3, memory 9Gi; allocated cpu 1, memory 9Gi; preempting cpu 2",
    )
    .await?;
    narrator.kubectl(bed, "get queues.quotient.dev -A").await?;
    narrator.kubectl(bed, "get pods -A").await?;
    let waited = Instant::now();
    until_shares(
        bed,
        "team-c has its share",
        "team-a/team-a: deserved cpu 2, memory 6Gi; allocated cpu 2, memory 6Gi; preempting nothing
             team-b/team-b: deserved cpu 4, memory 12Gi; allocated cpu 4, memory 12Gi; preempting nothing
             team-c/team-c: deserved cpu 3, memory 9Gi; allocated cpu 3, memory 9Gi; preempting nothing",
    )
    .await?;
    narrator.line("");
    narrator.done("the evicted pods are gone; team-c has its 3 cpu", waited);
    until_used(bed, &[("team-a", "cpu 2, memory 2Gi"), ("team-b", "cpu 4, memory 2Gi")]).await?;
    narrator.kubectl(bed, "get queues.quotient.dev -A").await
}

async fn why(narrator: &Narrator, bed: &TestBed) -> anyhow::Result<()> {
    narrator.say("Why was a pod evicted? An event on the pod and on its Deployment says so.");
    let evicted = format!("get events -n team-b --field-selector=reason=Reclaimed {EVENT_COLUMNS}");
    narrator.kubectl(bed, &evicted).await?;
    narrator
        .say("Why is it not created again? The quota rejects it, and its name says which Queue to look at.");
    let refused = format!(
        "get events -n team-b --field-selector=reason=FailedCreate --sort-by=.lastTimestamp {EVENT_COLUMNS}"
    );
    narrator.kubectl_last(bed, &refused).await
}

async fn its_work(narrator: &mut Narrator, bed: &TestBed) -> anyhow::Result<()> {
    narrator.act("team-c starts its work");
    narrator.say("Its quota has room already, so its pods start like any others.");
    let started = Instant::now();
    apply(narrator, bed, "5-its-work.yaml").await?;
    until_pods(bed, "team-c", PodCounts::running(3)).await?;
    narrator.line("");
    narrator.done("three pods of one cpu run", started);
    let used =
        [("team-a", "cpu 2, memory 2Gi"), ("team-b", "cpu 4, memory 2Gi"), ("team-c", "cpu 3, memory 3Gi")];
    until_used(bed, &used).await?;
    narrator.kubectl(bed, "get pods -A").await?;
    narrator.kubectl(bed, "get queues.quotient.dev -A").await
}

async fn apply(narrator: &Narrator, bed: &TestBed, file: &str) -> anyhow::Result<()> {
    let path = workspace_root().join("e2e/demo").join(file);
    let path = path.to_string_lossy();
    narrator.kubectl_as(bed, &format!("apply -f e2e/demo/{file}"), &["apply", "-f", &path]).await
}

/// Waits until the operator has reported what the queues use; it does that at leisure.
async fn until_used(bed: &TestBed, expected: &[(&str, &str)]) -> anyhow::Result<()> {
    for (team, expected) in expected {
        until_is(format!("{team} is seen to use {expected}"), *expected, async || {
            Ok(queue(bed, team, team).await?.used.to_string())
        })
        .await?;
    }
    Ok(())
}
