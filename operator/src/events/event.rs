//! Notices as events of Kubernetes.

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use quotient_crds::names::API_VERSION;
use quotient_engine::names::{QueueName, QueueUid};

use super::Notice;
use super::notice::{Regarding, reference};
use crate::identity::Identity;

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
    notice: Notice,
    uid: impl Fn(&QueueName) -> Option<QueueUid>,
    identity: &Identity,
    now: Timestamp,
    number: u64,
) -> Event {
    let Notice { regarding, beneficiary, type_, reason, action, note } = notice;
    let of_queue = |queue: &QueueName| queue_reference(queue, uid(queue).as_ref());
    let regarding = match regarding {
        Regarding::Queue(queue) => of_queue(&queue),
        Regarding::Object(object) => object,
    };
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
        related: beneficiary.as_ref().map(of_queue),
        regarding: Some(regarding),
        event_time: Some(MicroTime(now)),
        reporting_controller: Some(CONTROLLER.to_owned()),
        reporting_instance: Some(shortened(identity.as_str(), LONGEST_INSTANCE)),
        ..Event::default()
    }
}

fn queue_reference(queue: &QueueName, uid: Option<&QueueUid>) -> ObjectReference {
    reference((API_VERSION, "Queue"), &queue.namespace, &queue.name, uid.map(QueueUid::as_str))
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
    use crate::tests::plan::eviction;
    use quotient_engine::plan::Eviction;

    #[test]
    fn an_event_hangs_on_its_object_and_names_the_queue_that_it_happened_for() {
        let beneficiary = Some(QueueName::new("b", "batch"));
        let notice = Reclaimed::of_pod(&Eviction { beneficiary, ..eviction("web-0") }).notice();
        let event = event(notice, |_| Some("q1".into()), &Identity::new("host_1"), Timestamp::UNIX_EPOCH, 7);
        let named = |object: Option<ObjectReference>| {
            let ObjectReference { kind, namespace, name, uid, .. } = object.unwrap();
            [kind, namespace, name, uid].map(Option::unwrap).join("/")
        };
        assert_eq!(named(event.regarding), "Pod/a/web-0/web-0");
        assert_eq!(named(event.related), "Queue/b/batch/q1");
        let place = [event.metadata.namespace, event.metadata.name].map(Option::unwrap);
        assert_eq!(place, ["a", "web-0.0.7"]);
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
