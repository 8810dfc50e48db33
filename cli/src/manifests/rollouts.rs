//! What controllers make of Deployments, of QueueJobs, and of workloads with a changed template.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet, ReplicaSetSpec};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Pod, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use kube::Resource as _;
use quotient_crds::{QueueJob, Task};
use quotient_index::queue_jobs::{job_body, job_name};
use serde_json::Value;

use crate::controllers::read_pods;
use crate::objects::{Kind, Object, decoded};

/// The annotation by which the deployment controller numbers the ReplicaSets of a Deployment.
const REVISION: &str = "deployment.kubernetes.io/revision";

/// The label that names a ReplicaSet's template; the end of its name.
const TEMPLATE_HASH: &str = "pod-template-hash";

/// Namespace and name.
type Name = (String, String);

/// Makes the ReplicaSets want what their Deployments want, and adds one for each Deployment that has none.
///
/// A Deployment with one ReplicaSet that wants pods has it scaled, as after `kubectl scale`. In the middle of a
/// rollout, with several, they stay as they are. The workloads in `renewed` create pods of another template again.
pub(super) fn roll_out(objects: &mut Vec<Object>, renewed: &BTreeSet<Workload>) {
    let described = replica_sets(objects);
    let of_pods = replica_sets_of_pods(objects, &described);
    let mut owned: BTreeMap<String, Vec<&mut ReplicaSet>> = BTreeMap::new();
    let mut deployments = Vec::new();
    // What creates its pods again.
    let mut creators: BTreeSet<String> = BTreeSet::new();
    for object in &mut *objects {
        let is_renewed = renewed.contains(&named(object));
        let controller = object.controller().map(|owner| owner.uid.clone());
        match (object, controller) {
            (Object::Deployment(deployment), _) => deployments.push((deployment, is_renewed)),
            (Object::ReplicaSet(set), Some(uid)) => owned.entry(uid).or_default().push(Arc::make_mut(set)),
            (other, _) if is_renewed => creators.extend(other.metadata().uid.clone()),
            _ => {}
        }
    }
    let mut missing = Vec::new();
    for (deployment, is_renewed) in deployments {
        let uid = deployment.metadata.uid.clone().unwrap_or_default();
        let Some(mut sets) = owned.remove(&uid) else {
            let named = of_pods.get(&name_of(&deployment.metadata)).map(|(_, named)| named.clone());
            let (name, uid) = named.unwrap_or_else(|| free_name(&deployment.metadata, &described));
            missing.extend(replica_set(deployment, name, uid));
            continue;
        };
        if sets.iter().filter(|set| replicas(set) > 0).count() <= 1
            && let Some(current) = sets.iter_mut().max_by_key(|set| (replicas(set) > 0, age(set)))
            && let Some(spec) = &mut current.spec
            && let Some(wanted) = &deployment.spec
        {
            spec.replicas = wanted.replicas;
            if is_renewed && spec.template.as_ref().is_some_and(|was| !are_alike(was, &wanted.template)) {
                spec.template = Some(wanted.template.clone());
                creators.extend(current.metadata.uid.clone());
            }
        }
    }
    let is_former = |object: &Object| {
        object.kind() == Kind::Pod && object.controller().is_some_and(|owner| creators.contains(&owner.uid))
    };
    objects.retain(|object| !is_former(object));
    objects.extend(missing.into_iter().map(|set| Object::ReplicaSet(Arc::new(set))));
}

/// A workload: its kind, namespace and name.
pub(super) type Workload = (Kind, Name);

pub(super) fn named(object: &Object) -> Workload {
    (object.kind(), name_of(object.metadata()))
}

/// Whether `object`, which was `former` before a change, replaces pods of another template. Those of a Deployment are its
/// ReplicaSets'.
pub(super) fn is_rolled_out(object: &Object, former: Option<&Value>) -> bool {
    let strategy = match object {
        Object::Deployment(owner) => {
            return owner.spec.as_ref().is_some_and(|spec| spec.paused != Some(true));
        }
        Object::StatefulSet(owner) => {
            let strategy = owner.spec.as_ref().and_then(|spec| spec.update_strategy.as_ref());
            strategy.and_then(|strategy| strategy.type_.as_deref())
        }
        Object::DaemonSet(owner) => {
            let strategy = owner.spec.as_ref().and_then(|spec| spec.update_strategy.as_ref());
            strategy.and_then(|strategy| strategy.type_.as_deref())
        }
        _ => return false,
    };
    let former = former.and_then(|former| Object::read(object.kind(), former).ok());
    let templates = former.as_ref().and_then(Object::template).zip(object.template());
    strategy != Some("OnDelete") && templates.is_some_and(|(was, is)| !are_alike(was, is))
}

/// Whether pods of both templates request the same and may run on the same nodes.
fn are_alike(one: &PodTemplateSpec, other: &PodTemplateSpec) -> bool {
    if one.spec == other.spec {
        return true;
    }
    let pods = read_pods([("one", one), ("other", other)].map(|(name, template)| {
        let [name, namespace] = [name, "default"].map(|text| Some(text.to_owned()));
        let metadata = ObjectMeta { name, namespace, ..ObjectMeta::default() };
        Pod { metadata, spec: template.spec.clone(), status: None }
    }));
    pods.windows(2).all(|pair| matches!(pair, [one, other] if one.shape == other.shape))
}

fn replica_sets(objects: &[Object]) -> BTreeSet<Name> {
    objects.iter().filter_map(Object::get).map(|set: &ReplicaSet| name_of(&set.metadata)).collect()
}

/// By Deployment, name and uid of the ReplicaSet that pods say they are of, though it is not there itself: a command that
/// reads a cluster out may leave ReplicaSets aside. Of several the one that created a pod last.
fn replica_sets_of_pods(
    objects: &[Object],
    described: &BTreeSet<Name>,
) -> BTreeMap<Name, (Option<Time>, Name)> {
    let mut found: BTreeMap<Name, (Option<Time>, Name)> = BTreeMap::new();
    for pod in objects.iter().filter(|object| matches!(object, Object::Pod(_))) {
        let Some(set) = pod.controller().filter(|owner| owner.kind == "ReplicaSet") else { continue };
        let (metadata, namespace) = (pod.metadata(), pod.namespace().to_owned());
        if described.contains(&(namespace.clone(), set.name.clone())) {
            continue;
        }
        let hash = metadata.labels.as_ref().and_then(|labels| labels.get(TEMPLATE_HASH));
        let stem = hash.and_then(|hash| set.name.strip_suffix(hash)?.strip_suffix('-'));
        let deployment = (namespace, stem.unwrap_or(&set.name).to_owned());
        let candidate = (metadata.creation_timestamp.clone(), (set.name.clone(), set.uid.clone()));
        if found.get(&deployment).is_none_or(|best| *best < candidate) {
            found.insert(deployment, candidate);
        }
    }
    found
}

/// Name and uid of a new ReplicaSet: mostly the name of the Deployment, else the first that is free.
fn free_name(deployment: &ObjectMeta, taken: &BTreeSet<Name>) -> (String, String) {
    let (namespace, wanted) = name_of(deployment);
    let numbered = (2_u32..).map(|number| format!("{wanted}-{number}"));
    let mut names = std::iter::once(wanted.clone()).chain(numbered);
    let free = names.find(|name| !taken.contains(&(namespace.clone(), name.clone())));
    let name = free.unwrap_or_else(|| wanted.clone());
    let uid = format!("{namespace}/ReplicaSet/{name}");
    (name, uid)
}

fn name_of(metadata: &ObjectMeta) -> Name {
    (metadata.namespace.clone().unwrap_or_default(), metadata.name.clone().unwrap_or_default())
}

fn replicas(set: &ReplicaSet) -> i32 {
    set.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or_default()
}

/// The later, the newer.
fn age(set: &ReplicaSet) -> (u64, Option<Time>, Option<String>) {
    let metadata = &set.metadata;
    let revision = metadata.annotations.as_ref().and_then(|annotations| annotations.get(REVISION));
    let revision = revision.and_then(|text| text.parse().ok()).unwrap_or_default();
    (revision, metadata.creation_timestamp.clone(), metadata.name.clone())
}

/// The one ReplicaSet of a Deployment that has none in the input.
fn replica_set(deployment: &Deployment, name: String, uid: String) -> Option<ReplicaSet> {
    let metadata = &deployment.metadata;
    let spec = deployment.spec.as_ref()?;
    let owner = deployment.controller_owner_ref(&())?;
    Some(ReplicaSet {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: metadata.namespace.clone(),
            uid: Some(uid),
            creation_timestamp: metadata.creation_timestamp.clone(),
            deletion_timestamp: metadata.deletion_timestamp.clone(),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        },
        spec: Some(ReplicaSetSpec {
            replicas: spec.replicas,
            selector: spec.selector.clone(),
            template: Some(spec.template.clone()),
            min_ready_seconds: None,
        }),
        status: None,
    })
}

/// Adds, suspended, the Job of every task that has none in the input.
pub(super) fn add_jobs(objects: &mut Vec<Object>) {
    let jobs = objects.iter().filter_map(Object::get);
    let there: BTreeSet<Name> = jobs.map(|job: &Job| name_of(&job.metadata)).collect();
    let mut missing = Vec::new();
    for object in &*objects {
        let Object::QueueJob(owner) = object else { continue };
        let (namespace, name) = (object.namespace(), object.name());
        let without = |task: &&Task| !there.contains(&(namespace.to_owned(), job_name(name, &task.name)));
        missing.extend(owner.spec.tasks.iter().filter(without).filter_map(|task| job(owner, task)));
    }
    objects.extend(missing.into_iter().map(|job| Object::Job(Arc::new(job))));
}

fn job(owner: &QueueJob, task: &Task) -> Option<Job> {
    let mut job: Job = decoded(&job_body(owner, task, None))?;
    let metadata = &mut job.metadata;
    let (namespace, name) = (metadata.namespace.as_deref()?, metadata.name.as_deref()?);
    metadata.uid = Some(format!("{namespace}/Job/{name}"));
    metadata.creation_timestamp.clone_from(&owner.metadata.creation_timestamp);
    Some(job)
}
