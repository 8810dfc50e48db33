//! Quotas, and the count of what they charge.

use k8s_openapi::api::core::v1::ResourceQuota;
use quotient_crds::names::{
    GENERATION_ANNOTATION, MANAGED_BY_LABEL, MANAGED_BY_QUOTIENT, QUEUE_ANNOTATION, QUOTA, USAGE_RESYNC_KEY,
};
use quotient_engine::amounts::Bounds;
use quotient_engine::ledger::Generation;
use quotient_engine::names::{Namespace, QueueName, QueueUid};
use quotient_engine::plan::{Plan, QuotaWrite};
use quotient_index::Index;
use quotient_index::quotas::{ObservedQuota, hard_from_bounds};
use serde_json::{Map, Value, json};

use super::Observed;
use super::owning_queue::OwningQueue;
use crate::executor::{Kind, Life, Object, Operation, Outcome, Prepared, Purpose, Request, decode};

/// Every quota that `plan` changes or that does not bear the stamp of what was granted.
pub(super) fn operations(plan: &Plan, observed: &Observed<'_>) -> Vec<Operation> {
    plan.quota_writes().filter_map(|(queue, write)| of(queue, write, observed.index)).collect()
}

/// Has the quota of `queue` say what `write` does, as the ledger says. None if there is nothing to write to.
fn of(queue: &QueueName, write: &QuotaWrite, index: &Index) -> Option<Operation> {
    let namespace = &queue.namespace;
    let seen = index.observed_quota(namespace);
    if seen.is_none() && (write.owner.is_none() || write.hard.is_empty()) {
        return None;
    }
    let object = object(namespace);
    let request = if write.hard.is_empty() {
        // In Gate mode a queue without a limit has no quota.
        Request::Delete(None)
    } else {
        let owner = write.owner.clone();
        match stamp(index, namespace) {
            Ok(stamp) => request(
                seen.map(|seen| &**seen),
                Content { queue: queue.clone(), owner, hard: write.hard.clone(), stamp },
            ),
            Err(why) => Request::Impossible(why.to_owned()),
        }
    };
    let before = seen.map(|seen| seen.hard.clone());
    Some(Operation {
        purpose: Purpose::Quota { queue: queue.clone(), write: write.clone(), before },
        object,
        life: seen.map(|seen| Life::of(seen.uid.as_str())),
        request,
    })
}

fn object(namespace: &Namespace) -> Object {
    Object::new(Kind::ResourceQuota, namespace, QUOTA)
}

fn request(seen: Option<&ObservedQuota>, content: Content) -> Request {
    match seen {
        None => Request::Create(create(&content)),
        Some(ObservedQuota { generation: Some(generation), owner, .. }) => {
            Request::Patch(update(*generation, owner.as_ref(), &content))
        }
        // Not written by us: what has to be added depends on what is there.
        Some(_) => {
            let read = object(&content.queue.namespace);
            Request::Read(read, Box::new(move |found| take_over(found, &content)))
        }
    }
}

/// What a write of the quota of `namespace` is to be stamped with.
fn stamp(index: &Index, namespace: &Namespace) -> Result<Generation, &'static str> {
    let ledger = index.ledger().ok_or("the ledger is not known any more")?;
    let newer =
        index.observed_quota(namespace).is_some_and(|quota| quota.generation > Some(ledger.generation));
    if newer {
        return Err("the quota bears a stamp of a later ledger: another leader wrote it");
    }
    let entry = ledger.entries.get(namespace);
    entry.map(|entry| entry.generation).ok_or("the ledger is full: it has no place for another namespace")
}

/// Has kube-controller-manager count anew what the quotas of these namespaces charge.
///
/// It counts the pods of a namespace when `spec.hard` of its quota changes. So the quota gets one key more, which bounds what
/// does not exist, and loses it again: no amount changes, whichever of the two writes lands, and when. Between them the quota
/// does not say what was granted; if the second is lost, the next plan writes it.
pub(super) fn usage_resyncs(plan: &Plan, observed: &Observed<'_>) -> Vec<Operation> {
    let left_alone = |namespace: &Namespace| {
        plan.queues.iter().any(|(name, queue)| queue.quota_left_alone && name.namespace == *namespace)
    };
    let due = observed.usage_resyncs.iter().filter(|(namespace, _)| !left_alone(namespace));
    due.filter_map(|(namespace, is_second)| usage_resync(namespace, *is_second, observed.index)).collect()
}

fn usage_resync(namespace: &Namespace, is_second: bool, index: &Index) -> Option<Operation> {
    let seen = index.observed_quota(namespace)?;
    let path = format!("/spec/hard/{}", escaped(USAGE_RESYNC_KEY));
    let change = if is_second {
        json!({"op": "remove", "path": path})
    } else {
        json!({"op": "add", "path": path, "value": "0"})
    };
    Some(Operation {
        purpose: Purpose::UsageResync { namespace: namespace.clone(), is_second },
        object: object(namespace),
        life: Some(Life::of(seen.uid.as_str())),
        request: Request::Patch(vec![test_of_stamp(seen.generation?), change]),
    })
}

/// What a quota is to say.
struct Content {
    /// The Queue whose share it enforces.
    queue: QueueName,
    /// The id of the Queue, if it is to own the quota; none if the owner references are to stay.
    owner: Option<QueueUid>,
    /// Every amount.
    hard: Bounds,
    /// The generation of the ledger's entry that the amounts are from.
    stamp: Generation,
}

impl Content {
    /// The Queue that is to own the quota.
    fn owner(&self) -> Option<OwningQueue<'_>> {
        self.owner.as_ref().map(|uid| OwningQueue { name: &self.queue, uid })
    }

    /// The annotation that names the Queue.
    fn queue(&self) -> (&'static str, String) {
        (QUEUE_ANNOTATION, self.queue.name.to_string())
    }

    /// The annotations of a quota that we write for the first time.
    fn first_annotations(&self) -> Vec<(&'static str, String)> {
        vec![(GENERATION_ANNOTATION, self.stamp.to_string()), self.queue()]
    }

    fn amounts(&self) -> Value {
        json!({"op": "add", "path": "/spec/hard", "value": hard_from_bounds(&self.hard)})
    }
}

/// The quota of a namespace that has none.
fn create(content: &Content) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {
            "name": QUOTA,
            "namespace": content.queue.namespace.as_str(),
            "labels": {MANAGED_BY_LABEL: MANAGED_BY_QUOTIENT},
            "annotations": object_of(content.first_annotations()),
            "ownerReferences": content.owner().map(|owner| owner.references()),
        },
        "spec": {"hard": hard_from_bounds(&content.hard)},
    })
}

/// New content for the quota that bears `standing` and that `owner` owns.
///
/// The tests of uid and stamp are what keeps a late write from harm: it lands on this life of the object and on no other, and
/// only while it bears no later stamp. A resourceVersion would say the same and more: admission moves it with every pod that it
/// counts, so it would refuse writes that nothing is wrong with.
///
/// The owner references are written only if they differ. So a write for a Queue that is gone does not take the quota back from
/// its successor.
fn update(standing: Generation, owner: Option<&QueueUid>, content: &Content) -> Vec<Value> {
    let path = annotation(GENERATION_ANNOTATION);
    let mut operations = vec![
        test_of_stamp(standing),
        json!({"op": "replace", "path": path, "value": content.stamp.to_string()}),
        set(content.queue()),
    ];
    let other = content.owner().filter(|wanted| owner != Some(wanted.uid));
    operations.extend(other.map(|wanted| wanted.own()));
    operations.push(content.amounts());
    operations
}

fn test_of_stamp(standing: Generation) -> Value {
    json!({"op": "test", "path": annotation(GENERATION_ANNOTATION), "value": standing.to_string()})
}

/// New content for a quota of our name that was not written by us, as it was just read.
///
/// The same tests, except that what must not have changed is what stands in the annotation's place.
fn take_over(found: &str, content: &Content) -> Prepared {
    let found: ResourceQuota = decode(found).map_err(Outcome::unreadable)?;
    let mut operations = Vec::new();
    let wanted = content.first_annotations();
    match &found.metadata.annotations {
        // An operation on a member of a map that is not there fails: the map itself is added.
        None => {
            operations.push(json!({"op": "test", "path": "/metadata/annotations", "value": null}));
            operations
                .push(json!({"op": "add", "path": "/metadata/annotations", "value": object_of(wanted)}));
        }
        Some(annotations) => {
            let generation = annotations.get(GENERATION_ANNOTATION);
            let path = annotation(GENERATION_ANNOTATION);
            operations.push(json!({"op": "test", "path": path, "value": generation}));
            operations.extend(wanted.into_iter().map(set));
        }
    }
    let (path, label) = match &found.metadata.labels {
        None => ("/metadata/labels".to_owned(), json!({MANAGED_BY_LABEL: MANAGED_BY_QUOTIENT})),
        Some(_) => (format!("/metadata/labels/{}", escaped(MANAGED_BY_LABEL)), MANAGED_BY_QUOTIENT.into()),
    };
    operations.push(json!({"op": "add", "path": path, "value": label}));
    operations.extend(content.owner().map(|owner| owner.own()));
    operations.push(content.amounts());
    let life = Life::of(found.metadata.uid.as_deref().unwrap_or_default());
    Ok((life, Request::Patch(operations)))
}

/// Sets an annotation, whether it is there or not.
fn set((name, value): (&'static str, String)) -> Value {
    json!({"op": "add", "path": annotation(name), "value": value})
}

fn object_of(annotations: Vec<(&'static str, String)>) -> Map<String, Value> {
    annotations.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}

/// Where an annotation stands, as a JSON pointer.
fn annotation(name: &str) -> String {
    format!("/metadata/annotations/{}", escaped(name))
}

/// A member's name as a JSON pointer spells it.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
