//! A snapshot as text.

use std::fmt::Write;

use quotient_engine::amounts::Bounds;
use quotient_engine::labels::Labels;
use quotient_engine::snapshot::{LastReplica, NamespaceState, Pod, Policy, Queue, Quota, Snapshot};
use quotient_engine::time::Timestamp;

/// Everything in the snapshot, a line for each entry.
pub(super) fn tell(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    for (name, node) in &snapshot.nodes {
        let counts = if node.counts { "counts" } else { "does not count" };
        writeln!(text, "node {name}: {}; {counts}", node.allocatable).unwrap();
    }
    for (name, state) in &snapshot.namespaces {
        let labels = &state.labels;
        let labelled = if *labels == Labels::default() { String::new() } else { format!(", {labels:?}") };
        writeln!(text, "namespace {name}{labelled}").unwrap();
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
    let Queue { name, uid, created, weight, request, guaranteed, limit, invalid, .. } = queue;
    let start = format!("queue {name} ({uid}), created {}", time(*created));
    if let Some(problem) = invalid {
        let kind = if queue.children.is_some() { "invalid parent" } else { "invalid" };
        return format!("{start}, {kind}: {problem}");
    }
    let request = request.as_ref().map_or("everything".to_owned(), bounds);
    format!(
        "{start}: weight {weight}; request {request}; guaranteed {}; limit {}{}",
        bounds(guaranteed),
        bounds(limit),
        place(queue)
    )
}

/// What a Queue says of the tree and of preemption beyond the defaults.
fn place(queue: &Queue) -> String {
    let Queue { parent, children, policy, min_runtime_seconds, last_replica, .. } = queue;
    let mut text = String::new();
    if let Some(parent) = parent {
        write!(text, "; parent {parent}").unwrap();
    }
    if let Some(children) = children {
        write!(text, "; children {children:?}").unwrap();
    }
    if *policy != Policy::Default {
        write!(text, "; {policy:?}").unwrap();
    }
    if *last_replica != LastReplica::LastResort {
        write!(text, "; last replica {last_replica:?}").unwrap();
    }
    if *min_runtime_seconds > 0 {
        write!(text, "; left alone for {min_runtime_seconds}s").unwrap();
    }
    text
}

fn quota(quota: &Quota) -> String {
    let Quota { hard, enforced, ours, unconfirmed, goes_with_queue: _ } = quota;
    let whose = if *ours { "quota" } else { "foreign quota" };
    format!(
        "{whose}: hard {}; enforced {}; unconfirmed {}",
        bounds(hard),
        bounds(enforced),
        bounds(unconfirmed)
    )
}

fn pod(pod: &Pod) -> String {
    let Pod {
        uid,
        name,
        shape,
        ties,
        node,
        phase,
        priority,
        created,
        started,
        deletion,
        stuck: _,
        immunity,
        reluctant,
        forced: _,
    } = pod;
    let requests = &shape.requests;
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
    if *reluctant {
        write!(line, ", goes last").unwrap();
    }
    if let Some(owner) = &ties.owner {
        write!(line, ", of {owner}").unwrap();
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
