//! The custom resource definitions as YAML text.

use std::fmt;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;
use serde_json::Value;

use crate::columns::{self, with_columns};
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
    let queue = with_columns(Queue::crd(), columns::QUEUE);
    let queue_job = with_columns(QueueJob::crd(), columns::QUEUE_JOB);
    Ok(vec![manifest(Queue::crd_name(), &queue)?, manifest(QueueJob::crd_name(), &queue_job)?])
}

/// Why a definition could not be written as YAML.
#[derive(Debug, thiserror::Error)]
#[error("write the definition {name} as YAML: {problem}")]
pub struct ManifestError {
    name: &'static str,
    problem: String,
}

fn manifest(name: &'static str, definition: &CustomResourceDefinition) -> Result<Manifest, ManifestError> {
    let failed = |problem: &dyn fmt::Display| ManifestError { name, problem: problem.to_string() };
    let mut tree = serde_json::to_value(definition).map_err(|problem| failed(&problem))?;
    join_lines(&mut tree);
    let yaml = serde_yaml_ng::to_string(&tree).map_err(|problem| failed(&problem))?;
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
