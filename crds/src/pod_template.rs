//! A pod template as its user wrote it.

use k8s_openapi::api::core::v1::PodTemplateSpec;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::queue_job_rules::{pod_spec_rules, volume_rules};

/// The most volumes that a template has. The API server counts rules by what they may cost at most.
const MAX_VOLUMES: u32 = 128;

/// A pod template, with every field that its user wrote.
///
/// It is kept as text would be, so that fields which only a newer Kubernetes knows reach the Job unharmed. The schema of
/// all of it would be hundreds of kilobytes, more than `kubectl apply` can store; the API server checks the template when
/// the Job is created.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodTemplate(pub Value);

impl PodTemplate {
    /// The template as Kubernetes reads it.
    ///
    /// # Errors
    ///
    /// When a field has a value of another type.
    pub fn read(&self) -> Result<PodTemplateSpec, serde_json::Error> {
        Self::decode(&self.0)
    }

    /// A template that stands in another object.
    ///
    /// It is the one place that reads templates of any object, because each place compiles every kind of volume again.
    ///
    /// # Errors
    ///
    /// When a field has a value of another type.
    pub fn decode(template: &Value) -> Result<PodTemplateSpec, serde_json::Error> {
        PodTemplateSpec::deserialize(template)
    }

    /// Names the fields that rules look at, and keeps all others.
    pub(crate) fn spec_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "required": ["spec"],
            "properties": {
                "metadata": {
                    "type": "object",
                    "description": "Labels and annotations that every pod of the task gets.",
                    "x-kubernetes-preserve-unknown-fields": true,
                },
                "spec": {
                    "type": "object",
                    "description": "The pod's spec, every field of it. Only fields that a rule looks at are listed here; \
                                    kubectl explain job.spec.template.spec explains all.",
                    "required": ["containers"],
                    "x-kubernetes-preserve-unknown-fields": true,
                    "x-kubernetes-validations": pod_spec_rules(),
                    "properties": {
                        "containers": {
                            "type": "array",
                            "minItems": 1,
                            "description": "The containers, each with its name, image and resources. What they request \
                                            counts against the queue's share.",
                            "items": {
                                "type": "object",
                                "required": ["name"],
                                "x-kubernetes-preserve-unknown-fields": true,
                                "properties": {
                                    "name": {
                                        "type": "string",
                                        "description": "The container's name, unique within the pod.",
                                    },
                                },
                            },
                        },
                        "nodeName": {
                            "type": "string",
                            "maxLength": 253,
                            "description": "Must be left out: the scheduler chooses the node. To choose among nodes, \
                                            use nodeSelector or affinity.",
                        },
                        "restartPolicy": {
                            "type": "string",
                            "maxLength": 16,
                            "description": "Never, which is the default: a pod that was evicted is told from one that \
                                            failed by how it ended.",
                        },
                        "serviceAccountName": {
                            "type": "string",
                            "maxLength": 253,
                            "description": "A service account of the QueueJob's own namespace, by its plain name.",
                        },
                        "volumes": volumes_schema(),
                    },
                },
            },
        })
    }
}

fn volumes_schema() -> Schema {
    json_schema!({
        "type": "array",
        "maxItems": MAX_VOLUMES,
        "description": "The volumes of the pod, of every kind but hostPath.",
        "items": {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": true,
            "x-kubernetes-validations": volume_rules(),
            "properties": {
                "hostPath": {
                    "type": "object",
                    "description": "Must be left out: a QueueJob's pods do not see the node's files.",
                    "x-kubernetes-preserve-unknown-fields": true,
                },
            },
        },
    })
}
