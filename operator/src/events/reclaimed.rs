//! Pods that Quotient evicts, or would evict, as people read it on the pod and on its workload.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use quotient_engine::amounts::{Amounts, Resource};
use quotient_engine::names::{Namespace, QueueName};
use quotient_engine::plan::{Eviction, PodId};
use quotient_engine::reasons::EvictionReason;
use quotient_engine::snapshot::Workload;

use super::Notice;
use super::notice::Regarding;
use crate::message::{amounts_of, message};

/// The reason of the event of an eviction.
pub(super) const RECLAIMED: &str = "Reclaimed";

/// Pods of one queue that were evicted, or would be, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reclaimed {
    /// The object that the event is about.
    pub subject: Subject,
    /// The number of pods.
    pub pods: usize,
    /// The queues that need the room; none if a limit is exceeded.
    pub beneficiaries: BTreeSet<QueueName>,
    /// The eviction of the first of the pods.
    pub first: Eviction,
}

/// The object that an event about evictions is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A pod.
    Pod(PodId),
    /// What creates pods.
    Workload(Namespace, Workload),
}

impl Reclaimed {
    /// The event on the pod of `eviction`.
    pub fn of_pod(eviction: &Eviction) -> Self {
        Self::of(eviction, Subject::Pod(eviction.pod.clone()))
    }

    /// The events on the workloads of `evictions`, one each. Bare pods have none.
    pub fn of_workloads<'a>(evictions: impl IntoIterator<Item = &'a Eviction>) -> Vec<Self> {
        let workloads = evictions.into_iter().filter(|eviction| eviction.workload.is_some());
        Self::by_subject(workloads)
    }

    /// One event for each workload of `evictions`, and for each bare pod.
    pub fn by_subject<'a>(evictions: impl IntoIterator<Item = &'a Eviction>) -> Vec<Self> {
        let mut all: BTreeMap<Subject, Self> = BTreeMap::new();
        for eviction in evictions {
            let subject = match &eviction.workload {
                Some(workload) => Subject::Workload(eviction.pod.namespace.clone(), workload.clone()),
                None => Subject::Pod(eviction.pod.clone()),
            };
            all.entry(subject.clone())
                .and_modify(|known| {
                    known.pods = known.pods.saturating_add(1);
                    known.beneficiaries.extend(eviction.beneficiary.clone());
                })
                .or_insert_with(|| Self::of(eviction, subject));
        }
        all.into_values().collect()
    }

    fn of(eviction: &Eviction, subject: Subject) -> Self {
        Self {
            subject,
            pods: 1,
            beneficiaries: eviction.beneficiary.iter().cloned().collect(),
            first: eviction.clone(),
        }
    }

    /// That it has happened.
    pub(crate) fn notice(&self) -> Notice {
        let beneficiary = self.beneficiaries.first().cloned();
        Notice { beneficiary, ..Notice::warning(self.regarding(), RECLAIMED, "Evict", self.note()) }
    }

    /// That it would if no mode and no pause withheld it.
    pub(super) fn would_notice(&self) -> Notice {
        let beneficiary = self.beneficiaries.first().cloned();
        Notice {
            beneficiary,
            ..Notice::normal(self.regarding(), "WouldReclaim", "Observe", self.would_note())
        }
    }

    fn regarding(&self) -> Regarding {
        let (namespace, version, kind, name, uid) = match &self.subject {
            Subject::Pod(pod) => (&pod.namespace, "v1", "Pod", pod.name.as_str(), pod.uid.as_str()),
            Subject::Workload(namespace, workload) => {
                let Workload { api_version, kind, name, uid } = workload;
                (namespace, &**api_version, &**kind, &**name, uid.as_str())
            }
        };
        Regarding::object((version, kind), namespace, name, uid)
    }

    /// What people read when it has happened.
    fn note(&self) -> String {
        let what = match (&self.subject, self.first.reason) {
            (Subject::Pod(_), EvictionReason::GraceShortened) => {
                format!("Evicted again with {} s of grace", self.first.grace_seconds.unwrap_or_default())
            }
            (Subject::Pod(_), _) => "Evicted".to_owned(),
            (Subject::Workload(..), _) => format!("{} evicted", self.counted()),
        };
        let keep = "To keep more pods, raise weight or guaranteed of the Queue.";
        message([format!("{what}{}.", self.why()), self.next(), keep.to_owned()])
    }

    /// What people read when a mode or a pause keeps it from happening.
    fn would_note(&self) -> String {
        let what = match self.subject {
            Subject::Pod(_) => "This pod would be evicted".to_owned(),
            Subject::Workload(..) => format!("{} would be evicted", self.counted()),
        };
        let next = "No pod is evicted while mode or pausedUntil withholds it.";
        let remedy = "To let Quotient evict, set mode: Full and end the pause.";
        message([format!("{what}{}.", self.why()), next.to_owned(), remedy.to_owned()])
    }

    fn counted(&self) -> String {
        if self.pods == 1 { "1 pod".to_owned() } else { format!("{} pods", self.pods) }
    }

    /// ` for queue team-b because queue team-a uses cpu 6 and deserves cpu 4`.
    fn why(&self) -> String {
        let preemptors = match (self.beneficiaries.first(), self.beneficiaries.len()) {
            (None, _) => String::new(),
            (Some(first), 1) => format!(" for queue {}", first.in_words()),
            (Some(first), count) => {
                format!(" for queue {} and {} more", first.in_words(), count.saturating_sub(1))
            }
        };
        let queue = self.first.queue.in_words();
        let resource = self.explaining();
        let amount = |amounts: &Amounts| {
            let part = |resource| amounts_of(amounts, std::iter::once(resource));
            resource.map_or_else(|| amounts.to_string(), part)
        };
        let (used, deserved) = (amount(&self.first.used), amount(&self.first.deserved));
        match self.first.reason {
            EvictionReason::MovedAside => format!(
                "{preemptors} because its pod fits on no other node; queue {queue} uses {used} and deserves {deserved}"
            ),
            EvictionReason::Overcommitted => {
                format!(" because queue {queue} uses {used} and deserves {deserved}, and a limit is exceeded")
            }
            _ => format!("{preemptors} because queue {queue} uses {used} and deserves {deserved}"),
        }
    }

    /// The resource that explains the eviction best: of those that the pod requests the one of which the queue uses the
    /// most beyond its share, in proportion to its use.
    fn explaining(&self) -> Option<&Resource> {
        let over = self.first.used.less(&self.first.deserved);
        let share = |resource: &Resource| {
            let thousandths = over.get(resource).units().saturating_mul(1000);
            thousandths.checked_div(self.first.used.get(resource).units()).unwrap_or_default()
        };
        let asked = || self.first.requests.resources();
        let exceeded = asked().filter(|one| over.get(one).is_positive());
        exceeded.min_by_key(|one| Reverse(share(one))).or(asked().next())
    }

    fn next(&self) -> String {
        let Some(workload) = &self.first.workload else { return "Nothing creates the pod again.".to_owned() };
        let successor = match (&self.subject, self.pods) {
            (Subject::Pod(_), _) | (_, 1) => "a new pod",
            _ => "new pods",
        };
        let Workload { kind, name, .. } = workload;
        if self.first.reason == EvictionReason::MovedAside {
            format!("{kind} {name} starts {successor} on another node.")
        } else {
            format!("{kind} {name} starts {successor} when the quota has room.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::MOST;
    use crate::tests::plan::{self, cpu_and_memory};
    use expect_test::expect;

    fn workload(kind: &str, name: &str) -> Workload {
        let api_version = if kind == "Deployment" { "apps/v1" } else { "batch/v1" };
        Workload { api_version: api_version.into(), kind: kind.into(), name: name.into(), uid: name.into() }
    }

    fn eviction(pod: &str, workload: Option<Workload>) -> Eviction {
        Eviction {
            pod: PodId { namespace: "team-a".into(), name: pod.into(), uid: pod.into() },
            workload,
            queue: QueueName::new("team-a", "team-a"),
            beneficiary: Some(QueueName::new("team-b", "team-b")),
            requests: cpu_and_memory(1000, 1),
            used: cpu_and_memory(6000, 6).into(),
            deserved: cpu_and_memory(4000, 8).into(),
            ..plan::eviction(pod)
        }
    }

    /// A line each.
    fn lines(notes: impl Iterator<Item = String>) -> String {
        notes.map(|note| note + "\n").collect()
    }

    #[test]
    fn a_pod_reads_for_which_queue_and_why_it_was_evicted() {
        let web = || eviction("web-0", Some(workload("Deployment", "web")));
        let again = EvictionReason::GraceShortened;
        let all = [
            web(),
            Eviction { beneficiary: None, reason: EvictionReason::Overcommitted, ..web() },
            Eviction { reason: EvictionReason::MovedAside, used: cpu_and_memory(2000, 2).into(), ..web() },
            eviction("one", None),
            Eviction { reason: again, grace_seconds: Some(600), rank: None, ..web() },
        ];
        expect![[r#"
            Evicted for queue team-b because queue team-a uses cpu 6 and deserves cpu 4. Deployment web starts a new pod when the quota has room. To keep more pods, raise weight or guaranteed of the Queue.
            Evicted because queue team-a uses cpu 6 and deserves cpu 4, and a limit is exceeded. Deployment web starts a new pod when the quota has room. To keep more pods, raise weight or guaranteed of the Queue.
            Evicted for queue team-b because its pod fits on no other node; queue team-a uses cpu 2 and deserves cpu 4. Deployment web starts a new pod on another node. To keep more pods, raise weight or guaranteed of the Queue.
            Evicted for queue team-b because queue team-a uses cpu 6 and deserves cpu 4. Nothing creates the pod again. To keep more pods, raise weight or guaranteed of the Queue.
            Evicted again with 600 s of grace for queue team-b because queue team-a uses cpu 6 and deserves cpu 4. Deployment web starts a new pod when the quota has room. To keep more pods, raise weight or guaranteed of the Queue.
        "#]]
        .assert_eq(&lines(all.iter().map(|eviction| Reclaimed::of_pod(eviction).note())));
    }

    #[test]
    fn a_workload_reads_how_many_of_its_pods_were_evicted() {
        let web = Some(workload("Deployment", "web"));
        let beneficiary = Some(QueueName::new("c", "team-c"));
        let evictions = [
            eviction("web-0", web.clone()),
            Eviction { beneficiary, ..eviction("web-1", web) },
            eviction("one", None),
            eviction("j-0", Some(workload("CronJob", "n"))),
        ];
        let reclaimed = Reclaimed::of_workloads(&evictions);
        expect![[r#"
            2 pods evicted for queue c/team-c and 1 more because queue team-a uses cpu 6 and deserves cpu 4. Deployment web starts new pods when the quota has room. To keep more pods, raise weight or guaranteed of the Queue.
            1 pod evicted for queue team-b because queue team-a uses cpu 6 and deserves cpu 4. CronJob n starts a new pod when the quota has room. To keep more pods, raise weight or guaranteed of the Queue.
        "#]]
        .assert_eq(&lines(reclaimed.iter().map(Reclaimed::note)));
        let web = Regarding::object(("apps/v1", "Deployment"), &"team-a".into(), "web", "web");
        assert_eq!(reclaimed[0].regarding(), web);
        // What is withheld reads what would happen, of bare pods as well.
        expect![[r#"
            This pod would be evicted for queue team-b because queue team-a uses cpu 6 and deserves cpu 4. No pod is evicted while mode or pausedUntil withholds it. To let Quotient evict, set mode: Full and end the pause.
            2 pods would be evicted for queue c/team-c and 1 more because queue team-a uses cpu 6 and deserves cpu 4. No pod is evicted while mode or pausedUntil withholds it. To let Quotient evict, set mode: Full and end the pause.
            1 pod would be evicted for queue team-b because queue team-a uses cpu 6 and deserves cpu 4. No pod is evicted while mode or pausedUntil withholds it. To let Quotient evict, set mode: Full and end the pause.
        "#]]
        .assert_eq(&lines(Reclaimed::by_subject(&evictions).iter().map(Reclaimed::would_note)));
    }

    #[test]
    fn the_most_exceeded_resource_explains() {
        let both = Eviction {
            used: cpu_and_memory(5000, 8).into(),
            deserved: cpu_and_memory(4000, 2).into(),
            ..eviction("x", None)
        };
        assert!(Reclaimed::of_pod(&both).note().contains("uses memory 8Gi and deserves memory 2Gi"));
    }

    #[test]
    fn no_message_is_too_long() {
        let long = |length| "x".repeat(length);
        let queue = QueueName::new(long(63).as_str(), long(253).as_str());
        let workload = Some(workload("Deployment", &long(253)));
        let huge = Eviction { queue: queue.clone(), beneficiary: Some(queue), ..eviction("web-0", workload) };
        let reclaimed = Reclaimed::of_pod(&huge);
        for note in [reclaimed.note(), reclaimed.would_note()] {
            assert!(note.chars().count() <= MOST, "{note}");
        }
    }
}
