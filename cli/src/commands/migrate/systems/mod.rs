//! The other systems: which kinds they have, what becomes of their fields, and how their queues relate to namespaces.

#![allow(
    clippy::unnecessary_wraps,
    reason = "all have one signature, and YuniKorn's queues are a text that may be wrong"
)]

mod capsule;
mod hnc;
mod kai;
mod kueue;
mod resource_quotas;
mod volcano;
mod yunikorn;

use clap::ValueEnum as _;
use quotient_engine::amounts::Bounds;
use serde_json::Value;

pub(crate) use kueue::QUEUE_NAME as KUEUE_QUEUE_NAME;

use super::SystemName;
use super::draft::{Draft, Reading};
use super::fields::{Keys, Object, Objects};
use super::tree::Drafts;
use crate::objects::ApiKind;

/// One other system.
#[derive(Debug)]
pub(super) struct System {
    /// The word of the command line.
    pub(super) name: &'static str,
    /// The labels and annotations by which its namespaces and pods are known.
    pub(super) signs: &'static [&'static str],
    /// What is read of a cluster.
    pub(super) kinds: &'static [ApiKind],
    /// What becomes of the fields, as YAML.
    pub(super) fields: &'static str,
    /// Adds its queues; the error says which object cannot be read.
    pub(super) draft: fn(&mut Drafts, &Objects<'_>, &Reading) -> Result<(), String>,
}

impl SystemName {
    pub(super) const fn system(self) -> &'static System {
        match self {
            Self::Resourcequota => &resource_quotas::SYSTEM,
            Self::Kueue => &kueue::SYSTEM,
            Self::Volcano => &volcano::SYSTEM,
            Self::Kai => &kai::SYSTEM,
            Self::Yunikorn => &yunikorn::SYSTEM,
            Self::Hnc => &hnc::SYSTEM,
            Self::Capsule => &capsule::SYSTEM,
        }
    }
}

/// The system whose label or annotation `key` is, by its word of the command line.
pub(crate) fn system_of_sign(key: &str) -> Option<&'static str> {
    let mut systems = SystemName::value_variants().iter().map(|name| name.system());
    let sign = systems.find(|system| system.signs.contains(&key)).map(|system| system.name);
    sign.or_else(|| key.ends_with(hnc::DEPTH).then_some(hnc::SYSTEM.name))
}

/// The draft of this name, and a new one if there is none.
fn entry<'d>(drafts: &'d mut Drafts, name: &str, origin: impl FnOnce() -> String) -> &'d mut Draft {
    drafts.entry(name.to_owned()).or_insert_with(|| Draft::of(origin()))
}

/// The items of a list; none where there is no list.
fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Adds further amounts to those that are stated.
fn add(bounds: &mut Bounds, more: &Bounds) {
    for (resource, amount) in more.iter() {
        let known = bounds.get(resource).unwrap_or_default();
        bounds.set(resource.clone(), known + amount);
    }
}

/// Adds to each queue the namespaces of the objects that name it.
fn add_namespaces<'s>(drafts: &mut Drafts, users: impl Iterator<Item = (&'s str, &'s str)>) {
    for (queue, namespace) in users.filter(|(_, namespace)| !namespace.is_empty()) {
        if let Some(draft) = drafts.get_mut(queue) {
            draft.namespaces.insert(namespace.to_owned());
        }
    }
}
