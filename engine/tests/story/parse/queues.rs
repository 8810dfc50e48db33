//! `queue` and `quota`.

use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};
use quotient_engine::labels::{Requirement, Selector};
use quotient_engine::names::{QueueName, QueueUid};
use quotient_engine::snapshot::{
    Acceptance, Admission, EvictionPolicy, EvictionRules, GangPolicy, LastReplica, Mode, NamespaceState,
    Preemption, Queue, Quota, Reclaim, ReclaimFrom, Remembered,
};

use super::words::{Words, pairs, resource};

/// `queue a uid=a-2 weight=2 request=cpu:5 from=Subtree after=60 eviction=Never mode=Quota paused=1060 …`
///
/// `request=all` claims everything, `roomSince=900` says that its pods without a node have had room since then. `fixed=cpu:5`
/// is a demand of exactly that much, whatever pods there are: it is the
/// request and the limit of what it names, and claims all cpu and memory that it does not.
pub(super) fn queue(words: &Words<'_>) -> Queue {
    let namespace = words.name();
    let name = words.value("name").unwrap_or(namespace);
    Queue {
        uid: words.value("uid").map_or_else(|| QueueUid::new(format!("{namespace}/{name}")), QueueUid::from),
        generation: 1,
        name: name.into(),
        created: words.seconds("created").unwrap_or_default(),
        weight: words.count("weight").unwrap_or(1),
        request: request(words),
        guaranteed: words.bounds("guaranteed"),
        limit: limit(words),
        parent: words.value("parent").map(|path| {
            let (namespace, name) = path.split_once('/').unwrap_or((path, path));
            QueueName::new(namespace, name)
        }),
        children: words.value("children").map(|children| match children {
            "Same" => Acceptance::Same,
            "All" => Acceptance::All,
            labeled => {
                let requirement =
                    |(key, value): (&str, &str)| Requirement::In(key.to_owned(), vec![value.to_owned()]);
                Acceptance::Selector(Selector::new(pairs(labeled).into_iter().map(requirement)))
            }
        }),
        reclaim: Reclaim {
            from: words
                .choice("from", [("Subtree", ReclaimFrom::Subtree), ("None", ReclaimFrom::Nothing)])
                .unwrap_or_default(),
            after_seconds: words.count("after").unwrap_or(0),
        },
        eviction: EvictionRules {
            policy: words
                .choice("eviction", [("Allowed", EvictionPolicy::Allowed), ("Never", EvictionPolicy::Never)]),
            min_runtime_seconds: words.count("minRuntime"),
            last_replica: words.choice(
                "lastReplica",
                [("Never", LastReplica::Never), ("LastResort", LastReplica::LastResort)],
            ),
            gangs: words
                .choice("gangs", [("Never", GangPolicy::Never), ("WholeLast", GangPolicy::WholeLast)]),
            max_grace_seconds: words.count("maxGrace"),
            force_after_seconds: words.count("forceAfter"),
        },
        preemption: words
            .choice("preemption", [("LowerPriority", Preemption::LowerPriority)])
            .unwrap_or_default(),
        mode: mode(words),
        admission: words.choice("admission", [("Gate", Admission::Gate)]).unwrap_or_default(),
        paused_until: words.seconds("paused"),
        leaving: words.has("leaving"),
        invalid: words.value("invalid").map(Into::into),
        remembered: Remembered { room_since: words.seconds("roomSince"), ..Remembered::default() },
    }
}

fn request(words: &Words<'_>) -> Bounds {
    let everything = |resources: &[&str]| -> Bounds {
        resources.iter().map(|name| (resource(name), Amount::new(i128::from(i64::MAX)))).collect()
    };
    if words.value("request") == Some("all") {
        return everything(&["cpu", "memory", "gpu"]);
    }
    if !words.has("fixed") {
        return words.bounds("request");
    }
    let mut request = everything(&["cpu", "memory"]);
    for (resource, amount) in words.bounds("fixed").iter() {
        request.set(resource.clone(), amount);
    }
    request
}

fn limit(words: &Words<'_>) -> Bounds {
    let mut limit = words.bounds("limit");
    for (resource, fixed) in words.bounds("fixed").iter() {
        let amount = limit.get(resource).map_or(fixed, |stated| stated.min(fixed));
        limit.set(resource.clone(), amount);
    }
    limit
}

/// `mode=Observe`; Full if left out.
pub(super) fn mode(words: &Words<'_>) -> Mode {
    words.choice("mode", Mode::ALL.map(|mode| (mode.name(), mode))).unwrap_or_default()
}

/// Puts `queue` in place of the one of its name, whose status stays.
pub(super) fn put(state: &mut NamespaceState, mut queue: Queue) {
    if let Some(standing) = state.queues.iter_mut().find(|standing| standing.name == queue.name) {
        queue.remembered = standing.remembered.clone();
        *standing = queue;
    } else {
        state.queues.push(queue);
    }
}

/// `quota a cpu=3 memory=9Gi enforced=cpu:5 granted=cpu:4,memory:9Gi unconfirmed=cpu:6 unstamped drifted foreign`, owned by the
/// Queue `a/a` unless `owner=a/b` or `ownerless` says otherwise.
pub(super) fn quota(words: &Words<'_>) -> Quota {
    let hard: Bounds = words
        .requests("enforced granted unconfirmed unstamped drifted foreign owner ownerless")
        .iter()
        .map(|(resource, amount)| (resource.clone(), amount))
        .chain(
            [(Resource::Cpu, Amount::ZERO), (Resource::Memory, Amount::ZERO)]
                .into_iter()
                .filter(|(resource, _)| words.value(resource.name()).is_none_or(|text| text == "0")),
        )
        .collect();
    let namespace = words.name();
    let owner = words.value("owner").map_or_else(|| format!("{namespace}/{namespace}"), ToOwned::to_owned);
    let owner = (!words.has("ownerless") && !words.has("foreign")).then(|| QueueUid::from(owner.as_str()));
    Quota {
        owed: Amounts::new(),
        enforced: if words.has("enforced") { words.bounds("enforced") } else { hard.clone() },
        hard,
        ours: !words.has("foreign"),
        granted: words.has("granted").then(|| words.bounds("granted")),
        unconfirmed: words.bounds("unconfirmed"),
        charged: words.bounds("charged"),
        unstamped: words.has("unstamped"),
        drifted: words.has("drifted"),
        owner,
    }
}
