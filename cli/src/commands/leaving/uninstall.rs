//! `uninstall --check`: what Quotient has written into namespaces, and what of it stays when its Queues are deleted.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Pod;
use quotient_crds::names::{LIMIT_RANGE, QUOTA, REPLICAS_BEFORE_ANNOTATION, SHARE_GATE};

use crate::Session;
use crate::commands::explain::show;
use crate::exit::{ClusterError, CommandError, Outcome};
use crate::manifests::Cluster;
use crate::objects::{Object, goes_with_queue, is_ours};
use crate::output::{Explanation, OutputArgs, counted};
use crate::source::SourceArgs;

/// Only a look.
#[derive(Debug, clap::Args)]
pub(crate) struct UninstallArgs {
    /// Look what would stay behind. The command itself uninstalls nothing.
    #[arg(long, required = true)]
    check: bool,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    source: SourceArgs,
}

/// Looks and prints.
pub(crate) async fn run(args: &UninstallArgs, session: Session<'_>) -> Result<Outcome, CommandError> {
    let snapshot = args.source.read_all(session.connection).await?;
    ClusterError::require_kinds(&snapshot)?;
    let cluster = Cluster::of(&snapshot, None)?.warned();
    let explanation = uninstall(&cluster);
    let name = format!("deployment/{}", explanation.object.name);
    show(&explanation, name, &cluster, args.output.output, session.screen)
}

/// What is found.
pub(crate) fn uninstall(cluster: &Cluster) -> Explanation {
    let inventory = Inventory::of(cluster, None);
    let (namespace, name, release) = match &cluster.operator {
        Some(operator) => (operator.namespace.as_str(), operator.name.as_str(), operator.release.as_str()),
        None => ("quotient-system", "quotient", "quotient"),
    };
    let mut explanation = Explanation::of("Deployment", namespace, name);
    let count = inventory.leftovers.len().saturating_add(inventory.gated.len());
    explanation.needs_a_person = count > 0;
    explanation.headline = match count {
        0 => "Nothing that restricts workloads would stay behind.".to_owned(),
        count => format!("{} first.", counted(count, "finding needs you", "findings need you")),
    };
    let queues = counted(inventory.queues.len(), "Queue goes", "Queues go");
    let owned = counted(inventory.owned, "quota or LimitRange", "quotas and LimitRanges");
    explanation.check(true, format!("{queues}, with {owned}"));
    if inventory.queue_jobs > 0 {
        let jobs = counted(inventory.queue_jobs, "QueueJob is", "QueueJobs are");
        explanation.step(format!("{jobs} deleted with the kind, and so are the Jobs"));
    }
    for (namespace, pods) in &inventory.gated {
        let pods = counted(*pods, "gated pod", "gated pods");
        explanation.check(
            false,
            format!(
                "{pods} of {namespace} would wait for ever, because nothing else removes the gate. First: kubectl \
                 quotient release {namespace}"
            ),
        );
    }
    for leftover in inventory.leftovers {
        explanation.check(false, leftover);
    }
    explanation.lines = vec![
        "Then, in this order:".to_owned(),
        format!("  helm uninstall {release} --namespace {namespace}"),
        "  kubectl delete queues.quotient.dev --all --all-namespaces".to_owned(),
        "  kubectl delete crd queues.quotient.dev queuejobs.quotient.dev".to_owned(),
        format!("  kubectl -n {namespace} delete configmap quotient-ledger"),
    ];
    explanation
}

/// What is there of Quotient.
#[derive(Debug, Default)]
pub(super) struct Inventory {
    pub(super) queues: Vec<String>,
    /// The quotas and LimitRanges that go with their Queue.
    pub(super) owned: usize,
    pub(super) queue_jobs: usize,
    /// How many pods are gated, by namespace.
    pub(super) gated: BTreeMap<String, usize>,
    /// What stays when the Queues are gone, why, and the command that helps.
    pub(super) leftovers: Vec<String>,
}

impl Inventory {
    /// That of one namespace, or of all.
    pub(super) fn of(cluster: &Cluster, namespace: Option<&str>) -> Self {
        let mut inventory = Self::default();
        let is_here = |object: &&Object| namespace.is_none_or(|namespace| object.namespace() == namespace);
        for object in cluster.objects.iter().filter(is_here) {
            let Some((stays, fix)) = inventory.add(object) else { continue };
            let place =
                if namespace.is_none() { format!(" in {}", object.namespace()) } else { String::new() };
            let (kind, name) = (object.kind().name(), object.name());
            inventory.leftovers.push(format!("{kind} {name}{place} {stays}. First: {fix}"));
        }
        inventory.leftovers.sort();
        inventory
    }

    /// Counts an object. If something of it stays, says what and why, and what to do first.
    fn add(&mut self, object: &Object) -> Option<(String, String)> {
        match object {
            Object::Queue(_) => self.queues.push(object.name().to_owned()),
            Object::Pod(pod) if is_gated(pod) => {
                let count = self.gated.entry(object.namespace().to_owned()).or_default();
                *count = count.saturating_add(1);
            }
            Object::QueueJob(_) => self.queue_jobs = self.queue_jobs.saturating_add(1),
            Object::ResourceQuota(_) if object.name() == QUOTA => return self.add_owned(object),
            Object::LimitRange(_) if object.name() == LIMIT_RANGE => return self.add_owned(object),
            // A ReplicaSet of a Deployment follows it.
            Object::ReplicaSet(_) if object.controller().is_some() => {}
            Object::Deployment(_) | Object::ReplicaSet(_) | Object::StatefulSet(_) | Object::Job(_) => {
                let before = object.metadata().annotations.as_ref()?.get(REPLICAS_BEFORE_ANNOTATION)?;
                let stays = format!(
                    "would keep its lowered size, because Quotient lowered it from {before} for pods of a higher priority"
                );
                let fix = "set preemption: Never in the Queue and wait until the size is restored";
                return Some((stays, fix.to_owned()));
            }
            _ => {}
        }
        None
    }

    fn add_owned(&mut self, object: &Object) -> Option<(String, String)> {
        if goes_with_queue(object.metadata()) {
            self.owned = self.owned.saturating_add(1);
            return None;
        }
        if !is_ours(object.metadata()) {
            return None;
        }
        let stays = "would stay, because no Queue owns it, so garbage collection does not delete it";
        let kind = object.kind().name().to_lowercase();
        let fix = format!("kubectl -n {} delete {kind} {}", object.namespace(), object.name());
        Some((stays.to_owned(), fix))
    }
}

/// Whether it has the gate that Quotient removes.
pub(super) fn is_gated(pod: &Pod) -> bool {
    let gates = pod.spec.as_ref().and_then(|spec| spec.scheduling_gates.as_deref()).unwrap_or_default();
    gates.iter().any(|gate| gate.name == SHARE_GATE)
}
