//! Which queues wait for pods that may not be evicted, and the sentence that says so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quotient_engine::names::QueueName;
use quotient_engine::plan::{PassedOver, Plan, PodId, QueuePlan};
use quotient_engine::reason::Reason;
use tokio::time::Instant;

use super::backoff::Backoff;
use crate::particulars::{StatusDetails, kept};
use crate::status::obstacle;

/// Why nobody leaves for a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// What kept the first pod, such as [`Reason::Budget`]; or what keeps all.
    pub reason: Reason,
    /// The first pod and what protects it: the end of a sentence after "because".
    pub message: String,
}

/// Every queue that lacks something, and whose victims were refused or would be, do not go or must not.
pub(super) fn blocked_queues(
    plan: &Plan,
    particulars: &StatusDetails,
    backoff: &Backoff,
    now: Instant,
) -> BTreeMap<QueueName, Blocked> {
    let lacks = |queue: &QueuePlan| queue.starved.is_some() || !queue.unmet.is_empty();
    let short = plan.queues.iter().filter(|(_, queue)| !queue.is_parent && lacks(queue));
    let wanted: BTreeSet<&PodId> =
        plan.evictions.iter().chain(&plan.waiting).map(|eviction| &eviction.pod).collect();
    let of_queue = |name: &QueueName, starved: Option<Reason>| {
        let refused = refused(backoff.refusals_for(name, &wanted, now));
        refused.or_else(|| match starved? {
            Reason::Blocked => Some(protected(plan, particulars, backoff, name)),
            Reason::StuckTerminating => stuck(plan),
            reason if plan.held == Some(reason) => {
                Some(Blocked { reason, message: obstacle(reason).to_owned() })
            }
            _ => None,
        })
    };
    short.filter_map(|(name, queue)| Some((name.clone(), of_queue(name, queue.starved)?))).collect()
}

/// Who should have been gone, if anybody.
fn stuck(plan: &Plan) -> Option<Blocked> {
    let pod = plan.overdue.first()?;
    let are = match plan.overdue.len() {
        1 => " is".to_owned(),
        2 => " and 1 more pod are".to_owned(),
        more => format!(" and {} more pods are", more.saturating_sub(1)),
    };
    let message = format!("pod {}/{}{are} terminating and past the deadline", pod.namespace, pod.name);
    Some(Blocked { reason: Reason::StuckTerminating, message })
}

/// What the API server refused for a queue, if anything.
fn refused<'a>(mut refusals: impl Iterator<Item = (&'a PodId, &'a str)>) -> Option<Blocked> {
    let (pod, why) = refusals.next()?;
    let message = sentence(pod, why, refusals.count());
    Some(Blocked { reason: Reason::EvictionRefused, message })
}

/// What no eviction is asked for, because it would be refused.
fn protected(plan: &Plan, particulars: &StatusDetails, backoff: &Backoff, queue: &QueueName) -> Blocked {
    let mut others = kept(plan).filter(|passed| passed.queue != *queue);
    let Some(PassedOver { pod, reason, .. }) = others.next() else {
        let message = "the pods that hold what the queue lacks may not be evicted now".to_owned();
        return Blocked { reason: Reason::Budget, message };
    };
    let budgets = particulars.budgets.get(&pod.uid).map(Vec::as_slice).unwrap_or_default();
    let why = match (reason, backoff.why(pod)) {
        (Reason::EvictionRefused, Some(why)) => why.to_owned(),
        (Reason::EvictionRefused, None) => "the API server refused it a short while ago".to_owned(),
        _ => budgets_say(budgets),
    };
    Blocked { reason: *reason, message: sentence(pod, &why, others.count()) }
}

fn budgets_say(budgets: &[Arc<str>]) -> String {
    match budgets {
        [] => "its disruption budget allows no more disruptions now".to_owned(),
        [one] => format!("disruption budget {one} allows no more disruptions now"),
        several => {
            format!(
                "it has more than one disruption budget ({}), which the API server always refuses",
                several.join(", ")
            )
        }
    }
}

fn sentence(pod: &PodId, why: &str, others: usize) -> String {
    let others = match others {
        0 => String::new(),
        1 => " (and 1 more pod)".to_owned(),
        more => format!(" (and {more} more pods)"),
    };
    format!("pod {}/{} cannot be evicted: {why}{others}", pod.namespace, pod.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quotient_engine::amounts::{Amount, Amounts, Resource};
    use quotient_engine::plan::{Eviction, Stage};

    fn gainer() -> QueueName {
        QueueName::new("b", "batch")
    }

    fn id(name: &str) -> PodId {
        PodId { namespace: "a".into(), name: name.into(), uid: name.into() }
    }

    fn passed(name: &str, reason: Reason) -> PassedOver {
        PassedOver { pod: id(name), queue: QueueName::new("a", "team"), reason }
    }

    /// A plan in which the gainer is short of 1 cpu.
    fn plan(starved: Reason, passed_over: Vec<PassedOver>) -> Plan {
        let preempting = [(Resource::Cpu, Amount::new(1000))].into_iter().collect();
        let queue = QueuePlan { preempting, starved: Some(starved), ..QueuePlan::default() };
        Plan { queues: [(gainer(), queue)].into(), passed_over, ..Plan::default() }
    }

    fn told(plan: &Plan, budgets: &[&str], backoff: &Backoff) -> Option<String> {
        let budgets = budgets.iter().map(|name| Arc::from(*name)).collect();
        let particulars = StatusDetails { budgets: [("web-0".into(), budgets)].into() };
        let blocked = blocked_queues(plan, &particulars, backoff, Instant::now());
        blocked.get(&gainer()).map(|blocked| format!("{}: {}", blocked.reason, blocked.message))
    }

    fn refusal(name: &str) -> Backoff {
        let none = Amounts::new;
        let eviction = Eviction {
            pod: id(name),
            workload: None,
            queue: QueueName::new("a", "team"),
            beneficiary: Some(gainer()),
            reason: Reason::Reclaimed,
            stage: Stage::Committed,
            rank: None,
            priority: 0,
            requests: none(),
            used: none(),
            deserved: none(),
            grace_seconds: None,
        };
        let mut backoff = Backoff::default();
        backoff.refused(&eviction, "the budget is spent".to_owned(), Instant::now());
        backoff
    }

    #[test]
    fn the_pod_and_its_budget_are_named() {
        let kept = vec![
            passed("last", Reason::LastReplica),
            passed("web-0", Reason::Budget),
            passed("web-1", Reason::Budget),
        ];
        let plan = plan(Reason::Blocked, kept);
        let none = Backoff::default();
        assert_eq!(
            told(&plan, &["web"], &none).unwrap(),
            "Budget: pod a/web-0 cannot be evicted: disruption budget web allows no more disruptions now \
             (and 1 more pod)"
        );
        assert_eq!(
            told(&plan, &["all", "web"], &none).unwrap(),
            "Budget: pod a/web-0 cannot be evicted: it has more than one disruption budget (all, web), which the \
             API server always refuses (and 1 more pod)"
        );
    }

    #[test]
    fn what_was_refused_is_told_in_the_servers_words() {
        let refused = "EvictionRefused: pod a/web-0 cannot be evicted: the budget is spent".to_owned();
        // Others leave instead, and still this one should have.
        let waiting = plan(Reason::WaitingForPreemption, Vec::new());
        assert_eq!(told(&waiting, &[], &refusal("web-0")), Some(refused.clone()));
        let blocked = plan(Reason::Blocked, vec![passed("web-0", Reason::EvictionRefused)]);
        assert_eq!(told(&blocked, &[], &refusal("web-0")), Some(refused));
    }

    #[test]
    fn who_does_not_go_is_named() {
        let mut plan = plan(Reason::StuckTerminating, Vec::new());
        plan.overdue = vec![id("web-0")];
        let of_one = told(&plan, &[], &Backoff::default()).unwrap();
        assert!(
            of_one.starts_with("StuckTerminating: pod a/web-0 is terminating and past the deadline"),
            "{of_one}"
        );
        plan.overdue.extend([id("web-1"), id("web-2")]);
        let of_three = told(&plan, &[], &Backoff::default()).unwrap();
        assert!(of_three.contains("pod a/web-0 and 2 more pods are terminating"), "{of_three}");
    }

    #[test]
    fn what_holds_everything_is_told_to_who_waits_for_it() {
        let mut plan = plan(Reason::CapacityUntrusted, Vec::new());
        plan.held = Some(Reason::CapacityUntrusted);
        let message = told(&plan, &[], &Backoff::default()).unwrap();
        assert!(
            message.starts_with("CapacityUntrusted: much of the capacity of the nodes vanished"),
            "{message}"
        );
    }

    #[test]
    fn nobody_is_blocked_who_is_not_short_or_waits_for_something_else() {
        assert_eq!(
            told(&plan(Reason::Fenced, vec![passed("web-0", Reason::Budget)]), &[], &Backoff::default()),
            None
        );
        let mut served = plan(Reason::Blocked, Vec::new());
        for queue in served.queues.values_mut() {
            *queue = QueuePlan::default();
        }
        assert_eq!(told(&served, &[], &refusal("web-0")), None);
    }
}
