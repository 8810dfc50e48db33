//! Nodes that are full, the set-up of most questions of which pods go.

use std::collections::BTreeMap;

use quotient_engine::amounts::Amounts;
use quotient_engine::names::NodeName;
use quotient_engine::snapshot::Snapshot;

use super::{explained, parse};

/// The kinds of lines that [`full`] takes as they are.
const KINDS: [&str; 7] = ["budget", "node", "owner", "pod", "queue", "quota", "settings"];

/// Asserts which pods of `a` are evicted for a queue `b` of these words, and what else is told: `web-3..2; web-1 kept: Budget`.
///
/// Queue `a` asks for what `b` leaves, and its pods fill the nodes of these lines ([`full`]). `keep` is the last replica of `w`.
#[track_caller]
pub(crate) fn reclaims(b: &str, lines: &str, expected: &str) {
    let scenario = full(&format!(
        "queue a weight=0 request=all; queue b {b}; keep cpu=0 started=1 priority=99; {lines}"
    ));
    let explained = explained(&scenario);
    let told: Vec<String> = explained.lines().map(told).collect();
    assert_eq!(told.join("; "), expected, "{scenario}");
}

/// `evict a/web-2 for b: Reclaimed` as `web-2`, and `spare a/web-1: Budget` as `web-1 kept: Budget`.
fn told(line: &str) -> String {
    let evicted = line.strip_prefix("evict a/").and_then(|rest| rest.strip_suffix(" for b: Reclaimed"));
    let spared = line.strip_prefix("spare a/").and_then(|rest| rest.split_once(": "));
    match (evicted, spared) {
        (Some(pods), _) => pods.to_owned(),
        (_, Some((pods, reason))) => format!("{pods} kept: {reason}"),
        _ => line.to_owned(),
    }
}

/// A story of these lines, which a `;` ends too. A node that says no size has the size of the pods on it.
///
/// A line of no kind is a pod of `a`: of 1 cpu and the owner `w`, started at 10 on the node `n1`, unless it says otherwise.
pub(crate) fn full(lines: &str) -> String {
    let lines = lines.split([';', '\n']).map(str::trim).filter(|line| !line.is_empty());
    let mut lines: Vec<String> = lines.map(with_defaults).collect();
    for (node, used) in used(&parse(&lines.join("\n"))) {
        let size = used.iter().map(|(one, amount)| format!(" {}={}", one.name(), one.format(amount)));
        let size: String = size.collect();
        let is_it =
            |line: &&mut String| line.starts_with("node ") && line.split(' ').nth(1) == Some(node.as_str());
        match lines.iter_mut().find(is_it) {
            Some(line) if [" cpu=", " gpu="].into_iter().any(|size| line.contains(size)) => {}
            Some(line) => line.push_str(&size),
            None => lines.push(format!("node {node}{size}")),
        }
    }
    lines.join("\n")
}

fn with_defaults(line: &str) -> String {
    let says = |name: &str| line.split_whitespace().any(|word| word.split('=').next() == Some(name));
    if KINDS.into_iter().any(|kind| line.split(' ').next() == Some(kind)) {
        return line.to_owned();
    }
    let mut pod = format!("pod a/{line}");
    for (name, default) in [("cpu", "1"), ("owner", "w"), ("started", "10"), ("node", "n1")] {
        let has_none = name == "node" && says("pending");
        if !says(name) && !has_none {
            pod.extend([" ", name, "=", default]);
        }
    }
    pod
}

/// What the pods on each node request.
fn used(snapshot: &Snapshot) -> BTreeMap<NodeName, Amounts> {
    let mut used: BTreeMap<NodeName, Amounts> = BTreeMap::new();
    for pod in snapshot.namespaces.values().flat_map(|state| &state.pods) {
        if let Some(node) = &pod.node {
            used.entry(node.clone()).or_default().add_all(pod.requests());
        }
    }
    used
}
