//! What a release has: `.ci/release` with programs that stand for the built ones, because those take minutes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use quotient_e2e::quotient::{RELEASE, workspace_root};
use quotient_e2e::testbed::Helm;
use serde_json::{Value, json};

/// What the command line is built for, with the names that krew has for it.
const TARGETS: [(&str, &str, &str); 3] = [
    ("x86_64-unknown-linux-gnu", "linux", "amd64"),
    ("aarch64-apple-darwin", "darwin", "arm64"),
    ("x86_64-pc-windows-gnu", "windows", "amd64"),
];
const DOWNLOADS: &str = "https://example.org/releases";

/// Runs the script; returns its last line.
fn release(helm: &Helm, programs: &Path, out: &Path) -> Result<String> {
    let output = Command::new(workspace_root().join(".ci/release"))
        .arg(out)
        .env("PROGRAMS", programs)
        .env("TARGETS", TARGETS.map(|(target, ..)| target).join(" "))
        .env("DOWNLOADS", DOWNLOADS)
        .env("HELM", helm.program())
        .output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// Every file of a folder with its content.
fn files(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().context("a name")?.to_string_lossy().into_owned();
        files.insert(name, std::fs::read(&path)?);
    }
    Ok(files)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_is_complete_and_the_same_twice() -> Result<()> {
    let helm = Helm::find().await?;
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("release");
    let programs = folder.join("programs");
    std::fs::create_dir_all(&programs)?;
    for name in ["quotient-operator", "kubectl-quotient", "kubectl-quotient.exe"] {
        std::fs::write(programs.join(name), name)?;
    }
    let (out, again) = (folder.join("first"), folder.join("second"));
    let said = release(&helm, &programs, &out)?;
    release(&helm, &programs, &again)?;
    let made = files(&out)?;
    assert_eq!(made.keys().collect::<Vec<_>>(), files(&again)?.keys().collect::<Vec<_>>());
    // Helm writes the time of packing into the chart; its sum is in two other files.
    let varies = |name: &str| ["quotient-0.1.0.tgz", "SHA256SUMS", "provenance.intoto.json"].contains(&name);
    for (name, content) in files(&again)? {
        ensure!(varies(&name) || made.get(&name) == Some(&content), "{name} differs");
    }
    // Each file that a user downloads.
    for start in
        ["kubectl-quotient-", "quotient-operator-", "quotient-0.1.0.tgz", "crds.yaml", "sbom", "notes"]
    {
        ensure!(made.keys().any(|name| name.starts_with(start)), "{start} is not in {:?}", made.keys());
    }
    let has_image = made.contains_key("quotient-0.1.0.oci.tar");
    ensure!(has_image != said.contains("image: none"), "{said}");

    let sums =
        Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(&out).output()?;
    ensure!(sums.status.success(), "{}", String::from_utf8_lossy(&sums.stdout));
    let json = |name: &str| -> Result<Value> {
        Ok(serde_json::from_slice(made.get(name).with_context(|| name.to_owned())?)?)
    };
    let provenance = json("provenance.intoto.json")?;
    let subjects = provenance["subject"].as_array().context("subjects")?;
    let subjects: BTreeSet<&str> = subjects.iter().filter_map(|subject| subject["name"].as_str()).collect();
    let others = ["SHA256SUMS", "provenance.intoto.json"];
    let expected: BTreeSet<&str> =
        made.keys().map(String::as_str).filter(|name| !others.contains(name)).collect();
    assert_eq!(subjects, expected);

    // What krew downloads is what was made.
    let sums = made.get("SHA256SUMS").map(|sums| String::from_utf8_lossy(sums)).unwrap_or_default();
    let plugin: Value = serde_yaml_ng::from_slice(made.get("krew.yaml").context("a manifest for krew")?)?;
    assert_eq!(plugin["spec"]["version"], "v0.1.0");
    let platforms = plugin["spec"]["platforms"].as_array().context("platforms")?;
    assert_eq!(platforms.len(), TARGETS.len());
    for (platform, (target, os, arch)) in platforms.iter().zip(TARGETS) {
        assert_eq!(platform["selector"]["matchLabels"], json!({"os": os, "arch": arch}));
        let archive = format!("kubectl-quotient-0.1.0-{target}.tar.gz");
        assert_eq!(platform["uri"], format!("{DOWNLOADS}/{archive}"));
        let sum = platform["sha256"].as_str().context("a sum")?;
        ensure!(sums.contains(&format!("{sum}  {archive}")), "{sum} of {archive} is not in {sums}");
        let program = platform["bin"].as_str().context("a program")?;
        let listed = Command::new("tar").args(["-tzf", &archive]).current_dir(&out).output()?;
        assert_eq!(String::from_utf8(listed.stdout)?, format!("{program}\n"));
    }

    // Every crate that SECURITY.md counts, those of other platforms included.
    let bill = json("sbom.cdx.json")?;
    let components = bill["components"].as_array().context("components")?;
    ensure!(components.iter().any(|one| one["name"] == "windows-sys"), "only of this platform");
    let page = std::fs::read_to_string(workspace_root().join("SECURITY.md"))?;
    let stated = format!("names {} crates of others", components.len());
    ensure!(page.contains(&stated), "SECURITY.md does not say {stated:?}");

    let notes = made.get("notes.md").map(|notes| String::from_utf8_lossy(notes)).unwrap_or_default();
    ensure!(notes.starts_with("## 0.1.0") && notes.matches("\n## ").count() == 0, "{notes}");
    let chart = out.join("quotient-0.1.0.tgz").to_string_lossy().into_owned();
    let packed = Command::new("tar").args(["--list", "--file", &chart]).output()?;
    let packed = String::from_utf8(packed.stdout)?;
    ensure!(packed.contains("quotient/values.yaml") && !packed.contains("quotient/ci/"), "{packed}");
    let rendered =
        helm.run(["template", RELEASE, &chart, "--set", "image.registry=registry.example.org"]).await?;
    ensure!(rendered.contains("registry.example.org/quotient:0.1.0"), "{rendered}");
    Ok(())
}
