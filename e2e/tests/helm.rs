//! The chart on a real API server: installed, at work with its own account and arguments, upgraded and uninstalled.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use quotient_e2e::quotient::{
    IMAGE_REGISTRY, Newcomer, ON_INFRA_NODE, Operator, PATIENCE, PodCounts, Programs, RELEASE,
    SYSTEM_NAMESPACE, Stage, add_infra_node, chart, helm_arguments, installed, queue, queues, quotas,
    value_sets,
};
use quotient_e2e::testbed::{Helm, Options, TestBed, eventually, objects, ports, until_is};
use serde::Deserialize as _;
use serde_json::{Value, json};
use tokio::process::Command;

/// The pod of `helm test` succeeds as soon as it runs.
const TEST_SUCCEEDS: &str = r"tests.podAnnotations.testbed\.quotient\.dev/complete-after-seconds=0.0";

/// The values of an installation whose `helm test` succeeds, and these.
fn values<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&ON_INFRA_NODE[..], &[TEST_SUCCEEDS], more].concat()
}

/// The admission policies.
const POLICIES: [&str; 13] = [
    "quotient-operator",
    "quotient-operator-events",
    "quotient-operator-evictions",
    "quotient-operator-jobs",
    "quotient-operator-namespaces",
    "quotient-operator-owners",
    "quotient-operator-pods",
    "quotient-operator-queuejobs",
    "quotient-queue-status",
    "quotient-queues",
    "quotient-quota-status",
    "quotient-quotas",
    "quotient-shares",
];

/// What docs/how-to/install.md has kubectl ask after Quotient has gone.
const WHAT_IS_LEFT: &str = "get resourcequotas,limitranges,configmaps --all-namespaces \
     --selector=app.kubernetes.io/managed-by=quotient";

fn values_file(name: &str) -> String {
    chart().join(name).to_string_lossy().into_owned()
}

/// A control plane with a node of its own for the operator.
async fn stage() -> Result<Stage> {
    let stage = Stage::bare(Options { audit_bodies: true, ..Options::default() }).await?;
    add_infra_node(&stage.bed).await?;
    Ok(stage)
}

#[tokio::test(flavor = "multi_thread")]
async fn lint_is_content() -> Result<()> {
    let helm = Helm::find().await?;
    let folder = chart().to_string_lossy().into_owned();
    for values in value_sets()?.into_values() {
        let values = values.to_string_lossy();
        helm.run(["lint", "--strict", &folder, "--values", &values, "--set", IMAGE_REGISTRY]).await?;
    }
    Ok(())
}

/// Every contradiction has a sentence, and what is misspelt is named.
#[tokio::test(flavor = "multi_thread")]
async fn contradictions_are_refused_with_a_sentence() -> Result<()> {
    let helm = Helm::find().await?;
    for (values, said) in [
        (&["replicaCount=2", "config.leaderElect=false"][..], "each replica would lead"),
        (&["podDisruptionBudget.enabled=true"], "protects nothing or blocks every drain"),
        (&["config.capacity.cpu=9", "config.expandable.cpu=9"], "State one of them"),
        (&["config.leaseRetrySeconds=10"], "must be less than config.leaseRenewDeadlineSeconds"),
        (&["serviceAccount.create=false"], "Name the account"),
        (&["serviceMonitor.enabled=true", "metrics.access=Localhost"], "could not reach the metrics"),
        (&["serviceMonitor.enabled=true", "metrics.service.enabled=false"], "Enable the Service"),
        (&["metrics.certificateSecret=a", "metrics.access=Localhost"], "over plain HTTP"),
        (&["hostNetwork=true", "hostUsers=false"], "a network of its own"),
        (&["extraArgs.log-level=debug"], "Set config.logLevel"),
        (&["extraArgs.listen=0.0.0.0:1"], "Set health.port"),
        (&["extraArgs.metrics-listen=0.0.0.0:1"], "Set metrics.port"),
        (&["extraArgs.lease-namespace=other"], "Set the namespace of the release"),
        (&["extraArgs.gate-mode=true"], "Set gateMode.enabled"),
        (&["extraArgs.protected-namespaces=other"], "Set admission.protectedNamespaces"),
        (&["metrics.port=8080"], "cannot listen twice on one port"),
        (
            &["extraArgs.metrics-certificate=/c", "metrics.certificateSecret=c"],
            "Set metrics.certificateSecret",
        ),
        (&["config.leaseRetrySeconds=31"], "maximum: got 31, want 30"),
        (&["config.resyncSeconds=241"], "maximum: got 241, want 240"),
        (&["rbac.scaleWorkloads=true"], "would delete other pods than those that Quotient chose"),
        (&["config.mode=Sometimes"], "must be one of 'Observe', 'Quota', 'Full'"),
        (&["config.modee=Full"], "additional properties 'modee' not allowed"),
        (&["config.evictionsPerSecond=0"], "minimum"),
        (&["image.digest=latest"], "pattern"),
        (
            &["image.registry="],
            "Build the Dockerfile as REGISTRY/quotient:0.1.0, push it, and set image.registry=REGISTRY.",
        ),
        (
            &["image.registry=", "image.tag=v1", "image.repository=q"],
            "kind or minikube as localhost/q:v1, set image.registry=localhost.",
        ),
        (&["prometheusRule.excludeAlerts={QuotientUp}"], "QuotientUp, which there is none of"),
        (&["prometheusRule.alerts.QuotientUp.for=1m"], "There are: QuotientDown, "),
        (&["prometheusRule.alerts.QuotientDown.for=long"], "pattern"),
    ] {
        let refused =
            helm.run(helm_arguments(&["template"], values)).await.err().map(|error| error.to_string());
        let refused = refused.with_context(|| format!("{values:?} is not refused"))?;
        assert!(refused.contains(said), "{values:?}: {refused}");
    }
    Ok(())
}

/// A namespace that enforces the restricted standard takes the pods of the Deployment and of `helm test`.
async fn the_pods_meet_the_restricted_standard(bed: &TestBed) -> Result<()> {
    bed.create_namespace(SYSTEM_NAMESPACE).await?;
    let label = "pod-security.kubernetes.io/enforce=restricted";
    bed.kubectl(["label", "namespace", SYSTEM_NAMESPACE, label]).await?;
    bed.helm(helm_arguments(&["install", "--wait"], &values(&[]))).await?;
    bed.helm(["test", RELEASE, "--namespace", SYSTEM_NAMESPACE]).await?;
    let privileged = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "other"}, "spec": {"containers": [{"name": "main", "image": "main"}]}}"#;
    let create = ["create", "--namespace", SYSTEM_NAMESPACE, "-f", "-"];
    let refused = bed.kubectl_with_input(create, privileged).await.err().context("it is not enforced")?;
    ensure!(refused.to_string().contains("violates PodSecurity"), "{refused}");
    Ok(())
}

/// What `kubectl quotient check` says of the installed operator, with all rights.
async fn check(bed: &TestBed, programs: &Programs) -> Result<String> {
    let (_, said) = run(&programs.command_line, &["check".to_owned()], &bed.kubeconfig_path()).await?;
    Ok(said)
}

/// Whether a program succeeded, and what it said.
async fn run(program: &Path, words: &[String], kubeconfig: &Path) -> Result<(bool, String)> {
    let mut command = Command::new(program);
    let output =
        command.args(words).arg("--kubeconfig").arg(kubeconfig).stdin(Stdio::null()).output().await?;
    let said = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

/// What `helm test` creates, in the order of the chart: the account, its rights, and a pod.
const TEST: &str = "quotient-cluster";

/// The command and the arguments of the pod [`TEST`] of the installed release. Its account gets its rights.
async fn test_command(bed: &TestBed) -> Result<Vec<String>> {
    let hooks = bed.helm(["get", "hooks", RELEASE, "--namespace", SYSTEM_NAMESPACE]).await?;
    let (mut pods, mut others) = (Vec::new(), Vec::new());
    for document in serde_yaml_ng::Deserializer::from_str(&hooks) {
        let object = Value::deserialize(document)?;
        let found = if object["kind"] == "Pod" { &mut pods } else { &mut others };
        found.push(object);
    }
    ensure!(others.len() == 5, "{others:?}");
    bed.kubectl_with_input(
        ["apply", "--namespace", SYSTEM_NAMESPACE, "-f", "-"],
        &json!({"apiVersion": "v1", "kind": "List", "items": others}).to_string(),
    )
    .await?;
    let [pod] = pods.as_slice() else { anyhow::bail!("{pods:?}") };
    ensure!(pod["metadata"]["name"] == TEST, "{pod}");
    let [container] = pod["spec"]["containers"].as_array().context("no containers")?.as_slice() else {
        anyhow::bail!("{pod}")
    };
    let words = [&container["command"], &container["args"]].into_iter().filter_map(Value::as_array).flatten();
    Ok(words.filter_map(Value::as_str).map(str::to_owned).collect())
}

/// `helm test` looks at kinds, policies, rights and the quota controller, and reads the metrics as Prometheus would. The
/// command of its pod is run with the account of that pod, because the kubelets of the test bed are simulated.
#[tokio::test(flavor = "multi_thread")]
async fn helm_test_covers_policies_kinds_the_quota_controller_and_metrics() -> Result<()> {
    let stage = stage().await?;
    let Stage { bed, programs } = &stage;
    the_pods_meet_the_restricted_standard(bed).await?;
    let port = ports::free()?;
    let listen = format!("0.0.0.0:{port}");
    let operator = Operator::start_with(bed, &programs.operator, &["--metrics-listen", &listen]).await?;
    let left = ["get", "clusterroles,clusterrolebindings", "-o=name"];
    assert!(!bed.kubectl(left).await?.contains(TEST), "helm test leaves its rights");

    let command = test_command(bed).await?;
    let (program, words) = command.split_first().context("no command")?;
    assert_eq!(program, "/kubectl-quotient");
    let (served, here) = (
        "--metrics=https://quotient-metrics.quotient-system.svc:8443/metrics",
        format!("--metrics=https://127.0.0.1:{port}/metrics"),
    );
    ensure!(words.iter().any(|word| word == served), "{words:?}");
    let words: Vec<String> = words.iter().map(|word| word.replace(served, &here)).collect();
    let account = bed.service_account_kubeconfig(SYSTEM_NAMESPACE, TEST).await?;
    let test = async || run(&programs.command_line, &words, &account).await;
    let (is_good, said) = test().await?;
    ensure!(is_good && said.contains("quota controller answers in "), "{said}");
    ensure!(said.contains(" permissions") && said.contains(" series of metrics"), "{said}");
    // Nothing of the cluster or the operator was left out for want of a right.
    for line in ["cluster", "operator"] {
        let printed = said.lines().find(|printed| printed.starts_with(line)).context("a line")?;
        ensure!(printed.contains('\u{221a}') && !printed.contains("not looked at"), "{said}");
    }

    // What is missing is named.
    bed.kubectl(["delete", "clusterrolebinding", TEST]).await?;
    eventually("the metrics are refused", PATIENCE, async || {
        let (is_good, said) = test().await?;
        ensure!(!is_good && said.contains("403"), "{said}");
        Ok(())
    })
    .await?;
    test_command(bed).await?;
    bed.kubectl(["delete", "validatingadmissionpolicies", "--all"]).await?;
    eventually("the policies are missed", PATIENCE, async || {
        let (_, said) = test().await?;
        ensure!(said.contains("admission-policies"), "{said}");
        Ok(())
    })
    .await?;
    bed.kubectl(["delete", "clusterrolebinding", "quotient"]).await?;
    eventually("the rights are missed", PATIENCE, async || {
        let (is_good, said) = test().await?;
        ensure!(!is_good && said.contains("the operator may not "), "{said}");
        Ok(())
    })
    .await?;
    operator.stop().await?;
    bed.kubectl(["delete", "crd", "queuejobs.quotient.dev"]).await?;
    let (is_good, said) = test().await?;
    ensure!(!is_good && said.contains("crd-missing"), "{said}");
    stage.bed.stop().await
}

/// Queues among the values are made as soon as the cluster knows the kind, and stay when the chart goes.
#[tokio::test(flavor = "multi_thread")]
async fn queues_of_the_values_come_with_the_second_command_and_stay() -> Result<()> {
    let stage = stage().await?;
    let bed = &stage.bed;
    bed.create_namespace("team-a").await?;
    bed.create_namespace("team-b").await?;
    let values = ["replicaCount=0", "queues.team-a.weight=2", "queues.team-b.defaultRequests.cpu=100m"];
    let notes = bed.helm(helm_arguments(&["install", "--create-namespace"], &values)).await?;
    assert!(
        notes.contains("The next upgrade creates the Queues") && notes.contains("helm upgrade quotient"),
        "{notes}"
    );
    // The API server begins to serve a new kind a moment after it is there.
    let none = eventually("Queues can be listed", PATIENCE, async || queues(bed).await);
    assert_eq!(none.await?.len(), 0);
    eventually("the kind is served", PATIENCE, async || {
        let notes = bed.helm(helm_arguments(&["upgrade"], &values)).await?;
        ensure!(!notes.contains("The next upgrade creates the Queues"), "{notes}");
        Ok(())
    })
    .await?;
    let see = ["get", "queues.quotient.dev", "--all-namespaces"];
    let path =
        "-o=jsonpath={range .items[*]}{.metadata.name} {.spec.weight} {.spec.defaultRequests}{\"\\n\"}{end}";
    let seen = bed.kubectl(see.into_iter().chain([path])).await?;
    assert_eq!(seen, "team-a 2 \nteam-b 1 {\"cpu\":\"100m\"}\n");
    bed.helm(helm_arguments(&["upgrade"], &["replicaCount=0", "queues.team-a.weight=3"])).await?;
    a_second_one_is_refused(bed).await?;
    bed.helm(["uninstall", RELEASE, "--namespace", SYSTEM_NAMESPACE, "--wait"]).await?;
    let seen = bed.kubectl(see.into_iter().chain([path])).await?;
    assert_eq!(seen, "team-a 3 \nteam-b 1 {\"cpu\":\"100m\"}\n");
    what_it_renders_is_valid(bed).await?;
    stage.bed.stop().await
}

/// The API server takes all that the chart renders, field by field, and understands the policies' expressions.
async fn what_it_renders_is_valid(bed: &TestBed) -> Result<()> {
    let helm = Helm::find().await?;
    for values in value_sets()?.into_values() {
        let values = values.to_string_lossy();
        // The pod of `helm test` wants its account to be there.
        let command = ["template", "--skip-tests", "--values", &values];
        let rendered = helm.run(helm_arguments(&command, &[])).await?;
        // The kinds are there, as Helm left them.
        let validate =
            ["apply", "--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict"];
        let place = ["--namespace", SYSTEM_NAMESPACE, "-f", "-"];
        let said = bed.kubectl_with_input(validate.into_iter().chain(place), &rendered).await?;
        for line in ["deployment.apps/quotient", "queues.quotient.dev"] {
            assert!(said.contains(line), "{line} is not among {said}");
        }
    }
    // What the dry run does not do: types of expressions are checked by a controller.
    let everything = values_file("ci/everything-values.yaml");
    bed.helm(helm_arguments(&["install", "--values", &everything], &[])).await?;
    for policy in POLICIES {
        let path = "-o=jsonpath={.status.observedGeneration}{.status.typeChecking}";
        until_is(format!("the types of {policy} are checked"), "1{}", async || {
            bed.kubectl(["get", "validatingadmissionpolicy", policy, path]).await
        })
        .await?;
    }
    Ok(())
}

/// The first install observes; its notes lead from there to quotas.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_install_observes_and_says_the_next_step() -> Result<()> {
    let stage = stage().await?;
    let Stage { bed, programs } = &stage;
    bed.add_node("node-1", &[("cpu", "8"), ("memory", "16Gi")]).await?;
    for team in ["team-a", "team-b"] {
        bed.create_namespace(team).await?;
        stage.deployment(team, "web", 4, objects::one_cpu(), false).await?;
        stage.until_pods(team, PodCounts::running(4)).await?;
    }
    let notes = bed.helm(helm_arguments(&["install", "--create-namespace", "--wait"], &values(&[]))).await?;
    for line in
        ["mode Observe", "helm test quotient", "kubectl get queues.quotient.dev", "reason=WouldReclaim"]
    {
        assert!(notes.contains(line), "{line:?} is not in the notes:\n{notes}");
    }
    let said = check(bed, programs).await?;
    assert!(said.contains(" permissions") && said.contains("in mode Observe:"), "{said}");

    // The Queue of the notes.
    let mut printed = notes.lines().filter_map(|line| line.trim().strip_prefix("echo '")?.split('\'').next());
    let sample = printed.next().context("no Queue")?;
    eventually("the kind is served", PATIENCE, async || bed.apply(sample).await).await?;
    let operator = Operator::start_as_installed(bed, &programs.operator).await?;
    eventually("the Queue has a status", PATIENCE, async || {
        ensure!(queue(bed, "team-a", "team-a").await?.is_reported, "not yet");
        Ok(())
    })
    .await?;
    stage.until_quiet_for(std::time::Duration::from_secs(3)).await?;
    assert!(quotas(bed).await?.is_empty());
    operator.stop().await?;

    // The next step of the notes.
    let next = notes.lines().find(|line| line.ends_with("config.mode=Quota")).context("no next step")?;
    let folder = chart().to_string_lossy().into_owned();
    let words = next.trim().strip_prefix("helm ").context("no command of Helm")?.split(' ');
    bed.helm(words.map(|word| if word == "CHART" { folder.as_str() } else { word })).await?;
    let said = check(bed, programs).await?;
    assert!(said.contains(" permissions") && said.contains("in mode Quota:"), "{said}");
    // What an administrator may grant is named.
    assert!(said.contains("rbac.createJobs=true"), "{said}");
    let operator = Operator::start_as_installed(bed, &programs.operator).await?;
    until_is("the team has a quota", 1, async || Ok(quotas(bed).await?.len())).await?;
    stage.until_quiet_for(std::time::Duration::from_secs(3)).await?;
    for team in ["team-a", "team-b"] {
        stage.until_pods(team, PodCounts::running(4)).await?;
    }
    operator.stop().await?;
    assert_eq!(Newcomer::evicted(&bed.audit().events()?), [""; 0]);
    stage.bed.stop().await
}

/// Install, work, upgrade, uninstall.
#[tokio::test(flavor = "multi_thread")]
async fn from_install_to_uninstall() -> Result<()> {
    let stage = stage().await?;
    let Stage { bed, programs } = &stage;
    for (name, cpu, memory) in Newcomer::NODES {
        bed.add_node(name, &[("cpu", cpu), ("memory", memory)]).await?;
    }
    let values = values(&["config.mode=Full"]);
    bed.helm(helm_arguments(&["install", "--create-namespace", "--wait"], &values)).await?;
    let running = ["get", "deployment/quotient", "-o=jsonpath={.status.availableReplicas}"];
    let place = ["--namespace", SYSTEM_NAMESPACE];
    assert_eq!(bed.kubectl(running.into_iter().chain(place)).await?, "1");
    bed.helm(["test", RELEASE, "--namespace", SYSTEM_NAMESPACE]).await?;
    let said = check(bed, programs).await?;
    assert!(said.contains(" permissions") && !said.contains("operator-mode"), "{said}");

    // The seeds' example, with the chart's account and arguments.
    let operator = Operator::start_as_installed(bed, &programs.operator).await?;
    let story = Newcomer::prepare(&stage, false).await?;
    story.join("q3").await?;
    story.until_served("q3").await?;
    let evicted = Newcomer::evicted(&bed.audit().events()?);
    assert_eq!(evicted, ["q1/small", "q2/small"]);

    // Other values are other arguments. `upgrade.rs` tells that no pod notices.
    let upgraded = [&values[..], &["config.statusIntervalSeconds=5", "config.logLevel=debug"]].concat();
    bed.helm(helm_arguments(&["upgrade", "--wait"], &upgraded)).await?;
    let (_, arguments) = installed(bed).await?;
    assert!(arguments.iter().any(|argument| argument == "--status-interval-seconds=5"), "{arguments:?}");
    operator.stop().await?;

    // It goes and takes nothing along that is still in use, and says so.
    let allowed = quotas(bed).await?;
    let said = bed.helm(["uninstall", RELEASE, "--namespace", SYSTEM_NAMESPACE, "--wait"]).await?;
    assert!(
        said.contains("kept due to the resource policy") && said.contains("queues.quotient.dev"),
        "{said}"
    );
    assert_eq!(quotas(bed).await?, allowed);
    assert_eq!(queues(bed).await?.len(), 3);
    let left = bed.kubectl(["get", "clusterroles,validatingadmissionpolicies", "-o=name"]).await?;
    assert!(!left.contains("quotient"), "{left}");
    assert!(
        include_str!("../../docs/how-to/install.md").contains(&format!("kubectl {WHAT_IS_LEFT}")),
        "not documented"
    );
    let left = bed.kubectl(WHAT_IS_LEFT.split(' ').chain(["--output=name"])).await?;
    let mut left: Vec<&str> = left.lines().collect();
    left.sort_unstable();
    let kept = [["limitrange/quotient"; 3], ["resourcequota/quotient"; 3]].concat();
    assert_eq!(left, [&["configmap/quotient-ledger"][..], &kept].concat());
    // Nothing protects the quotas any more, once the API server has forgotten the policies, too.
    eventually("a quota can be deleted", PATIENCE, async || {
        bed.kubectl(["delete", "resourcequota/quotient", "--namespace=q1"]).await
    })
    .await?;

    // And comes back to what it left: the kinds are taken up again.
    bed.helm(helm_arguments(&["install", "--wait"], &values)).await?;
    assert_eq!(queues(bed).await?.len(), 3);
    stage.bed.stop().await
}

/// Two would grant the same capacity twice.
async fn a_second_one_is_refused(bed: &TestBed) -> Result<()> {
    let folder = chart().to_string_lossy().into_owned();
    let registry = format!("--set={IMAGE_REGISTRY}");
    let second = ["install", "another", &folder, "--namespace=another", "--create-namespace", &registry];
    let refused = bed.helm(second).await.err().context("a second release is installed")?.to_string();
    assert!(
        refused.contains("quotient-viewer") || refused.contains("invalid ownership metadata"),
        "{refused}"
    );
    Ok(())
}
