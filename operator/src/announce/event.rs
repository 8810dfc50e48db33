//! Happenings as events of Kubernetes: where they hang, and the sentence that people read.

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use quotient_crds::names::{API_VERSION, LIMIT_RANGE};
use quotient_engine::amounts::{Amounts, Bounds, Resource};
use quotient_engine::names::{PodName, QueueName, QueueUid};
use quotient_engine::plan::PodId;
use quotient_engine::reason::Reason;

use super::jobs::{job_kind, job_note};
use super::{Happening, Preempted, scaled};
use crate::identity::Identity;
use crate::writer::{Change, listed};

/// Who tells, in every event.
const CONTROLLER: &str = "quotient.dev/operator";

/// The longest note that the API server takes, in bytes.
const LONGEST_NOTE: usize = 1024;

/// The longest name of a reporter that it takes.
const LONGEST_INSTANCE: usize = 128;

/// How victims are chosen, in the words of an event.
const ORDER: &str = "least protected first and as few pods as possible";

/// How much of an object's name goes into the event's name, so that there is room for what makes it unique.
const LONGEST_PREFIX: usize = 200;

/// The event that tells `happening`, the `number`th of this process. `uid` finds the Queue's id; `kubectl describe`
/// wants it.
pub(super) fn event(
    happening: &Happening,
    uid: impl Fn(&QueueName) -> Option<QueueUid>,
    identity: &Identity,
    now: Timestamp,
    number: u64,
) -> Event {
    let regarding = regarding(happening, uid);
    let (type_, reason, action) = kind(happening);
    Event {
        metadata: ObjectMeta {
            namespace: regarding.namespace.clone(),
            name: regarding.name.as_deref().map(|name| unique_name(name, now, number)),
            ..ObjectMeta::default()
        },
        type_: Some(type_.to_owned()),
        reason: Some(reason.to_owned()),
        action: Some(action.to_owned()),
        note: Some(shortened(&note(happening), LONGEST_NOTE)),
        regarding: Some(regarding),
        event_time: Some(MicroTime(now)),
        reporting_controller: Some(CONTROLLER.to_owned()),
        reporting_instance: Some(shortened(identity.as_str(), LONGEST_INSTANCE)),
        ..Event::default()
    }
}

fn regarding(happening: &Happening, uid: impl Fn(&QueueName) -> Option<QueueUid>) -> ObjectReference {
    match happening {
        Happening::Preempted(preempted) => pod_reference(&preempted.pod),
        Happening::Scaled(scaled) => scaled::reference(scaled),
        Happening::QuotaWritten { queue, .. }
        | Happening::QuotaRaised { queue, .. }
        | Happening::QuotaRepaired { queue, .. }
        | Happening::PreemptionPlanned { queue, .. }
        | Happening::DefaultRequestsWritten { queue, .. }
        | Happening::DefaultRequestsRefused { queue, .. }
        | Happening::ForceDeleted { queue, .. } => ObjectReference {
            api_version: Some(API_VERSION.to_owned()),
            kind: Some("Queue".to_owned()),
            namespace: Some(queue.namespace.as_str().to_owned()),
            name: Some(queue.name.to_string()),
            uid: uid(queue).map(|uid| uid.as_str().to_owned()),
            ..ObjectReference::default()
        },
        Happening::QueueJob { name, uid, .. } => ObjectReference {
            api_version: Some(API_VERSION.to_owned()),
            kind: Some("QueueJob".to_owned()),
            namespace: Some(name.namespace.as_str().to_owned()),
            name: Some(name.name.to_string()),
            uid: Some(uid.as_str().to_owned()),
            ..ObjectReference::default()
        },
    }
}

fn pod_reference(pod: &PodId) -> ObjectReference {
    ObjectReference {
        api_version: Some("v1".to_owned()),
        kind: Some("Pod".to_owned()),
        namespace: Some(pod.namespace.as_str().to_owned()),
        name: Some(pod.name.as_str().to_owned()),
        uid: Some(pod.uid.as_str().to_owned()),
        ..ObjectReference::default()
    }
}

/// Type, reason and action.
fn kind(happening: &Happening) -> (&'static str, &'static str, &'static str) {
    match happening {
        Happening::QuotaWritten { before: None, .. } => ("Normal", "QuotaCreated", "WriteQuota"),
        Happening::QuotaWritten { lowers: true, .. } => ("Normal", "QuotaLowered", "WriteQuota"),
        Happening::QuotaWritten { lowers: false, .. } | Happening::QuotaRaised { .. } => {
            ("Normal", "QuotaRaised", "WriteQuota")
        }
        Happening::QuotaRepaired { .. } => ("Warning", "QuotaRepaired", "WriteQuota"),
        Happening::PreemptionPlanned { .. } => ("Normal", "PreemptionPlanned", "Preempt"),
        Happening::Preempted(_) => ("Warning", "Preempted", "Evict"),
        Happening::Scaled(scaled) if scaled.to < scaled.from => ("Warning", scaled.reason.name(), "Scale"),
        Happening::Scaled(scaled) => ("Normal", scaled.reason.name(), "Scale"),
        Happening::ForceDeleted { .. } => ("Warning", "ForceDeleted", "Evict"),
        Happening::QueueJob { news, .. } => job_kind(news),
        Happening::DefaultRequestsWritten { .. } => ("Normal", "DefaultRequestsWritten", "WriteLimitRange"),
        Happening::DefaultRequestsRefused { .. } => ("Warning", "DefaultRequestsRefused", "WriteLimitRange"),
    }
}

fn note(happening: &Happening) -> String {
    match happening {
        Happening::QuotaWritten { before, after, .. } | Happening::QuotaRaised { before, after, .. } => {
            quota_note(before.as_ref(), after)
        }
        Happening::QuotaRepaired { change, before, after, .. } => repair_note(change, before.as_ref(), after),
        Happening::PreemptionPlanned { short_of, pods, .. } => {
            let losers: Vec<String> =
                pods.iter().map(|(queue, count)| format!("{count} of queue {queue}")).collect();
            let total: usize = pods.iter().map(|(_, count)| count).sum();
            let noun = if total == 1 { "pod" } else { "pods" };
            format!("short of {short_of}: {total} {noun} to be evicted ({})", losers.join(", "))
        }
        Happening::Preempted(preempted) => preempted_note(preempted),
        Happening::Scaled(scaled) => scaled::note(scaled),
        Happening::ForceDeleted { pods, .. } => {
            let noun = if pods.len() == 1 { "pod" } else { "pods" };
            let names: Vec<&str> = pods.iter().map(PodName::as_str).collect();
            format!(
                "deleted {} {noun} without grace, long past the deadline (eviction.forceAfterSeconds): {}",
                pods.len(),
                names.join(", ")
            )
        }
        Happening::QueueJob { news, .. } => job_note(news),
        Happening::DefaultRequestsWritten { defaults, .. } if defaults.is_empty() => format!(
            "removed the LimitRange {LIMIT_RANGE}: the Queue names no default requests, or other LimitRanges give them"
        ),
        Happening::DefaultRequestsWritten { defaults, .. } => {
            format!("containers that name no requests have {} (LimitRange {LIMIT_RANGE})", listed(defaults))
        }
        Happening::DefaultRequestsRefused { why, .. } => format!("default requests are not in force: {why}"),
    }
}

fn preempted_note(preempted: &Preempted) -> String {
    let Preempted { queue, beneficiary, short_of, reason, used, deserved, .. } = preempted;
    let whom = match (beneficiary, reason) {
        (Some(beneficiary), _) => format!("evicted for queue {beneficiary} (short of {short_of})"),
        (None, Reason::Overcommitted) => {
            "evicted because its queue holds more than its quota and the cluster has no room for it"
                .to_owned()
        }
        (None, _) => "evicted".to_owned(),
    };
    // What is within the share explains nothing.
    let over = used.less(deserved);
    let shown = |amounts: &Amounts| of(amounts, over.resources());
    let numbers = if over.is_empty() {
        format!("queue {queue} uses {used} and deserves {deserved}")
    } else {
        format!("queue {queue} uses {} but deserves {}", shown(used), shown(deserved))
    };
    format!("{whom}: {numbers}; {ORDER}")
}

/// `cpu 3, memory 0`: these resources, zeros included.
fn of<'a>(amounts: &Amounts, resources: impl Iterator<Item = &'a Resource>) -> String {
    let one = |resource: &Resource| format!("{resource} {}", resource.format(amounts.get(resource)));
    resources.map(one).collect::<Vec<_>>().join(", ")
}

fn quota_note(before: Option<&Bounds>, after: &Bounds) -> String {
    let changes: Vec<String> = after
        .iter()
        .filter_map(|(resource, amount)| match before.and_then(|before| before.get(resource)) {
            Some(former) if former == amount => None,
            Some(former) => {
                Some(format!("{resource} from {} to {}", resource.format(former), resource.format(amount)))
            }
            None => Some(format!("{resource} {}", resource.format(amount))),
        })
        .collect();
    let verb = if before.is_some() { "was changed:" } else { "was created:" };
    format!(
        "the quota {verb} {}",
        if changes.is_empty() { "no amount".to_owned() } else { changes.join(", ") }
    )
}

fn repair_note(change: &Change, before: Option<&Bounds>, after: &Bounds) -> String {
    format!(
        "the quota had been {change} and was put right: {}; change spec.limit or spec.weight of the Queue instead",
        quota_note(before, after)
    )
}

/// `web-0.17f3a9c1d2e4b5a6.2`: what an event is called that nobody else's event is called.
fn unique_name(object: &str, now: Timestamp, number: u64) -> String {
    let prefix: String = object.chars().take(LONGEST_PREFIX).collect();
    // Cut in the middle, a name may end in what no part of a name may end in.
    let prefix = prefix.trim_end_matches(['-', '.']);
    format!("{prefix}.{:x}.{number:x}", now.as_nanosecond())
}

/// At most `bytes` of `text`, cut between characters.
fn shortened(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = text.char_indices().map(|(at, _)| at).take_while(|at| at.saturating_add(3) <= bytes).last();
    format!("{}…", text.get(..end.unwrap_or_default()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use quotient_engine::amounts::Amount;

    fn cpu(milli: i128) -> Amounts {
        [(Resource::Cpu, Amount::new(milli))].into_iter().collect()
    }

    fn bounds(pairs: &[(&str, i128)]) -> Bounds {
        pairs.iter().map(|(name, units)| (Resource::from_name(name), Amount::new(*units))).collect()
    }

    fn told(happening: &Happening) -> Event {
        event(happening, |_| Some("q1".into()), &Identity::new("host_1"), Timestamp::UNIX_EPOCH, 7)
    }

    #[test]
    fn a_victim_reads_for_whom_and_why_it_went() {
        let mut used = cpu(3000);
        used.set(&Resource::Memory, Amount::new(1 << 30));
        let mut deserved = cpu(2000);
        deserved.set(&Resource::Memory, Amount::new(2 << 30));
        let event = told(&Happening::Preempted(Box::new(Preempted {
            pod: PodId { namespace: "a".into(), name: "web-0".into(), uid: "u1".into() },
            queue: QueueName::new("a", "team"),
            beneficiary: Some(QueueName::new("b", "batch")),
            short_of: cpu(2000),
            reason: Reason::Reclaimed,
            used,
            deserved,
        })));
        assert_eq!(
            event.note.as_deref(),
            Some(
                "evicted for queue b/batch (short of cpu 2): queue a/team uses cpu 3 but deserves cpu 2; \
                 least protected first and as few pods as possible"
            )
        );
        assert_eq!(event.reason.as_deref(), Some("Preempted"));
        let regarding = event.regarding.unwrap();
        assert_eq!((regarding.kind.as_deref(), regarding.uid.as_deref()), (Some("Pod"), Some("u1")));
        assert_eq!(event.metadata.namespace.as_deref(), Some("a"));
        assert_eq!(event.metadata.name.as_deref(), Some("web-0.0.7"));
    }

    #[test]
    fn a_quota_tells_what_moved() {
        let event = told(&Happening::QuotaWritten {
            queue: QueueName::new("a", "team"),
            before: Some(bounds(&[("cpu", 3000), ("memory", 1 << 30)])),
            after: bounds(&[("cpu", 2000), ("memory", 1 << 30)]),
            lowers: true,
        });
        assert_eq!(event.note.as_deref(), Some("the quota was changed: cpu from 3 to 2"));
        assert_eq!(event.reason.as_deref(), Some("QuotaLowered"));
        assert_eq!(event.regarding.unwrap().uid.as_deref(), Some("q1"));
    }

    #[test]
    fn a_repair_tells_what_was_done_and_by_whom() {
        let repair = |change: Change, before: Option<Bounds>| {
            let queue = QueueName::new("a", "team");
            told(&Happening::QuotaRepaired { queue, change, before, after: bounds(&[("cpu", 2000)]) })
        };
        let edited =
            repair(Change::Edited { by: Some("kubectl-edit".into()) }, Some(bounds(&[("cpu", 9000)])));
        assert_eq!(
            edited.note.as_deref(),
            Some(
                "the quota had been edited by kubectl-edit and was put right: the quota was changed: cpu from 9 to 2; \
                 change spec.limit or spec.weight of the Queue instead"
            )
        );
        assert_eq!(
            (edited.type_.as_deref(), edited.reason.as_deref()),
            (Some("Warning"), Some("QuotaRepaired"))
        );
        let deleted = repair(Change::Deleted, None).note.unwrap();
        assert!(
            deleted.starts_with(
                "the quota had been deleted by somebody else and was put right: the quota was created: cpu 2"
            ),
            "{deleted}"
        );
    }

    #[test]
    fn a_preemption_counts_its_victims() {
        let event = told(&Happening::PreemptionPlanned {
            queue: QueueName::new("b", "batch"),
            short_of: cpu(2000),
            pods: vec![(QueueName::new("a", "team"), 2), (QueueName::new("c", "web"), 1)],
        });
        let expected = "short of cpu 2: 3 pods to be evicted (2 of queue a/team, 1 of queue c/web)";
        assert_eq!(event.note.as_deref(), Some(expected));
    }

    #[test]
    fn pods_that_were_stuck_are_listed_on_their_queue() {
        let event = told(&Happening::ForceDeleted {
            queue: QueueName::new("a", "team"),
            pods: vec!["web-0".into(), "web-1".into()],
        });
        assert_eq!(
            event.note.as_deref(),
            Some(
                "deleted 2 pods without grace, long past the deadline (eviction.forceAfterSeconds): \
                 web-0, web-1"
            )
        );
        assert_eq!(
            (event.type_.as_deref(), event.reason.as_deref()),
            (Some("Warning"), Some("ForceDeleted"))
        );
        assert_eq!(event.regarding.unwrap().kind.as_deref(), Some("Queue"));
    }

    #[test]
    fn the_longest_name_still_makes_a_name() {
        let name = unique_name(&format!("{}-{}", "a".repeat(199), "b".repeat(53)), Timestamp::MAX, u64::MAX);
        assert!(name.len() <= 253 && name.starts_with(&format!("{}.", "a".repeat(199))), "{name}");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(shortened("short", 10), "short");
        let cut = shortened(&"ä".repeat(20), 10);
        assert!(cut.len() <= 10 && cut.ends_with('…'), "{cut}");
    }
}
