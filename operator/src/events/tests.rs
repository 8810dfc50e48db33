//! The page of events, made from the functions that write them: one sample of each.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::expect_file;
use k8s_openapi::jiff::Timestamp;
use quotient_engine::names::QueueName;
use quotient_engine::plan::{Eviction, PodId, Preemptor, QueueJobName, QueueJobPhase, Scaling, SlotReason};
use quotient_engine::reasons::{EvictionReason, ScalingReason};
use quotient_engine::snapshot::{OwnerKind, ScaleTargetKind, Workload};

use super::event::event;
use super::jobs::tests::told;
use super::scaled::tests;
use super::{Change, Notice, Reclaimed, Subject};
use crate::identity::Identity;
use crate::tests::plan::{cpu, eviction};

const HEAD: &str = "\
# Events

Every event that Quotient writes, made from the code (`make reference`). Each message is an example; the names and numbers are those of
your cluster.

```
kubectl quotient events -n NAMESPACE
kubectl get events -n NAMESPACE --field-selector=reason=Reclaimed
```

* The event of an eviction has the beneficiary, the queue that needs the room, as its related object.
* `reportingComponent` is `quotient.dev/operator`. By default Kubernetes deletes events after an hour.
* Events report what has happened. Nothing depends on them: an event that cannot be written is counted and not repeated
  (`quotient_events_dropped_total`, and `quotient_api_writes_total` of the kind `event`).

[Reasons](reasons.md) explains the reasons that conditions have as well.
";

/// The sections of the page, by the kind of the object that an event is about.
const SECTIONS: [(&str, &[&str]); 3] = [
    ("On pods and workloads", &["Pod", "Deployment", "Job"]),
    ("On Queues", &["Queue"]),
    ("On QueueJobs", &["QueueJob"]),
];

fn queue() -> QueueName {
    QueueName::new("team-a", "team-a")
}

fn reclaimed(subject: Subject, pods: usize, reason: EvictionReason) -> Reclaimed {
    let first = Eviction {
        workload: Some(web()),
        queue: queue(),
        reason,
        requests: cpu(1000),
        used: Arc::new(cpu(6000)),
        deserved: Arc::new(cpu(4000)),
        grace_seconds: (reason == EvictionReason::GraceShortened).then_some(600),
        ..eviction("web-1")
    };
    Reclaimed { subject, pods, beneficiaries: [QueueName::new("team-b", "team-b")].into(), first }
}

fn web() -> Workload {
    Workload { api_version: "apps/v1".into(), kind: "Deployment".into(), name: "web".into(), uid: "w".into() }
}

fn scaled(from: u32, to: u32, reason: ScalingReason) -> Notice {
    let Scaling { mut scale_target, mut pods, .. } = tests::scaled(from, to, None);
    if reason == ScalingReason::GangIncomplete {
        (scale_target.kind, scale_target.name) = (ScaleTargetKind::Job, "trial".into());
    }
    for (pod, number) in pods.iter_mut().zip(1..) {
        pod.name = format!("{}-{number}", scale_target.name).as_str().into();
    }
    let scaling = Scaling {
        queue: queue(),
        scale_target,
        pods,
        priority: 0,
        beneficiaries: vec![Preemptor::Owner(OwnerKind::Job, "train".into())],
        reason,
        ..tests::scaled(from, to, Some(3))
    };
    Notice::scaled(&scaling)
}

/// One or more of each event: the test looks for their reasons where they are written.
fn samples() -> Vec<Notice> {
    use QueueJobPhase::{Complete, Failed, Running, Starting, Suspended, Waiting};
    use SlotReason::{Admitted, Finished};
    let pod = || Subject::Pod(PodId { namespace: "team-a".into(), name: "web-1".into(), uid: "p".into() });
    let workload = || Subject::Workload("team-a".into(), web());
    let written = |before, after, lowers| Notice::quota_written(queue(), before, after, lowers);
    let losers = QueueName::new("team-b", "team-b");
    let mut all = vec![
        reclaimed(pod(), 1, EvictionReason::Reclaimed).notice(),
        reclaimed(workload(), 2, EvictionReason::Reclaimed).notice(),
        reclaimed(pod(), 1, EvictionReason::MovedAside).notice(),
        reclaimed(pod(), 1, EvictionReason::GraceShortened).notice(),
        reclaimed(workload(), 2, EvictionReason::Reclaimed).would_notice(),
        scaled(3, 2, ScalingReason::Outranked),
        scaled(1, 2, ScalingReason::Restored),
        scaled(3, 0, ScalingReason::GangIncomplete),
        written(None, &cpu(4000), false),
        written(Some(&cpu(2000)), &cpu(4000), false),
        written(Some(&cpu(4000)), &cpu(2000), true),
        Notice::quota_repaired(
            queue(),
            &Change::Edited { by: Some("kubectl-edit".into()) },
            Some(&cpu(9000)),
            &cpu(4000),
        ),
        Notice::reclaim_planned(queue(), (&cpu(1000), &cpu(3000)), &[(&losers, 2)].into()),
        Notice::reclaim_planned(queue(), (&cpu(3000), &cpu(3000)), &[(&losers, 2)].into()),
        Notice::force_deleted(queue(), &["web-0".into()]),
        Notice::default_requests_written(queue(), &cpu(100)),
        Notice::default_requests_refused(queue(), "another writer owns the LimitRange quotient"),
    ];
    all.extend(told(&[(Starting, Admitted, 0, 4), (Running, Admitted, 4, 5), (Running, Admitted, 5, 4)]));
    let refused = "pods \"train\" is forbidden";
    let train = QueueJobName { namespace: "team-a".into(), name: "train".into() };
    all.push(Notice::job_refused(&train, &"j".into(), refused));
    all.extend(told(&[(Suspended, SlotReason::Suspended, 4, 0)]));
    for end in [Complete, Failed] {
        all.extend(told(&[(Running, Admitted, 4, 4), (end, Finished, 0, 0)]));
    }
    for why in [
        SlotReason::WaitingForRoom,
        SlotReason::GangAboveShare,
        SlotReason::StartTimeout,
        SlotReason::NoQueue,
        SlotReason::QueueStalled,
        SlotReason::InvalidSpec,
    ] {
        all.extend(told(&[(Waiting, why, 0, 0)]));
    }
    all
}

/// What the sources of events name in one word, and is no reason: kinds, verbs and actions.
const NO_REASONS: &str = "Admit Changed Created Deleted Edited Evict Evicted Finish Observe Pod QueueJob Reclaim Resize Suspend Wait \
    WriteLimitRange WriteQuota";

#[test]
fn the_page_of_events_has_every_event() {
    let samples = samples();
    let reasons = samples.iter().map(|notice| notice.reason);
    let known: BTreeSet<&str> = reasons.chain(NO_REASONS.split(' ')).collect();
    let sources = [include_str!("queues.rs"), include_str!("jobs.rs"), include_str!("reclaimed.rs")];
    for source in sources {
        let (code, _) = source.split_once("#[cfg(test)]").unwrap();
        let words = code.split('"').skip(1).step_by(2).filter(|text| {
            text.starts_with(|first: char| first.is_ascii_uppercase())
                && text.chars().all(|letter| letter.is_ascii_alphabetic())
        });
        for word in words {
            assert!(known.contains(word), "{word} has no sample");
        }
    }
    for reason in ScalingReason::ALL {
        assert!(known.contains(reason.name()), "{reason} has no sample");
    }

    let mut rows: BTreeMap<usize, Vec<[String; 3]>> = BTreeMap::new();
    for sample in samples {
        let event = event(sample, |_| None, &Identity::new("quotient"), Timestamp::UNIX_EPOCH, 0);
        let kind = event.regarding.and_then(|object| object.kind).unwrap();
        let section = SECTIONS.iter().position(|(_, kinds)| kinds.contains(&kind.as_str())).unwrap();
        let row = [event.reason, event.type_, event.note].map(Option::unwrap);
        rows.entry(section).or_default().push(row);
    }
    let mut page = HEAD.to_owned();
    for (section, (title, _)) in SECTIONS.iter().enumerate() {
        let _ = write!(page, "\n## {title}\n\n| reason | type | message |\n|---|---|---|\n");
        let mut former = String::new();
        for [reason, type_, note] in rows.get(&section).into_iter().flatten() {
            // The same reason in other words.
            let (shown, type_) =
                if *reason == former { (String::new(), "") } else { (format!("`{reason}`"), type_.as_str()) };
            let _ = writeln!(page, "| {shown} | {type_} | {} |", note.replace('|', "\\|"));
            former.clone_from(reason);
        }
    }
    expect_file!["../../../docs/reference/events.md"].assert_eq(&page);
}
