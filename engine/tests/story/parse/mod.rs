//! Reads a scenario, line by line, onto a snapshot.

mod cluster;
pub(crate) mod jobs;
mod pending;
mod pods;
mod queues;
mod words;

use std::collections::BTreeSet;
use std::mem;
use std::sync::Arc;

use quotient_engine::amounts::{Amounts, Resource};
use quotient_engine::names::{Namespace, NodeName, PodUid};
use quotient_engine::snapshot::{NamespaceState, Snapshot};
use quotient_engine::time::Timestamp;

use super::range;
pub(crate) use pending::OWNS;
use words::Words;

/// What a scenario says: how it begins, and what happens whenever it has come to rest.
pub(crate) struct Scenario {
    pub(crate) beginning: Snapshot,
    pub(crate) then: Vec<Then>,
}

/// Something that happens to a cluster at rest: time, and changed, new or deleted objects.
pub(crate) struct Then {
    /// How many seconds later.
    after: i64,
    lines: Vec<String>,
}

/// The snapshot that `scenario` describes; panics with the line that makes no sense.
pub(crate) fn parse(scenario: &str) -> Snapshot {
    let Scenario { beginning, then } = parts(scenario);
    assert!(then.is_empty(), "what happens then is nothing for a single snapshot");
    beginning
}

/// Everything that `scenario` describes; panics with the line that makes no sense.
pub(crate) fn parts(scenario: &str) -> Scenario {
    let mut beginning = Snapshot { now: Timestamp::from_seconds(1000), ..Snapshot::default() };
    let mut then: Vec<Then> = Vec::new();
    let lines = scenario.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    for line in lines.flat_map(range::unfolded) {
        let words = Words::of(&line);
        match (words.kind, then.last_mut()) {
            ("then", _) => {
                then.push(Then { after: words.number("after").unwrap_or(0), lines: Vec::new() });
            }
            (_, Some(last)) => last.lines.push(line),
            (_, None) => read(&mut beginning, &words),
        }
    }
    if beginning.settings.resources.is_empty() {
        beginning.settings.resources = offered(&beginning);
    }
    Scenario { beginning, then }
}

/// The resources of nodes that are there or may be added, which a scenario is about unless its settings say otherwise.
fn offered(snapshot: &Snapshot) -> BTreeSet<Resource> {
    let there = snapshot.nodes.values().map(|node| &node.allocatable);
    let offered = there.chain([&snapshot.settings.expandable]).flat_map(Amounts::iter);
    offered.map(|(resource, _)| resource.clone()).collect()
}

impl Then {
    /// What a told story says between the steps.
    pub(crate) fn announcement(&self) -> String {
        if self.after > 0 { format!("then, {} s later\n", self.after) } else { "then\n".to_owned() }
    }

    /// What the cluster looks like then.
    pub(crate) fn happen(&self, snapshot: &mut Snapshot) {
        snapshot.now = snapshot.now.plus_seconds(self.after);
        self.lines.iter().for_each(|line| put(snapshot, line));
    }
}

/// Puts what `lines` describe in place of what was there.
pub(crate) fn put(snapshot: &mut Snapshot, lines: &str) {
    lines.lines().for_each(|line| read(snapshot, &Words::of(line)));
}

/// Puts what one line describes in place of what was there.
fn read(snapshot: &mut Snapshot, words: &Words<'_>) {
    match words.kind {
        "now" => snapshot.now = Timestamp::from_seconds(words.name().parse().unwrap()),
        "settings" => {
            let mut settings = cluster::settings(words);
            if settings.resources.is_empty() {
                settings.resources = mem::take(&mut snapshot.settings.resources);
            }
            snapshot.settings = settings;
        }
        "node" => {
            snapshot.nodes.insert(NodeName::from(words.name()), Arc::new(cluster::node(words)));
        }
        // `namespace a org=research`, or `namespace a terminating`.
        "namespace" => {
            let labels = words.pairs().iter().copied().filter(|(word, _)| *word != "terminating");
            let state = state(snapshot, words.name());
            (state.labels, state.terminating) = (labels.collect(), words.has("terminating"));
        }
        "queue" => queues::put(state(snapshot, words.name()), queues::queue(words)),
        "quota" => state(snapshot, words.name()).quota = Some(queues::quota(words)),
        "foreign-quota" => {
            state(snapshot, words.name()).foreign_quotas =
                words.requests("").iter().map(|(resource, amount)| (resource.clone(), amount)).collect();
        }
        "pod" => {
            let (namespace, _) = words.path();
            let state = state(snapshot, namespace);
            if words.has("refused") {
                state.refused.insert(PodUid::from(words.name()));
            }
            pods::put(state, pods::pod(words));
        }
        "owner" => pending::put_owner(state(snapshot, words.path().0), pending::owner(words)),
        "queuejob" => jobs::put(state(snapshot, words.path().0), words),
        "task" => jobs::put_task(state(snapshot, words.path().0), words),
        "budget" => pending::put_budget(state(snapshot, words.path().0), pending::budget(words)),
        "delete" => delete(snapshot, words),
        other => panic!("unknown kind {other} in: {}", words.line),
    }
}

/// `delete node n1`, `delete queue a`, `delete quota a`, `delete pod a/p1`, `delete owner a/web`, `delete budget a/b`,
/// `delete queuejob a/train`.
fn delete(snapshot: &mut Snapshot, words: &Words<'_>) {
    let kind = words.name();
    let (path, _) = words.pairs()[0];
    if kind == "node" {
        snapshot.nodes.remove(&NodeName::from(path));
        return;
    }
    let (namespace, name) = path.split_once('/').unwrap_or((path, path));
    let state = state(snapshot, namespace);
    match kind {
        "queue" => state.queues.retain(|queue| &*queue.name != name),
        "quota" => state.quota = None,
        "pod" => state.pods.retain(|pod| pod.uid.as_str() != path),
        "owner" => state.owners.retain(|owner| &*owner.name != name),
        "queuejob" => {
            state.queue_jobs.retain(|job| &*job.name != name);
            state.owners.retain(|owner| owner.uid.as_str() != name);
        }
        "budget" => state.budgets.retain(|budget| &*budget.name != name),
        other => panic!("unknown kind {other} in: {}", words.line),
    }
}

fn state<'a>(snapshot: &'a mut Snapshot, namespace: &str) -> &'a mut NamespaceState {
    Arc::make_mut(snapshot.namespaces.entry(Namespace::from(namespace)).or_default())
}
