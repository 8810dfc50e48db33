//! `owner` and `budget`.

use std::sync::Arc;

use quotient_engine::labels::{Requirement, Selector};
use quotient_engine::names::{GangName, OwnerUid};
use quotient_engine::reasons::KeptReason;
use quotient_engine::snapshot::{
    Budget, Gang, NamespaceState, NodeRequirement, NodeTerm, Owner, OwnerKind, Placement, ScaleTarget,
    ScaleTargetKind, Shape, Size, Toleration, Unspecified, Workload,
};
use quotient_engine::time::Timestamp;

use super::words::{Words, pairs};

/// The words that say where pods may run, of which gang they are, and how important.
pub(super) const SHAPING: &str = "selector affinity prefers tolerates gang min priority";

/// The words of an owner that say nothing of its pods.
pub(crate) const OWNS: &str =
    "replicas kind created former leftAlone rejected unspecified deployment of surges succeeded fails";

/// `owner a/web replicas=4 cpu=1 kind=Job priority=5 created=10 gang=g min=2 selector=zone:a tolerates=key`.
///
/// Its uid is its name, which pods name as `owner=web`. `rejected=WORDS` is why the API server refuses its pods, and
/// `unspecified=cpu,memory` what some container of it names no request for. `succeeded=2` pods of a Job have; pods of one that
/// `fails` only fail. What follows `pods=web-1..2` is said of those pods, which request the same.
pub(super) fn owner(words: &Words<'_>) -> Owner {
    let (_, name) = words.path();
    let lacks = |name: &str| words.value("unspecified").unwrap_or("").split(',').any(|one| one == name);
    let wanted = words.count("replicas").unwrap_or(1);
    let kinds = [OwnerKind::ReplicaSet, OwnerKind::StatefulSet, OwnerKind::Job, OwnerKind::DaemonSet];
    let kind = words.choice("kind", kinds.map(|kind| (kind.name(), kind))).unwrap_or_default();
    Owner {
        uid: OwnerUid::from(name),
        kind,
        name: name.into(),
        generation: 1,
        created: words.seconds("created").unwrap_or_default(),
        wanted,
        shape: Arc::new(Shape {
            requests: words.requests(&[OWNS, SHAPING].join(" ")),
            placement: placement(words),
            ..Shape::default()
        }),
        gang: gang(words),
        priority: words.priority(),
        size: size(words, kind, wanted),
        controller: words.value("deployment").map(deployment),
        rejected: words.value("rejected").map(Into::into),
        succeeded: words.count("succeeded").unwrap_or_default(),
        fails: words.has("fails"),
        unspecified: Unspecified { cpu: lacks("cpu"), memory: lacks("memory") },
    }
}

/// `deployment=web of=4 surges`: the newest ReplicaSet of a Deployment with four replicas that keeps all of them while it
/// replaces them; without `surges` an older one.
fn deployment(name: &str) -> Arc<Workload> {
    Arc::new(Workload {
        api_version: "apps/v1".into(),
        kind: "Deployment".into(),
        name: name.into(),
        uid: OwnerUid::from(name),
    })
}

/// `former=5 leftAlone=Autoscaled`: it had five before it was scaled down; it is not to be scaled.
///
/// ReplicaSets are their own scale targets, also those of a Deployment.
fn size(words: &Words<'_>, kind: OwnerKind, wanted: u32) -> Size {
    let former = words.count("former");
    let reasons =
        [KeptReason::Autoscaled, KeptReason::OptedOut, KeptReason::SizeSetByAnother, KeptReason::RollingOut];
    let scale_target = match kind {
        OwnerKind::ReplicaSet | OwnerKind::QueueJob => ScaleTargetKind::ReplicaSet,
        OwnerKind::StatefulSet => ScaleTargetKind::StatefulSet,
        OwnerKind::Job => ScaleTargetKind::Job,
        OwnerKind::DaemonSet | OwnerKind::Configured(_) => return Size::default(),
    };
    let (_, name) = words.path();
    Size {
        scale_target: Some(ScaleTarget { kind: scale_target, name: name.into(), uid: OwnerUid::from(name) }),
        written: words.count("of").unwrap_or(wanted),
        original_replicas: former,
        withheld_replicas: former.unwrap_or(wanted).saturating_sub(wanted),
        left_alone: words.choice("leftAlone", reasons.map(|reason| (reason.name(), reason))),
        surges_first: words.has("surges"),
    }
}

/// Puts `owner` in place of the one of its name: the same one with another spec.
pub(super) fn put_owner(state: &mut NamespaceState, mut owner: Owner) {
    if let Some(standing) = state.owners.iter_mut().find(|standing| standing.uid == owner.uid) {
        owner.generation = standing.generation + 1;
        owner.created = if owner.created == Timestamp::default() { standing.created } else { owner.created };
        *standing = owner;
    } else {
        state.owners.push(owner);
    }
}

/// `budget a/web allowed=1 selects=app:web`.
pub(super) fn budget(words: &Words<'_>) -> Budget {
    let selected = words.value("selects").map(pairs).unwrap_or_default();
    let requirement = |(key, value): (&str, &str)| Requirement::In(key.to_owned(), vec![value.to_owned()]);
    Budget {
        name: words.path().1.into(),
        selector: Selector::new(selected.into_iter().map(requirement)),
        allowed: words.count("allowed").unwrap_or(0),
        lets_unready_go: words.has("letsUnreadyGo"),
    }
}

/// Puts `budget` in place of the one of its name.
pub(super) fn put_budget(state: &mut NamespaceState, budget: Budget) {
    state.budgets.retain(|standing| standing.name != budget.name);
    state.budgets.push(budget);
}

/// `gang=g min=2`.
pub(super) fn gang(words: &Words<'_>) -> Option<Gang> {
    let name = GangName::from(words.value("gang")?);
    Some(Gang { name, min_available: words.count("min").unwrap_or(1) })
}

/// `selector=zone:a`, `affinity=zone:a|b` (one of them), `prefers=zone:a` (weight 100), `tolerates=key,key`.
pub(super) fn placement(words: &Words<'_>) -> Placement {
    let terms = |name: &str| -> Vec<NodeTerm> {
        let requirement = |(key, values): (&str, &str)| {
            let values = values.split('|').map(str::to_owned).collect();
            NodeTerm(vec![NodeRequirement::Label(Requirement::In(key.to_owned(), values))])
        };
        words.value(name).map(pairs).unwrap_or_default().into_iter().map(requirement).collect()
    };
    let tolerated = words.value("tolerates").unwrap_or("").split(',').filter(|key| !key.is_empty());
    Placement {
        node_selector: words
            .labels("selector")
            .iter()
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect(),
        required: terms("affinity"),
        preferred: terms("prefers").into_iter().map(|term| (100, term)).collect(),
        tolerations: tolerated
            .map(|key| Toleration { key: Some(key.to_owned()), value: None, effect: None })
            .collect(),
    }
}
