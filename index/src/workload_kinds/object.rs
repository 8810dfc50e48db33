//! What is read of one object of a configured kind.

use std::borrow::Cow;

use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::{DynamicObject, NamespaceResourceScope};
use quotient_crds::PodTemplate;
use serde_json::Value;

use super::field_path::FieldPath;
use super::setting::{PodPaths, WorkloadKind};
use crate::decoded::{Decoded, Undecodable};
use crate::pod_requests::TemplateRequests;

/// An object of a configured kind: its metadata, and the pods that it wants.
#[derive(Clone, Debug)]
pub struct WorkloadObject {
    metadata: ObjectMeta,
    /// Its templates, each with other requests.
    pub(super) pods: Vec<WantedPods>,
}

impl Resource for WorkloadObject {
    type DynamicType = WorkloadKind;
    type Scope = NamespaceResourceScope;

    fn kind(kind: &WorkloadKind) -> Cow<'_, str> {
        kind.kind().into()
    }

    fn group(kind: &WorkloadKind) -> Cow<'_, str> {
        kind.group.as_str().into()
    }

    fn version(kind: &WorkloadKind) -> Cow<'_, str> {
        kind.version.as_str().into()
    }

    fn plural(kind: &WorkloadKind) -> Cow<'_, str> {
        kind.plural.as_str().into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// How many pods of one template an object wants.
#[derive(Clone, Debug)]
pub(super) struct WantedPods {
    pub(super) replicas: u32,
    pub(super) template: PodTemplateSpec,
    pub(super) requests: TemplateRequests,
}

impl WorkloadKind {
    /// What `object`, one of this kind, says of its pods. An object without a number or a template where the paths lead
    /// cannot be read.
    pub fn read(&self, object: Decoded<DynamicObject>) -> Decoded<WorkloadObject> {
        let object = match object.0 {
            Ok(object) => object,
            Err(undecodable) => return Decoded(Err(undecodable)),
        };
        let DynamicObject { metadata, data, .. } = object;
        let mut pods = Vec::new();
        for paths in &self.pods {
            let read = paths
                .read(&data)
                .and_then(|more| more.into_iter().try_for_each(|one| add(&mut pods, one, &paths.template)));
            if let Err(error) = read {
                return Decoded(Err(Undecodable::new(&error, metadata)));
            }
        }
        Decoded(Ok(WorkloadObject { metadata, pods }))
    }
}

/// The most templates of one object that request different amounts. Each pod of the object is compared with all of them; a
/// tenant can write an object of thousands, and create as many pods that name it.
const MOST_TEMPLATES: usize = 64;

/// Adds `one`, which stands at `path`, to those that request the same.
fn add(pods: &mut Vec<WantedPods>, one: WantedPods, path: &FieldPath) -> Result<(), String> {
    if let Some(other) = pods.iter_mut().find(|other| other.requests == one.requests) {
        other.replicas = other.replicas.saturating_add(one.replicas);
    } else if pods.len() < MOST_TEMPLATES {
        pods.push(one);
    } else {
        return Err(format!(
            "{path}: more than {MOST_TEMPLATES} templates request different amounts; write fewer"
        ));
    }
    Ok(())
}

impl PodPaths {
    fn read(&self, object: &Value) -> Result<Vec<WantedPods>, String> {
        let templates = self.template.find(object);
        let replicas = match &self.replicas {
            Some(path) => path.find(object).into_iter().map(|value| number(path, value)).collect(),
            None => Ok(vec![1; templates.len()]),
        };
        let replicas: Vec<u32> = replicas?;
        if replicas.len() != templates.len() {
            let (numbers, templates) = (replicas.len(), templates.len());
            return Err(format!("{}: there are {templates} templates and {numbers} numbers", self.template));
        }
        let wanted = |(replicas, value): (u32, Option<&Value>)| {
            let template = template(&self.template, value)?;
            let requests = TemplateRequests::of(template.spec.as_ref());
            Ok(WantedPods { replicas, template, requests })
        };
        replicas.into_iter().zip(templates).map(wanted).collect()
    }
}

fn number(path: &FieldPath, value: Option<&Value>) -> Result<u32, String> {
    let value = value.ok_or_else(|| format!("{path}: the field is absent"))?;
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| format!("{path}: it is not a number of pods"))
}

fn template(path: &FieldPath, value: Option<&Value>) -> Result<PodTemplateSpec, String> {
    let value = value.ok_or_else(|| format!("{path}: the field is absent"))?;
    let template = PodTemplate::decode(value).map_err(|error| format!("{path}: {error}"))?;
    match &template.spec {
        Some(spec) if !spec.containers.is_empty() => Ok(template),
        _ => Err(format!("{path}: it is not a pod template with containers")),
    }
}
