//! A snapshot as text: of every entry the fields that are not as usual, under the names that they have.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use quotient_snapshot::amounts::{Bounds, Resource};
use quotient_snapshot::labels::Labels;
use quotient_snapshot::time::Timestamp;
use quotient_snapshot::{
    Budget, NamespaceState, Node, Owner, Pod, Queue, QueueJob, Quota, ScaleTarget, ScaleTargetKind, Size,
    Snapshot,
};
use serde::Serialize;
use serde_yaml_ng::{Mapping, Value};

/// The nodes and the namespaces of the snapshot, a line for each entry.
pub(super) fn describe(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    for (name, node) in &snapshot.nodes {
        writeln!(text, "node {name}: {}", told(&**node, &Node::default())).unwrap();
    }
    for (name, state) in &snapshot.namespaces {
        writeln!(text, "namespace {name}").unwrap();
        for line in contents(state) {
            writeln!(text, "  {line}").unwrap();
        }
    }
    text
}

fn contents(state: &NamespaceState) -> Vec<String> {
    let NamespaceState { labels, queues, vacant, terminating, quota, pods, .. } = state;
    let NamespaceState { owners, queue_jobs, budgets, foreign_quotas, refused, .. } = state;
    let all = [
        ("labels", each([labels], |_| Labels::default())),
        ("vacant", each([vacant], |_| false)),
        ("terminating", each([terminating], |_| false)),
        ("queue", each(queues, |_| Queue { weight: 1, ..Queue::default() })),
        ("quota", each(quota, |_| Quota::default())),
        ("others allow", each([foreign_quotas], |_| Bounds::new())),
        ("owner", each(owners, usual_owner)),
        ("queue job", each(queue_jobs, |_| QueueJob::default())),
        ("budget", each(budgets, |_| Budget::default())),
        ("pod", each(pods, |_| Pod { grace_seconds: 30, ..Pod::default() })),
        ("refused", each([refused], |_| BTreeSet::new())),
    ];
    let lines = all.into_iter().flat_map(|(kind, told)| told.into_iter().map(move |told| (kind, told)));
    lines.map(|(kind, told)| format!("{kind} {told}")).collect()
}

/// One that says its own size.
fn usual_owner(owner: &Owner) -> Owner {
    let kinds = [ScaleTargetKind::ReplicaSet, ScaleTargetKind::StatefulSet, ScaleTargetKind::Job];
    let kind = kinds.into_iter().find(|kind| kind.name() == owner.kind.name());
    let (name, uid) = (owner.name.clone(), owner.uid.clone());
    let scale_target = kind.map(|kind| ScaleTarget { kind, name, uid });
    let written = if scale_target.is_some() { owner.wanted } else { 0 };
    Owner { size: Size { scale_target, written, ..Size::default() }, ..Owner::default() }
}

/// What of each of these is not as usual, if anything is.
fn each<'a, T: Serialize + 'a>(all: impl IntoIterator<Item = &'a T>, usual: impl Fn(&T) -> T) -> Vec<String> {
    all.into_iter().map(|one| told(one, &usual(one))).filter(|told| !told.is_empty()).collect()
}

/// What of `one` is not as usual: behind its name, if it has one.
pub(super) fn told<T: Serialize>(one: &T, usual: &T) -> String {
    let [mut one, usual] = [one, usual].map(|value| serde_yaml_ng::to_value(value).unwrap());
    let Value::Mapping(fields) = &mut one else { return difference(&one, &usual).unwrap_or_default() };
    let name = fields.remove("name").map(|name| format!("{}: ", plain(&name)));
    name.unwrap_or_default() + &differences(fields, &usual)
}

fn differences(fields: &Mapping, usual: &Value) -> String {
    let texts = fields.iter().filter_map(|(name, value)| {
        let text = difference(value, usual.get(name).unwrap_or(&Value::Null))?;
        let resource = serde_yaml_ng::from_value::<Resource>(name.clone());
        let name = resource.map_or_else(|_| plain(name), |resource| resource.to_string());
        Some(if *value == Value::Bool(true) { name } else { format!("{name} {text}") })
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// What `value` says, if that is not as usual.
fn difference(value: &Value, usual: &Value) -> Option<String> {
    let text = match value {
        Value::Mapping(fields) if usual.is_mapping() => format!("{{{}}}", differences(fields, usual)),
        value => plain(value),
    };
    (value != usual).then_some(text)
}

fn plain(value: &Value) -> String {
    let special = amounts(value).or_else(|| time(value));
    special.unwrap_or_else(|| match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Sequence(all) => format!("[{}]", all.iter().map(plain).collect::<Vec<_>>().join(", ")),
        Value::Mapping(fields) => format!("{{{}}}", differences(fields, &Value::Null)),
        Value::Tagged(one) => {
            format!("{} {}", one.tag.to_string().trim_start_matches('!'), plain(&one.value))
        }
        Value::Bool(_) | Value::Number(_) => serde_yaml_ng::to_string(value).unwrap().trim().to_owned(),
    })
}

/// Amounts of resources, such as `{cpu 1500m, memory 9Gi}`.
fn amounts(value: &Value) -> Option<String> {
    let bounds: Bounds = serde_yaml_ng::from_value(value.clone()).ok()?;
    if bounds.is_empty() {
        return None;
    }
    let texts = bounds.iter().map(|(resource, amount)| format!("{resource} {}", resource.format(amount)));
    Some(format!("{{{}}}", texts.collect::<Vec<_>>().join(", ")))
}

/// The time of day, or `-` for the epoch, which stands for "not known". No other number is as large.
fn time(value: &Value) -> Option<String> {
    value.as_u64().filter(|number| number >> 62 > 0)?;
    let time: Timestamp = serde_yaml_ng::from_value(value.clone()).unwrap();
    let text = jiff::Timestamp::from_millisecond(time.millis()).unwrap().strftime("%T").to_string();
    Some(if time == Timestamp::default() { "-".to_owned() } else { text })
}
