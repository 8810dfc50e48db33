//! What a decision leaves to later ones, as a status keeps it for another process.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff;
use quotient_crds::{LendingWindow, MAX_SET_ASIDE, SetAside, stored_time};
use quotient_engine::amounts::Resource;
use quotient_engine::snapshot::{Remembered, Window};
use quotient_engine::time::Timestamp;

use crate::message::count;

/// A time of the engine in the whole seconds that a status stores.
pub(super) fn time(at: Timestamp) -> Time {
    stored_time(jiff::Timestamp::from_millisecond(at.millis()).unwrap_or_default())
}

/// Since when the queue has been asking for less, by resource.
pub(super) fn falling(remembered: &Remembered) -> BTreeMap<String, Time> {
    let falling = remembered.falling.iter();
    falling.map(|(resource, since)| (resource.name().to_owned(), time(*since))).collect()
}

/// Since when there has been room for pods of which their workloads have created none for a minute; of too many only the
/// first.
pub(super) fn not_created_since(remembered: &Remembered) -> BTreeMap<String, Time> {
    let not_created = remembered.not_created.iter().take(MAX_SET_ASIDE);
    not_created.map(|(uid, since)| (uid.as_str().to_owned(), time(*since))).collect()
}

/// The windows by which idle capacity is lent to the queue, by resource.
pub(super) fn windows(remembered: &Remembered) -> BTreeMap<String, LendingWindow> {
    let written = |(resource, window): (&Resource, &Window)| {
        let amount = |amount| resource.format(amount).as_str().into();
        let window = LendingWindow {
            size: amount(window.size),
            target: amount(window.target),
            used: time(window.used),
            lost: window.lost.map(time),
        };
        (resource.name().to_owned(), window)
    };
    remembered.windows.iter().map(written).collect()
}

/// What is set aside, or was within the last hour; the newest first, and of too many only these.
pub(super) fn set_aside(remembered: &Remembered) -> Vec<SetAside> {
    let mut entries: Vec<_> = remembered.set_aside.iter().collect();
    entries.sort_by_key(|(uid, entry)| (Reverse(entry.since), *uid));
    let entries = entries.into_iter().take(MAX_SET_ASIDE).map(|(uid, entry)| SetAside {
        kind: entry.kind.to_string(),
        name: entry.name.to_string(),
        uid: uid.as_str().to_owned(),
        revision: entry.revision,
        since: time(entry.since),
        times: count(entry.times),
        nodes: count(entry.nodes),
        lacked_room: entry.lacked_room,
    });
    entries.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quotient_engine::snapshot::SetAside as Entry;

    #[test]
    fn the_newest_are_written_first_and_of_too_many_only_these() {
        let entry = |number: usize| {
            let since = Timestamp::from_seconds(i64::try_from(number).unwrap());
            let name = format!("train-{number}");
            (
                format!("{number:03}").as_str().into(),
                Entry { kind: "Job".into(), name: name.as_str().into(), since, times: 2, ..Entry::default() },
            )
        };
        let set_aside = (0..MAX_SET_ASIDE + 2).map(entry).collect();
        let written = super::set_aside(&Remembered { set_aside, ..Remembered::default() });
        let names: Vec<&str> = written.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(written.len(), MAX_SET_ASIDE);
        assert_eq!((names[0], names[63]), ("train-65", "train-2"));
        assert_eq!((&*written[0].kind, &*written[0].uid, written[0].times), ("Job", "065", 2));
    }
}
