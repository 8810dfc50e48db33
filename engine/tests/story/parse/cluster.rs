//! `node` and `settings`.

use quotient_engine::snapshot::{Node, Settings, Taint, TaintEffect, VictimPriority};

use super::queues::mode;
use super::words::{Words, pairs, resource};

/// `node n1 cpu=6 memory=15Gi labels=zone:a taint=key:NoSchedule cordoned`.
pub(super) fn node(words: &Words<'_>) -> Node {
    Node {
        allocatable: words.requests("cordoned labels taint"),
        counts: !words.has("cordoned"),
        labels: words.labels("labels"),
        taints: words.value("taint").map(pairs).unwrap_or_default().into_iter().map(taint).collect(),
    }
}

fn taint((key, effect): (&str, &str)) -> Taint {
    let effect = match effect {
        "NoSchedule" => TaintEffect::NoSchedule,
        "PreferNoSchedule" => TaintEffect::PreferNoSchedule,
        "NoExecute" => TaintEffect::NoExecute,
        other => panic!("taint {key}:{other}"),
    };
    Taint { key: key.to_owned(), value: String::new(), effect }
}

/// `settings mode=Quota expandable=cpu:4 victimPriority=NotAboveAsk pool=label resources=cpu,gpu`.
pub(super) fn settings(words: &Words<'_>) -> Settings {
    let named = words.value("resources").unwrap_or("").split(',').filter(|name| !name.is_empty());
    Settings {
        mode: mode(words),
        resources: named.map(resource).collect(),
        expandable: words
            .bounds("expandable")
            .iter()
            .map(|(resource, amount)| (resource.clone(), amount))
            .collect(),
        victim_priority: words
            .choice(
                "victimPriority",
                [("Any", VictimPriority::Any), ("NotAboveAsk", VictimPriority::NotAboveAsk)],
            )
            .unwrap_or_default(),
        pool_label: words.value("pool").map(Into::into),
    }
}
