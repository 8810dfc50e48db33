//! Queues of Apache `YuniKorn`: `queues.yaml` in a ConfigMap, and annotations of namespaces.

use quotient_engine::amounts::Resource;
use serde_json::{Value, json};

use super::{Draft, Drafts, Object, Objects, Reading, System, entry, list};
use crate::objects::ApiKind;

/// The ConfigMap and the file in it.
const CONFIG: &str = "yunikorn-configs";
const FILE: &str = "queues.yaml";

const PREFIX: &str = "yunikorn.apache.org/";

pub(super) const SYSTEM: System = System {
    name: "yunikorn",
    signs: &["yunikorn.apache.org/queue"],
    kinds: &[ApiKind {
        field_selector: "metadata.name=yunikorn-configs",
        ..ApiKind::new("v1", "ConfigMap", "configmaps")
    }],
    fields: include_str!("yunikorn.yaml"),
    draft,
};

fn draft(drafts: &mut Drafts, objects: &Objects<'_>, reading: &Reading) -> Result<(), String> {
    for config in objects.of_kind("", "ConfigMap").filter(|config| config.name == CONFIG) {
        let text = config.value.get("data").and_then(|data| data.get(FILE)).and_then(Value::as_str);
        let text = text.ok_or_else(|| format!("{}: data has no {FILE}", config.origin()))?;
        let read: Value = serde_yaml_ng::from_str(text)
            .map_err(|error| format!("{}: read {FILE}: {error}", config.origin()))?;
        for partition in list(read.get("partitions")) {
            of_partition(drafts, reading, partition);
        }
    }
    for namespace in objects.of_kind("", "Namespace") {
        of_namespace(drafts, reading, namespace)?;
    }
    // There is no weight: the rest of the cluster is divided as what is guaranteed.
    for draft in drafts.values_mut() {
        let cpu = draft.guaranteed.get(&Resource::Cpu).filter(|cpu| cpu.is_positive());
        draft.weight = cpu.map(|cpu| Resource::Cpu.quantity(cpu));
    }
    Ok(())
}

/// The fields of an object but for those that are walked.
fn fields(object: &Value) -> Vec<&str> {
    let all = object.as_object().into_iter().flat_map(|fields| fields.keys());
    all.map(String::as_str).filter(|name| *name != "queues").collect()
}

/// What holds for a whole partition, and for the queue above all others, is reported with the first queue.
fn of_partition(drafts: &mut Drafts, reading: &Reading, partition: &Value) {
    let mut head = Draft::of("partition".to_owned());
    head.read_as(reading, "partition", "partition", partition, &fields(partition));
    let mut tops: Vec<&Value> = Vec::new();
    for queue in list(partition.get("queues")) {
        if name(queue) == "root" {
            head.read_as(reading, "queue", "queue root", queue, &fields(queue));
            tops.extend(list(queue.get("queues")));
        } else {
            tops.push(queue);
        }
    }
    let first = tops.first().map(|queue| name(queue).to_owned());
    for queue in tops {
        of_queue(drafts, reading, queue, None);
    }
    if let Some(draft) = first.and_then(|first| drafts.get_mut(&first)) {
        draft.unmapped.append(&mut head.unmapped);
    }
}

fn name(queue: &Value) -> &str {
    queue.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn of_queue(drafts: &mut Drafts, reading: &Reading, queue: &Value, parent: Option<&str>) {
    let path = parent.map_or_else(|| name(queue).to_owned(), |parent| format!("{parent}.{}", name(queue)));
    let draft = entry(drafts, &path, || format!("queue root.{path}"));
    let origin = draft.origin.clone();
    draft.read_as(reading, "queue", &origin, queue, &fields(queue));
    draft.parent = parent.map(str::to_owned);
    draft.is_parent = queue.get("parent").and_then(Value::as_bool).unwrap_or_default();
    for child in list(queue.get("queues")) {
        of_queue(drafts, reading, child, Some(&path));
    }
}

/// The annotations of a namespace that has its own queue.
fn of_namespace(drafts: &mut Drafts, reading: &Reading, namespace: Object<'_>) -> Result<(), String> {
    let annotation = |name: &str| namespace.metadata("annotations", &format!("{PREFIX}{name}"));
    let parsed = |name: &str| match annotation(name) {
        Some(text) => serde_json::from_str::<Value>(text)
            .map_err(|error| format!("{}: read annotation {PREFIX}{name}: {error}", namespace.origin())),
        None => Ok(Value::Null),
    };
    let (guaranteed, quota) = (parsed("namespace.guaranteed")?, parsed("namespace.quota")?);
    let (cpu, memory) = (annotation("namespace.max.cpu"), annotation("namespace.max.memory"));
    let parent = annotation("parentqueue");
    let says_nothing = guaranteed.is_null() && quota.is_null() && cpu.is_none() && memory.is_none();
    if says_nothing && parent.is_none() {
        return Ok(());
    }
    let parent = parent.map(|path| path.trim_start_matches("root.")).filter(|path| *path != "root");
    let object = json!({"guaranteed": guaranteed, "max": quota});
    let older = json!({"max": {"cpu": cpu, "memory": memory}});
    let path =
        parent.map_or_else(|| namespace.name.to_owned(), |parent| format!("{parent}.{}", namespace.name));
    let draft = entry(drafts, &path, || namespace.origin());
    draft.namespaces.insert(namespace.name.to_owned());
    draft.parent = draft.parent.take().or_else(|| parent.map(str::to_owned));
    draft.read_as(reading, "namespace", &namespace.origin(), &object, &["guaranteed", "max"]);
    draft.read_as(reading, "namespace", &namespace.origin(), &older, &["max"]);
    Ok(())
}
