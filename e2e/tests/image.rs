//! The Dockerfile, without a container engine: what it would build and how the image would run.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use quotient_e2e::image::{Dockerfile, Linkage, STATIC_FLAGS, linkage};
use quotient_e2e::quotient::{RELEASE, chart, workspace_root};
use quotient_e2e::testbed::Helm;

use crate::reader::blocks;

fn text(path: &str) -> String {
    std::fs::read_to_string(workspace_root().join(path)).unwrap_or_default()
}

/// Two programs, the license, a user without rights: nothing that helps an attacker.
#[test]
fn the_image_holds_two_programs_and_no_root() {
    let file = Dockerfile::read(&text("Dockerfile"));
    assert_eq!(file.image("FROM"), ["scratch"]);
    assert_eq!(file.image("COPY"), ["--from=build /out/ /", "LICENSE /LICENSE"]);
    let build = file.build("RUN").concat();
    assert!(build.contains("/release/kubectl-quotient\" /out/"), "{build}");
    assert!(build.contains("ln -s kubectl-quotient /out/kubectl_complete-quotient"), "{build}");
    assert_eq!(file.image("USER"), ["65532:65532"]);
    assert_eq!(file.image("ENTRYPOINT"), [r#"["/quotient-operator"]"#]);
    assert!(file.image("RUN").is_empty() && file.image("ENV").is_empty());
}

/// It is built as `make size` builds it, whose programs are looked at, with the compiler of this repository.
#[test]
fn it_is_built_as_the_programs_that_are_measured() {
    let file = Dockerfile::read(&text("Dockerfile"));
    assert_eq!(file.build("ENV"), [format!("RUSTFLAGS=\"{STATIC_FLAGS}\"")]);
    let run = file.build("RUN").concat();
    let part = "cargo build --release --locked --target \"$target\" -p quotient-operator -p quotient-cli";
    assert!(run.contains(part), "{part} is not in {run}");
    // Another architecture is cross compiled by the machine that builds.
    ensure_both_architectures(&run);
    let toolchain = text("rust-toolchain.toml");
    let channel = toolchain.lines().find_map(|line| line.strip_prefix("channel = \"")).unwrap_or_default();
    let version = channel.trim_end_matches('"');
    assert!(
        !version.is_empty() && file.build("FROM").concat().contains(&format!("rust:{version}-")),
        "{channel}"
    );
}

/// The script is sound, takes both architectures, and refuses any other.
fn ensure_both_architectures(run: &str) {
    let decide =
        run.split("&& target=").next().unwrap_or_default().replace("dpkg --print-architecture", "echo amd64");
    for (architecture, expected) in
        [("amd64", "x86_64"), ("arm64", "aarch64"), ("", "x86_64"), ("riscv64", "")]
    {
        let script = format!("{decide} && echo \"$cpu\"");
        let output =
            std::process::Command::new("sh").args(["-c", &script]).env("TARGETARCH", architecture).output();
        let said = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        assert_eq!(said.ok().as_deref(), Some(expected), "{architecture}: {script}");
    }
}

/// Every image that a build begins with is named by its digest.
#[test]
fn base_images_are_named_by_digest() {
    let dockerfile = text("Dockerfile");
    let mut bases =
        dockerfile.lines().filter(|line| line.starts_with("FROM ") || line.starts_with("# syntax="));
    let is_digest =
        |digest: &str| digest.len() == 64 && digest.chars().all(|digit| digit.is_ascii_hexdigit());
    let is_named = |line: &str| {
        let digest = line.split("@sha256:").nth(1).and_then(|rest| rest.split(' ').next());
        line == "FROM scratch" || digest.is_some_and(is_digest)
    };
    assert!(bases.all(is_named), "{dockerfile}");
    assert!(text("charts/quotient/values.yaml").contains("\n  digest: \"\"\n"));
}

/// The most crates of others that the two programs may be made of, and that all of the workspace may name.
const MOST_CRATES: [usize; 2] = [230, 380];

/// SECURITY.md states how many crates of others there are. More than a few more are a decision.
#[test]
fn the_number_of_crates_is_stated_and_bounded() -> Result<()> {
    let tree = [
        "tree",
        "--offline",
        "--locked",
        "--package=quotient-operator",
        "--package=quotient-cli",
        "--edges=normal",
        "--prefix=none",
        "--format={p}",
    ];
    let output =
        std::process::Command::new(env!("CARGO")).args(tree).current_dir(workspace_root()).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout)?;
    let crates = tree.lines().map(|line| line.trim_end_matches(" (*)")).filter(|line| !line.is_empty());
    let of_others: BTreeSet<&str> = crates.filter(|line| !line.starts_with("quotient-")).collect();
    let locked = text("Cargo.lock").lines().filter(|line| line.starts_with("source = ")).count();
    let [shipped, all] = MOST_CRATES;
    ensure!(of_others.len() <= shipped && locked <= all, "{} shipped, {locked} in all", of_others.len());
    let stated = format!("{} crates of others", of_others.len());
    let in_all = format!("{locked} with those of tests and tools");
    let page = text("SECURITY.md");
    ensure!(
        page.contains(&stated) && page.contains(&in_all),
        "SECURITY.md does not say {stated:?} and {in_all:?}"
    );
    Ok(())
}

/// Sources, licenses and versions of crates are checked in every test run, by a version of the tool that is pinned.
#[test]
fn every_test_run_checks_the_dependencies() {
    let makefile = text("Makefile");
    let test = makefile.lines().find(|line| line.starts_with("test:")).unwrap_or_default();
    assert!(test.split_whitespace().any(|word| word == "deny"), "{test}");
    assert!(makefile.contains("cargo-deny --version $(DENY_VERSION) --locked"));
    let rules = text("deny.toml");
    for rule in ["unknown-registry = \"deny\"", "unknown-git = \"deny\"", "wildcards = \"deny\""] {
        assert!(rules.contains(rule), "{rule}");
    }
}

/// Whether what stands in backticks is there: files, tests in them (`file: test`), and tests in any of these files.
fn check_names(cell: &str) {
    let names: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
    let (files, tests): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| name.contains('/'));
    let mut sources = String::new();
    for file in files {
        let (path, test) = file.split_once(": ").unwrap_or((file, ""));
        let source = text(path);
        assert!(!source.is_empty(), "{path} is not there");
        assert!(test.is_empty() || source.contains(&format!("fn {test}(")), "{test} is not in {path}");
        sources += &source;
    }
    for test in tests.iter().filter(|name| !name.contains(' ')) {
        assert!(sources.contains(&format!("fn {test}(")), "{test} is in none of the files of its row");
    }
}

/// Every test that the table of SECURITY.md names is there.
#[test]
fn every_row_of_the_security_page_has_its_tests() {
    let page = text("SECURITY.md");
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| attacker"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .filter(|cells: &Vec<&str>| cells.len() == 5)
        .collect();
    assert!(rows.len() >= 7, "{rows:?}");
    for row in rows {
        assert!(row[4].contains('`'), "{:?} has no test", row[0]);
        check_names(row[4]);
    }
}

/// Every test that the table of failures in docs/evidence/faults.md names is there.
#[test]
fn every_failure_of_the_table_has_its_tests() {
    let page = text("docs/evidence/faults.md");
    let table = page.split("## Failures and the layers that test them").nth(1).unwrap_or_default();
    let table = table.split("No layer tests these failures").next().unwrap_or_default();
    let rows: Vec<&str> =
        table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| failure")).collect();
    assert!(rows.len() > 10, "{rows:?}");
    for row in rows {
        // Some are named perturbations alone, whose tests have a check of their own.
        assert!(row.contains('`') || row.contains(" P"), "{row} names no test");
        check_names(row);
    }
}

/// The chart's pods need what the image has: a user by number, and the ports that it says.
#[test]
fn the_chart_runs_what_the_image_has() {
    let values = text("charts/quotient/values.yaml");
    let file = Dockerfile::read(&text("Dockerfile"));
    for port in file.image("EXPOSE").concat().split(' ') {
        assert!(values.contains(&format!("port: {port}\n")), "{port}");
    }
    assert!(values.contains("runAsNonRoot: true") && values.contains("readOnlyRootFilesystem: true"));
}

/// What tells a static program from others does: this test is none.
#[test]
fn a_program_with_a_loader_is_told() {
    let this = std::env::current_exe().and_then(std::fs::read).unwrap_or_default();
    assert_eq!(linkage(&this).ok(), Some(Linkage::Dynamic));
    assert!(linkage(b"#!/bin/sh").is_err());
    assert!(linkage(b"\x7fELF\x02\x01").is_err());
}

/// The commands of a block of documentation, as words.
fn commands(block: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = block.lines().map(|line| line.trim_start_matches('#').trim());
    let commands = lines.flat_map(|line| line.split("&&"));
    commands.map(|command| command.split_whitespace().take_while(|word| *word != "#").collect())
}

/// The images that a block builds, and those that it pushes or loads into a cluster.
fn built_and_pushed(block: &str) -> (BTreeSet<&str>, BTreeSet<&str>) {
    let (mut built, mut pushed) = (BTreeSet::new(), BTreeSet::new());
    for words in commands(block) {
        match words.as_slice() {
            ["docker", "build", "--tag", image, "."] => built.insert(*image),
            ["docker", "push", image] | ["kind", "load", "docker-image", image] => pushed.insert(*image),
            ["docker", "buildx", "build", "--platform", _, "--tag", image, "--push", "."] => {
                built.insert(*image);
                pushed.insert(*image)
            }
            // To inspect an image is no step of a build.
            ["docker" | "kind", ..] if !words.contains(&"inspect") => {
                panic!("this test cannot read `{}`", words.join(" "))
            }
            _ => continue,
        };
    }
    (built, pushed)
}

/// The images that `helm install` of this block puts into the cluster.
async fn rendered(helm: &Helm, block: &str) -> Result<BTreeSet<String>> {
    let mut images = BTreeSet::new();
    for words in commands(block) {
        let ["helm", "install", RELEASE, "charts/quotient", flags @ ..] = words.as_slice() else { continue };
        let folder = chart().to_string_lossy().into_owned();
        let flags: Vec<String> = flags
            .iter()
            .map(|flag| flag.replace("charts/quotient", &folder))
            .filter(|flag| flag != "--create-namespace")
            .collect();
        let command = ["template", RELEASE, &folder].into_iter().map(str::to_owned);
        let manifests = helm.run(command.chain(flags)).await?;
        let lines = manifests.lines().filter_map(|line| line.trim().strip_prefix("image: "));
        images.extend(lines.map(|image| image.trim_matches('"').to_owned()));
    }
    Ok(images)
}

/// On every page that installs the chart, the chart pulls what the page builds and pushes.
#[tokio::test(flavor = "multi_thread")]
async fn the_chart_pulls_the_image_that_the_documented_commands_build_and_push() -> Result<()> {
    let helm = Helm::find().await?;
    let mut of_registry = BTreeSet::new();
    for page in ["README.md", "docs/how-to/install.md", "charts/quotient/README.md"] {
        let page_text = text(page);
        let mut installs: usize = 0;
        for (_, block) in blocks(&page_text) {
            let pulled = rendered(&helm, &block).await?;
            let (built, pushed) = built_and_pushed(&block);
            if pulled.is_empty() {
                ensure!(
                    built.is_empty(),
                    "{page} builds {built:?} and does not install it in the same block"
                );
                continue;
            }
            installs += 1;
            let pulled: BTreeSet<&str> = pulled.iter().map(String::as_str).collect();
            assert_eq!(pulled.len(), 1, "{page}: {pulled:?}");
            assert_eq!(built, pulled, "{page}: docker build and helm install");
            assert_eq!(pushed, pulled, "{page}: docker push and helm install");
            of_registry
                .extend(pulled.into_iter().filter(|image| image.starts_with("REGISTRY/")).map(str::to_owned));
        }
        ensure!(installs > 0, "{page} does not install the chart");
    }
    let file = text("Dockerfile");
    let (built, _) = built_and_pushed(&file);
    assert_eq!(built, of_registry.iter().map(String::as_str).collect(), "Dockerfile");
    Ok(())
}

/// Without a registry the chart would pull from one that has nothing of ours.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_registry_the_chart_says_what_to_do() -> Result<()> {
    let helm = Helm::find().await?;
    let folder = chart().to_string_lossy().into_owned();
    let digest = format!("image.digest=sha256:{}", "0".repeat(64));
    for more in [&[][..], &["--set", &digest], &["--set", "replicaCount=0"]] {
        let refused = helm.run(["template", RELEASE, &folder].iter().chain(more)).await;
        let said = refused.err().map(|error| error.to_string()).unwrap_or_default();
        ensure!(
            said.contains(
                "image.registry is empty, and no registry publishes the image yet. Build the Dockerfile as \
                 REGISTRY/quotient:0.1.0, push it, and set image.registry=REGISTRY. For an image that you load into kind \
                 or minikube as localhost/quotient:0.1.0, set image.registry=localhost."
            ),
            "{more:?}: {said}"
        );
    }
    Ok(())
}
