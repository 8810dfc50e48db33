//! The page of events, made from the functions that write them: one sample of each.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::expect_file;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::jiff::Timestamp;
use quotient_engine::amounts::{Amount, Bounds, Resource};
use quotient_engine::names::QueueName;
use quotient_engine::plan::{Eviction, PodId, Preemptor, QueueJobName, QueueJobPlan, Scaling, SlotReason};
use quotient_engine::reasons::{EvictionReason, ScalingReason};
use quotient_engine::snapshot::{OwnerKind, Workload};

use super::event::event;
use super::scaled::tests;
use super::{Change, JobNews, Notice, Reclaimed, Subject};
use crate::identity::Identity;
use crate::slots::why_it_waits;
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
    ("On pods and workloads", &["Pod", "Deployment"]),
    ("On Queues", &["Queue"]),
    ("On QueueJobs", &["QueueJob"]),
];

fn bounds(milli: i128) -> Bounds {
    [(Resource::Cpu, Amount::new(milli))].into_iter().collect()
}

fn queue() -> QueueName {
    QueueName::new("team-a", "team-a")
}

fn reclaimed(subject: Subject, pods: usize, reason: EvictionReason) -> Box<Reclaimed> {
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
    Box::new(Reclaimed { subject, pods, beneficiaries: [QueueName::new("team-b", "team-b")].into(), first })
}

fn web() -> Workload {
    Workload { api_version: "apps/v1".into(), kind: "Deployment".into(), name: "web".into(), uid: "w".into() }
}

fn scaled(from: u32, to: u32, reason: ScalingReason) -> Notice {
    let mut pods = tests::scaled(from, to, None).pods;
    for pod in &mut pods {
        pod.name = "web-1".into();
    }
    let scaling = Scaling {
        queue: queue(),
        pods,
        priority: 0,
        beneficiaries: vec![Preemptor::Owner(OwnerKind::Job, "train".into())],
        reason,
        ..tests::scaled(from, to, Some(3))
    };
    Notice::Scaled(scaling.into())
}

fn job(news: JobNews) -> Notice {
    let name = QueueJobName { namespace: "team-a".into(), name: "train".into() };
    Notice::QueueJob { name, uid: "j".into(), news }
}

fn waits(why: SlotReason) -> Notice {
    let plan = QueueJobPlan {
        reason: why,
        min_available: 3,
        start_failures: 2,
        queue: Some(queue()),
        problem: Some("spec.tasks[0].template is no pod template".into()),
        ..QueueJobPlan::default()
    };
    job(JobNews::Waits { from: 0, why, because: why_it_waits(&plan) })
}

fn quota_written(before: Option<i128>, after: i128, lowers: bool) -> Notice {
    Notice::QuotaWritten { queue: queue(), before: before.map(bounds), after: bounds(after), lowers }
}

/// One or more of each variant: the test compares them with the arms of [`variant`], which the compiler keeps complete.
fn samples() -> Vec<Notice> {
    let pod = || Subject::Pod(PodId { namespace: "team-a".into(), name: "web-1".into(), uid: "p".into() });
    let workload = || Subject::Workload("team-a".into(), web());
    let mut all = vec![
        Notice::Reclaimed(reclaimed(pod(), 1, EvictionReason::Reclaimed)),
        Notice::Reclaimed(reclaimed(workload(), 2, EvictionReason::Reclaimed)),
        Notice::Reclaimed(reclaimed(pod(), 1, EvictionReason::MovedAside)),
        Notice::Reclaimed(reclaimed(pod(), 1, EvictionReason::GraceShortened)),
        Notice::WouldReclaim(reclaimed(workload(), 2, EvictionReason::Reclaimed)),
        scaled(3, 2, ScalingReason::Outranked),
        scaled(1, 2, ScalingReason::Restored),
        quota_written(None, 4000, false),
        quota_written(Some(2000), 4000, false),
        quota_written(Some(4000), 2000, true),
        Notice::QuotaRepaired {
            queue: queue(),
            change: Change::Edited { by: Some("kubectl-edit".into()) },
            before: Some(bounds(9000)),
            after: bounds(4000),
        },
        Notice::ReclaimPlanned {
            queue: queue(),
            allocated: cpu(1000),
            deserved: cpu(3000),
            pods: vec![(QueueName::new("team-b", "team-b"), 2)],
        },
        Notice::ForceDeleted { queue: queue(), pods: vec!["web-0".into()] },
        Notice::DefaultRequestsWritten { queue: queue(), defaults: bounds(100) },
        Notice::DefaultRequestsRefused {
            queue: queue(),
            why: "another writer owns the LimitRange quotient".to_owned(),
        },
        job(JobNews::Admitted { slots: 4, left: 6 }),
        job(JobNews::Resized { from: 4, to: 5 }),
        job(JobNews::Resized { from: 5, to: 4 }),
        job(JobNews::Refused("pods \"train\" is forbidden".to_owned())),
        job(JobNews::Suspended),
        job(JobNews::Complete),
        job(JobNews::Failed),
    ];
    all.extend(
        [
            SlotReason::WaitingForRoom,
            SlotReason::GangAboveShare,
            SlotReason::StartTimeout,
            SlotReason::NoQueue,
            SlotReason::QueueStalled,
            SlotReason::InvalidSpec,
        ]
        .map(waits),
    );
    all
}

/// The name of the variant.
fn variant(notice: &Notice) -> &'static str {
    match notice {
        Notice::QuotaWritten { .. } => "QuotaWritten",
        Notice::QuotaRepaired { .. } => "QuotaRepaired",
        Notice::ReclaimPlanned { .. } => "ReclaimPlanned",
        Notice::Reclaimed(_) => "Reclaimed",
        Notice::WouldReclaim(_) => "WouldReclaim",
        Notice::Scaled(_) => "Scaled",
        Notice::ForceDeleted { .. } => "ForceDeleted",
        Notice::DefaultRequestsWritten { .. } => "DefaultRequestsWritten",
        Notice::DefaultRequestsRefused { .. } => "DefaultRequestsRefused",
        Notice::QueueJob { news, .. } => match news {
            JobNews::Admitted { .. } => "Admitted",
            JobNews::Resized { .. } => "Resized",
            JobNews::Waits { .. } => "Waits",
            JobNews::Refused(_) => "Refused",
            JobNews::Suspended => "Suspended",
            JobNews::Complete => "Complete",
            JobNews::Failed => "Failed",
        },
    }
}

fn event_of(notice: &Notice) -> Event {
    event(notice, |_| None, &Identity::new("quotient"), Timestamp::UNIX_EPOCH, 0)
}

#[test]
fn the_page_of_events_has_every_event() {
    let samples = samples();
    let named: BTreeSet<&str> = samples.iter().map(variant).collect();
    let arms = include_str!("tests.rs").matches("=> \"").count();
    assert_eq!(named.len(), arms, "a variant has no sample: {named:?}");

    let mut rows: BTreeMap<usize, Vec<[String; 3]>> = BTreeMap::new();
    for sample in &samples {
        let event = event_of(sample);
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
