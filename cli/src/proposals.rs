//! Queues that a command proposes: `init`, `adopt` and `migrate` print them, and nothing is applied.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use quotient_crds::names::API_VERSION;
use quotient_crds::{Admission, DEFAULT_WEIGHT, Preemption, QueueSpec, ResourceMap};
use quotient_engine::amounts::Bounds;
use serde_json::{Map, Value, json};

use crate::exit::CommandError;
use crate::output::{note, print};

/// A Queue that does not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProposedQueue {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) spec: QueueSpec,
    /// What it was made from and what to know about it, a line each.
    pub(crate) comments: Vec<String>,
}

impl ProposedQueue {
    /// The object, without fields that only repeat a default.
    pub(crate) fn object(&self) -> Value {
        let mut spec = serde_json::to_value(&self.spec).unwrap_or_default();
        if let Value::Object(fields) = &mut spec {
            without_defaults(fields, &self.spec);
        }
        json!({
            "apiVersion": API_VERSION,
            "kind": "Queue",
            "metadata": {"name": self.name, "namespace": self.namespace},
            "spec": spec,
        })
    }

    /// The object as YAML, below its comments.
    pub(crate) fn manifest(&self) -> String {
        let comments = self.comments.iter().flat_map(|comment| ["# ", comment, "\n"]);
        let mut text: String = comments.collect();
        text.push_str(&serde_yaml_ng::to_string(&self.object()).unwrap_or_default());
        text
    }
}

fn without_defaults(fields: &mut Map<String, Value>, spec: &QueueSpec) {
    if spec.preemption == Preemption::Never {
        fields.remove("preemption");
    }
    if spec.admission == Admission::Quota {
        fields.remove("admission");
    }
    if spec.weight == DEFAULT_WEIGHT && spec.children.is_some() {
        fields.remove("weight");
    }
    // A parent queue bounds its children, and has no pods of its own.
    if spec.children.is_some() {
        fields.remove("mode");
    }
}

/// Amounts as a spec has them; none if nothing is stated.
pub(crate) fn resource_map(bounds: &Bounds) -> Option<ResourceMap> {
    let map: ResourceMap = bounds
        .iter()
        .map(|(resource, amount)| (resource.name().to_owned(), resource.format(amount)))
        .collect();
    (!map.is_empty()).then_some(map)
}

/// What stands between the manifests of one YAML text.
pub(crate) const BETWEEN: &str = "---\n";

/// The flag for a directory of manifests.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct OutputDirectory {
    /// The directory to write the Queues to, a file each; without it they are printed. Existing files are kept.
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    directory: Option<PathBuf>,
}

impl OutputDirectory {
    /// Writes a file for each Queue that has none yet and returns how many, or prints the Queues if no directory is named.
    pub(crate) fn put(&self, queues: &[ProposedQueue]) -> Result<Option<usize>, CommandError> {
        let Some(directory) = &self.directory else {
            let manifests: Vec<String> = queues.iter().map(ProposedQueue::manifest).collect();
            print(&manifests.join(BETWEEN))?;
            return Ok(None);
        };
        let failed = |path: &Path, error: io::Error| format!("write {}: {error}", path.display());
        std::fs::create_dir_all(directory).map_err(|error| failed(directory, error))?;
        let mut written = 0_usize;
        for queue in queues {
            let path = directory.join(format!("{}.yaml", queue.namespace));
            match write(&path, &queue.manifest()) {
                Ok(()) => written = written.saturating_add(1),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    note(&format!("{} is kept as it is.", path.display()));
                }
                Err(error) => return Err(failed(&path, error).into()),
            }
        }
        Ok(Some(written))
    }

    /// The directory as the user named it.
    pub(crate) fn name(&self) -> String {
        self.directory.as_deref().unwrap_or(Path::new(".")).display().to_string()
    }
}

/// Never over a file that a person may have edited.
fn write(path: &Path, manifest: &str) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(manifest.as_bytes())
}
