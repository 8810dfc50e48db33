//! The parts of objects that decisions and explanations depend on. What is beside them is left out while objects are read, where
//! it can be larger than the rest, and where a snapshot is redacted.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// A part of an object of which not every field is wanted.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    Object,
    Pod,
    Node,
    NodeStatus,
    Metadata,
    /// Decisions depend on the account of the operator, on its flags, and on the variables that stand for them.
    PodSpec {
        of_operator: bool,
    },
    Container {
        of_operator: bool,
    },
    PodStatus,
    ContainerStatus,
    /// The states of a container by their names.
    ContainerStates,
    ContainerState,
}

/// What to do with a field.
enum Field {
    LeftOut,
    Whole,
    /// A part, or a list of such parts.
    Parts(Part),
}

impl Part {
    /// The object of the kind of this name.
    pub(crate) fn of(kind: &str) -> Self {
        match kind {
            "Pod" => Self::Pod,
            "Node" => Self::Node,
            _ => Self::Object,
        }
    }

    /// What is wanted of `value`; nothing if it is no object.
    pub(super) fn only(self, value: &Value) -> Value {
        self.deserialize(value).unwrap_or_default()
    }

    #[expect(clippy::match_same_arms, reason = "a table: one part after the other")]
    fn field(self, name: &str) -> Field {
        use Field::{LeftOut, Parts, Whole};
        match (self, name) {
            (Self::Object | Self::Pod | Self::Node, "metadata") => Parts(Self::Metadata),
            (Self::Metadata, "managedFields") => LeftOut,
            (Self::Node, "status") => Parts(Self::NodeStatus),
            (Self::NodeStatus, "allocatable" | "capacity" | "conditions") => Whole,
            (Self::Pod, "spec") => Parts(Self::PodSpec { of_operator: false }),
            (Self::PodSpec { of_operator }, "containers" | "initContainers" | "ephemeralContainers") => {
                Parts(Self::Container { of_operator })
            }
            // The rights of this account are reviewed.
            (Self::PodSpec { of_operator: true }, "serviceAccountName") => Whole,
            // These may name secrets, files and addresses.
            (
                Self::PodSpec { .. },
                "volumes" | "imagePullSecrets" | "hostAliases" | "dnsConfig" | "serviceAccount"
                | "serviceAccountName" | "securityContext" | "subdomain",
            ) => LeftOut,
            (Self::Container { .. }, "name" | "resources" | "restartPolicy" | "resizePolicy") => Whole,
            (Self::Container { of_operator: true }, "args" | "env") => Whole,
            (Self::Pod, "status") => Parts(Self::PodStatus),
            (
                Self::PodStatus,
                "containerStatuses" | "initContainerStatuses" | "ephemeralContainerStatuses",
            ) => Parts(Self::ContainerStatus),
            (Self::ContainerStatus, "name" | "resources" | "allocatedResources" | "ready") => Whole,
            (Self::ContainerStatus, "state" | "lastState") => Parts(Self::ContainerStates),
            (Self::ContainerStates, _) => Parts(Self::ContainerState),
            // A message may hold the output of the container.
            (Self::ContainerState, "reason" | "exitCode" | "startedAt" | "finishedAt") => Whole,
            (Self::NodeStatus | Self::Container { .. } | Self::ContainerStatus | Self::ContainerState, _) => {
                LeftOut
            }
            _ => Whole,
        }
    }
}

/// Reads the wanted fields of a part, or of each part in a list.
impl<'de> DeserializeSeed<'de> for Part {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object or a list of objects")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut wanted = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            let value = match self.field(&name) {
                Field::LeftOut => fields.next_value::<IgnoredAny>().map(|_| None),
                Field::Whole => fields.next_value().map(Some),
                Field::Parts(part) => fields.next_value_seed(part).map(Some),
            };
            wanted.extend(value?.map(|value| (name, value)));
        }
        Ok(Value::Object(wanted))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        std::iter::from_fn(|| items.next_element_seed(self).transpose()).collect()
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}
