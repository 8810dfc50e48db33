//! What a release has: `.ci/release` with programs that stand for the built ones, because those take minutes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use quotient_e2e::quotient::{RELEASE, workspace_root};
use quotient_e2e::testbed::Helm;
use serde_json::Value;

/// Runs the script; returns its last line.
fn release(helm: &Helm, programs: &Path, out: &Path) -> Result<String> {
    let output = Command::new(workspace_root().join(".ci/release"))
        .arg(out)
        .env("PROGRAMS", programs)
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
    for name in ["quotient-operator", "kubectl-quotient"] {
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

    // Every crate that SECURITY.md counts.
    let bill = json("sbom.cdx.json")?;
    let components = bill["components"].as_array().context("components")?.len();
    let page = std::fs::read_to_string(workspace_root().join("SECURITY.md"))?;
    ensure!(page.contains(&format!("{components} crates of others")), "{components}");

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
