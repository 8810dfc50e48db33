//! Owners that yielded or got their size back, as people read it.

use quotient_crds::names::REPLICAS_BEFORE_ANNOTATION;
use quotient_engine::plan::{INCOMPLETE_SECONDS, Preemptor, Scaling};
use quotient_engine::reasons::ScalingReason;
use quotient_engine::snapshot::{ScaleTarget, ScaleTargetKind};

use super::Notice;
use super::notice::Regarding;
use crate::message::message;

/// How many names a sentence lists.
const LISTED: usize = 3;

impl Notice {
    /// An owner's size was changed, for others of its queue or because there is room again.
    pub(crate) fn scaled(scaled: &Scaling) -> Self {
        let of_severity = if scaled.to < scaled.from { Self::warning } else { Self::normal };
        of_severity(regarding(scaled), scaled.reason.name(), "Scale", note(scaled))
    }
}

/// The object that was written to.
fn regarding(scaled: &Scaling) -> Regarding {
    let version = match scaled.scale_target.kind {
        ScaleTargetKind::Deployment | ScaleTargetKind::ReplicaSet | ScaleTargetKind::StatefulSet => "apps/v1",
        ScaleTargetKind::Job => "batch/v1",
    };
    let ScaleTarget { kind, name, uid } = &scaled.scale_target;
    Regarding::object((version, kind.name()), &scaled.queue.namespace, name, uid.as_str())
}

/// The sentences.
fn note(scaled: &Scaling) -> String {
    let Scaling { queue, from, to, original_replicas: former, pods, priority, beneficiaries, .. } = scaled;
    let queue = queue.in_words();
    if to > from {
        let rest = former.map(|former| format!("It gets all {former} back when there is more room."));
        return message([
            format!("Scaled from {from} to {to} because queue {queue} has room for it again."),
            rest.unwrap_or_default(),
        ]);
    }
    let preemptors = listed(beneficiaries.iter().map(preemptor));
    let back = former.map(|former| {
        format!("It gets its {former} back when there is room ({REPLICAS_BEFORE_ANNOTATION}).")
    });
    let why = if scaled.reason == ScalingReason::GangIncomplete {
        format!(
            "its gang and that of {preemptors} existed in part for {INCOMPLETE_SECONDS} s in queue {queue}"
        )
    } else {
        format!("{preemptors} of a higher priority than {priority} lacks room in queue {queue}")
    };
    message([
        format!("Scaled from {from} to {to} because {why}."),
        back.unwrap_or_default(),
        format!("It loses {}.", listed(pods.iter().map(|pod| pod.name.to_string()))),
    ])
}

fn preemptor(preemptor: &Preemptor) -> String {
    match preemptor {
        Preemptor::Pod(name) => format!("pod {name}"),
        Preemptor::Owner(kind, name) => format!("{} {name}", kind.name()),
    }
}

/// The first few of `names`, and how many more there are.
fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(LISTED);
    let text = names.take(LISTED).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{text} and {more} more") } else { text }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use expect_test::expect;
    use quotient_engine::names::QueueName;
    use quotient_engine::plan::PodId;
    use quotient_engine::snapshot::OwnerKind;

    /// Of the Deployment web of queue a/team.
    pub(in crate::events) fn scaled(from: u32, to: u32, former: Option<u32>) -> Scaling {
        let pod = |name: String| PodId {
            namespace: "a".into(),
            name: name.as_str().into(),
            uid: name.as_str().into(),
        };
        Scaling {
            queue: QueueName::new("a", "team"),
            owner: "r1".into(),
            scale_target: ScaleTarget {
                kind: ScaleTargetKind::Deployment,
                name: "web".into(),
                uid: "d1".into(),
            },
            from,
            to,
            original_replicas: former,
            pods: (0..from.saturating_sub(to)).map(|at| pod(format!("web-{at}"))).collect(),
            marks: Vec::new(),
            lifts: Vec::new(),
            priority: 10,
            beneficiaries: vec![
                Preemptor::Owner(OwnerKind::ReplicaSet, "train".into()),
                Preemptor::Pod("one".into()),
            ],
            reason: ScalingReason::Outranked,
        }
    }

    #[test]
    fn a_workload_reads_why_its_size_changes_and_what_comes_next() {
        let beneficiaries = vec![Preemptor::Owner(OwnerKind::Job, "train".into())];
        let yields =
            Scaling { reason: ScalingReason::GangIncomplete, beneficiaries, ..scaled(3, 0, Some(3)) };
        let all = [
            scaled(3, 1, Some(3)),
            // Of many names only the first.
            scaled(20, 1, None),
            yields,
            scaled(1, 3, None),
            scaled(1, 2, Some(3)),
        ];
        expect![[r#"
            Scaled from 3 to 1 because ReplicaSet train, pod one of a higher priority than 10 lacks room in queue a/team. It gets its 3 back when there is room (quotient.dev/replicas-before). It loses web-0, web-1.
            Scaled from 20 to 1 because ReplicaSet train, pod one of a higher priority than 10 lacks room in queue a/team. It loses web-0, web-1, web-2 and 16 more.
            Scaled from 3 to 0 because its gang and that of Job train existed in part for 60 s in queue a/team. It gets its 3 back when there is room (quotient.dev/replicas-before). It loses web-0, web-1, web-2.
            Scaled from 1 to 3 because queue a/team has room for it again.
            Scaled from 1 to 2 because queue a/team has room for it again. It gets all 3 back when there is more room.
        "#]].assert_eq(&all.iter().map(|scaled| note(scaled) + "\n").collect::<String>());
        let web = Regarding::object(("apps/v1", "Deployment"), &"a".into(), "web", "d1");
        assert_eq!(regarding(&all[0]), web);
    }
}
