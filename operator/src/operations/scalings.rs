//! Sizes of workloads that yield inside their queue, and the deletion costs that have to be seen before.
//!
//! ```text
//!  marks set and lifted ─► seen ─► size written, former size beside it ─► seen ─► the controller deletes the marked pods
//! ```
//!
//! A controller that goes by the size has seen the marks, too. What is remembered of a workload stands on its object.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quotient_crds::names::{
    DELETION_COST_ANNOTATION, REPLICAS_BEFORE_ANNOTATION, REPLICAS_LOWERED_ANNOTATION,
};
use quotient_engine::plan::{Plan, PodId, Scaling};
use quotient_engine::snapshot::{ScaleTarget, ScaleTargetKind};
use quotient_index::sizes::DeclaredReplicas;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::executor::{Kind, Life, Object, Operation, Outcome, Purpose, Request, decode};

/// The marks of every scaling that has some to set or to lift, and the sizes of the others.
pub(super) fn operations(plan: &Plan) -> Vec<Operation> {
    plan.scalings.iter().flat_map(|scaling| of(&Arc::new(scaling.clone()))).collect()
}

fn of(scaling: &Arc<Scaling>) -> Vec<Operation> {
    if scaling.marks.is_empty() && scaling.lifts.is_empty() {
        return vec![resize(scaling)];
    }
    let set = scaling.marks.iter().map(|pod| mark(scaling, pod, true));
    set.chain(scaling.lifts.iter().map(|pod| mark(scaling, pod, false))).collect()
}

/// Sets or lifts the mark of this life of the pod and of no other.
fn mark(scaling: &Arc<Scaling>, pod: &PodId, is_set: bool) -> Operation {
    let cost = is_set.then(|| Scaling::MARK.to_string());
    let purpose = Purpose::Mark { scaling: Arc::clone(scaling), pod: pod.clone(), is_set };
    let patch = json!({"metadata": {"annotations": {DELETION_COST_ANNOTATION: cost}}});
    Operation::on_pod(purpose, pod, Request::Merge(patch))
}

/// Writes the size that `scaling` says, if the object is still what was decided on.
fn resize(scaling: &Arc<Scaling>) -> Operation {
    let ScaleTarget { kind, name, .. } = &scaling.scale_target;
    let object = Object::new(Kind::of_scale_target(*kind), &scaling.queue.namespace, Arc::clone(name));
    let decided = Arc::clone(scaling);
    let prepare = move |found: &str| {
        let found: Sized = decode(found).map_err(Outcome::unreadable)?;
        match difference(&found, &decided) {
            Some(why) => Err(Outcome::Stale(why)),
            None => Ok((found.life(&decided), Request::Merge(body(&decided)))),
        }
    };
    Operation {
        purpose: Purpose::Size(Arc::clone(scaling)),
        object: object.clone(),
        life: None,
        request: Request::Read(object, Box::new(prepare)),
    }
}

/// What is read of an object whose spec says how many pods are wanted. The API server fills in what is left out, so a size that
/// is missing is not known.
#[derive(Deserialize)]
struct Sized {
    metadata: ObjectMeta,
    spec: Sizes,
}

#[derive(Deserialize)]
struct Sizes {
    replicas: Option<i32>,
    parallelism: Option<i32>,
}

impl Sized {
    fn size(&self, kind: ScaleTargetKind) -> Option<u32> {
        let size = if kind == ScaleTargetKind::Job { self.spec.parallelism } else { self.spec.replicas };
        size.and_then(|size| u32::try_from(size).ok())
    }

    fn life(&self, scaling: &Scaling) -> Life {
        let uid = scaling.scale_target.uid.as_str().into();
        Life { uid, resource_version: self.metadata.resource_version.clone() }
    }
}

/// What about `found` is not as it was when `scaling` was decided on.
fn difference(found: &Sized, scaling: &Scaling) -> Option<String> {
    if found.metadata.uid.as_deref() != Some(scaling.scale_target.uid.as_str()) {
        return Some("it is another one of the same name".to_owned());
    }
    if found.metadata.deletion_timestamp.is_some() {
        return Some("it is being deleted".to_owned());
    }
    let size = found.size(scaling.scale_target.kind);
    let Some(size) = size.filter(|size| *size == scaling.from) else {
        return Some(format!("its size is {size:?} and not {} any more", scaling.from));
    };
    let said = DeclaredReplicas::of(&found.metadata, size);
    if let Some(reason) = said.left_alone {
        return Some(format!("it is to be left alone: {reason}"));
    }
    let expected = former_before(scaling);
    (said.original_replicas != expected)
        .then(|| format!("its former size is {:?} and not {expected:?}", said.original_replicas))
}

/// The former size that stood on the object when `scaling` was decided on.
fn former_before(scaling: &Scaling) -> Option<u32> {
    if scaling.lowers() {
        scaling.original_replicas.filter(|former| *former != scaling.from)
    } else {
        Some(scaling.original_replicas.unwrap_or(scaling.to))
    }
}

/// The size, and what is remembered beside it.
fn body(scaling: &Scaling) -> Value {
    let former = scaling.original_replicas.map(|former| former.to_string());
    let written = former.is_some().then(|| scaling.to.to_string());
    let field = if scaling.scale_target.kind == ScaleTargetKind::Job { "parallelism" } else { "replicas" };
    json!({
        "metadata": {
            "annotations": {REPLICAS_BEFORE_ANNOTATION: former, REPLICAS_LOWERED_ANNOTATION: written},
        },
        "spec": {field: scaling.to},
    })
}
