//! Events of QueueJobs: when, and in which words.

use std::collections::BTreeMap;

use quotient_engine::names::QueueJobUid;
use quotient_engine::plan::{Plan, QueueJobName, QueueJobPhase, QueueJobPlan, SlotReason};

use super::event_text::EventText;
use super::{JobNews, Notice};
use crate::slots::why_it_waits;

/// The last event of every QueueJob.
///
/// Only a hint: after a restart, the reason of a waiting one may be written twice. That its slots move is seen from how many
/// its Jobs have.
#[derive(Debug, Default)]
pub(super) struct Jobs(BTreeMap<QueueJobName, Notified>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Notified {
    uid: QueueJobUid,
    phase: QueueJobPhase,
    reason: SlotReason,
    /// The slots that it has then, if it has some.
    slots: u32,
}

impl Jobs {
    /// What is news in `plan`.
    pub(super) fn news(&mut self, plan: &Plan) -> Vec<Notice> {
        self.0.retain(|name, notified| {
            plan.queue_jobs.get(name).is_some_and(|job| job.uid == notified.uid && !job.withheld)
        });
        let mut all = Vec::new();
        for (name, job) in plan.queue_jobs.iter().filter(|(_, job)| !job.withheld) {
            let notified = self.0.get(name);
            if let Some(news) = news(job, notified) {
                all.push(Notice::QueueJob { name: name.clone(), uid: job.uid.clone(), news });
            }
            let now = Notified {
                uid: job.uid.clone(),
                phase: job.phase,
                // For a moment only, on the way from one to the other.
                reason: if job.reason == SlotReason::WaitingForQuota {
                    notified.map_or(job.reason, |notified| notified.reason)
                } else {
                    job.reason
                },
                slots: job.total(),
            };
            self.0.insert(name.clone(), now);
        }
        all
    }
}

fn news(job: &QueueJobPlan, notified: Option<&Notified>) -> Option<JobNews> {
    let stays = notified.is_some_and(|notified| notified.phase == job.phase);
    // What is written, is seen a moment later: until then the same plan is made again.
    let moved = job.moves() && notified.is_none_or(|notified| notified.slots != job.total());
    let (from, to) = (job.had, job.total());
    match job.phase {
        // What had come to an end before is no news.
        QueueJobPhase::Complete => (notified.is_some() && !stays).then_some(JobNews::Complete),
        QueueJobPhase::Failed => (notified.is_some() && !stays).then_some(JobNews::Failed),
        QueueJobPhase::Suspended => (from > 0 && !stays).then_some(JobNews::Suspended),
        QueueJobPhase::Waiting => {
            let same = stays && notified.is_some_and(|notified| notified.reason == job.reason);
            let is_moment = job.reason == SlotReason::WaitingForQuota;
            (!same && !is_moment).then(|| JobNews::Waits {
                from: if to == 0 { from } else { 0 },
                why: job.reason,
                because: why_it_waits(job),
            })
        }
        QueueJobPhase::Starting | QueueJobPhase::Running if moved && from == 0 => {
            Some(JobNews::Admitted { slots: to, left: job.left })
        }
        QueueJobPhase::Starting | QueueJobPhase::Running => moved.then_some(JobNews::Resized { from, to }),
    }
}

impl JobNews {
    /// The text of its event.
    pub(super) fn text(&self) -> EventText {
        match self {
            Self::Admitted { slots, left } => EventText::normal(
                "Admitted",
                "Admit",
                format!("The QueueJob may run {slots} of the {left} pods that have not succeeded."),
            ),
            Self::Resized { from, to } => {
                let (reason, why) = if from < to {
                    ("SlotsGiven", "its queue has room")
                } else {
                    ("SlotsTaken", "its queue has less room for it")
                };
                let note = format!("The QueueJob may run {to} pods instead of {from} because {why}.");
                EventText::normal(reason, "Resize", note)
            }
            Self::Waits { from, why, because } => {
                let event = match why {
                    SlotReason::StartTimeout
                    | SlotReason::InvalidSpec
                    | SlotReason::NoQueue
                    | SlotReason::QueueStalled
                    | SlotReason::GangAboveShare => EventText::warning,
                    _ => EventText::normal,
                };
                let note = if *from > 0 {
                    format!("The QueueJob lost all of its {from} slots. {because}")
                } else {
                    because.clone()
                };
                event(why.name(), "Wait", note)
            }
            Self::Refused(why) => EventText::warning(
                "JobRefused",
                "Admit",
                format!("The API server refused a Job of the QueueJob: {why}"),
            ),
            Self::Suspended => EventText::normal(
                "Suspended",
                "Suspend",
                "The QueueJob released its slots because spec.suspend is true.".to_owned(),
            ),
            Self::Complete => {
                EventText::normal("Complete", "Finish", "Every pod of every task has succeeded.".to_owned())
            }
            Self::Failed => EventText::warning(
                "Failed",
                "Finish",
                "A task has failed. The condition Failed names the task and the reason.".to_owned(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use quotient_engine::names::QueueName;

    /// Plans of one QueueJob, one after the other: its phase, its reason, the slots it had and has.
    fn check(plans: &[(QueueJobPhase, SlotReason, u32, u32)], expected: &Expect) {
        let (mut jobs, mut printed) = (Jobs::default(), String::new());
        for (phase, reason, had, has) in plans {
            let job = QueueJobPlan {
                uid: "1".into(),
                queue: Some(QueueName::new("a", "team")),
                phase: *phase,
                reason: *reason,
                had: *had,
                parallelism: vec![*has],
                min_available: 2,
                left: 4,
                ..QueueJobPlan::default()
            };
            let name = QueueJobName { namespace: "a".into(), name: "train".into() };
            let news = jobs.news(&Plan { queue_jobs: [(name, job)].into(), ..Plan::default() });
            let lines = news.iter().map(|notice| match notice {
                Notice::QueueJob { news, .. } => {
                    let EventText { type_, reason, note, .. } = news.text();
                    format!("{type_} {reason}: {note}\n")
                }
                other => panic!("{other:?}"),
            });
            printed.extend(lines);
        }
        expected.assert_eq(&printed);
    }

    #[test]
    fn the_life_of_a_queue_job_is_told_once() {
        use QueueJobPhase::{Complete, Running, Starting, Waiting};
        use SlotReason::{Admitted, Finished, StartTimeout, WaitingForQuota, WaitingForRoom};
        check(
            &[
                (Waiting, WaitingForRoom, 0, 0),
                (Waiting, WaitingForRoom, 0, 0),
                (Waiting, WaitingForQuota, 0, 0),
                (Starting, Admitted, 0, 4),
                (Starting, Admitted, 0, 4),
                (Starting, Admitted, 4, 4),
                (Running, Admitted, 4, 2),
                (Running, Admitted, 4, 2),
                (Running, Admitted, 2, 3),
                (Running, Admitted, 3, 3),
                (Waiting, WaitingForRoom, 3, 0),
                (Waiting, WaitingForRoom, 0, 0),
                (Starting, Admitted, 0, 2),
                (Waiting, StartTimeout, 2, 0),
                (Running, Admitted, 0, 2),
                (Complete, Finished, 0, 0),
                (Complete, Finished, 0, 0),
            ],
            &expect![[r#"
                Normal WaitingForRoom: The gang needs room for 2 pods at once, and other pods of queue a/team use too much. It starts when they end.
                Normal Admitted: The QueueJob may run 4 of the 4 pods that have not succeeded.
                Normal SlotsTaken: The QueueJob may run 2 pods instead of 4 because its queue has less room for it.
                Normal SlotsGiven: The QueueJob may run 3 pods instead of 2 because its queue has room.
                Normal WaitingForRoom: The QueueJob lost all of its 3 slots. The gang needs room for 2 pods at once, and other pods of queue a/team use too much. It starts when they end.
                Normal Admitted: The QueueJob may run 2 of the 4 pods that have not succeeded.
                Warning StartTimeout: The QueueJob lost all of its 2 slots. The pods did not run within startTimeoutSeconds. The QueueJob tries again at status.retryAt. See the events of its pods.
                Normal Admitted: The QueueJob may run 2 of the 4 pods that have not succeeded.
                Normal Complete: Every pod of every task has succeeded.
            "#]],
        );
    }

    #[test]
    fn after_a_restart_what_has_ended_or_runs_is_no_news() {
        use QueueJobPhase::{Complete, Failed, Running, Suspended};
        for phase in [Complete, Failed, Suspended] {
            check(&[(phase, SlotReason::Finished, 0, 0)], &expect![[""]]);
        }
        check(&[(Running, SlotReason::Admitted, 4, 4)], &expect![[""]]);
    }
}
