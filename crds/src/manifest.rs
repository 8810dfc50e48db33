//! The custom resource definitions as YAML text.

use kube::CustomResourceExt;
use serde::Serialize;
use serde_json::Value;

use crate::{Queue, QueueJob};

/// The command that writes the files.
pub const GENERATE_COMMAND: &str = "cargo run -p quotient-crds --bin crdgen";

/// Where the files are committed, from this crate's folder.
pub const MANIFEST_FOLDERS: [&str; 2] = ["yaml", "../charts/quotient/files/crds"];

/// One generated file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The file's name, the same as that of the definition in it: `queues.quotient.dev.yaml`.
    pub file_name: String,
    /// The file's whole content.
    pub text: String,
}

/// Every custom resource definition of Quotient, one a file.
pub fn manifests() -> Result<Vec<Manifest>, ManifestError> {
    Ok(vec![manifest(Queue::crd_name(), &Queue::crd())?, manifest(QueueJob::crd_name(), &QueueJob::crd())?])
}

/// Why a definition could not be written as YAML.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The definition has no form as a tree of values.
    #[error("read the definition {name}: {source}")]
    Tree {
        /// The definition's name.
        name: &'static str,
        /// What the JSON writer said.
        source: serde_json::Error,
    },
    /// The tree cannot be written.
    #[error("write the definition {name} as YAML: {source}")]
    Yaml {
        /// The definition's name.
        name: &'static str,
        /// What the YAML writer said.
        source: serde_yaml_ng::Error,
    },
}

fn manifest(name: &'static str, definition: &impl Serialize) -> Result<Manifest, ManifestError> {
    let mut tree = serde_json::to_value(definition).map_err(|source| ManifestError::Tree { name, source })?;
    join_lines(&mut tree);
    let yaml = serde_yaml_ng::to_string(&tree).map_err(|source| ManifestError::Yaml { name, source })?;
    let header =
        format!("# Generated from the Rust types; do not edit. To write it anew: {GENERATE_COMMAND}\n");
    Ok(Manifest { file_name: format!("{name}.yaml"), text: header + &yaml })
}

/// Makes every paragraph of every description one line.
///
/// The lines of a doc comment end where the source's do; `kubectl explain` keeps them and breaks them again.
fn join_lines(tree: &mut Value) {
    match tree {
        Value::Object(fields) => {
            if let Some(Value::String(description)) = fields.get_mut("description") {
                let paragraphs: Vec<String> =
                    description.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
                *description = paragraphs.join("\n\n");
            }
            fields.values_mut().for_each(join_lines);
        }
        Value::Array(items) => items.iter_mut().for_each(join_lines),
        _ => {}
    }
}
