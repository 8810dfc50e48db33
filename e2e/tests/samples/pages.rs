//! The sample Queues of every page, found where a reader finds them.
//!
//! A sample is a manifest, wherever it stands: a file, a fenced block of a page, a here-document, an annotation of the chart.
//! Helm makes Queues of entries of the chart's value `queues`, too: `cli/tests/docs.rs` holds that these claim nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// Where pages are; a folder with all that is below it.
const PLACES: [&str; 6] =
    ["README.md", "ARCHITECTURE.md", "SECURITY.md", "docs", "charts/quotient", "examples"];

/// Files with a `kind: Queue` that is no sample.
const NO_SAMPLES: [(&str, &str); 2] = [
    ("charts/quotient/files/crds/queues.quotient.dev.yaml", "the definition of the kind"),
    ("charts/quotient/Chart.yaml", "beside the sample, the list of kinds in the chart"),
];

/// The samples of one page, which a reader applies together.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// The Namespaces that it shows.
    pub(super) namespaces: Vec<Value>,
    /// The Queues.
    pub(super) queues: Vec<Value>,
}

impl Page {
    /// The namespaces of the Queues.
    pub(super) fn places(&self) -> BTreeSet<String> {
        let namespaces =
            self.queues.iter().filter_map(|queue| queue.pointer("/metadata/namespace")?.as_str());
        namespaces.map(str::to_owned).collect()
    }

    /// Whether a Queue claims something whether or not there is work.
    pub(super) fn claims(&self) -> bool {
        self.queues.iter().any(|queue| queue.pointer("/spec/request").is_some_and(Value::is_object))
    }
}

/// Every page with a sample, by its path; of the examples every folder is one page.
pub(super) fn pages(root: &Path) -> Result<BTreeMap<String, Page>> {
    let mut pages: BTreeMap<String, Page> = BTreeMap::new();
    for file in PLACES.iter().map(|place| files(&root.join(place))).collect::<Result<Vec<_>>>()?.concat() {
        let extension = file.extension().and_then(OsStr::to_str).unwrap_or_default();
        // Not pictures, results and what is made from a page, such as the schema of the chart's values.
        if !["md", "txt", "yaml"].contains(&extension) {
            continue;
        }
        let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let name = file.strip_prefix(root)?.to_string_lossy().into_owned();
        // What Helm makes of a template has no amounts before there are values.
        if name.starts_with("charts/quotient/templates/") && extension == "yaml" {
            continue;
        }
        let queues = manifests(&text, "quotient.dev/v1alpha1", "Queue");
        let stated = text.lines().filter(|line| names_kind(line, "Queue")).count();
        ensure!(
            stated == queues.len() || NO_SAMPLES.iter().any(|(path, _)| *path == name),
            "{name} says `kind: Queue` {stated} times, and {} samples were found",
            queues.len()
        );
        let folder = name.split('/').take(2).collect::<Vec<_>>().join("/");
        let of = if name.starts_with("examples/") { folder } else { name };
        pages.entry(of.clone()).or_default().namespaces.extend(manifests(&text, "v1", "Namespace"));
        for queue in queues {
            place(&mut pages, &of, queue);
        }
    }
    pages.retain(|_, page| !page.queues.is_empty());
    Ok(pages)
}

/// Puts a sample on its page. A page may show the same Queue twice, and another variant of it, which is tried by itself.
fn place(pages: &mut BTreeMap<String, Page>, of: &str, queue: Value) {
    for variant in 1_u32.. {
        let name = if variant == 1 { of.to_owned() } else { format!("{of} ({variant})") };
        let page = pages.entry(name).or_default();
        match page.queues.iter().find(|other| other["metadata"] == queue["metadata"]) {
            Some(other) if *other != queue => {}
            Some(_) => return,
            None => return page.queues.push(queue),
        }
    }
}

/// The manifests of a kind in any text: from a line with their `apiVersion` on as far as the lines are indented like it.
fn manifests(text: &str, api_version: &str, kind: &str) -> Vec<Value> {
    let lines: Vec<&str> = text.lines().collect();
    let start = format!("apiVersion: {api_version}");
    let at = |line: &str| {
        let at = line.find(&start)?;
        // The whole version, and nothing before it but the punctuation of YAML.
        let (before, after) = (line.get(..at)?, line.get(at.saturating_add(start.len())..)?);
        let is_start = before.chars().all(|letter| " -{".contains(letter))
            && after.chars().next().is_none_or(|letter| ", \r".contains(letter));
        is_start.then_some(if before.ends_with('{') { at.saturating_sub(1) } else { at })
    };
    let starts = lines.iter().enumerate().filter_map(|(number, line)| Some((number, at(line)?)));
    let documents = starts.filter_map(|(number, indent)| {
        let first = lines.get(number)?.get(indent..)?;
        let rest = lines.iter().skip(number.saturating_add(1)).map_while(|line| {
            let ends = line.trim().starts_with("```") || ["---", "EOF"].contains(&line.trim());
            let ends = ends || at(line).is_some();
            match line.get(..indent) {
                Some(before) if !ends && before.trim().is_empty() => line.get(indent..),
                None if line.trim().is_empty() => Some(""),
                _ => None,
            }
        });
        let is_inline = first.starts_with('{');
        let document = std::iter::once(first).chain(rest.take(if is_inline { 0 } else { usize::MAX }));
        let value: Value = serde_yaml_ng::from_str(&document.collect::<Vec<_>>().join("\n")).ok()?;
        (value["kind"] == kind).then_some(value)
    });
    documents.collect()
}

/// Whether a line says `kind: Queue`, not `kind: QueueJob`.
fn names_kind(line: &str, kind: &str) -> bool {
    let starts = format!("kind: {kind}");
    line.split(&starts).skip(1).any(|rest| !rest.starts_with(|letter: char| letter.is_alphanumeric()))
}

/// A file, or all files below a folder, by name.
fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let listed = std::fs::read_dir(path).with_context(|| format!("listing {}", path.display()))?;
    let mut entries = listed.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries.iter().map(|entry| files(entry)).collect::<Result<Vec<_>>>()?.concat())
}
