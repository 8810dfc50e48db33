//! Why a pod was evicted, as the status of its Queue remembers it.

use k8s_openapi::api::batch::v1::Job;
use quotient_crds::RecentReclaim;
use quotient_engine::amounts::Amounts;

use super::explanation::{EVICTED, Explanation};
use super::scene::Scene;
use super::target::Target;
use crate::manifests::{Kind, Object};
use crate::output::duration;
use crate::queues::{QueueView, amounts};

pub(super) fn explain(
    scene: &Scene<'_>,
    target: &Target,
    view: &QueueView,
    reclaim: &RecentReclaim,
) -> Explanation {
    let ago = duration(scene.seconds_since(reclaim.time.0));
    let beneficiary = reclaim.beneficiary.as_deref().map(in_words);
    let returned = amounts(Some(&reclaim.amounts));
    let why = match (reclaim.reason.as_str(), &beneficiary) {
        ("MovedAside", Some(queue)) => {
            format!(
                "because a guaranteed pod of queue {queue} needed its room on this node; its queue keeps its share"
            )
        }
        (_, Some(queue)) => format!("to return {} to queue {queue}", returned.compact()),
        (_, None) => {
            "because the pods used more than the cluster has or the limit of a queue allows".to_owned()
        }
    };
    let mut told = Explanation::of(target.kind.name(), &scene.namespace, &target.name);
    told.headline = format!("{EVICTED} {ago} ago by Quotient {why} (not by the node, not by the scheduler).");
    told.reason = Some(reclaim.reason.clone());

    told.fact("Why", numbers(scene, view, reclaim, &returned));
    told.fact("Why this pod", candidates(reclaim));
    told.fact("Comes back", comes_back(scene, view, reclaim));
    told.fact("You can", advice(view));
    told.fact(
        "Record",
        format!(
            "status.recentReclaims of Queue {} (the last 20); event Reclaimed on the pod and its workload (1 h)",
            view.name.in_words()
        ),
    );
    told
}

/// `ml-dev/ml-dev` is called `ml-dev`.
fn in_words(queue: &str) -> String {
    match queue.split_once('/') {
        Some((namespace, name)) if namespace == name => name.to_owned(),
        _ => queue.to_owned(),
    }
}

/// What both queues have now, of the resources that the pod returned.
fn numbers(scene: &Scene<'_>, view: &QueueView, reclaim: &RecentReclaim, returned: &Amounts) -> String {
    let of = |amounts: Amounts| -> Amounts {
        returned.resources().map(|resource| (resource.clone(), amounts.get(resource))).collect()
    };
    let line = |view: &QueueView| {
        let used = of(amounts(view.status.used.as_ref()));
        let deserved = of(amounts(view.status.deserved.as_ref()));
        let over = used.less(&deserved);
        let lacking = of(amounts(view.status.preempting.as_ref()));
        let difference = match (over.is_empty(), lacking.is_empty()) {
            (false, _) => format!(": {} over", over.compact()),
            (true, false) => format!(": {} below", lacking.compact()),
            (true, true) => String::new(),
        };
        let (used, deserved) = (used.compact(), deserved.compact());
        format!("Queue {} uses {used} and deserves {deserved}{difference}.", view.name.in_words())
    };
    let own = line(view);
    let other = match &reclaim.beneficiary {
        Some(name) => match scene.view(name) {
            Some(other) => line(other),
            None => format!("Queue {} had less than its deserved share.", in_words(name)),
        },
        None => String::new(),
    };
    format!("Now: {own} {other}")
}

fn candidates(reclaim: &RecentReclaim) -> String {
    let rank = reclaim.rank.map_or_else(
        || "the pod was ending already".to_owned(),
        |rank| format!("it was candidate {rank} of its queue"),
    );
    format!(
        "{rank}. Pods that are protected come last; before them pods that do not run, then surplus pods of gangs, then the \
         lowest priority, then those that started last."
    )
}

/// What creates the pod again, and when it can start.
fn comes_back(scene: &Scene<'_>, view: &QueueView, reclaim: &RecentReclaim) -> String {
    let when = format!(
        "a new pod starts when queue {} uses less than its deserved share, or when that share rises",
        view.name.in_words()
    );
    match &reclaim.workload {
        None => "Nothing creates it again, because it had no controller: create it yourself.".to_owned(),
        Some(workload) if workload.kind == "Job" => {
            let job = match scene.object(Kind::Job, &workload.name) {
                Some(Object::Job(job)) => Some(job.as_ref()),
                _ => None,
            };
            let counts = job.map(retries).unwrap_or_default();
            format!("Job {} creates it again by itself; {when}.{counts}", workload.name)
        }
        Some(workload) => format!("{} {} creates it again by itself; {when}.", workload.kind, workload.name),
    }
}

/// Whether an eviction counts as a failure of the Job.
pub(crate) fn ignores_evictions(job: &Job) -> bool {
    let policy = job.spec.as_ref().and_then(|spec| spec.pod_failure_policy.as_ref());
    policy.is_some_and(|policy| {
        policy.rules.iter().any(|rule| {
            let conditions = rule.on_pod_conditions.iter().flatten();
            rule.action == "Ignore"
                && conditions.into_iter().any(|condition| condition.type_ == "DisruptionTarget")
        })
    })
}

fn retries(job: &Job) -> String {
    if ignores_evictions(job) {
        " The eviction does not count against backoffLimit (podFailurePolicy is set).".to_owned()
    } else {
        " The eviction counts against backoffLimit; a podFailurePolicy that ignores DisruptionTarget prevents that."
            .to_owned()
    }
}

fn advice(view: &QueueView) -> String {
    let guaranteed = amounts(view.queue.spec.guaranteed.as_ref());
    let guaranteed = if guaranteed.is_empty() { "nothing".to_owned() } else { guaranteed.to_string() };
    format!(
        "annotate pods that should stay the longest: quotient.dev/preemptible=last; ask your administrator for a guarantee \
         (now {guaranteed})"
    )
}
