//! Why a pod was evicted: by the record of the decision, or by what the status of its Queue remembers.

use std::collections::BTreeSet;

use quotient_crds::RecentReclaim;
use quotient_engine::amounts::{Amounts, Resource};
use quotient_engine::names::QueueName;
use quotient_engine::plan::{Eviction, PassedOver, Stage};
use quotient_engine::reasons::{EvictionReason, KeptReason};
use quotient_engine::snapshot::{NamespaceState, Phase, Pod, Snapshot};

use super::context::Context;
use crate::commands::replay::Replay;
use crate::manifests::find_pod;
use crate::objects::{Kind, Object, ignores_evictions};
use crate::output::{Explanation, counted, duration, list, number, only, spaced, time_text};
use crate::queues::{QueueView, amounts};

/// How the first sentence about an eviction begins.
pub(super) const EVICTED: &str = "Evicted";

/// The most pods that a rule kept and that are named.
const MOST_KEPT: usize = 3;

/// An eviction that the status of a Queue remembers.
pub(super) fn explain(context: &Context<'_>, view: &QueueView, reclaim: &RecentReclaim) -> Explanation {
    let ago = context.ago(reclaim.time.0);
    let beneficiary = reclaim.beneficiary.as_deref().map(in_words);
    let returned = amounts(Some(&reclaim.amounts));
    let mut explanation = context.explanation();
    let why = purpose(&reclaim.reason, beneficiary.as_deref(), &returned);
    explanation.headline = headline(&format!("{ago} ago"), &why);
    explanation.reason = Some(reclaim.reason.clone());
    let record = context.question.replay.and_then(|replay| Some((replay, recorded(context, replay)?)));
    if let Some((replay, eviction)) = record {
        add_record(&mut explanation, replay, eviction);
    } else {
        explanation.fact("Why", now(context, view, reclaim, &returned));
        explanation.fact("Why this pod", place(context, reclaim.rank));
    }
    explanation.fact("Comes back", comes_back(context, view, reclaim, &returned));
    explanation.fact("You can", advice(view));
    let workload =
        reclaim.workload.as_ref().map(|workload| format!(" and {}", workload.kind)).unwrap_or_default();
    let queue = view.name.in_words();
    explanation.fact(
        "Record",
        format!("event on Pod{workload} (1 h) · status.recentReclaims of Queue {queue} (the last 20)"),
    );
    explanation
}

/// An eviction that only the record of its decision knows; none if the decision evicted no such pod.
pub(super) fn explain_recorded(context: &Context<'_>, replay: &Replay) -> Option<Explanation> {
    let eviction = recorded(context, replay)?;
    let mut explanation = context.explanation();
    let beneficiary = eviction.beneficiary.as_ref().map(QueueName::in_words);
    let why = purpose(eviction.reason.name(), beneficiary.as_deref(), &eviction.requests);
    explanation.headline = headline(&format!("at {}", time_text(replay.decision.as_of())), &why);
    explanation.reason = Some(eviction.reason.to_string());
    add_record(&mut explanation, replay, eviction);
    Some(explanation)
}

fn recorded<'r>(context: &Context<'_>, replay: &'r Replay) -> Option<&'r Eviction> {
    replay.plan.evictions.iter().find(|eviction| context.is_about(&eviction.pod))
}

fn headline(when: &str, why: &str) -> String {
    format!("{EVICTED} {when} by Quotient {why} (not node pressure, not the scheduler).")
}

fn purpose(reason: &str, beneficiary: Option<&str>, returned: &Amounts) -> String {
    match (reason, beneficiary) {
        (reason, Some(queue)) if reason == EvictionReason::MovedAside.name() => format!(
            "because a guaranteed pod of queue {queue} needed its room on this node; its queue keeps its share"
        ),
        (_, Some(queue)) => format!("to return {} to queue {queue}", spaced(returned)),
        (_, None) => {
            "because the pods used more than the cluster has or the limit of a queue allows".to_owned()
        }
    }
}

/// `ml-dev/ml-dev` is called `ml-dev`.
pub(super) fn in_words(queue: &str) -> String {
    match queue.split_once('/') {
        Some((namespace, name)) if namespace == name => name.to_owned(),
        _ => queue.to_owned(),
    }
}

// ---- the numbers ----------------------------------------------------------------------------------------------

/// `ml-train used 47 gpu and deserved 44: 3 over`, with these verbs, of the resources that the pod returned.
fn compared(
    queue: &QueueName,
    [usage, share]: [&Amounts; 2],
    returned: &Amounts,
    verbs: [&str; 2],
) -> String {
    let [used, deserved] = verbs;
    let (usage, share) = (only(usage, returned), only(share, returned));
    let (over, below) = (usage.less(&share), share.less(&usage));
    let difference = match (over.is_empty(), below.is_empty()) {
        (false, _) => format!(": {} over", without_unit(&over, returned)),
        (true, false) => format!(": {} below", without_unit(&below, returned)),
        (true, true) => String::new(),
    };
    let (usage, share) = (spaced(&usage), without_unit(&share, returned));
    format!("{} {used} {usage} and {deserved} {share}{difference}.", queue.in_words())
}

/// If there is one resource, its unit is named once.
fn without_unit(amounts: &Amounts, of: &Amounts) -> String {
    let mut resources = of.resources();
    match (resources.next(), resources.next()) {
        (Some(resource @ (Resource::Cpu | Resource::Extended(_))), None) => {
            number(resource, amounts.get(resource))
        }
        _ => spaced(amounts),
    }
}

/// What both queues have now.
fn now(context: &Context<'_>, view: &QueueView, reclaim: &RecentReclaim, returned: &Amounts) -> String {
    let line = |view: &QueueView| {
        compared(&view.name, [&view.used(), &view.deserved()], returned, ["uses", "deserves"])
    };
    let other = reclaim.beneficiary.as_deref().map(|name| match context.view(name) {
        Some(other) => format!(" {}", line(other)),
        None => format!(" {} had less than its deserved share.", in_words(name)),
    });
    format!("now {}{}", line(view), other.unwrap_or_default())
}

/// Adds the numbers of that time, the place among the candidates, and the pods that a rule kept.
fn add_record(explanation: &mut Explanation, replay: &Replay, eviction: &Eviction) {
    let line = |queue: &QueueName, used, deserved| {
        compared(queue, [used, deserved], &eviction.requests, ["used", "deserved"])
    };
    let own = line(&eviction.queue, &eviction.used, &eviction.deserved);
    let other = eviction.beneficiary.as_ref().and_then(|name| {
        let queue = replay.plan.queues.get(name)?;
        Some(line(name, &queue.used, &queue.deserved))
    });
    explanation.fact("Why", [Some(own), other].into_iter().flatten().collect::<Vec<_>>().join("   "));
    explanation.fact("Why this pod", recorded_place(replay, eviction));
    let same = if replay.is_identical { "the same plan, byte for byte" } else { "another plan" };
    explanation.fact("Decision", format!("{}: computed again, it is {same}", replay.decision.number));
}

// ---- the choice -----------------------------------------------------------------------------------------------

/// What the status remembers of the choice, and what the pod still shows.
fn place(context: &Context<'_>, rank: Option<i32>) -> String {
    let rank = rank.map_or_else(
        || "the pod was ending already".to_owned(),
        |rank| format!("rank {rank} of the candidates of its queue"),
    );
    let state = context.state();
    let pod = state.and_then(|state| state.pods.iter().find(|pod| pod.name.as_str() == context.target.name));
    match (state, pod) {
        (Some(state), Some(pod)) => {
            let traits = traits(pod, None, state, &context.cluster.snapshot, &BTreeSet::new());
            format!("{rank}: {}", list(traits))
        }
        _ => format!(
            "{rank}. Pods that are protected come last; before them pods that do not run, then surplus pods of gangs, then the \
             lowest priority, then those that started last."
        ),
    }
}

fn recorded_place(replay: &Replay, eviction: &Eviction) -> String {
    let evicted: BTreeSet<&str> = replay.plan.evictions.iter().map(|one| one.pod.uid.as_str()).collect();
    let of_queue = replay.plan.evictions.iter().filter(|one| one.queue == eviction.queue).count();
    let state = replay.snapshot.namespaces.get(&eviction.pod.namespace);
    let candidates = state.map_or(0, |state| state.pods.iter().filter(|pod| pod.is_live()).count());
    let rank = eviction.rank.map_or_else(
        || "the pod was ending already".to_owned(),
        |rank| {
            format!("rank {rank} of {}, {of_queue} evicted", counted(candidates, "candidate", "candidates"))
        },
    );
    let traits = find_pod(&replay.snapshot, &eviction.pod)
        .map(|(state, pod)| list(traits(pod, Some(eviction.stage), state, &replay.snapshot, &evicted)));
    let first = traits.map_or_else(|| rank.clone(), |traits| format!("{rank}: {traits}"));
    [Some(first), kept(replay, eviction)].into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// What decided on the place of the pod, in the order in which it counts.
fn traits(
    pod: &Pod,
    stage: Option<Stage>,
    namespace: &NamespaceState,
    snapshot: &Snapshot,
    evicted: &BTreeSet<&str>,
) -> Vec<String> {
    let stays =
        |other: &&Pod| other.is_live() && other.uid != pod.uid && !evicted.contains(other.uid.as_str());
    let others: Vec<&Pod> = namespace.pods.iter().filter(stays).collect();
    let mut traits = Vec::new();
    if stage == Some(Stage::NotRunning) {
        traits.push("it did not run yet".to_owned());
    }
    let is_lowest = others.iter().all(|other| pod.priority <= other.priority);
    let lowest = if is_lowest { "lowest " } else { "" };
    traits.push(format!("{lowest}priority ({})", pod.priority));
    if let Some(started) = pod.started {
        let ago = duration(snapshot.now.millis_since(started).div_euclid(1000).max(0));
        let is_last = others.iter().all(|other| other.started.is_none_or(|other| other <= started));
        traits.push(if is_last { format!("started last ({ago} ago)") } else { format!("started {ago} ago") });
    }
    if let Some(gang) = pod.gang() {
        let is_member = |other: &&Pod| {
            other.phase == Phase::Running && other.gang().is_some_and(|one| one.name == gang.name)
        };
        let running = namespace.pods.iter().filter(is_member).count();
        let surplus = if stage == Some(Stage::Surplus) { "surplus" } else { "member" };
        let name = gang.name.to_string();
        let name = name.rsplit('/').next().unwrap_or_default();
        traits.push(format!("{surplus} of gang {name} ({running} running, minimum {})", gang.min_available));
    }
    let annotation = if pod.do_not_disrupt { "a protecting annotation" } else { "no protecting annotation" };
    traits.push(annotation.to_owned());
    traits
}

/// The pods of the same namespace that a rule kept. Those of other namespaces are only counted: the person who asks may not see
/// them.
fn kept(replay: &Replay, eviction: &Eviction) -> Option<String> {
    let kept = replay.plan.passed_over.iter();
    let (own, others): (Vec<&PassedOver>, Vec<&PassedOver>) =
        kept.partition(|kept| kept.pod.namespace == eviction.pod.namespace);
    let named = own.iter().take(MOST_KEPT).map(|kept| format!("{} ({})", kept.pod.name, rule(replay, kept)));
    let mut kept: Vec<String> = named.collect();
    let more = own.len().saturating_sub(kept.len());
    kept.extend((more > 0).then(|| format!("{more} more")));
    if !others.is_empty() {
        kept.push(format!("{} of other namespaces", counted(others.len(), "pod", "pods")));
    }
    (!kept.is_empty()).then(|| format!("kept by a rule: {}", list(kept)))
}

/// `PodDisruptionBudget trainer-pdb allows 0`.
fn rule(replay: &Replay, kept: &PassedOver) -> String {
    let pod = find_pod(&replay.snapshot, &kept.pod).filter(|_| kept.reason == KeptReason::Budget);
    let budget = pod.and_then(|(state, pod)| {
        state.budgets.iter().find(|budget| budget.selector.matches(&pod.metadata.labels))
    });
    match budget {
        Some(budget) => format!("PodDisruptionBudget {} allows {}", budget.name, budget.allowed),
        None => kept.reason.because().to_owned(),
    }
}

// ---- what follows ---------------------------------------------------------------------------------------------

/// What creates the pod again, and when it can start.
fn comes_back(
    context: &Context<'_>,
    view: &QueueView,
    reclaim: &RecentReclaim,
    returned: &Amounts,
) -> String {
    let (queue, deserved) = (view.name.in_words(), spaced(&only(&view.deserved(), returned)));
    let when = if reclaim.reason == EvictionReason::MovedAside.name() {
        format!("when another node has room for it, because {queue} keeps its quota")
    } else {
        format!("when {queue} uses less than {deserved}, or its deserved share rises")
    };
    match &reclaim.workload {
        None => "nothing creates it again, because it had no controller: create it yourself".to_owned(),
        Some(workload) => {
            let job = context.object(Kind::Job, &workload.name).filter(|_| workload.kind == "Job");
            let counts = match job.and_then(Object::get).map(ignores_evictions) {
                None => ".",
                Some(true) => "; the eviction does not count against backoffLimit (podFailurePolicy is set).",
                Some(false) => {
                    "; the eviction counts against backoffLimit, unless a podFailurePolicy ignores DisruptionTarget."
                }
            };
            format!("{when}. {} {} creates it again by itself{counts}", workload.kind, workload.name)
        }
    }
}

fn advice(view: &QueueView) -> String {
    let guaranteed = amounts(view.queue.spec.guaranteed.as_ref());
    format!(
        "protect it: annotate quotient.dev/preemptible=last · ask your administrator for a guarantee ({} now)",
        spaced(&guaranteed)
    )
}
