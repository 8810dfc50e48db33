//! QueueJobs on a real control plane, with real Jobs: the seed's tables (S-GANG §Use Case), and what can go wrong.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use k8s_openapi::api::batch::v1::Job;
use kube::api::{Patch, PatchParams};
use quotient_crds::{QueueJob, QueueJobCondition};
use quotient_e2e::quotient::{PATIENCE, Stage, queue_job};
use quotient_e2e::testbed::{eventually, objects};
use serde_json::{Value, json};

/// A QueueJob of pods of one cpu each.
fn of_one_cpu(name: &str, min: u32, replicas: u32) -> Value {
    queue_job(name, min, replicas, 1, 1)
}

/// Four tables of two jobs each on four cpu, in the seed's order, in the other one, and both jobs at once. Each pair has a
/// namespace of its own, whose Queue has the cluster's share of four. What comes out is the same, but that in the fourth table
/// nothing of the one that comes second has succeeded yet: its floor is three of the four.
#[tokio::test(flavor = "multi_thread")]
async fn the_seeds_four_tables_in_every_order() -> anyhow::Result<()> {
    let stage = Stage::set(&["node-1", "node-2", "node-3"].map(|name| (name, "16", "64Gi"))).await?;
    let tables = [(1, 4, 2, 1), (2, 4, 3, 1), (3, 4, 2, 2), (4, 10, 3, 2)];
    for (table, replicas, first, second) in tables {
        for order in ["table", "turned", "at-once"] {
            stage.claim(&format!("{order}-{table}"), json!({"limit": {"cpu": "4"}})).await?;
        }
        stage.submit(&format!("at-once-{table}"), of_one_cpu("job-02", second, replicas)).await?;
        stage.submit(&format!("at-once-{table}"), of_one_cpu("job-01", first, replicas)).await?;
        stage.submit(&format!("turned-{table}"), of_one_cpu("job-02", second, replicas)).await?;
    }
    let operator = stage.start_operator().await?;
    for (table, ..) in tables {
        stage.until_jobs(&format!("turned-{table}"), "job-02 4/4").await?;
    }
    let begun = Instant::now();
    for (table, replicas, first, _) in tables {
        stage.submit(&format!("table-{table}"), of_one_cpu("job-01", first, replicas)).await?;
    }
    for (table, ..) in tables {
        stage.until_jobs(&format!("table-{table}"), "job-01 4/4").await?;
    }
    println!("four QueueJobs of four pods run {:?} after the first was submitted", begun.elapsed());
    stage.pods_succeed("table-4", "job-01", 2).await?;
    for (table, replicas, first, second) in tables {
        stage.submit(&format!("table-{table}"), of_one_cpu("job-02", second, replicas)).await?;
        let turned = format!("turned-{table}");
        if table == 4 {
            stage.pods_succeed(&turned, "job-02", 2).await?;
        }
        stage.submit(&turned, of_one_cpu("job-01", first, replicas)).await?;
    }
    let outcome = [
        ("table-1", "job-01 2/2, job-02 2/2"),
        ("table-2", "job-01 3/3, job-02 1/1"),
        ("table-3", "job-01 2/2, job-02 2/2"),
        ("table-4", "job-01 2/2, job-02 2/2"),
        ("turned-1", "job-01 2/2, job-02 2/2"),
        ("turned-2", "job-01 3/3, job-02 1/1"),
        ("turned-3", "job-01 2/2, job-02 2/2"),
        ("turned-4", "job-01 3/3, job-02 1/1"),
        ("at-once-1", "job-01 2/2, job-02 2/2"),
        ("at-once-2", "job-01 3/3, job-02 1/1"),
        ("at-once-3", "job-01 2/2, job-02 2/2"),
        // Floors of three and two do not both fit.
        ("at-once-4", older_alone(&stage, "at-once-4").await?),
    ];
    for (namespace, expected) in outcome {
        stage.until_jobs(namespace, expected).await?;
    }
    for (table, ..) in tables {
        let job = stage.job_status(&format!("table-{table}"), "job-01").await?;
        let preempted = job.condition(QueueJobCondition::Preempted).context("not told")?;
        ensure!(preempted.status == "True", "table {table}: {preempted:?}");
    }
    stage.nothing_moves("table-1").await?;
    for (namespace, expected) in outcome {
        ensure!(stage.jobs_seen(namespace).await? == expected, "{namespace} has moved");
    }
    operator.stop().await?;
    stage.bed.stop().await
}

/// Of equal age the first by name comes first, but the API server's clock may have gone on by a second in between.
async fn older_alone(stage: &Stage, namespace: &str) -> anyhow::Result<&'static str> {
    let jobs = stage.api::<QueueJob>(namespace);
    let created =
        async |name| anyhow::Ok(jobs.get(name).await?.metadata.creation_timestamp.context("no age")?.0);
    let in_order = created("job-01").await? <= created("job-02").await?;
    Ok(if in_order { "job-01 4/4, job-02 0/0" } else { "job-01 0/0, job-02 4/4" })
}

#[tokio::test(flavor = "multi_thread")]
async fn gangs_run_wholly_or_wait_and_say_why() -> anyhow::Result<()> {
    let stage = Stage::set(&[("node-1", "8", "32Gi")]).await?;
    let operator = stage.start_operator().await?;
    stage.bed.create_namespace("alone").await?;
    stage.submit("alone", of_one_cpu("nobodys", 1, 1)).await?;
    let admitted = QueueJobCondition::Admitted;
    let message = stage.until_job_condition(("alone", "nobodys"), admitted, ("False", "NoQueue")).await?;
    assert!(message.contains("Create one"), "{message}");

    // Only one of two can decide which Job starts.
    let mut labeled = of_one_cpu("of-kueue", 1, 1);
    labeled["metadata"]["labels"] = json!({"kueue.x-k8s.io/queue-name": "main"});
    stage.submit("alone", labeled).await?;
    let message =
        stage.until_job_condition(("alone", "of-kueue"), admitted, ("False", "InvalidSpec")).await?;
    assert!(
        message.contains("kueue.x-k8s.io/queue-name") && message.contains("remove the label"),
        "{message}"
    );

    // Room for seven: eight start nothing and hold nothing, so that two smaller ones run.
    stage.claim("a", json!({"limit": {"cpu": "7"}})).await?;
    stage.submit("a", of_one_cpu("eight", 8, 8)).await?;
    let message = stage.until_job_condition(("a", "eight"), admitted, ("False", "GangAboveShare")).await?;
    assert!(message.contains("8 pods at once"), "{message}");
    ensure!(stage.pods("a").await?.is_empty(), "a part of it has started");

    // Each needs more than half: one after the other.
    let begun = Instant::now();
    stage.submit("a", of_one_cpu("first", 5, 5)).await?;
    stage.until_jobs("a", "first 5/5").await?;
    let took = begun.elapsed();
    println!("submit to running: {took:?}");
    // Less than 2 s on a machine that is not busy with other things; on one that is, an order of magnitude still tells.
    assert!(took < Duration::from_secs(20), "from submitting to running it took {took:?}");
    let mut second = of_one_cpu("second", 5, 5);
    second["spec"]["backoffLimit"] = json!(0);
    stage.submit("a", second).await?;
    stage.until_job_condition(("a", "second"), admitted, ("False", "WaitingForRoom")).await?;
    stage.nothing_moves("a").await?;
    stage.until_jobs("a", "first 5/5, second 0/0").await?;
    stage.bed.kubectl(["delete", "qtj", "first", "-n=a"]).await?;
    stage.until_jobs("a", "second 5/5").await?;

    // Suspended it gives its slots up, resumed it has them again.
    let suspend = async |suspend: bool| {
        let jobs = stage.api::<QueueJob>("a");
        let patch = Patch::Merge(json!({"spec": {"suspend": suspend}}));
        jobs.patch("second", &PatchParams::default(), &patch).await
    };
    suspend(true).await?;
    stage.until_jobs("a", "second 0/0").await?;
    stage
        .until_job_condition(("a", "second"), QueueJobCondition::Suspended, ("True", "SuspendedBySpec"))
        .await?;
    suspend(false).await?;
    stage.until_jobs("a", "second 5/5").await?;

    // An edited size is followed without a restart; a killed operator loses nothing.
    operator.process().kill()?;
    let resize = json!({"spec": {"minAvailable": 2, "tasks": [of_one_cpu("second", 2, 6)["spec"]["tasks"][0].clone()]}});
    let jobs = stage.api::<QueueJob>("a");
    jobs.patch("second", &PatchParams::default(), &Patch::Merge(resize)).await?;
    let operator = stage.start_operator().await?;
    stage.until_jobs("a", "second 6/6").await?;
    stage.nothing_moves("a").await?;

    // What a neighbor reclaims is evicted, once for each slot, and does not use up the backoffLimit.
    let mark = stage.bed.audit().mark()?;
    stage.queue("b", json!({"request": {"cpu": "4", "memory": "4Gi"}})).await?;
    stage.until_allowed("b", "cpu 4, memory 4Gi").await?;
    stage.until_jobs("a", "second 4/4").await?;
    stage.nothing_moves("a").await?;
    assert_eq!(stage.evictions(mark)?.len(), 2, "never both an eviction and a slot");
    let jobs = stage.api::<Job>("a");
    let failed = jobs.get("second-w").await?.status.and_then(|status| status.failed).unwrap_or_default();
    assert_eq!(failed, 0, "an eviction is no failure");
    events_tell_all_that(&stage).await?;

    stage.bed.kubectl(["delete", "qtj", "--all", "-n=a"]).await?;
    for namespace in ["a", "b"] {
        stage.remove_queue(namespace).await?;
    }
    jobs_deployments_and_bare_pods_share_a_queue(&stage).await?;

    operator.stop().await?;
    stage.bed.stop().await
}

/// What `kubectl describe qtj` shows.
async fn events_tell_all_that(stage: &Stage) -> anyhow::Result<()> {
    let path = "-o=jsonpath={range .items[*]}{.involvedObject.name} {.reason}: {.message}{'\\n'}{end}";
    let of_jobs = "--field-selector=involvedObject.kind=QueueJob";
    for sentence in [
        "nobodys NoQueue: The namespace has no Queue. Create one.",
        "of-kueue InvalidSpec: the label kueue.x-k8s.io/queue-name",
        "eight GangAboveShare: The gang needs room for 8 pods at once",
        "first Admitted: The QueueJob may run 5 of the 5 pods that have not succeeded.",
        "second WaitingForRoom: The gang needs room for 5 pods at once",
        "second Admitted: The QueueJob may run 5 of the 5 pods",
        "second Suspended: The QueueJob released its slots",
        "second SlotsTaken: The QueueJob may run 4 pods instead of 6",
    ] {
        eventually(format!("an event says {sentence}"), PATIENCE, async || {
            let all = stage.bed.kubectl(["get", "events", "-A", of_jobs, path]).await?;
            ensure!(all.contains(sentence), "{all}");
            anyhow::Ok(())
        })
        .await?;
    }
    Ok(())
}

/// The order: floors; then what Deployments lack and gangs that wait, by age; then slots above floors.
async fn jobs_deployments_and_bare_pods_share_a_queue(stage: &Stage) -> anyhow::Result<()> {
    stage.claim("mixed", json!({"limit": {"cpu": "6"}})).await?;
    stage.submit("mixed", of_one_cpu("train", 2, 8)).await?;
    stage.until_jobs("mixed", "train 6/6").await?;

    // The quota rejects the creators of pods, and a bare pod that does not exist is unknown.
    let refused = stage.bed.create_pod("mixed", "bare", &[("cpu", "1"), ("memory", "1Gi")]).await;
    let refusal = refused.err().context("there was room for a bare pod")?.to_string();
    assert!(refusal.contains("exceeded quota: quotient"), "{refusal}");
    let mark = stage.bed.audit().mark()?;
    stage.deployment("mixed", "web", 2, objects::one_cpu(), false).await?;
    let ready =
        ["wait", "deployment/web", "-n=mixed", "--for=jsonpath={.status.readyReplicas}=2", "--timeout=180s"];
    stage.bed.kubectl(ready).await?;
    stage.until_jobs("mixed", "train 4/4").await?;

    // What runs beyond its floor makes room for a gang that waits. A floor makes none for a Deployment.
    stage.submit("mixed", of_one_cpu("second", 2, 8)).await?;
    stage.until_jobs("mixed", "second 2/2, train 2/2").await?;
    let scale = async |replicas: &str| {
        stage.bed.kubectl(["scale", "deployment/web", "-n=mixed", &format!("--replicas={replicas}")]).await
    };
    scale("5").await?;
    stage.nothing_moves("mixed").await?;
    stage.until_jobs("mixed", "second 2/2, train 2/2").await?;
    stage.bed.kubectl(ready).await?;

    // What a Deployment leaves goes to the QueueJobs evenly.
    scale("0").await?;
    stage.until_jobs("mixed", "second 3/3, train 3/3").await?;
    let evicted = stage.evicted(mark)?;
    ensure!(evicted.is_empty(), "slots move by parallelism alone: {evicted:?}");
    Ok(())
}
