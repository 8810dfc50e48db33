//! Tells a step.

use std::fmt::Write as _;

use quotient_engine::amounts::{Amounts, Resource};
use quotient_engine::plan::{Plan, PodId};

/// One step as lines: every queue's numbers, evictions with beneficiary and reason, what started.
pub(crate) fn print(step: usize, plan: &Plan, started: &[PodId]) -> String {
    let short = |amounts: &Amounts| -> String {
        let parts: Vec<String> = plan.resources.iter().map(|resource| compact(resource, amounts)).collect();
        parts.join(" ")
    };
    let mut told = format!("step {step}: capacity {}\n", short(&plan.capacity));
    for (name, queue) in &plan.queues {
        write!(
            told,
            "  {}: deserved {}, allocated {}, used {}",
            name.namespace,
            short(&queue.deserved),
            short(&queue.allocated),
            short(&queue.used)
        )
        .unwrap();
        if let Some(reason) = queue.starved {
            write!(told, ", preempting {} ({reason})", short(&queue.preempting)).unwrap();
        }
        if !queue.unmeetable.is_empty() {
            write!(told, ", unmeetable {}", short(&queue.unmeetable)).unwrap();
        }
        told.push('\n');
    }
    for (name, stall) in &plan.stalled {
        writeln!(told, "  {name} has no share: {}: {}", stall.reason, stall.message).unwrap();
    }
    for eviction in &plan.evictions {
        let whom =
            eviction.beneficiary.as_ref().map_or("nobody in particular", |queue| queue.namespace.as_str());
        writeln!(
            told,
            "  evict {}/{} for {whom}: {}",
            eviction.pod.namespace, eviction.pod.name, eviction.reason
        )
        .unwrap();
    }
    for pod in started {
        writeln!(told, "  started {}/{}", pod.namespace, pod.name).unwrap();
    }
    told
}

/// The quota writes of a plan in order, and the evictions that wait for them.
pub(crate) fn print_writes(plan: &Plan) -> String {
    let mut told = String::new();
    for (name, write) in plan.quota_writes() {
        let amounts: Vec<String> = write
            .hard
            .iter()
            .map(|(resource, amount)| compact(resource, &[(resource.clone(), amount)].into_iter().collect()))
            .collect();
        let how = if write.lowers { "lower" } else { "raise" };
        writeln!(told, "  {how} {} to {}", name.namespace, amounts.join(" ")).unwrap();
    }
    for eviction in &plan.waiting {
        writeln!(told, "  evict {}/{} once its quota is in force", eviction.pod.namespace, eviction.pod.name)
            .unwrap();
    }
    told
}

fn compact(resource: &Resource, amounts: &Amounts) -> String {
    let text = resource.format(amounts.get(resource));
    match resource {
        Resource::Cpu => text + "c",
        Resource::Memory => text,
        Resource::Extended(_) => text + "gpu",
    }
}
