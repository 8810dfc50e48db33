//! Tells a step.

use std::fmt::Write as _;

use quotient_engine::amounts::{Amounts, Bounds, Resource};
use quotient_engine::names::QueueName;
use quotient_engine::plan::{Eviction, Plan, PodId, Preemptor, Scaling, Unmet, Withheld};
use quotient_engine::reasons::{EvictionReason, ShortReason};
use quotient_engine::snapshot::Rejection;

/// One step as lines: every queue's numbers and what it waits for, evictions with beneficiary and reason, what started.
pub(crate) fn print(step: usize, plan: &Plan, started: &[PodId]) -> String {
    print_changes(step, plan, started, &mut Vec::new())
}

/// The same without what the last step printed as well, and nothing at all if that is everything.
pub(crate) fn print_changes(step: usize, plan: &Plan, started: &[PodId], before: &mut Vec<String>) -> String {
    let mut now = states(plan);
    let capacity = format!("capacity {}", short(plan, &plan.capacity));
    let changed: String = now.iter().filter(|state| !before.contains(state)).map(String::as_str).collect();
    let told = changed + &actions(plan, started);
    let is_same = told.is_empty() && before.contains(&capacity);
    let printed = if is_same { String::new() } else { format!("step {step}: {capacity}\n{told}") };
    now.push(capacity);
    *before = now;
    printed
}

fn short(plan: &Plan, amounts: &Amounts) -> String {
    let parts: Vec<String> = plan.resources.iter().map(|resource| compact(resource, amounts)).collect();
    parts.join(" ")
}

/// What queues deserve, and what of their guarantees cannot be met: `a 6c 6Gi, b 3c 3Gi (5c 0 unmeetable)`.
pub(crate) fn print_shares(plan: &Plan) -> String {
    let shares = plan.queues.iter().map(|(name, queue)| {
        let share = format!("{} {}", name.namespace, short(plan, &queue.deserved));
        let unmeetable = short(plan, &queue.unmeetable);
        if queue.unmeetable.is_empty() { share } else { format!("{share} ({unmeetable} unmeetable)") }
    });
    shares.collect::<Vec<_>>().join(", ")
}

/// Every queue's numbers and what it waits for, and every QueueJob.
fn states(plan: &Plan) -> Vec<String> {
    let short = |amounts: &Amounts| short(plan, amounts);
    let mut states = Vec::new();
    for (name, queue) in &plan.queues {
        let mut text = String::new();
        write!(
            text,
            "  {}: deserved {}, allocated {}, used {}",
            name.namespace,
            short(&queue.deserved),
            short(&queue.allocated),
            short(&queue.used)
        )
        .unwrap();
        if queue.target != queue.deserved {
            write!(text, ", target {}", short(&queue.target)).unwrap();
        }
        if let Some(reason) = queue.starved {
            write!(text, ", preempting {} ({reason}", short(&queue.preempting)).unwrap();
            if let Some(withheld) = &queue.withheld {
                write!(text, ": {}", cause(withheld)).unwrap();
            }
            text.push(')');
            if queue.lacking != queue.preempting {
                write!(text, ", lacks {}", short(&queue.lacking)).unwrap();
            }
        } else if !queue.preempting.is_empty() {
            write!(text, ", preempting {}", short(&queue.preempting)).unwrap();
        }
        if !queue.unmeetable.is_empty() {
            write!(text, ", unmeetable {}", short(&queue.unmeetable)).unwrap();
        }
        text.push('\n');
        for unmet in &queue.unmet {
            writeln!(text, "    {}", waiting(unmet, &short(&unmet.requests))).unwrap();
        }
        states.push(text);
    }
    states.extend(plan.queue_jobs.iter().map(|(name, job)| {
        let slots: u32 = job.slots.iter().sum();
        let now = if job.total() == slots { String::new() } else { format!(", {} now", job.total()) };
        format!("  {name}: {slots} slots{now}, {:?} ({})\n", job.phase, job.reason.name())
    }));
    let stalled = plan.stalled.iter();
    states.extend(
        stalled.map(|(name, stall)| format!("  {name} has no share: {}: {}\n", stall.reason, stall.message)),
    );
    states
}

/// What is done, and what started.
fn actions(plan: &Plan, started: &[PodId]) -> String {
    let mut text = String::new();
    for (verb, evictions) in [("evict", &plan.evictions), ("would evict", &plan.withheld)] {
        for Eviction { pod, beneficiary, reason, .. } in evictions {
            let gainer =
                beneficiary.as_ref().map_or("no queue in particular", |queue| queue.namespace.as_str());
            writeln!(text, "  {verb} {}/{} for {gainer}: {reason}", pod.namespace, pod.name).unwrap();
        }
    }
    for again in &plan.shortened {
        let (namespace, name) = (&again.pod.namespace, &again.pod.name);
        let grace = again.grace_seconds.unwrap();
        if again.reason == EvictionReason::ForceDeleted {
            writeln!(text, "  delete {namespace}/{name} without grace").unwrap();
        } else {
            let gainer = again.beneficiary.as_ref().unwrap();
            writeln!(text, "  evict {namespace}/{name} again for {}, with {grace} s", gainer.namespace)
                .unwrap();
        }
    }
    for scaling in &plan.scalings {
        writeln!(text, "  {}", scaled(scaling)).unwrap();
    }
    for removal in &plan.gate_removals {
        writeln!(text, "  remove the gate of {}/{}", removal.pod.namespace, removal.pod.name).unwrap();
    }
    for pod in started {
        writeln!(text, "  started {}/{}", pod.namespace, pod.name).unwrap();
    }
    text
}

/// What withholds evictions.
fn cause(withheld: &Withheld) -> String {
    match withheld {
        Withheld::OperatorMode(mode) => format!("the operator is in {mode}"),
        Withheld::QueueMode(queue, mode) => format!("{} is in {mode}", queue.namespace),
        Withheld::Pause(pause) => {
            format!("{} is paused until {}", pause.of.namespace, pause.until.millis() / 1000)
        }
    }
}

/// `scale a/web from 3 to 2 of 3 for ReplicaSet vip, without w1: Outranked`
fn scaled(scaling: &Scaling) -> String {
    let named = |preemptor: &Preemptor| match preemptor {
        Preemptor::Pod(name) => format!("pod {name}"),
        Preemptor::Owner(kind, name) => format!("{} {name}", kind.name()),
    };
    let mut text = format!(
        "scale {}/{} from {} to {}",
        scaling.queue.namespace, scaling.scale_target.name, scaling.from, scaling.to
    );
    if let Some(former) = scaling.original_replicas {
        write!(text, " of {former}").unwrap();
    }
    if !scaling.beneficiaries.is_empty() {
        let preemptors: Vec<String> = scaling.beneficiaries.iter().map(named).collect();
        write!(text, " for {}", preemptors.join(", ")).unwrap();
    }
    if !scaling.pods.is_empty() {
        let pods: Vec<&str> = scaling.pods.iter().map(|pod| pod.name.as_str()).collect();
        write!(text, ", without {}", pods.join(" ")).unwrap();
    }
    text + &format!(": {}", scaling.reason)
}

/// `2 pods of Job train, 1c 1Gi each: UnitAboveShare`
fn waiting(unmet: &Unmet, each: &str) -> String {
    match &unmet.preemptor {
        Preemptor::Pod(name) => format!("pod {name}, {each}: {}", unmet.reason),
        Preemptor::Owner(kind, name) => {
            let why = match &unmet.rejection {
                Some(Rejection::ByServer(said)) => format!(" ({said})"),
                Some(Rejection::Unspecified(lacking)) => format!(" (no request for {lacking:?})"),
                None => String::new(),
            };
            format!("{} pods of {} {name}, {each} each: {}{why}", unmet.pods, kind.name(), unmet.reason)
        }
    }
}

/// The pods of a plan that a rule protected.
pub(crate) fn print_passed_over(plan: &Plan) -> String {
    let mut text = String::new();
    for passed in &plan.passed_over {
        writeln!(text, "  spare {}/{}: {}", passed.pod.namespace, passed.pod.name, passed.reason).unwrap();
    }
    text
}

/// What a plan of a later step does.
pub(crate) fn print_later(plan: &Plan) -> String {
    let mut text = String::new();
    for line in actions(plan, &[]).lines() {
        writeln!(text, "  later {}", line.trim()).unwrap();
    }
    text
}

/// The queues and pods that still wait although there is room, or although pods were to go for them.
pub(crate) fn print_left_over(plan: &Plan) -> String {
    let mut text = String::new();
    for (name, queue) in &plan.queues {
        if queue.starved == Some(ShortReason::WaitingForPreemption) {
            writeln!(text, "  later {} is WaitingForPreemption", name.namespace).unwrap();
        }
        for unmet in queue.unmet.iter().filter(|unmet| unmet.reason == ShortReason::RoomAvailable) {
            writeln!(text, "  later {}", waiting(unmet, &short(plan, &unmet.requests))).unwrap();
        }
    }
    text
}

/// The quota writes of a plan in order, and the evictions that wait for them.
pub(crate) fn print_writes(plan: &Plan) -> String {
    let mut lines: Vec<(&str, Vec<String>)> = Vec::new();
    for (name, write) in plan.quota_writes() {
        let verb = match () {
            () if write.hard.is_empty() => "delete the quota of",
            () if write.lowers => "lower",
            () => "raise",
        };
        let quota = written(plan, name, &write.hard);
        match lines.last_mut() {
            Some((last, quotas)) if *last == verb => quotas.push(quota),
            _ => lines.push((verb, vec![quota])),
        }
    }
    let mut text = String::new();
    for (verb, quotas) in lines {
        writeln!(text, "  {verb} {}", quotas.join(", ")).unwrap();
    }
    for eviction in &plan.waiting {
        writeln!(text, "  evict {}/{} once its quota is in force", eviction.pod.namespace, eviction.pod.name)
            .unwrap();
    }
    text
}

/// The queue of a quota, and what the quota is to say if that is not what the queue is allocated.
fn written(plan: &Plan, name: &QueueName, hard: &Bounds) -> String {
    let allocated = plan.queues.get(name).map(|queue| plan.bounds(&queue.allocated));
    if hard.is_empty() || allocated.as_ref() == Some(hard) {
        name.namespace.to_string()
    } else {
        format!("{} to {}", name.namespace, all(hard))
    }
}

fn all(bounds: &Bounds) -> String {
    let amounts = bounds.iter().map(|(resource, amount)| (resource, [(resource.clone(), amount)]));
    let amounts: Vec<String> =
        amounts.map(|(resource, amount)| compact(resource, &amount.into_iter().collect())).collect();
    amounts.join(" ")
}

fn compact(resource: &Resource, amounts: &Amounts) -> String {
    let text = resource.format(amounts.get(resource));
    match resource {
        Resource::Cpu => text + "c",
        Resource::Memory => text,
        Resource::Extended(_) => text + "gpu",
    }
}
