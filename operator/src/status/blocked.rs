//! Which queues wait for pods that may not be evicted, and the sentence that says so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quotient_engine::names::QueueName;
use quotient_engine::plan::{PassedOver, Plan, PodId, QueuePlan};
use quotient_engine::reasons::{KeptReason, ShortReason};
use tokio::time::Instant;

/// Why no pod is evicted for a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The name of what kept the first pod, such as [`KeptReason::Budget`]; or of what keeps all.
    pub reason: &'static str,
    /// The first pod and what protects it: the end of a sentence after "because".
    pub message: String,
    /// What ends that.
    pub remedy: &'static str,
}

impl Blocked {
    fn for_all(reason: ShortReason, message: String) -> Self {
        Self { reason: reason.name(), message, remedy: reason.remedy() }
    }

    pub(super) fn of_pods(reason: KeptReason, message: String) -> Self {
        Self { reason: reason.name(), message, remedy: ShortReason::Blocked.remedy() }
    }
}

/// An eviction that the API server refused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RefusedEviction<'a> {
    /// The pod.
    pub(crate) pod: &'a PodId,
    /// The queue that gains its room.
    pub(crate) beneficiary: Option<&'a QueueName>,
    /// In the words of the API server.
    pub(crate) why: &'a str,
    /// When the eviction is tried again.
    pub(crate) until: Instant,
}

/// Every queue that lacks something, and whose victims were refused or would be, do not go or must not. `budgets` tells the
/// names of those that protect a pod: a plan leaves them out because no decision depends on them.
pub(crate) fn blocked_queues(
    plan: &Plan,
    budgets: impl Fn(&PodId) -> Vec<Arc<str>>,
    refusals: &[RefusedEviction<'_>],
    now: Instant,
) -> BTreeMap<QueueName, Blocked> {
    let lacks = |queue: &QueuePlan| queue.starved.is_some() || !queue.unmet.is_empty();
    let short = plan.leaves().filter(|(_, queue)| lacks(queue));
    let wanted: BTreeSet<&PodId> =
        plan.evictions.iter().chain(&plan.waiting).map(|eviction| &eviction.pod).collect();
    // Those of two pods at most, however many queues wait for them.
    let mut known: BTreeMap<&PodId, Vec<Arc<str>>> = BTreeMap::new();
    let mut of_queue = |name: &QueueName, starved: Option<ShortReason>| {
        // A refusal stands until its wait is over, and on while the pod is wanted gone: the eviction was not tried again yet, and
        // most likely the answer will be the same.
        let stands = |refusal: &&RefusedEviction<'_>| now < refusal.until || wanted.contains(refusal.pod);
        let of_it = refusals.iter().filter(|refusal| refusal.beneficiary == Some(name)).filter(stands);
        refused(of_it).or_else(|| match starved? {
            ShortReason::Blocked => {
                let budgets_of = |pod| known.entry(pod).or_insert_with(|| budgets(pod)).clone();
                Some(protected(plan, budgets_of, refusals, name))
            }
            ShortReason::StuckTerminating => stuck(plan),
            reason if plan.held == Some(reason) => {
                Some(Blocked::for_all(reason, reason.because().to_owned()))
            }
            _ => None,
        })
    };
    short.filter_map(|(name, queue)| Some((name.clone(), of_queue(name, queue.starved)?))).collect()
}

/// The pods that should have been gone, if any.
fn stuck(plan: &Plan) -> Option<Blocked> {
    let pod = plan.overdue.first()?;
    let are = match plan.overdue.len() {
        1 => " is".to_owned(),
        2 => " and 1 more pod are".to_owned(),
        more => format!(" and {} more pods are", more.saturating_sub(1)),
    };
    let message = format!("pod {}/{}{are} terminating and past the deadline", pod.namespace, pod.name);
    Some(Blocked::for_all(ShortReason::StuckTerminating, message))
}

/// What the API server refused for a queue, if anything.
fn refused<'a>(mut refusals: impl Iterator<Item = &'a RefusedEviction<'a>>) -> Option<Blocked> {
    let RefusedEviction { pod, why, .. } = refusals.next()?;
    let message = sentence(pod, why, refusals.count());
    Some(Blocked::of_pods(KeptReason::EvictionRefused, message))
}

/// What no eviction is asked for, because it would be refused.
fn protected<'a>(
    plan: &'a Plan,
    budgets_of: impl FnOnce(&'a PodId) -> Vec<Arc<str>>,
    refusals: &[RefusedEviction<'_>],
    queue: &QueueName,
) -> Blocked {
    let is_kept = |passed: &&PassedOver| {
        passed.queue != *queue && matches!(passed.reason, KeptReason::Budget | KeptReason::EvictionRefused)
    };
    let mut others = plan.passed_over.iter().filter(is_kept);
    let Some(PassedOver { pod, queue: giver, reason }) = others.next() else {
        let message = "the pods that hold what the queue lacks may not be evicted now".to_owned();
        return Blocked::of_pods(KeptReason::Budget, message);
    };
    let refusal = refusals.iter().find(|refusal| refusal.pod == pod);
    let count = others.count();
    let message = match (reason, refusal.map(|refusal| refusal.why)) {
        (KeptReason::EvictionRefused, Some(why)) => sentence(pod, why, count),
        (KeptReason::EvictionRefused, None) => {
            sentence(pod, "the API server refused it a short while ago", count)
        }
        _ => protected_by(&budgets_of(pod), pod, count),
    };
    let message = message + &above_nominal(plan, giver);
    Blocked::of_pods(*reason, message)
}

/// How much the queue of pods that stay uses above its nominal share, if it does.
fn above_nominal(plan: &Plan, queue: &QueueName) -> String {
    let above = plan.queues.get(queue).map(|giver| giver.used.less(&giver.nominal)).unwrap_or_default();
    if above.is_empty() {
        String::new()
    } else {
        let name = queue.in_words();
        format!(", and queue {name} uses {above} above its nominal share")
    }
}

fn protected_by(budgets: &[Arc<str>], pod: &PodId, others: usize) -> String {
    let pods = || format!("pod {}/{}{}", pod.namespace, pod.name, and_more(others));
    match budgets {
        [] => format!("a disruption budget protects {}", pods()),
        [one] => format!("budget {one} protects {}", pods()),
        several => {
            let budgets = several.join(", ");
            let why = format!(
                "it has more than one disruption budget ({budgets}), which the API server always refuses"
            );
            sentence(pod, &why, others)
        }
    }
}

fn sentence(pod: &PodId, why: &str, others: usize) -> String {
    format!("pod {}/{} cannot be evicted: {why}{}", pod.namespace, pod.name, and_more(others))
}

fn and_more(others: usize) -> String {
    match others {
        0 => String::new(),
        1 => " (and 1 more pod)".to_owned(),
        more => format!(" (and {more} more pods)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::plan::cpu;
    use crate::writer::tests::again::again;
    use std::time::Duration;

    fn gainer() -> QueueName {
        QueueName::new("b", "batch")
    }

    fn id(name: &str) -> PodId {
        PodId { namespace: "a".into(), name: name.into(), uid: name.into() }
    }

    fn passed(name: &str, reason: KeptReason) -> PassedOver {
        PassedOver { pod: id(name), queue: QueueName::new("a", "team"), reason }
    }

    /// A plan in which the gainer is short of 1 cpu.
    fn plan(starved: ShortReason, passed_over: Vec<PassedOver>) -> Plan {
        let queue = QueuePlan { preempting: cpu(1000), starved: Some(starved), ..QueuePlan::default() };
        Plan { queues: [(gainer(), queue)].into(), passed_over, ..Plan::default() }
    }

    fn printed(plan: &Plan, budgets: &[&str], refused: Option<&str>) -> Option<String> {
        printed_at(plan, budgets, refused, Duration::ZERO)
    }

    /// What is told so long after the eviction of `refused` for the gainer was put off.
    fn printed_at(plan: &Plan, budgets: &[&str], refused: Option<&str>, over: Duration) -> Option<String> {
        let budgets_of = |pod: &PodId| {
            let names = budgets.iter().filter(|_| pod.name.as_str() == "web-0");
            names.map(|name| Arc::from(*name)).collect()
        };
        let (now, gainer) = (Instant::now(), gainer());
        let refused = refused.map(id);
        let refusal = |pod| RefusedEviction {
            pod,
            beneficiary: Some(&gainer),
            why: "the budget is spent",
            until: now + Duration::from_secs(10),
        };
        let refusals: Vec<_> = refused.iter().map(refusal).collect();
        let blocked = blocked_queues(plan, budgets_of, &refusals, now + over);
        blocked.get(&gainer).map(|blocked| format!("{}: {}", blocked.reason, blocked.message))
    }

    #[test]
    fn what_blocks_a_queue_is_named() {
        use ShortReason::{Blocked, CapacityUntrusted, StuckTerminating, WaitingForPreemption};
        let kept =
            |names: &[&str]| names.iter().map(|name| passed(name, KeptReason::Budget)).collect::<Vec<_>>();
        let mut last_first = kept(&["web-0", "web-1"]);
        last_first.insert(0, passed("last", KeptReason::LastReplica));
        let by_server = vec![passed("web-0", KeptReason::EvictionRefused)];
        let refused = "EvictionRefused: pod a/web-0 cannot be evicted: the budget is spent";
        let mut above = plan(Blocked, kept(&["web-0"]));
        let giver = QueuePlan { used: cpu(6000), nominal: cpu(4000), ..QueuePlan::default() };
        above.queues.insert(QueueName::new("a", "team"), giver);
        let stuck = |names: &[&str]| {
            let overdue = names.iter().map(|name| id(name)).collect();
            Plan { overdue, ..plan(StuckTerminating, Vec::new()) }
        };
        let held = Plan { held: Some(CapacityUntrusted), ..plan(CapacityUntrusted, Vec::new()) };
        for (plan, budgets, refusal, expected) in [
            (
                above,
                &["web"][..],
                None,
                "Budget: budget web protects pod a/web-0, and queue a/team uses cpu 2 above its nominal share",
            ),
            (
                plan(Blocked, last_first.clone()),
                &["web"],
                None,
                "Budget: budget web protects pod a/web-0 (and 1 more pod)",
            ),
            (
                plan(Blocked, last_first),
                &["all", "web"],
                None,
                "Budget: pod a/web-0 cannot be evicted: it has more than one disruption budget (all, web), which the \
                 API server always refuses (and 1 more pod)",
            ),
            // Others leave instead, and still this one should have.
            (plan(WaitingForPreemption, Vec::new()), &[], Some("web-0"), refused),
            (plan(Blocked, by_server), &[], Some("web-0"), refused),
            (
                stuck(&["web-0"]),
                &[],
                None,
                "StuckTerminating: pod a/web-0 is terminating and past the deadline",
            ),
            (
                stuck(&["web-0", "web-1", "web-2"]),
                &[],
                None,
                "StuckTerminating: pod a/web-0 and 2 more pods are terminating and past the deadline",
            ),
            (held, &[], None, "CapacityUntrusted: much of the capacity of the nodes vanished at once"),
        ] {
            assert_eq!(printed(&plan, budgets, refusal).unwrap(), expected);
        }
    }

    #[test]
    fn a_queue_that_is_not_starved_or_waits_for_something_else_is_not_blocked() {
        let fenced = plan(ShortReason::Fenced, vec![passed("web-0", KeptReason::Budget)]);
        assert_eq!(printed(&fenced, &[], None), None);
        let mut served = plan(ShortReason::Blocked, Vec::new());
        served.queues.insert(gainer(), QueuePlan::default());
        assert_eq!(printed(&served, &[], Some("web-0")), None);
    }

    /// When the wait is over the eviction is tried again, and until the answer is there it would be wrong to say that nothing is
    /// refused.
    #[test]
    fn a_refusal_stands_while_the_pod_is_wanted_gone() {
        let after = Duration::from_secs(10);
        let mut waiting = plan(ShortReason::WaitingForPreemption, Vec::new());
        assert!(printed(&waiting, &[], Some("web-0")).is_some());
        assert_eq!(printed_at(&waiting, &[], Some("web-0"), after), None);
        let eviction = quotient_engine::plan::Eviction { pod: id("web-0"), ..again("web-0") };
        waiting.waiting = vec![eviction];
        assert!(printed_at(&waiting, &[], Some("web-0"), after).is_some());
    }
}
