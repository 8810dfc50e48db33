//! The command line against a real control plane: as an administrator, and as a tenant with rights in one namespace.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::ResourceQuota;
use kube::Api;
use quotient_crds::Queue;
use quotient_e2e::quotient::{Operator, PATIENCE, PodCounts, Stage, workspace_root};
use quotient_e2e::testbed::eventually;
use quotient_invariants::Tolerance;
use serde_json::{Value, json};
use tokio::process::Command;

/// The newcomer: more than what is free.
const WEB: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team-2}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: 'registry.k8s.io/pause:3.10', resources: {requests: {cpu: 1, memory: 1Gi}}}]
";

/// What a command printed, and how it ended.
struct Told {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Told {
    fn json(&self) -> Result<Value> {
        serde_json::from_str(&self.stdout).with_context(|| format!("{}\n{}", self.stdout, self.stderr))
    }

    #[track_caller]
    fn says(&self, code: i32, text: &str) {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        assert!(self.stdout.contains(text), "not {text:?}:\n{}\n{}", self.stdout, self.stderr);
    }
}

/// The command line of one person.
struct Person {
    program: PathBuf,
    kubeconfig: PathBuf,
}

impl Person {
    async fn asks(&self, line: &str) -> Result<Told> {
        let mut command = Command::new(&self.program);
        command.args(line.split_whitespace()).env("KUBECONFIG", &self.kubeconfig);
        let output = command.output().await.context("running the command line")?;
        Ok(Told {
            code: output.status.code().context("the command line was killed")?,
            stdout: String::from_utf8(output.stdout)?,
            stderr: String::from_utf8(output.stderr)?,
        })
    }
}

/// Two teams on eight cpu, of which the first uses seven, and the operator.
async fn stage() -> Result<Stage> {
    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    for team in ["team-1", "team-2"] {
        stage.queue(team, json!({})).await?;
    }
    Ok(stage)
}

fn administrator(stage: &Stage) -> Person {
    Person { program: stage.programs.command_line.clone(), kubeconfig: stage.bed.kubeconfig_path() }
}

async fn tenant(stage: &Stage) -> Result<Person> {
    let kubeconfig = stage.bed.user_kubeconfig("member", None)?;
    let bind =
        ["create", "rolebinding", "member", "--clusterrole=edit", "--user=member", "--namespace=team-2"];
    stage.bed.kubectl(bind).await?;
    Ok(Person { program: stage.programs.command_line.clone(), kubeconfig })
}

fn pods(document: &Value) -> BTreeSet<String> {
    let evictions = document["evictions"].as_array().into_iter().flatten();
    evictions.filter_map(|eviction| eviction["pod"].as_str()).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_foresees_a_change_and_reads_what_happened() -> Result<()> {
    let stage = stage().await?;
    let operator = stage.start_operator().await?;
    stage.deployment("team-1", "batch", 7, json!({"cpu": "1", "memory": "1Gi"}), false).await?;
    stage.until_pods("team-1", PodCounts::running(7)).await?;
    stage.until_quiet_for(std::time::Duration::from_secs(3)).await?;
    let admin = administrator(&stage);

    admin.asks("status").await?.says(0, "team-1");
    admin.asks("top workloads -n team-1").await?.says(0, "Deployment batch");

    // What `diff` predicts, from the cluster and from a snapshot of it.
    let directory = stage.bed.directory().to_owned();
    let (change, snapshot) = (directory.join("web.yaml"), directory.join("cluster.json.gz"));
    tokio::fs::write(&change, WEB).await?;
    let (change, snapshot) = (text(&change)?, text(&snapshot)?);
    admin.asks(&format!("snapshot -o {snapshot} --redact")).await?.says(0, "redacted");
    let live = admin.asks(&format!("diff -f {change} -o json")).await?;
    ensure!(live.code == 0, "{}", live.stderr);
    let stored = admin.asks(&format!("diff -f {change} --snapshot {snapshot} -o json")).await?.json()?;
    let predicted = pods(&live.json()?);
    assert_eq!(predicted, pods(&stored));
    assert_eq!(predicted.len(), 3, "{predicted:?}");
    let gate = admin.asks(&format!("diff -f {change} --fail-on evictions>0")).await?;
    gate.says(1, "evictions>0: 3 evictions");

    // And what then happens.
    let mark = stage.bed.audit().mark()?;
    stage.bed.kubectl_with_input(["apply", "-f", "-"], WEB).await?;
    stage.until_pods("team-2", PodCounts::running(4)).await?;
    assert_eq!(stage.evicted(mark)?, predicted);

    let victim = predicted.first().context("no pod was predicted")?.trim_start_matches("team-1/").to_owned();
    eventually("the status remembers the eviction", PATIENCE, async || {
        let told = admin.asks(&format!("explain pod/{victim} -n team-1")).await?;
        ensure!(told.code == 0, "{}", told.stderr);
        ensure!(told.stdout.contains("to return 1c 1Gi to queue team-2"), "{}", told.stdout);
        Ok(())
    })
    .await?;
    replays(&admin, &operator, &directory, &predicted).await?;
    admin.asks("explain queue/team-1 --whole-cluster").await?.says(0, "Queue team-1 deserves");
    admin.asks("explain queue/team-1 --arithmetic").await?.says(0, "cpu: 8 are divided");
    eventually("the events are told", PATIENCE, async || {
        let told = admin.asks("events team-2 -A").await?;
        ensure!(told.stdout.contains("Reclaimed") && told.stdout.contains(&victim), "{}", told.stdout);
        Ok(())
    })
    .await?;
    // The chart's Deployment has no replicas, because the operator is a process of the test.
    let checks = admin.asks("check -o json").await?.json()?;
    let found: BTreeSet<&str> = checks["results"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|result| !result["found"].is_null() && result["severity"] == "error")
        .filter_map(|result| result["id"].as_str())
        .collect();
    assert_eq!(found, ["operator-not-ready"].into());
    admin.asks("version --server").await?.says(0, "Kubernetes v1.");
    operator.stop().await?;
    stage.end(Tolerance::default()).await
}

/// The operator kept each decision; it is computed again, and names the pods and the true beneficiary.
async fn replays(
    admin: &Person,
    operator: &Operator,
    directory: &Path,
    evicted: &BTreeSet<String>,
) -> Result<()> {
    let (code, list) = operator.get("/decisions").await?;
    ensure!(code == 200, "{code}: {list}");
    let list: Value = serde_json::from_str(&list)?;
    let mut named = BTreeSet::new();
    for number in list.as_array().into_iter().flatten().map(|decision| &decision["number"]) {
        let (code, record) = operator.get_bytes(&format!("/decisions/{number}")).await?;
        ensure!(code == 200, "decision {number}: {code}");
        let file = directory.join(format!("decision-{number}"));
        tokio::fs::write(&file, record).await?;
        let replay = admin.asks(&format!("replay {} -o json", text(&file)?)).await?;
        ensure!(replay.code == 0, "{}{}", replay.stdout, replay.stderr);
        let replay = replay.json()?;
        assert_eq!(replay["identical"], true);
        for eviction in replay["evictions"].as_array().into_iter().flatten() {
            assert_eq!(eviction["beneficiary"], "team-2/team-2");
            assert_eq!(eviction["answer"], "evicted");
            named.extend(eviction["pod"].as_str().map(str::to_owned));
        }
        let had_we = admin.asks(&format!("replay {} --with queue/team-1.weight=100", text(&file)?)).await?;
        had_we.says(0, "With weight of Queue team-1 = 100:");
    }
    assert_eq!(&named, evicted);
    Ok(())
}

/// A quota that the cluster has already.
const QUOTA: &str = "
apiVersion: v1
kind: ResourceQuota
metadata: {name: old, namespace: team-1}
spec: {hard: {requests.cpu: 3, pods: 10}}
";

/// The API server takes every Queue that `migrate` makes of the manifests of another system.
#[tokio::test(flavor = "multi_thread")]
async fn what_migrate_and_adopt_propose_applies_cleanly() -> Result<()> {
    let stage = stage().await?;
    let admin = administrator(&stage);
    let corpus = workspace_root().join("cli/src/tests/migrate");
    let mut created = BTreeSet::new();
    for system in ["resourcequota", "kueue", "volcano", "kai", "yunikorn", "hnc", "capsule"] {
        let file = corpus.join(format!("{system}.yaml"));
        let told = admin.asks(&format!("migrate {system} -f {}", text(&file)?)).await?;
        ensure!(told.code == 0, "{system}: {}", told.stderr);
        let namespaces = told.stdout.lines().filter_map(|line| line.strip_prefix("  namespace: "));
        for namespace in namespaces.chain(["org"]).filter(|namespace| created.insert((*namespace).to_owned()))
        {
            // Some exist already.
            let _ = stage.bed.kubectl(["create", "namespace", namespace]).await;
        }
        let apply = ["apply", "--dry-run=server", "-f", "-"];
        stage.bed.kubectl_with_input(apply, &told.stdout).await.with_context(|| system.to_owned())?;
    }
    stage.bed.kubectl_with_input(["apply", "-f", "-"], QUOTA).await?;
    let live = admin.asks("migrate resourcequota").await?;
    live.says(0, "cpu: '3'");
    live.says(0, "ResourceQuota team-1/old spec.hard.pods: 10");
    let none = admin.asks("migrate kueue").await?;
    assert_eq!(none.code, 2, "{}", none.stderr);
    admin.asks("adopt").await?.says(0, "");
    // No operator ran, so no share can have arrived.
    Ok(stage.bed.stop().await?)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_is_paused_and_a_namespace_leaves() -> Result<()> {
    let stage = stage().await?;
    let operator = stage.start_operator().await?;
    let admin = administrator(&stage);
    let queues: Api<Queue> = Api::namespaced(stage.bed.client(), "team-1");
    admin.asks("pause team-1 -n team-1 --for 2h --dry-run").await?.says(0, "(dry run)");
    ensure!(queues.get("team-1").await?.spec.paused_until.is_none(), "a dry run changed the Queue");
    admin.asks("pause team-1 -n team-1 --for 2h").await?.says(0, "paused until");
    ensure!(queues.get("team-1").await?.spec.paused_until.is_some(), "the Queue is not paused");
    admin.asks("resume -A").await?.says(0, "no longer paused");
    ensure!(queues.get("team-1").await?.spec.paused_until.is_none(), "the Queue is still paused");

    let quotas: Api<ResourceQuota> = Api::namespaced(stage.bed.client(), "team-1");
    eventually("there is a quota", PATIENCE, async || {
        quotas.get_opt("quotient").await?.map(drop).context("there is none")
    })
    .await?;
    admin.asks("uninstall --check").await?.says(0, "2 Queues");
    admin.asks("release team-1 --dry-run").await?.says(0, "Nothing was changed");
    admin.asks("release team-1").await?.says(0, "is unmanaged");
    ensure!(quotas.get_opt("quotient").await?.is_none(), "the quota is left");
    operator.stop().await?;
    stage.end(Tolerance::default()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_sees_the_own_namespace_and_learns_which_right_is_missing() -> Result<()> {
    let stage = stage().await?;
    let operator = stage.start_operator().await?;
    stage.bed.kubectl_with_input(["apply", "-f", "-"], WEB).await?;
    stage.until_pods("team-2", PodCounts::running(4)).await?;
    let tenant = tenant(&stage).await?;
    tenant.asks("status -n team-2").await?.says(0, "team-2");
    tenant.asks("explain deploy/web -n team-2").await?.says(0, "Deployment web has 4 of 4 pods.");
    let refused = tenant.asks("diff -n team-2 --drain node-1").await?;
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    ensure!(refused.stderr.contains("list "), "{}", refused.stderr);
    let refused = tenant.asks("explain deploy/batch -n team-1").await?;
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    ensure!(refused.stderr.contains("list pods in namespace team-1: forbidden"), "{}", refused.stderr);
    let refused = tenant.asks("pause team-2 -n team-2 --for 1h").await?;
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    operator.stop().await?;
    stage.end(Tolerance::default()).await
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("the path is no text")
}
