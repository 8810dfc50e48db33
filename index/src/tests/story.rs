//! A snapshot as text.

use std::fmt::Write;

use quotient_engine::amounts::Bounds;
use quotient_engine::snapshot::{NamespaceState, Pod, Queue, Quota, Snapshot};
use quotient_engine::time::Timestamp;

/// Everything in the snapshot, a line for each entry.
pub(super) fn tell(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    for (name, node) in &snapshot.nodes {
        let counts = if node.counts { "counts" } else { "does not count" };
        writeln!(text, "node {name}: {}; {counts}", node.allocatable).unwrap();
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
    let queues = state.queues.iter().map(queue);
    let quota = state.quota.iter().map(quota);
    let pods = state.pods.iter().map(pod);
    queues.chain(quota).chain(pods).collect()
}

fn queue(queue: &Queue) -> String {
    let Queue { name, uid, created, weight, request, guaranteed, limit, invalid } = queue;
    let start = format!("queue {name} ({uid}), created {}", time(*created));
    if let Some(problem) = invalid {
        return format!("{start}, invalid: {problem}");
    }
    let request = request.as_ref().map_or("everything".to_owned(), bounds);
    format!(
        "{start}: weight {weight}; request {request}; guaranteed {}; limit {}",
        bounds(guaranteed),
        bounds(limit)
    )
}

fn quota(quota: &Quota) -> String {
    let Quota { hard, enforced, unconfirmed } = quota;
    format!(
        "quota: hard {}; enforced {}; unconfirmed {}",
        bounds(hard),
        bounds(enforced),
        bounds(unconfirmed)
    )
}

fn pod(pod: &Pod) -> String {
    let Pod { uid, name, requests, node, phase, priority, created, started, deletion, immunity } = pod;
    let mut line = format!("pod {name} ({uid}): {requests}; {phase:?}, created {}", time(*created));
    if let Some(node) = node {
        write!(line, ", on {node}").unwrap();
    }
    if *priority != 0 {
        write!(line, ", priority {priority}").unwrap();
    }
    if let Some(started) = started {
        write!(line, ", started {}", time(*started)).unwrap();
    }
    if let Some(deletion) = deletion {
        write!(line, ", gone by {}", time(*deletion)).unwrap();
    }
    if let Some(immunity) = immunity {
        write!(line, ", {immunity:?}").unwrap();
    }
    line
}

fn bounds(bounds: &Bounds) -> String {
    let parts: Vec<String> =
        bounds.iter().map(|(resource, amount)| format!("{resource} {}", resource.format(amount))).collect();
    if parts.is_empty() { "-".to_owned() } else { parts.join(", ") }
}

/// The time of day, or `-` for the epoch, which stands for "not known".
fn time(timestamp: Timestamp) -> String {
    if timestamp == Timestamp::default() {
        return "-".to_owned();
    }
    jiff::Timestamp::from_millisecond(timestamp.millis()).unwrap().strftime("%T").to_string()
}
