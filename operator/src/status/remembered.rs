//! What a decision leaves to later ones, as a status keeps it for another process.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff;
use quotient_crds::{MAX_NOT_TAKEN_UP, NotTakenUp, QueueStatus, stored_time};
use quotient_engine::names::OwnerUid;
use quotient_engine::plan::{Asker, QueuePlan};
use quotient_engine::reason::Reason;
use quotient_engine::snapshot::{NotTakenUp as Noted, Remembered};
use quotient_engine::time::Timestamp;

/// A time of the engine in the whole seconds that a status stores.
pub(super) fn time(at: Timestamp) -> Time {
    stored_time(jiff::Timestamp::from_millisecond(at.millis()).unwrap_or_default())
}

/// Since when the queue has been asking for less, by resource.
pub(super) fn falling(remembered: &Remembered) -> BTreeMap<String, Time> {
    let falling = remembered.falling.iter();
    falling.map(|(resource, since)| (resource.name().to_owned(), time(*since))).collect()
}

/// Whose demand does not count, and whose pods are not created. `names` knows who they are; for those that it does not know any more, the `former`
/// status tells.
///
/// If there are too many, those that came last are left out: they are judged anew by the next process, and the others
/// stay where they are.
pub(super) fn not_taken_up(
    queue: &QueuePlan,
    names: &BTreeMap<OwnerUid, Asker>,
    former: Option<&QueueStatus>,
) -> Vec<NotTakenUp> {
    // Room that was not taken for less than a minute is no news: there is some whenever a quota rises.
    let lasting = not_created(queue);
    let is_told = |uid: &OwnerUid, noted: &Noted| {
        !noted.not_created || names.get(uid).is_some_and(|asker| lasting.contains(asker))
    };
    let mut noted: Vec<_> =
        queue.remember.not_taken_up.iter().filter(|(uid, noted)| is_told(uid, noted)).collect();
    noted.sort_by_key(|(uid, noted)| (noted.not_created, noted.since, *uid));
    let entry = |(uid, noted): (&OwnerUid, &Noted)| {
        let (kind, name) = match names.get(uid) {
            Some(Asker::Owner(kind, name)) => (kind.name().to_owned(), name.to_string()),
            Some(Asker::Pod(name)) => ("Pod".to_owned(), name.to_string()),
            None => {
                let mut known = former.into_iter().flat_map(|status| &status.not_taken_up);
                let known = known.find(|entry| entry.uid == uid.as_str())?;
                (known.kind.clone(), known.name.clone())
            }
        };
        Some(NotTakenUp {
            kind,
            name,
            uid: uid.as_str().to_owned(),
            generation: noted.generation,
            since: time(noted.since),
            not_created: noted.not_created,
        })
    };
    noted.into_iter().filter_map(entry).take(MAX_NOT_TAKEN_UP).collect()
}

/// Whose pods are not created although there has been room for them for long enough.
pub(crate) fn not_created(queue: &QueuePlan) -> BTreeSet<&Asker> {
    let lasting = queue.unmet.iter().filter(|unmet| unmet.reason == Reason::PodsNotCreated);
    lasting.map(|unmet| &unmet.who).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quotient_engine::amounts::Amounts;
    use quotient_engine::plan::Unmet;
    use quotient_engine::snapshot::{LeftOut, OwnerKind};

    fn remembering(uids: impl IntoIterator<Item = (String, i64)>) -> QueuePlan {
        let noted =
            |millis| Noted { generation: 2, since: Timestamp::from_millis(millis), not_created: false };
        let not_taken_up =
            uids.into_iter().map(|(uid, millis)| (uid.as_str().into(), noted(millis))).collect();
        let remember = Remembered { not_taken_up, ..Remembered::default() };
        QueuePlan { remember, ..QueuePlan::default() }
    }

    fn job(name: &str) -> Asker {
        Asker::Owner(OwnerKind::Job, name.into())
    }

    #[test]
    fn times_are_those_that_are_read_back() {
        let stored = time(Timestamp::from_millis(10_999));
        assert_eq!(stored.0, jiff::Timestamp::from_second(10).unwrap());
    }

    #[test]
    fn who_they_are_is_said_and_kept_once_they_are_out_of_sight() {
        let remembered = remembering([("1".to_owned(), 5_000), ("2".to_owned(), 4_000)]);
        let names = [("1".into(), job("train")), ("2".into(), Asker::Pod("bare".into()))].into();
        let told = |names: &BTreeMap<OwnerUid, Asker>, former: Option<&QueueStatus>| {
            not_taken_up(&remembered, names, former)
        };
        let first = told(&names, None);
        let texts: Vec<String> = first
            .iter()
            .map(|entry| format!("{} {} {} {}", entry.kind, entry.name, entry.uid, entry.generation))
            .collect();
        assert_eq!(texts, ["Pod bare 2 2", "Job train 1 2"]);
        let former = QueueStatus { not_taken_up: first.clone(), ..QueueStatus::default() };
        assert_eq!(told(&BTreeMap::new(), Some(&former)), first);
        assert_eq!(told(&BTreeMap::new(), None), []);
    }

    /// That there was room a moment ago is no news; a status that said it would change with every pod that starts.
    #[test]
    fn whose_pods_are_not_created_is_kept_once_that_has_lasted() {
        let mut queue = remembering([("1".to_owned(), 9_000), ("2".to_owned(), 1_000)]);
        let long = Noted { generation: 3, since: Timestamp::from_millis(5_000), not_created: true };
        queue.remember.not_taken_up.insert("3".into(), long);
        queue.remember.not_taken_up.insert("4".into(), long);
        let unmet = |reason, name| Unmet {
            lowered: None,
            who: job(name),
            pods: 1,
            requests: Amounts::new(),
            reason,
            controller: None,
            rejection: None,
            left_out: LeftOut::default(),
        };
        queue.unmet = vec![unmet(Reason::PodsNotCreated, "three"), unmet(Reason::RoomAvailable, "four")];
        let names = [("1", "one"), ("2", "two"), ("3", "three"), ("4", "four")];
        let names = names.map(|(uid, name)| (uid.into(), job(name))).into();
        let told = not_taken_up(&queue, &names, None);
        let told: Vec<_> = told.iter().map(|entry| (entry.name.as_str(), entry.not_created)).collect();
        assert_eq!(told, [("two", false), ("one", false), ("three", true)]);
    }

    #[test]
    fn what_does_not_fit_is_what_came_last() {
        let many = || (0..MAX_NOT_TAKEN_UP + 2).map(|number| (format!("{number:03}"), number));
        let seconds = |number: usize| i64::try_from(number).unwrap() * 1000;
        // The names run against the times.
        let remembered = remembering(many().map(|(uid, number)| (uid, -seconds(number))));
        let names = many().map(|(uid, _)| (uid.as_str().into(), job(&uid))).collect();
        let told = not_taken_up(&remembered, &names, None);
        assert_eq!(told.len(), MAX_NOT_TAKEN_UP);
        assert_eq!((told[0].uid.as_str(), told.last().unwrap().uid.as_str()), ("065", "002"));
    }
}
