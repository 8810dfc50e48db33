//! QueueJobs in the steps: what each has, and why, for people.

use quotient_engine::plan::{QueueJobPlan, SlotReason};

use super::steps::Step;
use crate::output::{Cell, Colour, Style, align};

/// A line for each QueueJob.
pub(super) fn rows(step: &Step, style: Style) -> Vec<String> {
    if step.plan.queue_jobs.is_empty() {
        return Vec::new();
    }
    let titles =
        ["QUEUEJOB", "STATE", "MIN", "SLOTS", "RUNNING", "SUCCEEDED", "DESERVED", "ALLOCATED", "REASON"];
    let mut rows = vec![titles.map(|title| Cell::new(title, Colour::Faint)).to_vec()];
    rows.extend(step.plan.queue_jobs.iter().map(|(name, job)| {
        vec![
            Cell::plain(&name.to_string()),
            Cell::plain(&format!("{:?}", job.standing)),
            Cell::plain(&job.min_available.to_string()),
            slots(job),
            Cell::plain(&job.pods.running.to_string()),
            Cell::plain(&job.succeeded.to_string()),
            Cell::plain(&job.deserved.compact()),
            Cell::plain(&job.allocated.compact()),
            Cell::plain(job.reason.name()),
        ]
    }));
    align(&rows, style)
}

/// `4`, or `4 -> 2` where they change.
fn slots(job: &QueueJobPlan) -> Cell {
    let (had, has) = (job.had, job.total());
    let colour = match has.cmp(&had) {
        std::cmp::Ordering::Less => Colour::Alarm,
        std::cmp::Ordering::Equal => return Cell::plain(&has.to_string()),
        std::cmp::Ordering::Greater => Colour::Good,
    };
    Cell::new(&format!("{had} -> {has}"), colour)
}

/// What keeps the QueueJobs that wait from running.
pub(super) fn waits(step: &Step, style: Style) -> Vec<String> {
    let rows = step.plan.queue_jobs.iter().filter_map(|(name, job)| {
        let why = why_it_waits(job)?;
        Some(vec![Cell::new("waits", Colour::Notice), Cell::plain(&name.to_string()), Cell::plain(&why)])
    });
    align(&rows.collect::<Vec<_>>(), style)
}

/// Why it has no slots, for people; none if it has some or asks for none.
pub(crate) fn why_it_waits(job: &QueueJobPlan) -> Option<String> {
    if job.total() > 0 {
        return None;
    }
    let lacks = job.min_available.saturating_sub(job.succeeded).max(1);
    Some(match job.reason {
        SlotReason::WaitingForRoom => {
            format!("other pods of its queue hold too much for the {lacks} pods that it needs at once")
        }
        SlotReason::GangAboveShare => format!(
            "its queue has less for all QueueJobs than the {lacks} pods that it needs at once request"
        ),
        SlotReason::WaitingForQuota => {
            "it is to have its slots: pods have to leave, or a quota to rise, before".to_owned()
        }
        SlotReason::StartTimeout => {
            "it had its slots and did not run in time: it tries again later".to_owned()
        }
        SlotReason::NoQueue => "no Queue governs its namespace: create one".to_owned(),
        SlotReason::QueueStalled => "the Queue of its namespace has no share".to_owned(),
        SlotReason::InvalidSpec => {
            job.problem.as_deref().unwrap_or("its spec cannot be understood").to_owned()
        }
        SlotReason::Admitted | SlotReason::Suspended | SlotReason::Finished => return None,
    })
}
