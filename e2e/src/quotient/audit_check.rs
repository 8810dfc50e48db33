//! The audit log before the invariant checker: what Quotient promises, checked on everything that a real API server was told.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::ensure;
use quotient_invariants::{InvariantChecker, Tolerance, Verb, Write};
use serde_json::Value;

use super::identity::OPERATOR_USER;
use crate::testbed::{AuditEvent, CENSUS};

/// Judges all that these events of an audit log tell, from an empty cluster on, at rest at their end if `rests` says so. Fails
/// with every broken promise.
///
/// The test bed must have been started with [`Options::audit_bodies`](crate::testbed::Options::audit_bodies).
pub fn promises_kept(mut events: Vec<AuditEvent>, tolerance: Tolerance, rests: bool) -> anyhow::Result<()> {
    let mut checker = InvariantChecker::new(tolerance);
    answer_lost_ledgers(&mut events);
    let tells = |event: &&AuditEvent| (event.is_write() || is_census(event)) && event.succeeded();
    let writes = events.iter().filter(tells).collect();
    let mut known = Known::new();
    for (index, event) in (0..).zip(evictions_first(by_version(writes))) {
        present(&mut checker, index, event, &mut known);
    }
    if rests {
        checker.rests(events.last().map(|event| event.answered.as_millisecond()).unwrap_or_default());
    }
    let violations: Vec<String> = checker.violations().iter().map(ToString::to_string).collect();
    ensure!(violations.is_empty(), "broken promises:\n{}", violations.join("\n"));
    Ok(())
}

/// Completes the writes of the ledger whose client was gone before the answer (504) and that were stored all the same: the
/// next write names a version that no answer told, so it is theirs.
fn answer_lost_ledgers(events: &mut [AuditEvent]) {
    let is_ledger = |event: &AuditEvent| {
        event.is_about("configmaps") && event.user == OPERATOR_USER && event.verb == "update"
    };
    let mut lost: Option<usize> = None;
    let mut newest = String::new();
    for at in 0..events.len() {
        let Some(event) = events.get(at).filter(|event| is_ledger(event)) else { continue };
        let named = resource_version(event.request.as_ref()).unwrap_or_default().to_owned();
        let answer = resource_version(event.response.as_ref()).filter(|_| event.succeeded());
        let (answer, is_lost) = (answer.map(ToOwned::to_owned), event.code >= 500);
        let before = std::mem::replace(&mut lost, is_lost.then_some(at));
        if let Some(stored) = before.filter(|_| named != newest).and_then(|before| events.get_mut(before)) {
            stored.response = stored.request.clone().map(|body| with_version(body, &named));
            stored.code = 200;
        }
        newest = answer.unwrap_or(named);
    }
}

fn resource_version(object: Option<&Value>) -> Option<&str> {
    object?.pointer("/metadata/resourceVersion")?.as_str()
}

fn with_version(mut object: Value, version: &str) -> Value {
    if let Some(stored) = object.pointer_mut("/metadata/resourceVersion") {
        *stored = Value::from(version);
    }
    object
}

/// Writes in the order in which they were stored. They are noted when they are answered: on a busy machine a controller has
/// seen a write, and written something itself, before the first answer is out.
///
/// What has no version (bindings, evictions, deletions), or changed nothing, stays behind whatever was noted before it, and the
/// end of an object also behind all that was stored of it.
fn by_version(writes: Vec<&AuditEvent>) -> Vec<&AuditEvent> {
    let mut last_of: BTreeMap<&str, u64> = BTreeMap::new();
    for event in &writes {
        if let (Some(uid), Some(version)) = (uid(event, "/metadata/uid"), version(event)) {
            let last = last_of.entry(uid).or_default();
            *last = version.max(*last);
        }
    }
    let mut stored = BTreeSet::new();
    let mut newest: u64 = 0;
    let mut keyed: Vec<((u64, bool), &AuditEvent)> = Vec::with_capacity(writes.len());
    for event in writes {
        let version = version(event).filter(|version| stored.insert(*version));
        newest = newest.max(version.unwrap_or_default());
        let last = ended(event).and_then(|uid| last_of.get(uid).copied()).filter(|last| *last > newest);
        keyed.push((last.map_or((version.unwrap_or(newest), false), |last| (last, true)), event));
    }
    keyed.sort_by_key(|(version, _)| *version);
    keyed.into_iter().map(|(_, event)| event).collect()
}

fn uid<'e>(event: &'e AuditEvent, pointer: &str) -> Option<&'e str> {
    event.response.as_ref()?.pointer(pointer)?.as_str()
}

/// The uid of the object that is gone after this deletion. A custom object is answered with its uid alone.
fn ended(event: &AuditEvent) -> Option<&str> {
    let ends = event.verb == "delete" && !event.response.as_ref().is_some_and(stays);
    uid(event, "/details/uid").or_else(|| uid(event, "/metadata/uid")).filter(|_| ends)
}

fn is_census(event: &AuditEvent) -> bool {
    event.user == CENSUS && event.verb == "list"
}

/// The version in which the object was stored, or in which all were listed. All kinds count in one sequence: they share one
/// etcd.
fn version(event: &AuditEvent) -> Option<u64> {
    let stores = matches!(event.verb.as_str(), "create" | "update" | "patch") || is_census(event);
    resource_version(event.response.as_ref())?.parse().ok().filter(|_| stores)
}

/// The same where an eviction comes before what its pod's kubelet did about it, and before pods that were bound meanwhile, though
/// it may be answered later: a pod without grace is gone before that, and the scheduler uses its room.
fn evictions_first(mut writes: Vec<&AuditEvent>) -> Vec<&AuditEvent> {
    let is_of_pod = |event: &AuditEvent, eviction: &AuditEvent| {
        event.resource == "pods" && event.namespace == eviction.namespace && event.name == eviction.name
    };
    let shows_it = |event: &AuditEvent| {
        let body = event.response.as_ref();
        body.is_some_and(|body| body.pointer("/metadata/deletionTimestamp").is_some())
            || event.verb == "delete"
    };
    for at in 0..writes.len() {
        let Some(eviction) = writes.get(at).copied().filter(|event| event.is_about("pods/eviction")) else {
            continue;
        };
        let first_of =
            |follows: &dyn Fn(&AuditEvent) -> bool| writes.iter().take(at).position(|event| follows(event));
        let shown = first_of(&|event| is_of_pod(event, eviction) && shows_it(event));
        let bound = first_of(&|event| event.is_about("pods/binding") && event.received >= eviction.received);
        // Not those of another life, or of an eviction before.
        let overlaps =
            |first: &usize| writes.get(*first).is_some_and(|event| event.answered >= eviction.received);
        let first = shown.filter(overlaps).into_iter().chain(bound).min();
        if let Some(range) = first.and_then(|first| writes.get_mut(first..=at)) {
            range.rotate_right(1);
        }
    }
    writes
}

/// Quotas as they were answered last, by namespace and name.
type Known = BTreeMap<(String, String), Value>;

/// A quota as it is now. The garbage collector asks for metadata alone, so its answers leave out the rest.
fn whole_quota(event: &AuditEvent, known: &mut Known) -> Option<Value> {
    let body = event.response.as_ref().filter(|_| event.resource == "resourcequotas")?;
    let key = (event.namespace.clone(), body.pointer("/metadata/name")?.as_str()?.to_owned());
    let mut whole = body.clone();
    if body.get("kind").is_some_and(|kind| kind == "PartialObjectMetadata") {
        let metadata = body.get("metadata")?.clone();
        whole = known.get(&key)?.clone();
        whole.as_object_mut()?.insert("metadata".to_owned(), metadata);
    }
    known.insert(key, whole.clone());
    Some(whole)
}

fn present(checker: &mut InvariantChecker, index: u64, event: &AuditEvent, known: &mut Known) {
    if is_census(event) {
        return count(checker, index, event);
    }
    let whole = whole_quota(event, known);
    let body = whole.as_ref().or(event.response.as_ref()).filter(|body| body.get("metadata").is_some());
    // A create by its owner has the name in the answer only.
    let name = match body.and_then(|body| body.pointer("/metadata/name")?.as_str()) {
        Some(name) if event.name.is_empty() => name,
        _ => &event.name,
    };
    let mut write = Write {
        index,
        at: event.answered.as_millisecond(),
        by_operator: event.user == OPERATOR_USER,
        verb: match event.verb.as_str() {
            "create" => Verb::Create,
            "delete" | "deletecollection" => Verb::Delete,
            _ => Verb::Update,
        },
        resource: &event.resource,
        subresource: &event.subresource,
        namespace: &event.namespace,
        name,
        request: event.request.as_ref(),
        before: None,
        after: body,
    };
    match (event.resource.as_str(), event.subresource.as_str(), event.verb.as_str()) {
        ("pods", "eviction", _) => checker.see(&write),
        // The namespace's end ends what is in it.
        ("namespaces", "finalize", _) => checker.forget_namespace(name),
        ("pods", "binding", _) => checker.bind(&write, node_of(event.request.as_ref())),
        (_, _, "deletecollection") => {
            for gone in deleted_at_once(event) {
                checker.see(&Write { name: gone, after: None, ..write });
            }
        }
        (_, _, "delete") => {
            if !body.is_some_and(stays) {
                write.after = None;
            }
            checker.see(&write);
        }
        // Without its last finalizer an object that is being deleted is gone.
        (_, "", _) if body.is_some_and(|body| is_leaving(body) && !stays(body)) => {
            write.after = None;
            checker.see(&write);
        }
        _ if body.is_some() || write.by_operator => checker.see(&write),
        _ => {}
    }
}

/// Presents all objects of a kind as they are: what was done to them meanwhile was not noted, nor what pods have gone.
fn count(checker: &mut InvariantChecker, index: u64, event: &AuditEvent) {
    let write =
        Write { index, at: event.answered.as_millisecond(), resource: &event.resource, ..Write::default() };
    let items = event.response.as_ref().and_then(|list| list.get("items")?.as_array());
    let text =
        |item: &Value, pointer| item.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let there: BTreeMap<(String, String), &Value> = items
        .into_iter()
        .flatten()
        .map(|item| ((text(item, "/metadata/namespace"), text(item, "/metadata/name")), item))
        .collect();
    if event.resource == "pods" {
        let known = checker.cluster().places.iter();
        let known =
            known.flat_map(|(place, here)| here.pods.keys().map(move |pod| (place.clone(), pod.clone())));
        for (namespace, name) in known.filter(|pod| !there.contains_key(pod)).collect::<Vec<_>>() {
            checker.see(&Write { verb: Verb::Delete, namespace: &namespace, name: &name, ..write });
        }
    }
    for ((namespace, name), item) in &there {
        checker.see(&Write { namespace, name, after: Some(item), ..write });
    }
}

/// Of the objects that were deleted together, those that do not end by themselves later. The request may give none of them time.
fn deleted_at_once(event: &AuditEvent) -> impl Iterator<Item = &str> {
    let seconds = |object: &Value, pointer| object.pointer(pointer).and_then(Value::as_u64);
    let given = event.request.as_ref().and_then(|options| seconds(options, "/gracePeriodSeconds"));
    let grace = move |item: &Value| given.or_else(|| seconds(item, "/spec/terminationGracePeriodSeconds"));
    let items = event.response.as_ref().and_then(|list| list.get("items")?.as_array()).into_iter().flatten();
    items
        .filter(move |item| grace(item).is_none_or(|grace| grace == 0))
        .filter_map(|item| item.pointer("/metadata/name")?.as_str())
}

/// Whether what is deleted is only on its way out.
fn stays(object: &Value) -> bool {
    let has = |pointer: &str, some: fn(&Value) -> bool| object.pointer(pointer).is_some_and(some);
    has("/metadata/finalizers", |finalizers| finalizers.as_array().is_some_and(|all| !all.is_empty()))
        || has("/metadata/deletionGracePeriodSeconds", |grace| grace.as_u64().is_some_and(|grace| grace > 0))
}

fn is_leaving(object: &Value) -> bool {
    object.pointer("/metadata/deletionTimestamp").is_some_and(Value::is_string)
}

fn node_of(binding: Option<&Value>) -> Option<&str> {
    binding?.pointer("/target/name")?.as_str()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;

    fn event(verb: &str, name: &str, version: Option<u64>) -> AuditEvent {
        AuditEvent {
            verb: verb.to_owned(),
            uri: String::new(),
            user: String::new(),
            user_agent: String::new(),
            group: String::new(),
            resource: "resourcequotas".to_owned(),
            subresource: String::new(),
            namespace: String::new(),
            name: name.to_owned(),
            code: 200,
            message: String::new(),
            received: Timestamp::UNIX_EPOCH,
            answered: Timestamp::UNIX_EPOCH,
            request: None,
            response: version.map(|version| json!({"metadata": {"resourceVersion": version.to_string()}})),
            annotations: std::collections::BTreeMap::new(),
        }
    }

    #[test]
    fn an_answer_that_is_late_does_not_make_a_write_late() {
        let noted = [
            event("patch", "first", Some(7)),
            event("update", "third, which followed from the second", Some(10)),
            event("create", "fourth, a binding", None),
            event("patch", "second", Some(8)),
            event("patch", "fifth, which changed nothing", Some(8)),
            event("delete", "last", Some(3)),
        ];
        let ordered = by_version(noted.iter().collect());
        let names: Vec<&str> = ordered.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "first",
                "second",
                "third, which followed from the second",
                "fourth, a binding",
                "fifth, which changed nothing",
                "last"
            ]
        );
    }

    #[test]
    fn a_deletion_comes_after_what_was_stored_of_its_object() {
        let of_queue = |verb, body| AuditEvent { response: Some(body), ..event(verb, "queue", None) };
        let status = |uid, version| json!({"metadata": {"uid": uid, "resourceVersion": version}});
        let deletion = of_queue("delete", json!({"kind": "Status", "details": {"uid": "one"}}));
        let noted = [of_queue("create", status("one", "3")), deletion, of_queue("patch", status("one", "5"))];
        let noted: Vec<&AuditEvent> = noted.iter().collect();
        let next_life = of_queue("create", status("two", "7"));
        let ordered = by_version([noted, vec![&next_life]].concat());
        let verbs: Vec<&str> = ordered.iter().map(|event| event.verb.as_str()).collect();
        assert_eq!(verbs, ["create", "patch", "delete", "create"]);
    }

    #[test]
    fn a_ledger_whose_writer_was_killed_counts_where_it_was_stored() {
        let write = |code, named: &str, answered| AuditEvent {
            user: OPERATOR_USER.to_owned(),
            resource: "configmaps".to_owned(),
            code,
            request: Some(json!({"metadata": {"resourceVersion": named}})),
            ..event("update", "quotient-ledger", answered)
        };
        let outcome = |events: &mut [AuditEvent]| {
            answer_lost_ledgers(events);
            events.iter().map(|event| version(event).filter(|_| event.succeeded())).collect::<Vec<_>>()
        };
        let mut stored = [write(200, "3", Some(5)), write(504, "5", None), write(200, "7", Some(9))];
        assert_eq!(outcome(&mut stored), [Some(5), Some(7), Some(9)]);
        let mut dropped = [write(200, "3", Some(5)), write(504, "5", None), write(200, "5", Some(9))];
        assert_eq!(outcome(&mut dropped), [Some(5), None, Some(9)]);
    }

    #[test]
    fn a_pod_that_went_while_nothing_was_noted_is_gone() {
        let pod = |name| json!({"metadata": {"namespace": "a", "name": name}});
        let of_pods = |verb, name, response| AuditEvent {
            resource: "pods".to_owned(),
            namespace: "a".to_owned(),
            response: Some(response),
            ..event(verb, name, None)
        };
        let census = AuditEvent {
            user: CENSUS.to_owned(),
            namespace: String::new(),
            ..of_pods("list", "", json!({"metadata": {"resourceVersion": "9"}, "items": [pod("stays")]}))
        };
        let mut checker = InvariantChecker::new(Tolerance::default());
        for event in
            [of_pods("create", "goes", pod("goes")), of_pods("create", "stays", pod("stays")), census]
        {
            present(&mut checker, 0, &event, &mut Known::new());
        }
        let pods: Vec<&str> =
            checker.cluster().places.values().flat_map(|here| here.pods.keys().map(String::as_str)).collect();
        assert_eq!(pods, ["stays"]);
        assert!(checker.violations().is_empty(), "{:?}", checker.violations());
    }

    #[test]
    fn pods_that_are_deleted_together_without_grace_are_gone() {
        let pod = |name, grace| json!({"metadata": {"name": name}, "spec": {"terminationGracePeriodSeconds": grace}});
        let delete = |options| AuditEvent {
            resource: "pods".to_owned(),
            request: Some(options),
            response: Some(json!({"items": [pod("at-once", 0), pod("later", 30)]})),
            ..event("deletecollection", "", None)
        };
        let gone = |event: AuditEvent| deleted_at_once(&event).collect::<Vec<_>>().join(" ");
        assert_eq!(gone(delete(json!({}))), "at-once");
        assert_eq!(gone(delete(json!({"gracePeriodSeconds": 0}))), "at-once later");
    }

    #[test]
    fn an_eviction_comes_before_the_pods_that_were_bound_meanwhile() {
        let of_pod = |subresource: &str, name: &str, received: i64, answered: i64| AuditEvent {
            resource: "pods".to_owned(),
            subresource: subresource.to_owned(),
            received: Timestamp::from_second(received).unwrap(),
            answered: Timestamp::from_second(answered).unwrap(),
            ..event("create", name, None)
        };
        let noted = [
            of_pod("binding", "before", 0, 2),
            of_pod("binding", "meanwhile", 3, 4),
            of_pod("eviction", "gone", 1, 5),
        ];
        let ordered = evictions_first(noted.iter().collect());
        let names: Vec<&str> = ordered.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, ["before", "gone", "meanwhile"]);
    }
}
