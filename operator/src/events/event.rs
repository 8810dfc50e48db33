//! Happenings as events of Kubernetes: where they hang, and the sentence that people read.

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use quotient_crds::names::{API_VERSION, LIMIT_RANGE};
use quotient_engine::amounts::{Amounts, Bounds};
use quotient_engine::names::{PodName, QueueName, QueueUid};

use super::event_text::EventText;
use super::{Change, Notice, object, scaled};
use crate::identity::Identity;
use crate::message::{amounts_of, listed, message};

/// The reporting controller of every event.
const CONTROLLER: &str = "quotient.dev/operator";

/// The longest note that the API server takes, in bytes.
const LONGEST_NOTE: usize = 1024;

/// The longest name of a reporter that it takes.
const LONGEST_INSTANCE: usize = 128;

/// How much of an object's name goes into the event's name, so that there is room for what makes it unique.
const LONGEST_PREFIX: usize = 200;

/// The event that tells `notice`, the `number`th of this process. `uid` finds the Queue's id; `kubectl describe`
/// wants it.
pub(super) fn event(
    notice: &Notice,
    uid: impl Fn(&QueueName) -> Option<QueueUid>,
    identity: &Identity,
    now: Timestamp,
    number: u64,
) -> Event {
    let regarding = regarding(notice, &uid);
    let EventText { type_, reason, action, note } = event_text(notice);
    Event {
        metadata: ObjectMeta {
            namespace: regarding.namespace.clone(),
            name: regarding.name.as_deref().map(|name| unique_name(name, now, number)),
            ..ObjectMeta::default()
        },
        type_: Some(type_.to_owned()),
        reason: Some(reason.to_owned()),
        action: Some(action.to_owned()),
        note: Some(shortened(&note, LONGEST_NOTE)),
        related: related(notice).map(|queue| queue_reference(queue, &uid)),
        regarding: Some(regarding),
        event_time: Some(MicroTime(now)),
        reporting_controller: Some(CONTROLLER.to_owned()),
        reporting_instance: Some(shortened(identity.as_str(), LONGEST_INSTANCE)),
        ..Event::default()
    }
}

fn regarding(notice: &Notice, uid: &impl Fn(&QueueName) -> Option<QueueUid>) -> ObjectReference {
    match notice {
        Notice::Reclaimed(reclaimed) | Notice::WouldReclaim(reclaimed) => reclaimed.reference(),
        Notice::Scaled(scaled) => scaled::reference(scaled),
        Notice::QuotaWritten { queue, .. }
        | Notice::QuotaRepaired { queue, .. }
        | Notice::ReclaimPlanned { queue, .. }
        | Notice::DefaultRequestsWritten { queue, .. }
        | Notice::DefaultRequestsRefused { queue, .. }
        | Notice::ForceDeleted { queue, .. } => queue_reference(queue, uid),
        Notice::QueueJob { name, uid, .. } => {
            object::reference((API_VERSION, "QueueJob"), &name.namespace, &name.name, Some(uid.as_str()))
        }
    }
}

/// The queue that something happened for.
fn related(notice: &Notice) -> Option<&QueueName> {
    match notice {
        Notice::Reclaimed(reclaimed) | Notice::WouldReclaim(reclaimed) => reclaimed.beneficiaries.first(),
        _ => None,
    }
}

fn queue_reference(queue: &QueueName, uid: &impl Fn(&QueueName) -> Option<QueueUid>) -> ObjectReference {
    let uid = uid(queue);
    object::reference(
        (API_VERSION, "Queue"),
        &queue.namespace,
        &queue.name,
        uid.as_ref().map(QueueUid::as_str),
    )
}

/// The text of the event of a notice.
fn event_text(notice: &Notice) -> EventText {
    match notice {
        Notice::QuotaWritten { before, after, lowers, .. } => {
            let reason = match before {
                None => "QuotaCreated",
                Some(_) if *lowers => "QuotaLowered",
                Some(_) => "QuotaRaised",
            };
            EventText::normal(reason, "WriteQuota", quota_note(before.as_ref(), after))
        }
        Notice::QuotaRepaired { change, before, after, .. } => {
            EventText::warning("QuotaRepaired", "WriteQuota", repair_note(change, before.as_ref(), after))
        }
        Notice::ReclaimPlanned { allocated, deserved, pods, .. } => {
            EventText::normal("ReclaimPlanned", "Reclaim", planned_note(allocated, deserved, pods))
        }
        Notice::Reclaimed(reclaimed) => EventText::warning("Reclaimed", "Evict", reclaimed.note()),
        Notice::WouldReclaim(reclaimed) => {
            EventText::normal("WouldReclaim", "Observe", reclaimed.would_note())
        }
        Notice::Scaled(scaled) => {
            let of_severity = if scaled.to < scaled.from { EventText::warning } else { EventText::normal };
            of_severity(scaled.reason.name(), "Scale", scaled::note(scaled))
        }
        Notice::ForceDeleted { pods, .. } => EventText::warning("ForceDeleted", "Evict", forced_note(pods)),
        Notice::QueueJob { news, .. } => news.text(),
        Notice::DefaultRequestsWritten { defaults, .. } => {
            EventText::normal("DefaultRequestsWritten", "WriteLimitRange", defaults_note(defaults))
        }
        Notice::DefaultRequestsRefused { why, .. } => {
            let note = format!("The default requests are not enforced: {why}");
            EventText::warning("DefaultRequestsRefused", "WriteLimitRange", note)
        }
    }
}

fn defaults_note(defaults: &Bounds) -> String {
    if defaults.is_empty() {
        return format!(
            "Removed the LimitRange {LIMIT_RANGE} because the Queue has no default requests, or other LimitRanges have them."
        );
    }
    format!("New containers without requests get {} (LimitRange {LIMIT_RANGE}).", listed(defaults))
}

fn forced_note(pods: &[PodName]) -> String {
    let noun = if pods.len() == 1 { "pod" } else { "pods" };
    let names: Vec<&str> = pods.iter().map(PodName::as_str).collect();
    message([
        format!(
            "Evicted {} {noun} without grace because eviction.forceAfterSeconds have passed since the deadline.",
            pods.len()
        ),
        format!("Names: {}.", names.join(", ")),
        "A pod that stays has a finalizer; remove it, or delete its lost node.".to_owned(),
    ])
}

fn planned_note(allocated: &Amounts, deserved: &Amounts, pods: &[(QueueName, usize)]) -> String {
    let total: usize = pods.iter().map(|(_, count)| count).sum();
    let are = if total == 1 { "pod of other queues is" } else { "pods of other queues are" };
    let lacking = deserved.less(allocated);
    let losers: Vec<String> =
        pods.iter().map(|(queue, count)| format!("{} ({count})", queue.in_words())).collect();
    message([
        format!(
            "{total} {are} evicted because the quota allows {} of the deserved {}.",
            amounts_of(allocated, lacking.resources()),
            amounts_of(deserved, lacking.resources())
        ),
        "The quota rises as they end.".to_owned(),
        format!("They are pods of {}.", losers.join(", ")),
    ])
}

fn quota_note(before: Option<&Bounds>, after: &Bounds) -> String {
    if after.is_empty() {
        return "Deleted the quota because the Queue is in Gate mode and has no limit.".to_owned();
    }
    let verb = if before.is_some() { "Changed" } else { "Created" };
    format!("{verb} the quota: {}.", changes(before, after))
}

/// `cpu from 3 to 2, memory 1Gi, nvidia.com/gpu 4 removed`: the amounts that differ.
fn changes(before: Option<&Bounds>, after: &Bounds) -> String {
    let changes =
        after.iter().filter_map(|(resource, amount)| match before.and_then(|before| before.get(resource)) {
            Some(former) if former == amount => None,
            Some(former) => {
                Some(format!("{resource} from {} to {}", resource.format(former), resource.format(amount)))
            }
            None => Some(format!("{resource} {}", resource.format(amount))),
        });
    let gone =
        before.into_iter().flat_map(Bounds::iter).filter(|(resource, _)| after.get(resource).is_none());
    let gone = gone.map(|(resource, former)| format!("{resource} {} removed", resource.format(former)));
    let changes: Vec<String> = changes.chain(gone).collect();
    if changes.is_empty() { "no amount".to_owned() } else { changes.join(", ") }
}

fn repair_note(change: &Change, before: Option<&Bounds>, after: &Bounds) -> String {
    message([
        format!("Restored the quota because it was {change}: {}.", changes(before, after)),
        "Change limit or weight of the Queue instead.".to_owned(),
    ])
}

/// `web-0.17f3a9c1d2e4b5a6.2`: a name that no other event has.
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
    use crate::events::Reclaimed;
    use crate::tests::plan::{cpu, eviction};
    use expect_test::expect;
    use quotient_engine::amounts::{Amount, Resource};
    use quotient_engine::plan::Eviction;

    fn bounds(pairs: &[(&str, i128)]) -> Bounds {
        pairs.iter().map(|(name, units)| (Resource::from_name(name), Amount::new(*units))).collect()
    }

    /// Type, reason, object and note of an event, with the object that it is related to.
    fn printed(notice: &Notice) -> String {
        let event = event(notice, |_| Some("q1".into()), &Identity::new("host_1"), Timestamp::UNIX_EPOCH, 7);
        let named = |object: ObjectReference| {
            let ObjectReference { kind, namespace, name, uid, .. } = object;
            [kind, namespace, name, uid].map(Option::unwrap).join("/")
        };
        let object = event.regarding.unwrap();
        assert_eq!(event.metadata.namespace, object.namespace);
        assert_eq!(event.metadata.name, object.name.as_ref().map(|name| format!("{name}.0.7")));
        let related = event.related.map(|object| format!(" for {}", named(object))).unwrap_or_default();
        let [type_, reason, note] = [event.type_, event.reason, event.note].map(Option::unwrap);
        format!("{type_} {reason} on {}{related}: {note}\n", named(object))
    }

    #[test]
    fn events_hang_on_what_they_are_about_and_say_what_happened() {
        let queue = || QueueName::new("a", "team");
        let beneficiary = Some(QueueName::new("b", "batch"));
        let reclaimed = Box::new(Reclaimed::of_pod(&Eviction { beneficiary, ..eviction("web-0") }));
        let repaired = |change, before| Notice::QuotaRepaired {
            queue: queue(),
            change,
            before,
            after: bounds(&[("cpu", 2000)]),
        };
        let planned = |pods| Notice::ReclaimPlanned {
            queue: QueueName::new("b", "batch"),
            allocated: cpu(1000),
            deserved: cpu(3000),
            pods,
        };
        let many = (0..40).map(|at| (QueueName::new("a", format!("team-{at}").as_str()), 1)).collect();
        let notices = [
            Notice::Reclaimed(reclaimed.clone()),
            Notice::WouldReclaim(reclaimed),
            Notice::QuotaWritten {
                queue: queue(),
                before: Some(bounds(&[("cpu", 3000), ("memory", 1 << 30), ("nvidia.com/gpu", 4)])),
                after: bounds(&[("cpu", 2000), ("memory", 1 << 30)]),
                lowers: true,
            },
            repaired(Change::Edited { by: Some("kubectl-edit".into()) }, Some(bounds(&[("cpu", 9000)]))),
            repaired(Change::Deleted, None),
            planned(vec![(queue(), 2), (QueueName::new("web", "web"), 1)]),
            planned(many),
            Notice::ForceDeleted { queue: queue(), pods: vec!["web-0".into(), "web-1".into()] },
        ];
        expect![[r#"
            Warning Reclaimed on Pod/a/web-0/web-0 for Queue/b/batch/q1: Evicted for queue b/batch because queue a/team uses nothing and deserves nothing. Nothing creates the pod again. To keep more pods, raise weight or guaranteed of the Queue.
            Normal WouldReclaim on Pod/a/web-0/web-0 for Queue/b/batch/q1: This pod would be evicted for queue b/batch because queue a/team uses nothing and deserves nothing. No pod is evicted while mode or pausedUntil withholds it. To let Quotient evict, set mode: Full and end the pause.
            Normal QuotaLowered on Queue/a/team/q1: Changed the quota: cpu from 3 to 2, nvidia.com/gpu 4 removed.
            Warning QuotaRepaired on Queue/a/team/q1: Restored the quota because it was edited by kubectl-edit: cpu from 9 to 2. Change limit or weight of the Queue instead.
            Warning QuotaRepaired on Queue/a/team/q1: Restored the quota because it was deleted by another writer: cpu 2. Change limit or weight of the Queue instead.
            Normal ReclaimPlanned on Queue/b/batch/q1: 3 pods of other queues are evicted because the quota allows cpu 1 of the deserved cpu 3. The quota rises as they end. They are pods of a/team (2), web (1).
            Normal ReclaimPlanned on Queue/b/batch/q1: 40 pods of other queues are evicted because the quota allows cpu 1 of the deserved cpu 3. The quota rises as they end.
            Warning ForceDeleted on Queue/a/team/q1: Evicted 2 pods without grace because eviction.forceAfterSeconds have passed since the deadline. Names: web-0, web-1. A pod that stays has a finalizer; remove it, or delete its lost node.
        "#]].assert_eq(&notices.iter().map(printed).collect::<String>());
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
