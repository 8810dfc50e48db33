//! What a user types: Queues and QueueJobs with plain kubectl, before the operator runs and after.

use anyhow::{Context as _, ensure};
use quotient_e2e::quotient::{Operator, PATIENCE, Programs, workspace_root};
use quotient_e2e::testbed::{Options, TestBed, eventually};

use crate::queue_job_kubectl::queue_jobs_are_pleasant_with_kubectl;

const COLUMNS: [&str; 10] =
    ["NAME", "PARENT", "WEIGHT", "DEMAND", "DESERVED", "ALLOCATED", "USED", "PREEMPTING", "STATE", "AGE"];

const QUEUE: &str = r#"
apiVersion: quotient.dev/v1alpha1
kind: Queue
metadata: {name: team-a, namespace: team-a}
spec:
  weight: 2
  request: {cpu: "3", memory: 9Gi, example.com/gpu: 2}
  limit: {cpu: "3", memory: 9Gi, example.com/gpu: 2}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn queues_and_queue_jobs_are_pleasant_with_kubectl() -> anyhow::Result<()> {
    let programs = Programs::build().await?;
    let bed = TestBed::start(Options::default()).await?;
    the_crd_applies(&bed).await?;
    its_fields_are_explained(&bed).await?;

    bed.create_namespace("team-a").await?;
    let applied = bed.kubectl_with_input(["apply", "-f", "-"], QUEUE).await?;
    assert_eq!(applied.trim(), "queue.quotient.dev/team-a created");
    it_has_its_names(&bed).await?;
    without_status_its_row_is_empty(&bed).await?;
    // Not before the first object of the kind: for that one the API server takes two seconds, whatever is in it.
    an_absurd_amount_is_refused_at_once(&bed).await?;
    queue_jobs_are_pleasant_with_kubectl(&bed).await?;

    bed.add_node("node-1", &[("cpu", "8"), ("memory", "16Gi"), ("example.com/gpu", "4")]).await?;
    let operator =
        Operator::start_with(&bed, &programs.operator, &["--status-interval-seconds", "1"]).await?;
    its_row_is_compact(&bed).await?;
    let applied = bed.kubectl_with_input(["apply", "-f", "-"], QUEUE).await?;
    assert_eq!(
        applied.trim(),
        "queue.quotient.dev/team-a unchanged",
        "the status is not part of the manifest"
    );
    operator.stop().await?;
    bed.stop().await
}

/// Plain client-side apply, which keeps a copy of all it applies in an annotation of at most 256 KiB.
async fn the_crd_applies(bed: &TestBed) -> anyhow::Result<()> {
    let directory = workspace_root().join("crds/yaml");
    let directory = directory.to_str().context("the workspace's path is no text")?;
    let apply = ["apply", "-f", directory];
    let lines = |printed: String, ending: &str| {
        let all = printed
            .lines()
            .all(|line| line.starts_with("customresourcedefinition.") && line.ends_with(ending));
        ensure!(!printed.is_empty() && all, "{printed}");
        Ok(())
    };
    lines(bed.kubectl(apply).await?, " created")?;
    bed.kubectl(["wait", "--for=condition=Established", "--timeout=30s", "-f", directory]).await?;
    lines(bed.kubectl(apply).await?, " unchanged")
}

async fn its_fields_are_explained(bed: &TestBed) -> anyhow::Result<()> {
    // The API server publishes the schema a moment after it serves the kind.
    let weight = ["explain", "queue.spec.weight", "--api-version=quotient.dev/v1alpha1"];
    let text = eventually("Queues are explained", PATIENCE, async || bed.kubectl(weight).await).await?;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("FIELD: weight <integer>"), "{text}");
    assert!(
        text.contains("Only the ratio matters. With weight 0 the queue gets its guaranteed amounts"),
        "{text}"
    );
    Ok(())
}

/// It once took the API server eight minutes: an amount is matched against a pattern before anything computes with it.
async fn an_absurd_amount_is_refused_at_once(bed: &TestBed) -> anyhow::Result<()> {
    let before = bed.audit().mark()?;
    let fields = ["request", "guaranteed", "limit"];
    for field in fields {
        let absurd = format!("{{{field}: {{cpu: 1e999999999}}}}");
        let manifest = format!(
            "{{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {{name: q, namespace: team-a}}, spec: {absurd}}}"
        );
        let refused = bed.kubectl_with_input(["create", "-f", "-"], &manifest);
        let refused = tokio::time::timeout(PATIENCE, refused).await.context("no answer")?;
        let error = refused.err().with_context(|| format!("{absurd} was accepted"))?.to_string();
        assert!(error.contains(&format!("spec.{field}")), "{error}");
        assert!(error.contains("write a Kubernetes quantity"), "{error}");
    }
    let answers = eventually("the refusals are in the audit log", PATIENCE, async || {
        let mut events = bed.audit().events_since(before)?;
        events.retain(|event| event.verb == "create" && event.is_about("queues"));
        ensure!(events.len() == fields.len(), "{} are", events.len());
        Ok(events)
    })
    .await?;
    for answer in answers {
        let took = answer.answered.duration_since(answer.received);
        assert_eq!(answer.code, 422);
        assert!(took.as_secs_f64() < 1.0, "it took the API server {took:?}");
    }
    Ok(())
}

/// The short name, the plural name and the category all lead to it.
async fn it_has_its_names(bed: &TestBed) -> anyhow::Result<()> {
    for name in ["qtq", "queue", "queues.quotient.dev", "quotient"] {
        let found = bed.kubectl(["get", name, "-n=team-a", "-o=name"]).await?;
        assert_eq!(found.trim(), "queue.quotient.dev/team-a", "kubectl get {name}");
    }
    Ok(())
}

/// Before the operator has seen it: the weight, and no error.
async fn without_status_its_row_is_empty(bed: &TestBed) -> anyhow::Result<()> {
    let printed = bed.kubectl(["get", "qtq", "-n=team-a"]).await?;
    let row = row(&printed)?;
    let (_age, row) = row.split_last().context("the row is empty")?;
    assert_eq!(row, ["team-a", "", "2", "", "", "", "", "", ""], "{printed}");
    Ok(())
}

/// Amounts in a few characters, whatever they are of.
async fn its_row_is_compact(bed: &TestBed) -> anyhow::Result<()> {
    until_row(bed, ["team-a", "", "2", "3c 9Gi 2gpu", "3c 9Gi 2gpu", "3c 9Gi 2gpu", "0", "0", "OK"]).await?;
    let requests = [("cpu", "1500m"), ("memory", "1Gi"), ("example.com/gpu", "1")];
    bed.create_pod("team-a", "work", &requests).await?;
    until_row(
        bed,
        ["team-a", "", "2", "3c 9Gi 2gpu", "3c 9Gi 2gpu", "3c 9Gi 2gpu", "1.5c 1Gi 1gpu", "0", "OK"],
    )
    .await
}

async fn until_row(bed: &TestBed, expected: [&str; 9]) -> anyhow::Result<()> {
    eventually(format!("kubectl shows {expected:?}"), PATIENCE, async || {
        let printed = bed.kubectl(["get", "qtq", "-n=team-a"]).await?;
        let row = row(&printed)?;
        let (age, row) = row.split_last().context("the row is empty")?;
        ensure!(row == expected && age.ends_with('s'), "\n{printed}");
        Ok(())
    })
    .await
}

/// The only row of a printed table, cut where its titles begin; the titles are [`COLUMNS`].
fn row(printed: &str) -> anyhow::Result<Vec<String>> {
    let (titles, row) = printed.trim_end().split_once('\n').context("there is no row")?;
    ensure!(titles.split_whitespace().eq(COLUMNS), "the columns are {titles}");
    let starts = COLUMNS.map(|title| titles.find(title).unwrap_or_default());
    let ends = starts.iter().skip(1).copied().chain([row.len()]);
    Ok(starts.into_iter().zip(ends).map(|(from, to)| row[from..to].trim().to_owned()).collect())
}
