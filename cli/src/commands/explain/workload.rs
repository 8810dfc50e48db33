//! Why pods of a workload do not exist or do not start.

use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::batch::v1::Job;
use quotient_crds::Unmet;
use quotient_crds::names::QUOTA;
use quotient_engine::reasons::ShortReason;
use quotient_engine::snapshot::{Owner, Pod};
use serde_json::Value;

use super::context::{Context, Names};
use super::{checks, unmet};
use crate::objects::{Kind, Object, ignores_evictions, text};
use crate::output::Explanation;
use crate::queues::QueueView;

pub(super) fn explain(context: &Context<'_>) -> Result<Explanation, String> {
    let object = context.found().ok_or_else(|| context.missing())?;
    let workload = Workload::of(context, object);
    let mut explanation = context.explanation();
    explanation.headline = workload.headline(context, object);
    match context.queue() {
        Some(view) => workload.add_obstacles(&mut explanation, context, view),
        None if workload.is_complete() && !workload.owners.is_empty() => {}
        None => {
            explanation.check(
                false,
                format!(
                    "namespace {} has no Queue: no share keeps its pods from starting",
                    context.namespace
                ),
            );
            explanation.next = Some("See the events of the workload: kubectl describe.".to_owned());
        }
    }
    if let Object::Job(job) = object
        && !ignores_evictions(job)
        && context.target.kind == Kind::Job
    {
        explanation.fact("Retries", RETRIES);
    }
    Ok(explanation)
}

/// A workload as the engine sees it.
struct Workload<'s> {
    /// What creates its pods.
    creators: Names,
    owners: Vec<&'s Owner>,
    /// How many pods it wants.
    wanted: u32,
    /// Its pods that exist and are not ending.
    pods: Vec<&'s Pod>,
    /// What the Queue reports of pods that cannot start.
    unmet: Vec<&'s Unmet>,
}

impl<'s> Workload<'s> {
    fn of(context: &'s Context<'_>, object: &Object) -> Self {
        let creators = context.creators(object);
        let owners = owners(context, object, &creators);
        let pods = context.state().into_iter().flat_map(|state| &state.pods);
        let is_theirs = |pod: &&Pod| owners.iter().any(|owner| pod.owner() == Some(&owner.uid));
        let pods: Vec<&Pod> = pods.filter(|pod| pod.is_live()).filter(is_theirs).collect();
        let wanted = owners.iter().map(|owner| owner.wanted).fold(0, u32::saturating_add);
        let mut workload = Self { creators, owners, wanted, pods, unmet: Vec::new() };
        let mut names = workload.creators.clone();
        names.extend(workload.without_node().map(|pod| ("Pod".to_owned(), pod.name.to_string())));
        workload.unmet = context.unmet(&names);
        if workload.is_complete() {
            // The status may still list pods that have started since. Those that Quotient took away are not even wanted.
            workload.unmet.retain(|unmet| unmet.reason == ShortReason::GaveWay.name());
        }
        workload
    }

    /// How many pods do not exist.
    fn missing(&self) -> u32 {
        self.wanted.saturating_sub(u32::try_from(self.pods.len()).unwrap_or(u32::MAX))
    }

    fn without_node(&self) -> impl Iterator<Item = &'s Pod> {
        self.pods.iter().copied().filter(|pod| pod.node.is_none())
    }

    /// Whether all pods exist and have nodes.
    fn is_complete(&self) -> bool {
        self.missing() == 0 && self.without_node().next().is_none()
    }

    fn headline(&self, context: &Context<'_>, object: &Object) -> String {
        let target = context.target;
        if self.owners.is_empty() && context.queue().is_none() {
            return format!("Quotient does not manage {target}.");
        }
        if self.wanted == 0 && self.pods.is_empty() {
            let is_suspended = matches!(object, Object::Job(job) if is_suspended(job));
            let why = if is_suspended { ", because it is suspended" } else { "" };
            return format!("{target} wants no pods{why}.");
        }
        let has = format!("{target} has {} of {} pods.", self.pods.len(), self.wanted);
        match (self.missing(), self.without_node().count()) {
            (0, 0) if self.unmet.is_empty() => format!("{has} None is missing."),
            (0, 0) => has,
            (0, 1) => format!("{has} 1 has no node yet."),
            (0, count) => format!("{has} {count} have no node yet."),
            (missing, _) => match rejected(context, &self.creators) {
                None => has,
                Some(when) => {
                    let are = if missing == 1 { "is" } else { "are" };
                    format!("{has} {missing} {are} rejected by quota \"{QUOTA}\"{when}.")
                }
            },
        }
    }

    /// Adds what `view`, the Queue of the namespace, keeps from starting.
    fn add_obstacles(&self, explanation: &mut Explanation, context: &Context<'_>, view: &QueueView) {
        if self.missing() > 0 {
            checks::add(explanation, context, view, &self.owners);
        }
        unmet::add(explanation, context, &self.unmet);
        if !self.unmet.is_empty() || view.is_unknown() || view.stalled().is_some() {
            return;
        }
        let listed = view.status.unmet.iter().map(|unmet| unmet.pods).fold(0, i32::saturating_add);
        if self.missing() == 0 {
            let of_pod = |pod: &Pod| {
                let namespace = &context.namespace;
                format!("See why: kubectl quotient explain pod/{} -n {namespace}", pod.name)
            };
            explanation.next = self.without_node().next().map(of_pod);
        } else if view.status.unmet_total.is_some_and(|total| total > listed) {
            explanation
                .step("the status of the Queue lists only the first workloads that wait, and not this one");
        } else {
            explanation
                .step("the Queue reports nothing in the way; the controller has not created the pods yet");
        }
    }
}

fn is_suspended(job: &Job) -> bool {
    job.spec.as_ref().is_some_and(|spec| spec.suspend == Some(true))
}

/// What creates its pods.
fn owners<'s>(context: &'s Context<'_>, object: &Object, creators: &Names) -> Vec<&'s Owner> {
    let all = context.state().into_iter().flat_map(|state| &state.owners);
    let uid = object.metadata().uid.as_deref().unwrap_or_default();
    let is_its = |owner: &&Owner| {
        let name = owner.name.split('/').next().unwrap_or_default();
        owner.uid.as_str() == uid
            || owner.controller.as_ref().is_some_and(|controller| controller.uid.as_str() == uid)
            || creators.contains(&(owner.kind.name().to_owned(), name.to_owned()))
    };
    all.filter(is_its).collect()
}

/// What evictions do to a Job without a policy of its own.
const RETRIES: &str =
    "evictions count against backoffLimit, because no podFailurePolicy ignores DisruptionTarget";

/// What Kubernetes says if a pod does not fit into the quota of Quotient.
const EXCEEDED: &str = "exceeded quota: quotient";

/// `, last 12 s ago`, if the quota has rejected pods of these creators.
fn rejected(context: &Context<'_>, creators: &Names) -> Option<String> {
    let is_it = |event: &&Value| {
        creators
            .contains(&(text(event, "/regarding/kind").to_owned(), text(event, "/regarding/name").to_owned()))
            && text(event, "/note").contains(EXCEEDED)
    };
    let times = ["/series/lastObservedTime", "/deprecatedLastTimestamp", "/eventTime"];
    let time = |event: &Value| times.iter().find_map(|pointer| text(event, pointer).parse().ok());
    if let Some(last) = context.question.events.iter().filter(is_it).filter_map(time).max() {
        return Some(format!(", last {} ago", context.ago(last)));
    }
    // Events are gone after an hour.
    let is_its = |set: &&Object| creators.contains(&("ReplicaSet".to_owned(), set.name().to_owned()));
    let is_said = context.objects().filter(is_its).filter_map(Object::get).any(|set: &ReplicaSet| {
        let status = set.status.as_ref();
        let mut conditions = status.and_then(|status| status.conditions.as_ref()).into_iter().flatten();
        conditions.any(|one| one.message.as_ref().is_some_and(|message| message.contains(EXCEEDED)))
    });
    is_said.then(String::new)
}
