//! A reader of a page: runs its commands in the repository, with kubectl, Helm and the plugin in the path.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::{Api, ResourceExt as _};
use quotient_e2e::quotient::{
    Operator, PATIENCE, RELEASE, SYSTEM_NAMESPACE, Stage, installed, workspace_root,
};
use quotient_e2e::testbed::{Helm, annotations, eventually};
use serde_json::json;
use tokio::process::Command;

/// What is printed has settled when it has not changed for so long.
const SETTLED: Duration = Duration::from_secs(3);

/// A reader with all rights on a test bed.
pub(crate) struct Reader<'a> {
    stage: &'a Stage,
    path: String,
    folder: PathBuf,
    /// The operator that the installed chart would run, with the arguments that it was started with.
    operator: Option<(Vec<String>, Operator)>,
}

impl<'a> Reader<'a> {
    pub(crate) async fn new(stage: &'a Stage) -> Result<Self> {
        let (helm, plugin) = (Helm::find().await?, &stage.programs.command_line);
        let folders = [Some(stage.bed.programs_directory()), helm.program().parent(), plugin.parent()];
        let folders: Vec<String> =
            folders.into_iter().flatten().map(|one| one.display().to_string()).collect();
        let path = format!("{}:{}", folders.join(":"), std::env::var("PATH").unwrap_or_default());
        Ok(Self { stage, path, folder: workspace_root(), operator: None })
    }

    /// Runs commands in another folder than the repository.
    pub(crate) fn works_in(&mut self, folder: &Path) {
        self.folder = folder.to_owned();
    }

    /// Runs a command once, and returns what it prints to standard output.
    pub(crate) async fn run(&self, command: &str) -> Result<String> {
        let home = self.stage.bed.directory().join("helm");
        let output = Command::new("sh")
            .args(["-e", "-c", command])
            .current_dir(&self.folder)
            .env("KUBECONFIG", self.stage.bed.kubeconfig_path())
            .env("HELM_CACHE_HOME", home.join("cache"))
            .env("HELM_CONFIG_HOME", home.join("config"))
            .env("HELM_DATA_HOME", home.join("data"))
            .env("PATH", &self.path)
            .output()
            .await
            .context("running a shell")?;
        let printed = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`{command}`: {printed}{}", String::from_utf8_lossy(&output.stdout));
        let mut printed = String::new();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let _ = writeln!(printed, "{}", line.trim_end());
        }
        if printed.is_empty() {
            printed.push('\n');
        }
        Ok(printed)
    }

    /// Runs a command until it prints what is expected.
    pub(crate) async fn until(&self, command: &str, expected: &str) -> Result<String> {
        eventually(format!("`{command}` prints what the page says"), PATIENCE, async || {
            let printed = self.run(command).await?;
            ensure!(tidy(&printed) == tidy(expected), "\n{printed}\nthe page says\n{expected}");
            Ok(printed)
        })
        .await
    }

    /// Runs a command until it goes on printing the same.
    pub(crate) async fn settled(&self, command: &str) -> Result<String> {
        let (mut last, mut since) = (String::new(), Instant::now());
        loop {
            let printed = self.run(command).await.unwrap_or_default();
            if tidy(&printed) != tidy(&last) || printed.is_empty() {
                (last, since) = (printed, Instant::now());
            } else if since.elapsed() >= SETTLED {
                return Ok(printed);
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Runs a command, and lets pods that terminate end meanwhile, as their kubelets would in time.
    pub(crate) async fn letting_pods_end<T>(&self, command: impl Future<Output = Result<T>>) -> Result<T> {
        let client = self.stage.bed.client();
        let end = async |pod: &Pod| {
            if pod.metadata.deletion_timestamp.is_some() {
                let own: Api<Pod> = Api::namespaced(client.clone(), &pod.namespace().unwrap_or_default());
                // Another one may have been faster.
                let _ = own.delete(&pod.name_any(), &DeleteParams::default().grace_period(0)).await;
            }
        };
        let all = ListParams::default();
        tokio::select! {
            printed = command => printed,
            failed = with_pods(Api::all(client.clone()), &all, end) => Err(failed),
        }
    }

    /// Runs a command, and ends the pods of `helm test` meanwhile: the kubelets of a test bed start no container.
    pub(crate) async fn with_kubelets(&self, command: &str) -> Result<String> {
        let pods: Api<Pod> = Api::namespaced(self.stage.bed.client(), SYSTEM_NAMESPACE);
        let tests = ListParams::default().labels("app.kubernetes.io/name=quotient-check");
        let annotation = json!({"metadata": {"annotations": {annotations::COMPLETE_AFTER_SECONDS: "0.0"}}});
        let complete = async |pod: &Pod| {
            // It may be gone.
            let _ = pods.patch(&pod.name_any(), &PatchParams::default(), &Patch::Merge(&annotation)).await;
        };
        tokio::select! {
            printed = self.run(command) => printed,
            failed = with_pods(pods.clone(), &tests, complete) => Err(failed),
        }
    }

    /// Starts the operator as the installed chart would, and again when the chart gives it other arguments.
    pub(crate) async fn follow_the_chart(&mut self) -> Result<()> {
        let deployments: Api<Deployment> = Api::namespaced(self.stage.bed.client(), SYSTEM_NAMESPACE);
        let deployment = deployments.get_opt(RELEASE).await?.and_then(|found| found.spec);
        let is_wanted = deployment.is_some_and(|spec| spec.replicas != Some(0));
        let arguments = if is_wanted { installed(&self.stage.bed).await?.1 } else { Vec::new() };
        if self.operator.as_ref().is_some_and(|(former, _)| *former == arguments) {
            return Ok(());
        }
        if let Some((_, operator)) = self.operator.take() {
            operator.stop().await?;
        }
        if is_wanted {
            let operator =
                Operator::start_as_installed(&self.stage.bed, &self.stage.programs.operator).await?;
            self.operator = Some((arguments, operator));
        }
        Ok(())
    }

    pub(crate) async fn stop(self) -> Result<()> {
        match self.operator {
            Some((_, operator)) => operator.stop().await,
            None => Ok(()),
        }
    }
}

/// Does this with each of the pods again and again. Only returns when it cannot go on.
async fn with_pods(pods: Api<Pod>, which: &ListParams, act: impl AsyncFn(&Pod)) -> anyhow::Error {
    loop {
        match pods.list(which).await {
            Ok(found) => {
                for pod in &found.items {
                    act(pod).await;
                }
            }
            Err(error) => return error.into(),
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// The fenced blocks of a page: what stands behind the fence, and the lines.
pub(crate) fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(language) = line.trim_start().strip_prefix("```") else { continue };
        let indent = line.len().saturating_sub(line.trim_start().len());
        let content = lines.by_ref().take_while(|line| line.trim() != "```");
        let content = content.map(|line| line.get(indent..).unwrap_or_default());
        let content = content.fold(String::new(), |block, line| block + line + "\n");
        blocks.push((language.to_owned(), content));
    }
    blocks
}

/// The blocks of a page that a shell runs.
pub(crate) fn shell_blocks(page: &str) -> Vec<String> {
    blocks(page).into_iter().filter(|(language, _)| language == "sh").map(|(_, block)| block).collect()
}

/// The commands of a block: a line, or several where a here-document, a backslash, a pipe, a variable or a loop goes on.
pub(crate) fn commands(block: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut command = String::new();
    for line in block.lines() {
        if command.is_empty() && (line.trim().is_empty() || line.starts_with('#')) {
            continue;
        }
        if !command.is_empty() {
            command.push('\n');
        }
        command.push_str(line);
        if is_complete(&command) {
            commands.push(std::mem::take(&mut command));
        }
    }
    commands.extend(Some(command).filter(|rest| !rest.is_empty()));
    commands
}

fn is_complete(command: &str) -> bool {
    let last = command.lines().last().unwrap_or_default().trim_end();
    let in_document = command.contains("<<'EOF'") && last.trim() != "EOF";
    let words = |wanted: &str| command.split_whitespace().filter(|word| *word == wanted).count();
    let quotes = command.matches('\'').count();
    let in_quotes = !command.contains("<<'EOF'") && quotes % 2 == 1;
    // A variable is for the next command.
    let assigns =
        last.split_once('=').is_some_and(|(name, _)| name.chars().all(|at| at.is_ascii_lowercase()));
    let goes_on = last.ends_with('\\') || last.ends_with('|') || assigns || words("do") > words("done");
    !in_document && !in_quotes && !goes_on
}

/// Without what differs from run to run: how wide columns are, and how old things are.
pub(crate) fn tidy(printed: &str) -> Vec<Vec<String>> {
    let is_age = |word: &str| {
        let units = word.trim_start_matches(|digit: char| digit.is_ascii_digit());
        units.len() < word.len()
            && units.chars().all(|letter| letter.is_ascii_digit() || "smh".contains(letter))
    };
    let row = |line: &str| {
        let mut words: Vec<String> = line.split_whitespace().map(ToOwned::to_owned).collect();
        if words.len() > 1
            && words.last().is_some_and(|last| is_age(last) && !last.ends_with(char::is_numeric))
        {
            words.pop();
        }
        words
    };
    printed.lines().map(row).collect()
}

#[test]
fn only_ages_at_the_end_of_a_row_do_not_count() {
    assert_eq!(tidy("train-0   1/1  Running 0   3m12s\n"), tidy("train-0 1/1 Running 0 4s"));
    assert_ne!(tidy("team-a 4c 3"), tidy("team-a 4c 5"));
    assert_ne!(tidy("100m"), tidy("200m"));
}

#[test]
fn a_command_goes_on_where_a_shell_goes_on() {
    let block = "# a comment\none -a 'b\nc'\nkubectl create -f - <<'EOF'\nx\nEOF\nlist |\n  while read -r name; do\n    echo\n  done\nday=$(date)\nlast \"$day\"\n";
    let expected = [
        "one -a 'b\nc'",
        "kubectl create -f - <<'EOF'\nx\nEOF",
        "list |\n  while read -r name; do\n    echo\n  done",
        "day=$(date)\nlast \"$day\"",
    ];
    assert_eq!(commands(block), expected);
}
