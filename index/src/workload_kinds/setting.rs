//! The setting that names further workload kinds.

use quotient_snapshot::{ConfiguredKind, OwnerKind};
use serde::Deserialize;

use super::field_path::FieldPath;

/// The API groups whose workloads Quotient knows by itself.
const KNOWN_GROUPS: [&str; 3] = ["apps", "batch", "quotient.dev"];

/// A kind of objects that create pods, and where each object says how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadKind {
    /// The API group, such as `ray.io`.
    pub group: String,
    /// The version, such as `v1`.
    pub version: String,
    /// The plural as URLs name it, such as `rayclusters`.
    pub plural: String,
    /// What metrics and logs call it: `plural.version.group`.
    pub name: &'static str,
    pub(super) kind: &'static ConfiguredKind,
    pub(super) pods: Vec<PodPaths>,
}

/// Where objects of a kind say how many pods of which template they create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PodPaths {
    /// The number; one pod for each template if left out.
    pub(super) replicas: Option<FieldPath>,
    pub(super) template: FieldPath,
}

/// One entry of the setting. Several entries of one kind add up.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    group: String,
    version: String,
    kind: String,
    plural: String,
    replicas_path: Option<FieldPath>,
    template_path: FieldPath,
}

/// Why the setting cannot be used; names the entry by its number, from 1.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WorkloadKindError(String);

impl WorkloadKind {
    /// Reads the setting, a JSON list. An empty text is an empty list.
    ///
    /// The names of the kinds live as long as the process.
    pub fn read_setting(text: &str) -> Result<Vec<Self>, WorkloadKindError> {
        let entries: serde_json::Result<Vec<Entry>> =
            if text.trim().is_empty() { Ok(Vec::new()) } else { serde_json::from_str(text) };
        let entries = entries.map_err(|error| WorkloadKindError(format!("read the list: {error}")))?;
        let mut kinds: Vec<Self> = Vec::new();
        for (number, entry) in (1_usize..).zip(entries) {
            let wrong = |problem: String| WorkloadKindError(format!("entry {number}: {problem}"));
            entry.check().map_err(wrong)?;
            let paths = PodPaths { replicas: entry.replicas_path, template: entry.template_path };
            let same = |kind: &&mut Self| kind.group == entry.group && kind.kind.name == entry.kind;
            match kinds.iter_mut().find(same) {
                Some(kind) if kind.version == entry.version && kind.plural == entry.plural => {
                    kind.pods.push(paths);
                }
                Some(_) => {
                    let Entry { kind, group, .. } = entry;
                    return Err(wrong(format!(
                        "an earlier entry names kind {kind} of {group} with another version or plural"
                    )));
                }
                None => kinds.push(Self {
                    kind: Box::leak(Box::new(ConfiguredKind {
                        api_version: format!("{}/{}", entry.group, entry.version).leak(),
                        name: entry.kind.leak(),
                    })),
                    name: format!("{}.{}.{}", entry.plural, entry.version, entry.group).leak(),
                    group: entry.group,
                    version: entry.version,
                    plural: entry.plural,
                    pods: vec![paths],
                }),
            }
        }
        Ok(kinds)
    }

    /// The kind as manifests name it.
    pub const fn kind(&self) -> &'static str {
        self.kind.name
    }

    /// Its objects as owners.
    pub(super) const fn owner_kind(&self) -> OwnerKind {
        OwnerKind::Configured(self.kind)
    }

    /// The API version, such as `ray.io/v1`.
    pub const fn api_version(&self) -> &'static str {
        self.kind.api_version
    }
}

impl Entry {
    fn check(&self) -> Result<(), String> {
        let names = [
            ("group", &self.group),
            ("version", &self.version),
            ("kind", &self.kind),
            ("plural", &self.plural),
        ];
        let is_name = |text: &str| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-')
        };
        if let Some((field, text)) = names.into_iter().find(|(_, text)| !is_name(text)) {
            return Err(format!("{field} is {text:?}: write letters, digits, dots and hyphens"));
        }
        let group = &self.group;
        if KNOWN_GROUPS.contains(&group.as_str()) {
            return Err(format!("Quotient knows the workloads of {group} without configuration"));
        }
        let template = &self.template_path;
        match &self.replicas_path {
            // The numbers cannot be matched with the templates.
            Some(replicas) if replicas.lists() != template.lists() => Err(format!(
                "replicasPath {replicas} and templatePath {template} have different numbers of [*]"
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn entry(more: &Value) -> Value {
        let mut entry = json!({
            "group": "example.org", "version": "v1", "kind": "Fleet", "plural": "fleets",
            "templatePath": "spec.template",
        });
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        entry
    }

    #[test]
    fn entries_of_one_kind_are_one_kind() {
        assert_eq!(WorkloadKind::read_setting(" ").unwrap(), []);
        let text = json!([
            entry(&json!({"replicasPath": "spec.size"})),
            entry(&json!({"kind": "Other", "plural": "others"})),
            entry(&json!({"templatePath": "spec.head"})),
        ]);
        let kinds = WorkloadKind::read_setting(&text.to_string()).unwrap();
        let read: Vec<_> =
            kinds.iter().map(|kind| (kind.name, kind.api_version(), kind.pods.len())).collect();
        assert_eq!(
            read,
            [("fleets.v1.example.org", "example.org/v1", 2), ("others.v1.example.org", "example.org/v1", 1)]
        );
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        for (entries, expected) in [
            (json!({}), "read the list: "),
            (json!([entry(&json!({"replicas": 1}))]), "unknown field `replicas`"),
            (json!([entry(&json!({"templatePath": "spec[0]"}))]), "read path \"spec[0]\""),
            (json!([entry(&json!({"group": ""}))]), "entry 1: group is \"\""),
            (json!([entry(&json!({"plural": "a/b"}))]), "entry 1: plural is \"a/b\""),
            (json!([entry(&json!({"group": "apps"}))]), "entry 1: Quotient knows the workloads of apps"),
            (
                json!([entry(&json!({})), entry(&json!({"version": "v2"}))]),
                "entry 2: an earlier entry names kind Fleet of example.org",
            ),
            (
                json!([entry(&json!({"replicasPath": "spec.groups[*].size"}))]),
                "entry 1: replicasPath spec.groups[*].size and templatePath spec.template have different",
            ),
        ] {
            let error = WorkloadKind::read_setting(&entries.to_string()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
