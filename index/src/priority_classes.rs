//! Priority classes: which number a name stands for, where admission has not resolved it yet.
//!
//! A pod carries its priority; the template of an owner mostly carries only the name of a class.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::PodSpec;

use crate::meta::Meta;

/// The classes that every API server creates for itself; manifests rarely repeat them.
const BUILT_IN: [(&str, i32); 2] =
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];

/// How the template of an owner asks for a priority.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum AskedPriority {
    /// By its number.
    Number(i32),
    /// By the name of a class.
    Class(Arc<str>),
    /// Not at all.
    #[default]
    Default,
}

impl AskedPriority {
    /// What `spec` asks for.
    pub(crate) fn of(spec: &PodSpec) -> Self {
        let class = spec.priority_class_name.as_deref().filter(|class| !class.is_empty());
        match (spec.priority, class) {
            (Some(number), _) => Self::Number(number),
            (None, Some(class)) => Self::Class(class.into()),
            (None, None) => Self::Default,
        }
    }
}

/// Every PriorityClass that the API server knows: a handful.
#[derive(Debug, Default)]
pub(crate) struct PriorityClasses(pub(crate) BTreeMap<Arc<str>, Class>);

#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) meta: Meta,
    pub(crate) value: i32,
    pub(crate) is_default: bool,
}

impl PriorityClasses {
    /// The number that admission would give a pod that asks like this; 0 for a class that does not exist, of which
    /// admission would let no pod in.
    pub(crate) fn resolve(&self, asked: &AskedPriority) -> i32 {
        match asked {
            AskedPriority::Number(number) => *number,
            AskedPriority::Class(name) => {
                let built_in = || BUILT_IN.into_iter().find(|(class, _)| *class == &**name);
                let known = self.0.get(name).map(|class| class.value);
                known.or_else(|| built_in().map(|(_, value)| value)).unwrap_or_default()
            }
            // Of several defaults admission takes the lowest.
            AskedPriority::Default => {
                let defaults = self.0.values().filter(|class| class.is_default);
                defaults.map(|class| class.value).min().unwrap_or_default()
            }
        }
    }
}
