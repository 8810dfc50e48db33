//! Reads a scenario.

use std::collections::BTreeMap;
use std::sync::Arc;

use quotient_engine::amounts::{Amount, Amounts, Bounds, Quantity, Resource};
use quotient_engine::labels::{Labels, Requirement, Selector};
use quotient_engine::names::{Namespace, NodeName, OwnerUid, PodName, PodUid, QueueName, QueueUid};
use quotient_engine::snapshot::{
    Acceptance, Immunity, LastReplica, NamespaceState, Node, Phase, Pod, Policy, Queue, Quota, Settings,
    Shape, Snapshot, Ties,
};
use quotient_engine::time::Timestamp;

/// The snapshot that `scenario` describes; panics with the line that makes no sense.
pub(crate) fn parse(scenario: &str) -> Snapshot {
    let mut snapshot =
        Snapshot { now: Timestamp::from_seconds(1000), settings: Settings::default(), ..Snapshot::default() };
    let mut namespaces: BTreeMap<Namespace, NamespaceState> = BTreeMap::new();
    for line in scenario.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let kind = words.next().unwrap();
        let name = words.next().unwrap_or_else(|| panic!("no name in: {line}"));
        let words: Vec<(&str, &str)> = words.map(|word| word.split_once('=').unwrap_or((word, ""))).collect();
        match kind {
            "node" => {
                let counts = !words.iter().any(|(word, _)| *word == "cordoned");
                let node = Node { allocatable: requests(&words, &["cordoned"]), counts, ..Node::default() };
                snapshot.nodes.insert(NodeName::from(name), Arc::new(node));
            }
            "queue" => namespaces.entry(name.into()).or_default().queues.push(queue(name, &words)),
            "namespace" => {
                namespaces.entry(name.into()).or_default().labels = words.iter().copied().collect::<Labels>();
            }
            "quota" => namespaces.entry(name.into()).or_default().quota = Some(quota(&words)),
            "pod" => {
                let (namespace, _) =
                    name.split_once('/').unwrap_or_else(|| panic!("namespace/name in: {line}"));
                namespaces.entry(namespace.into()).or_default().pods.push(pod(name, &words));
            }
            other => panic!("unknown kind {other} in: {line}"),
        }
    }
    snapshot.namespaces = namespaces.into_iter().map(|(name, state)| (name, Arc::new(state))).collect();
    snapshot
}

fn amount(resource: &Resource, text: &str) -> Amount {
    resource.rounded_up(text.parse::<Quantity>().unwrap_or_else(|error| panic!("{text}: {error}")))
}

fn resource(word: &str) -> Resource {
    Resource::from_name(if word == "gpu" { "nvidia.com/gpu" } else { word })
}

/// `cpu:5,memory:10Gi`, or nothing.
fn bounds(text: &str) -> Bounds {
    text.split(',')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once(':').unwrap_or_else(|| panic!("resource:amount in {pair}"));
            let resource = resource(name);
            let amount = amount(&resource, value);
            (resource, amount)
        })
        .collect()
}

/// Every `resource=amount` but the words that mean something else.
fn requests(words: &[(&str, &str)], others: &[&str]) -> Amounts {
    words
        .iter()
        .filter(|(word, _)| !others.contains(word))
        .map(|(word, value)| {
            let resource = resource(word);
            let amount = amount(&resource, value);
            (resource, amount)
        })
        .collect()
}

fn value<'a>(words: &[(&str, &'a str)], name: &str) -> Option<&'a str> {
    words.iter().find(|(word, _)| *word == name).map(|(_, value)| *value)
}

fn number(words: &[(&str, &str)], name: &str) -> Option<i64> {
    value(words, name).map(|text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

fn queue(namespace: &str, words: &[(&str, &str)]) -> Queue {
    let name = value(words, "name").unwrap_or(namespace);
    Queue {
        uid: QueueUid::from(format!("{namespace}/{name}").as_str()),
        name: name.into(),
        created: Timestamp::from_seconds(number(words, "created").unwrap_or(0)),
        weight: number(words, "weight").map_or(1, |weight| weight.try_into().unwrap()),
        request: value(words, "request").map(bounds),
        guaranteed: bounds(value(words, "guaranteed").unwrap_or("")),
        limit: bounds(value(words, "limit").unwrap_or("")),
        parent: value(words, "parent").map(|path| {
            let (namespace, name) = path.split_once('/').unwrap_or((path, path));
            QueueName::new(namespace, name)
        }),
        children: value(words, "children").map(|whom| match whom {
            "Same" => Acceptance::Same,
            "All" => Acceptance::All,
            labelled => {
                let (key, value) = labelled.split_once(':').unwrap_or_else(|| panic!("children={labelled}"));
                Acceptance::Selector(Selector::new([Requirement::In(key.to_owned(), vec![value.to_owned()])]))
            }
        }),
        policy: match value(words, "policy") {
            None => Policy::Default,
            Some("Fence") => Policy::Fence,
            Some("Disabled") => Policy::Disabled,
            Some(other) => panic!("policy={other}"),
        },
        min_runtime_seconds: number(words, "minRuntime").map_or(0, |seconds| seconds.try_into().unwrap()),
        last_replica: match value(words, "lastReplica") {
            None => LastReplica::LastResort,
            Some("Never") => LastReplica::Never,
            Some(other) => panic!("lastReplica={other}"),
        },
        invalid: value(words, "invalid").map(Into::into),
        ..Queue::default()
    }
}

fn quota(words: &[(&str, &str)]) -> Quota {
    let hard: Bounds = requests(words, &["enforced", "unconfirmed", "foreign"])
        .iter()
        .map(|(resource, amount)| (resource.clone(), amount))
        .chain(
            [(Resource::Cpu, Amount::ZERO), (Resource::Memory, Amount::ZERO)]
                .into_iter()
                .filter(|(resource, _)| value(words, resource.name()).is_none_or(|text| text == "0")),
        )
        .collect();
    let enforced = value(words, "enforced").map_or_else(|| hard.clone(), bounds);
    let ours = !words.iter().any(|(word, _)| *word == "foreign");
    Quota {
        hard,
        enforced,
        ours,
        unconfirmed: bounds(value(words, "unconfirmed").unwrap_or("")),
        goes_with_queue: false,
    }
}

fn pod(path: &str, words: &[(&str, &str)]) -> Pod {
    const OTHERS: [&str; 13] = [
        "node",
        "pending",
        "running",
        "terminating",
        "finished",
        "priority",
        "created",
        "started",
        "daemonset",
        "mirror",
        "critical",
        "owner",
        "reluctant",
    ];
    let has = |name: &str| words.iter().any(|(word, _)| *word == name);
    let phase = match () {
        () if has("pending") => Phase::Pending,
        () if has("finished") => Phase::Finished,
        () => Phase::Running,
    };
    let created = number(words, "created").or(number(words, "started")).unwrap_or(0);
    let started = number(words, "started").unwrap_or(created);
    Pod {
        uid: PodUid::from(path),
        name: PodName::from(path.split_once('/').map_or(path, |(_, name)| name)),
        shape: Arc::new(Shape { requests: requests(words, &OTHERS), ..Shape::default() }),
        node: value(words, "node").map(NodeName::from),
        phase,
        priority: number(words, "priority").map_or(0, |priority| priority.try_into().unwrap()),
        created: Timestamp::from_seconds(created),
        started: (phase == Phase::Running).then(|| Timestamp::from_seconds(started)),
        deletion: has("terminating").then(|| Timestamp::from_seconds(1030)),
        immunity: match () {
            () if has("daemonset") => Some(Immunity::DaemonSet),
            () if has("mirror") => Some(Immunity::Mirror),
            () if has("critical") => Some(Immunity::SystemCritical),
            () => None,
        },
        reluctant: has("reluctant"),
        ties: Arc::new(Ties { owner: value(words, "owner").map(OwnerUid::from), ..Ties::default() }),
        ..Pod::default()
    }
}
