//! The command line against a real control plane: as an administrator, and as a tenant with rights in one namespace.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::ResourceQuota;
use quotient_crds::Queue;
use quotient_e2e::quotient::{Operator, PATIENCE, PodCounts, Stage, workspace_root};
use quotient_e2e::testbed::{eventually, objects};
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
struct Printed {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Printed {
    fn json(&self) -> Result<Value> {
        serde_json::from_str(&self.stdout).with_context(|| format!("{}\n{}", self.stdout, self.stderr))
    }

    #[track_caller]
    fn prints(&self, code: i32, text: &str) {
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
    async fn runs(&self, line: &str) -> Result<Printed> {
        let mut command = Command::new(&self.program);
        command.args(line.split_whitespace()).env("KUBECONFIG", &self.kubeconfig);
        let output = command.output().await.context("running the command line")?;
        Ok(Printed {
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
    let kubeconfig = stage.bed.user_with_role("member", "edit", Some("team-2")).await?;
    Ok(Person { program: stage.programs.command_line.clone(), kubeconfig })
}

fn pods(document: &Value) -> BTreeSet<String> {
    let evictions = document["evictions"].as_array().into_iter().flatten();
    evictions.filter_map(|eviction| eviction["pod"].as_str()).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_answers_before_and_after_a_change() -> Result<()> {
    let stage = stage().await?;
    let operator = stage.start_operator().await?;
    an_administrator_foresees_a_change_and_reads_what_happened(&stage, &operator).await?;
    every_command_answers_an_administrator_and_a_tenant(&stage).await?;
    stage.end(operator).await
}

async fn an_administrator_foresees_a_change_and_reads_what_happened(
    stage: &Stage,
    operator: &Operator,
) -> Result<()> {
    stage.deployment("team-1", "batch", 7, objects::one_cpu(), false).await?;
    stage.until_pods("team-1", PodCounts::running(7)).await?;
    stage.until_quiet_for(Duration::from_secs(3)).await?;
    let admin = administrator(stage);

    admin.runs("status").await?.prints(0, "team-1");
    admin.runs("top workloads -n team-1").await?.prints(0, "Deployment batch");

    // What `diff` predicts, from the cluster and from a snapshot of it.
    let directory = stage.bed.directory().to_owned();
    let (change, snapshot) = (directory.join("web.yaml"), directory.join("cluster.json.gz"));
    tokio::fs::write(&change, WEB).await?;
    let (change, snapshot) = (text(&change)?, text(&snapshot)?);
    admin.runs(&format!("snapshot -o {snapshot} --redact")).await?.prints(0, "redacted");
    let live = admin.runs(&format!("diff -f {change} -o json")).await?;
    ensure!(live.code == 0, "{}", live.stderr);
    let stored = admin.runs(&format!("diff -f {change} --snapshot {snapshot} -o json")).await?.json()?;
    let predicted = pods(&live.json()?);
    assert_eq!(predicted, pods(&stored));
    assert_eq!(predicted.len(), 3, "{predicted:?}");
    let gate = admin.runs(&format!("diff -f {change} --fail-on evictions>0")).await?;
    gate.prints(1, "evictions>0: 3 evictions");

    // And what then happens.
    let mark = stage.bed.audit().mark()?;
    stage.bed.kubectl_with_input(["apply", "-f", "-"], WEB).await?;
    stage.until_pods("team-2", PodCounts::running(4)).await?;
    assert_eq!(stage.evicted(mark)?, predicted);

    let victim = predicted.first().context("no pod was predicted")?.trim_start_matches("team-1/").to_owned();
    eventually("the status remembers the eviction", PATIENCE, async || {
        let printed = admin.runs(&format!("explain pod/{victim} -n team-1")).await?;
        ensure!(printed.code == 0, "{}", printed.stderr);
        ensure!(printed.stdout.contains("to return 1 cpu 1Gi to queue team-2"), "{}", printed.stdout);
        Ok(())
    })
    .await?;
    // The operator kept each decision; it is computed again, and names the pods and the true beneficiary.
    let retold = stage.retold_evictions(operator).await?;
    let truth = predicted.iter().map(|pod| (pod.clone(), Some("team-2/team-2".to_owned())));
    assert_eq!(retold, truth.collect());
    let decisions = format!("http://{}/decisions", operator.metrics());
    let printed = admin.runs(&format!("explain pod/{victim} -n team-1 --record {decisions}")).await?;
    printed.prints(0, "computed again, it is the same plan");
    let had_we = admin.runs(&format!("replay {decisions}/latest --with queue/team-1.weight=100")).await?;
    had_we.prints(0, "With weight of Queue team-1 = 100:");
    // A pod that no decision evicted: the status has to do.
    let printed = admin.runs(&format!("explain pod/nothing -n team-1 --record {decisions}")).await?;
    ensure!(printed.code == 2 && printed.stderr.contains("has kept no decision"), "{}", printed.stderr);
    admin.runs("explain queue/team-1 --whole-cluster").await?.prints(0, "Queue team-1 deserves");
    admin.runs("explain queue/team-1 --arithmetic").await?.prints(0, "cpu: 8 are divided");
    eventually("the events are told", PATIENCE, async || {
        let printed = admin.runs("events team-2 -A").await?;
        ensure!(
            printed.stdout.contains("Reclaimed") && printed.stdout.contains(&victim),
            "{}",
            printed.stdout
        );
        Ok(())
    })
    .await?;
    // The chart's Deployment has no replicas, because the operator is a process of the test.
    let checks = admin.runs("check -o json").await?.json()?;
    let found: BTreeSet<&str> = checks["results"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|result| !result["found"].is_null() && result["severity"] == "error")
        .filter_map(|result| result["id"].as_str())
        .collect();
    assert_eq!(found, ["operator-not-ready"].into());
    admin.runs("version --server").await?.prints(0, "Kubernetes v1.");
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
async fn what_migrate_and_adopt_propose_applies_cleanly(stage: &Stage, admin: &Person) -> Result<()> {
    let corpus = workspace_root().join("cli/src/tests/migrate");
    let mut created = BTreeSet::new();
    for system in ["resourcequota", "kueue", "volcano", "kai", "yunikorn", "hnc", "capsule"] {
        let file = corpus.join(format!("{system}.yaml"));
        let printed = admin.runs(&format!("migrate {system} -f {}", text(&file)?)).await?;
        ensure!(printed.code == 0, "{system}: {}", printed.stderr);
        let namespaces = printed.stdout.lines().filter_map(|line| line.strip_prefix("  namespace: "));
        for namespace in namespaces.chain(["org"]).filter(|namespace| created.insert((*namespace).to_owned()))
        {
            // Some exist already.
            let _ = stage.bed.kubectl(["create", "namespace", namespace]).await;
        }
        let apply = ["apply", "--dry-run=server", "-f", "-"];
        stage.bed.kubectl_with_input(apply, &printed.stdout).await.with_context(|| system.to_owned())?;
    }
    stage.bed.kubectl_with_input(["apply", "-f", "-"], QUOTA).await?;
    let live = admin.runs("migrate resourcequota").await?;
    live.prints(0, "cpu: '3'");
    live.prints(0, "ResourceQuota team-1/old spec.hard.pods: 10");
    let none = admin.runs("migrate kueue").await?;
    assert_eq!(none.code, 2, "{}", none.stderr);
    admin.runs("adopt").await?.prints(0, "");
    stage.bed.kubectl_with_input(["delete", "-f", "-"], QUOTA).await?;
    Ok(())
}

/// Of three Queues.
async fn a_queue_is_paused_and_a_namespace_leaves(stage: &Stage, admin: &Person) -> Result<()> {
    let queues = stage.api::<Queue>("team-1");
    admin.runs("pause team-1 -n team-1 --for 2h --dry-run").await?.prints(0, "(dry run)");
    ensure!(queues.get("team-1").await?.spec.paused_until.is_none(), "a dry run changed the Queue");
    admin.runs("pause team-1 -n team-1 --for 2h").await?.prints(0, "paused until");
    ensure!(queues.get("team-1").await?.spec.paused_until.is_some(), "the Queue is not paused");
    admin.runs("resume -A").await?.prints(0, "no longer paused");
    ensure!(queues.get("team-1").await?.spec.paused_until.is_none(), "the Queue is still paused");

    let quotas = stage.api::<ResourceQuota>("team-1");
    eventually("there is a quota", PATIENCE, async || {
        quotas.get_opt("quotient").await?.map(drop).context("there is none")
    })
    .await?;
    admin.runs("uninstall --check").await?.prints(0, "3 Queues");
    admin.runs("release team-1 --dry-run").await?.prints(0, "Nothing was changed");
    admin.runs("release team-1").await?.prints(0, "is unmanaged");
    ensure!(quotas.get_opt("quotient").await?.is_none(), "the quota is left");
    Ok(())
}

/// What a person may expect of a command: its exit code, and a text that it prints.
type Expected = (i32, &'static str);

/// A command, what an administrator reads, and what a tenant with rights in team-2 alone reads. The tenant has everything of the
/// own namespace; else the missing right is named.
const MATRIX: &[(&str, Expected, Expected)] = &[
    ("status", (0, "team-1"), (3, "list queues.quotient.dev in namespace default: forbidden")),
    ("status -A -r cpu", (0, "used by queues"), (3, "list queues.quotient.dev in all namespaces: forbidden")),
    ("status -n team-2", (0, "team-2"), (0, "team-2")),
    ("status -n team-2 -l tier=gold", (0, "There is no Queue"), (0, "There is no Queue")),
    ("status team-2 -n team-2 -o wide", (0, "NOMINAL"), (0, "NOMINAL")),
    ("status --wait --timeout 5 -n team-2", (0, "team-2"), (0, "team-2")),
    ("status nothing -n team-2", (2, "there is no Queue nothing"), (2, "there is no Queue nothing")),
    (
        "explain deploy/web -n team-2",
        (0, "Deployment web has 4 of 4 pods."),
        (0, "Deployment web has 4 of 4 pods."),
    ),
    ("explain queue/team-2", (0, "Queue team-2 deserves"), (0, "Queue team-2 deserves")),
    ("explain queue/team-2 --arithmetic", (0, "cpu: "), (0, "cpu: ")),
    (
        "explain deploy/batch -n team-1",
        (0, "Deployment batch has"),
        (3, "pods in namespace team-1, queues.quotient.dev in namespace team-1"),
    ),
    (
        "explain deploy/web -n team-2 --whole-cluster",
        (0, "has 4 of 4"),
        (3, "list daemonsets.apps in all namespaces, "),
    ),
    (
        "why deploy/nothing -n team-2",
        (2, "there is no Deployment nothing"),
        (2, "there is no Deployment nothing"),
    ),
    ("top queues", (0, "team-1"), (3, "list queues.quotient.dev in all namespaces: forbidden")),
    ("top queues -n team-2 --sort over", (0, "team-2"), (0, "team-2")),
    ("top namespaces -n team-2", (0, "team-2"), (0, "team-2")),
    ("top workloads -n team-2 -r cpu", (0, "Deployment web"), (0, "Deployment web")),
    ("events -n team-2", (0, ""), (0, "")),
    ("events -A --since 10m", (0, ""), (3, "list events.events.k8s.io in all namespaces: forbidden")),
    ("check -n team-2", (1, "replicas are ready"), (0, "You may not list")),
    ("check --pre", (0, "autoscaling"), (0, "You may not list")),
    (
        "check --measure team-1 -o name",
        (1, "operator-not-ready"),
        (3, "create resourcequotas in namespace team-1: forbidden"),
    ),
    ("diff --drain node-1", (0, "drain Node node-1"), (3, "nodes, ")),
    (
        "diff --set queue/team-1.weight=3 -o markdown",
        (0, "| team-1 |"),
        (3, "forbidden, and the answer depends on it"),
    ),
    ("simulate --live", (0, "Step 1"), (3, "forbidden, and the answer depends on it")),
    ("snapshot -o FILE --redact", (0, "redacted"), (3, "list pods in all namespaces: forbidden")),
    ("snapshot -o FILE -n team-2", (0, "objects in"), (1, "nodes are missing: you may not list them")),
    ("init --from-usage", (0, "nothing to propose"), (3, "forbidden, and the answer depends on it")),
    ("adopt", (0, "nothing to propose"), (3, "forbidden, and the answer depends on it")),
    ("migrate resourcequota", (2, "has no object of it"), (3, "list limitranges in all namespaces, ")),
    ("pause team-2 -n team-2 --for 1h --dry-run", (0, "(dry run)"), (0, "(dry run)")),
    (
        "pause team-2 -n team-2 --for 1h",
        (0, "paused until"),
        (3, "patch queues.quotient.dev in namespace team-2: forbidden"),
    ),
    (
        "resume team-2 -n team-2",
        (0, "no longer paused"),
        (3, "patch queues.quotient.dev in namespace team-2: forbidden"),
    ),
    ("release team-2 --dry-run", (0, "Nothing was changed"), (0, "Nothing was changed")),
    (
        "uninstall --check",
        (0, "Nothing that restricts workloads"),
        (3, "forbidden, and the answer depends on it"),
    ),
    ("version --server", (0, "operator "), (0, "its Deployment is not visible")),
    ("completion bash", (0, "kubectl-quotient"), (0, "kubectl-quotient")),
    (
        "status --as=nobody",
        (3, "list queues.quotient.dev in namespace default: forbidden"),
        (3, "cannot impersonate"),
    ),
    ("status --context=nothing", (3, "find the cluster"), (3, "find the cluster")),
    ("status --nonsense", (2, "--nonsense"), (2, "--nonsense")),
];

async fn every_command_answers_an_administrator_and_a_tenant(stage: &Stage) -> Result<()> {
    stage.bed.kubectl(["scale", "deployment/batch", "--replicas=3", "--namespace=team-1"]).await?;
    stage.until_pods("team-1", PodCounts::running(3)).await?;
    stage.until_pods("team-2", PodCounts::running(4)).await?;
    stage.until_quiet_for(Duration::from_secs(3)).await?;
    let (admin, tenant) = (administrator(stage), tenant(stage).await?);
    let file = stage.bed.directory().join("matrix.json.gz");
    let mut wrong = Vec::new();
    for (line, as_admin, as_tenant) in MATRIX {
        for (role, person, (code, text)) in
            [("tenant", &tenant, as_tenant), ("administrator", &admin, as_admin)]
        {
            let printed = person.runs(&line.replace("FILE", self::text(&file)?)).await?;
            if printed.code != *code || !printed.stdout.contains(text) && !printed.stderr.contains(text) {
                let Printed { code, stdout, stderr } = printed;
                wrong.push(format!("{role}: {line}\nexit code {code}\n{stdout}\n{stderr}"));
            }
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n----\n"));
    // The others' pods are nowhere in what the tenant reads.
    for line in ["status -n team-2 -o json", "explain queue/team-2 -o json", "check -n team-2 -o json"] {
        let printed = tenant.runs(line).await?;
        ensure!(!printed.stdout.contains("batch"), "{line}: {}", printed.stdout);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_migrates_looks_on_and_acts() -> Result<()> {
    let stage = stage().await?;
    let admin = administrator(&stage);
    what_migrate_and_adopt_propose_applies_cleanly(&stage, &admin).await?;
    let operator = stage.start_operator().await?;
    stage.until_quiet_for(Duration::from_secs(3)).await?;
    live_views_follow_the_cluster(&stage, &admin).await?;
    a_queue_that_cannot_have_a_share_is_waited_for_in_vain(&stage, &admin).await?;
    a_queue_is_paused_and_a_namespace_leaves(&stage, &admin).await?;
    stage.end(operator).await
}

/// A live view prints once, and again when something changes.
async fn live_views_follow_the_cluster(stage: &Stage, admin: &Person) -> Result<()> {
    let mut views = Vec::new();
    for line in ["status -w", "top queues -w -o name", "top queues -w", "events -A -w"] {
        let log = stage.bed.directory().join(format!("{}.log", line.replace(' ', "")));
        let mut command = Command::new(&admin.program);
        command.args(line.split_whitespace()).env("KUBECONFIG", &admin.kubeconfig).kill_on_drop(true);
        command.stdout(std::fs::File::create(&log)?).stderr(Stdio::null());
        views.push((line, log, command.spawn().context("running the command line")?));
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    let before: Vec<usize> = views.iter().map(|(_, log, _)| lines(log)).collect::<Result<_>>()?;
    // At rest a view prints once.
    assert_eq!(before[2], 3, "{before:?}");
    stage.deployment("team-1", "batch", 3, objects::one_cpu(), false).await?;
    eventually("each view prints again", PATIENCE, async || {
        for ((line, log, _), before) in views.iter().zip(&before) {
            // The names stay, so nothing changes in the second one but the table.
            ensure!(lines(log)? > *before, "{line}");
        }
        Ok(())
    })
    .await?;
    for (_, _, mut view) in views {
        view.kill().await?;
    }
    Ok(())
}

async fn a_queue_that_cannot_have_a_share_is_waited_for_in_vain(stage: &Stage, admin: &Person) -> Result<()> {
    stage.queue("team-3", json!({"parentRef": {"name": "nothing"}})).await?;
    eventually("the queue is stalled", PATIENCE, async || {
        let printed = admin.runs("status --wait --timeout 1").await?;
        ensure!(printed.code == 4, "{}\n{}", printed.stdout, printed.stderr);
        Ok(())
    })
    .await?;
    admin.runs("status").await?.prints(1, "team-3");
    Ok(())
}

fn lines(log: &Path) -> Result<usize> {
    Ok(std::fs::read_to_string(log)?.lines().count())
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("the path is no text")
}
