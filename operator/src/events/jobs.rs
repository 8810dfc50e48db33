//! Events of QueueJobs: when, and in which words.

use std::collections::BTreeMap;

use quotient_crds::names::API_VERSION;
use quotient_engine::names::QueueJobUid;
use quotient_engine::plan::{Plan, QueueJobName, QueueJobPhase, QueueJobPlan, SlotReason};

use super::Notice;
use super::notice::Regarding;
use crate::slots::{admitted, why_it_waits};

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
            all.extend(news(name, job, notified));
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

fn news(name: &QueueJobName, job: &QueueJobPlan, notified: Option<&Notified>) -> Option<Notice> {
    let stays = notified.is_some_and(|notified| notified.phase == job.phase);
    // What had come to an end before is no news.
    let has_ended = notified.is_some() && !stays;
    // What is written, is seen a moment later: until then the same plan is made again.
    let moved = job.moves() && notified.is_none_or(|notified| notified.slots != job.total());
    let (from, to) = (job.had, job.total());
    let normal = |reason, action, note| Notice::normal(regarding(name, &job.uid), reason, action, note);
    match job.phase {
        QueueJobPhase::Complete => {
            let note = "Every pod of every task has succeeded.".to_owned();
            has_ended.then(|| normal("Complete", "Finish", note))
        }
        QueueJobPhase::Failed => {
            let note = "A task has failed. The condition Failed names the task and the reason.".to_owned();
            has_ended.then(|| Notice::warning(regarding(name, &job.uid), "Failed", "Finish", note))
        }
        QueueJobPhase::Suspended => {
            let note = "The QueueJob released its slots because spec.suspend is true.".to_owned();
            (from > 0 && !stays).then(|| normal("Suspended", "Suspend", note))
        }
        QueueJobPhase::Waiting => {
            let same = stays && notified.is_some_and(|notified| notified.reason == job.reason);
            let is_moment = job.reason == SlotReason::WaitingForQuota;
            (!same && !is_moment).then(|| waits(name, job))
        }
        QueueJobPhase::Starting | QueueJobPhase::Running if !moved => None,
        QueueJobPhase::Starting | QueueJobPhase::Running if from == 0 => {
            Some(normal("Admitted", "Admit", admitted(job)))
        }
        QueueJobPhase::Starting | QueueJobPhase::Running => {
            let (reason, why) = if from < to {
                ("SlotsGiven", "its queue has room")
            } else {
                ("SlotsTaken", "its queue has less room for it")
            };
            let note = format!("The QueueJob may run {to} pods instead of {from} because {why}.");
            Some(normal(reason, "Resize", note))
        }
    }
}

/// That `job` waits, or has lost all its slots and waits again.
fn waits(name: &QueueJobName, job: &QueueJobPlan) -> Notice {
    let of_severity = match job.reason {
        SlotReason::StartTimeout
        | SlotReason::InvalidSpec
        | SlotReason::NoQueue
        | SlotReason::QueueStalled
        | SlotReason::GangAboveShare => Notice::warning,
        _ => Notice::normal,
    };
    let because = why_it_waits(job);
    let note = if job.had > 0 && job.total() == 0 {
        format!("The QueueJob lost all of its {} slots. {because}", job.had)
    } else {
        because
    };
    of_severity(regarding(name, &job.uid), job.reason.name(), "Wait", note)
}

impl Notice {
    /// The API server refused a Job of the QueueJob `name`, in its words.
    pub(crate) fn job_refused(name: &QueueJobName, uid: &QueueJobUid, why: &str) -> Self {
        let note = format!("The API server refused a Job of the QueueJob: {why}");
        Self::warning(regarding(name, uid), "JobRefused", "Admit", note)
    }
}

fn regarding(name: &QueueJobName, uid: &QueueJobUid) -> Regarding {
    Regarding::object((API_VERSION, "QueueJob"), &name.namespace, &name.name, uid.as_str())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use quotient_engine::names::QueueName;

    /// What is told of plans of one QueueJob, one after the other: its phase, its reason, the slots it had and has.
    pub(in crate::events) fn told(plans: &[(QueueJobPhase, SlotReason, u32, u32)]) -> Vec<Notice> {
        let mut jobs = Jobs::default();
        let news = plans.iter().flat_map(|(phase, reason, had, has)| {
            let job = QueueJobPlan {
                uid: "1".into(),
                queue: Some(QueueName::new("team-a", "team-a")),
                phase: *phase,
                reason: *reason,
                had: *had,
                parallelism: vec![*has],
                min_available: 3,
                left: 6,
                start_failures: 2,
                problem: Some("spec.tasks[0].template is no pod template".into()),
                ..QueueJobPlan::default()
            };
            let name = QueueJobName { namespace: "team-a".into(), name: "train".into() };
            jobs.news(&Plan { queue_jobs: [(name, job)].into(), ..Plan::default() })
        });
        news.collect()
    }

    fn check(plans: &[(QueueJobPhase, SlotReason, u32, u32)], expected: &Expect) {
        let line = |notice: &Notice| format!("{} {}\n", notice.type_, notice.printed());
        expected.assert_eq(&told(plans).iter().map(line).collect::<String>());
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
                Normal WaitingForRoom on QueueJob train: The gang needs room for 3 pods at once, and other pods of queue team-a/team-a use too much. It starts when they end.
                Normal Admitted on QueueJob train: The QueueJob may run 4 of the 6 pods that have not succeeded.
                Normal SlotsTaken on QueueJob train: The QueueJob may run 2 pods instead of 4 because its queue has less room for it.
                Normal SlotsGiven on QueueJob train: The QueueJob may run 3 pods instead of 2 because its queue has room.
                Normal WaitingForRoom on QueueJob train: The QueueJob lost all of its 3 slots. The gang needs room for 3 pods at once, and other pods of queue team-a/team-a use too much. It starts when they end.
                Normal Admitted on QueueJob train: The QueueJob may run 2 of the 6 pods that have not succeeded.
                Warning StartTimeout on QueueJob train: The QueueJob lost all of its 2 slots. The pods did not run within startTimeoutSeconds, 2 times in a row. The QueueJob tries again at status.retryAt. See the events of its pods.
                Normal Admitted on QueueJob train: The QueueJob may run 2 of the 6 pods that have not succeeded.
                Normal Complete on QueueJob train: Every pod of every task has succeeded.
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
