//! `init` and `adopt`: a Queue for each namespace, proposed from what its pods use now or from its quotas.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::ResourceQuota;
use quotient_crds::names::QUOTA;
use quotient_crds::{MAX_WEIGHT, Mode, QueueSpec, ResourceMap};
use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};
use quotient_engine::snapshot::Pod;
use quotient_index::quotas::{bounds_from_hard, is_scoped};

use crate::Session;
use crate::commands::check::check;
use crate::commands::migrate::system_of_sign;
use crate::commands::simulate::at_rest;
use crate::exit::{CommandError, Outcome};
use crate::manifests::{Cluster, without_requests};
use crate::objects::{Object, is_ours};
use crate::output::{Cell, Progress, Screen, Style, counted, joined, listing, note, print, spaced, sum};
use crate::proposals::{OutputDirectory, ProposedQueue, resource_map};
use crate::queues::{amounts, percentage};
use crate::source::SourceArgs;

/// What is proposed, and where.
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Propose from what the pods of each namespace request now.
    #[arg(long, required = true)]
    from_usage: bool,

    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

/// What is read, and where the Queues go.
#[derive(Debug, clap::Args)]
pub(crate) struct TargetArgs {
    #[command(flatten)]
    output: OutputDirectory,

    #[command(flatten)]
    source: SourceArgs,
}

/// Reads, proposes and writes.
pub(crate) async fn run(
    args: &TargetArgs,
    basis: Basis,
    session: Session<'_>,
) -> Result<Outcome, CommandError> {
    let mut snapshot = args.source.read_all(session.connection).await?;
    let namespace = session.connection.namespace.as_deref();
    let progress = Progress::begin("looking at what every namespace uses");
    let cluster = at_rest(Cluster::of(&snapshot, None)?);
    let mut proposals = proposals(&cluster, basis);
    proposals.retain(|proposal| namespace.is_none_or(|wanted| wanted == proposal.queue.namespace));
    drop(progress);
    cluster.warned();
    if proposals.is_empty() {
        let reason = match namespace {
            Some(namespace) => format!("Namespace {namespace} has a Queue or no pods"),
            None => "Every namespace with pods has a Queue".to_owned(),
        };
        note(&format!("{reason}, or is one of the system: there is nothing to propose."));
        return Ok(Outcome::Fine);
    }
    let queues: Vec<ProposedQueue> = proposals.iter().map(|proposal| proposal.queue.clone()).collect();
    let Some(written) = args.output.put(&queues)? else { return Ok(Outcome::Fine) };
    let mut lines = table(&proposals, session.screen.style);
    if basis == Basis::Quotas {
        snapshot.add(queues.iter().map(ProposedQueue::object));
        lines.extend(findings(&at_rest(Cluster::of(&snapshot, None)?), namespace, session.screen));
    }
    lines.push(ending(written, &args.output.name()));
    print(&joined(lines))?;
    Ok(Outcome::Fine)
}

/// What became of the proposals, and what comes next.
pub(crate) fn ending(written: usize, directory: &str) -> String {
    let written = counted(written, "Queue", "Queues");
    format!(
        "{written} written with mode: Observe. Nothing applied. Next: kubectl quotient diff -f {directory}"
    )
}

/// A line for each proposal.
pub(crate) fn table(proposals: &[Proposal], style: Style) -> Vec<String> {
    let names = ["NAMESPACE", "USED NOW", "WEIGHT", "GUARANTEED", "DEFAULT REQUESTS", "NOTE"];
    let rows = proposals.iter().map(|proposal| {
        let spec = &proposal.queue.spec;
        let guaranteed = spec.guaranteed.as_ref().map(|map| spaced(&amounts(Some(map))));
        vec![
            Cell::from(&proposal.queue.namespace),
            spaced(&proposal.used).into(),
            spec.weight.to_string().into(),
            guaranteed.unwrap_or_else(|| "-".to_owned()).into(),
            if proposal.lacking > 0 { "100m, 128Mi" } else { "-" }.into(),
            Cell::from(&proposal.note),
        ]
    });
    listing(&names, rows, style)
}

/// What a person learns who adopts a cluster: other systems in it, and what the checks find once it has the proposed Queues.
pub(crate) fn findings(adopted: &Cluster, namespace: Option<&str>, screen: Screen) -> Vec<String> {
    let systems = systems(adopted).into_iter().map(|(system, namespaces)| {
        format!(
            "{} to {system}. Its queues become Queues by: kubectl quotient migrate {system}",
            counted(namespaces.len(), "namespace belongs", "namespaces belong")
        )
    });
    let checked = check(adopted, None, namespace, true).text(false, screen);
    systems.chain([String::new(), checked]).collect()
}

/// The namespaces that another system shares out, by the system.
fn systems(cluster: &Cluster) -> BTreeMap<&'static str, BTreeSet<&str>> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for object in &cluster.objects {
        let name = match object {
            Object::Namespace(_) => object.name(),
            Object::Pod(_) => object.namespace(),
            _ => continue,
        };
        let metadata = object.metadata();
        let maps = [&metadata.labels, &metadata.annotations].into_iter().flatten();
        for system in maps.flat_map(BTreeMap::keys).filter_map(|key| system_of_sign(key)) {
            found.entry(system).or_default().insert(name);
        }
    }
    found
}

/// What the weights and guarantees follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// What pods request now.
    Usage,
    /// What ResourceQuotas allow, and for namespaces without one what pods request.
    Quotas,
}

/// What is proposed for one namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proposal {
    /// What its pods request now.
    used: Amounts,
    /// How many workloads have containers without requests.
    lacking: usize,
    /// What to know about it.
    note: String,
    pub(crate) queue: ProposedQueue,
}

/// What the quotas of a namespace say of it.
#[derive(Default)]
struct Described {
    /// What becomes of each ResourceQuota.
    notes: Vec<String>,
    /// The lowest bound of each resource.
    bounds: Bounds,
}

/// A namespace with pods and without a Queue.
struct Unmanaged {
    name: String,
    used: Amounts,
    /// How many workloads have containers without requests.
    lacking: usize,
    described: Described,
}

/// One for each namespace with pods and without a Queue, but not for those of Kubernetes and of the operator.
pub(crate) fn proposals(cluster: &Cluster, basis: Basis) -> Vec<Proposal> {
    let whole = whole(cluster);
    let mut described = describe(cluster);
    let namespaces = cluster.snapshot.namespaces.iter();
    let unmanaged =
        namespaces.filter(|(name, state)| state.queues.is_empty() && !cluster.is_of_system(name.as_str()));
    let unmanaged: Vec<Unmanaged> = unmanaged
        .filter_map(|(name, state)| {
            let mut pods = state.pods.iter().filter(|pod| pod.is_charged()).peekable();
            pods.peek()?;
            let used = sum(pods.map(Pod::requests));
            let described = described.remove(name.as_str()).unwrap_or_default();
            let (lacking, _) = without_requests(state);
            Some(Unmanaged { name: name.to_string(), used, lacking, described })
        })
        .collect();
    let are_met = sum(unmanaged.iter().map(|one| one.described.bounds.amounts())).fits_in(&whole);
    unmanaged.into_iter().map(|one| proposal(one, basis, &whole, are_met)).collect()
}

fn proposal(of: Unmanaged, basis: Basis, whole: &Amounts, are_met: bool) -> Proposal {
    let Unmanaged { name, used, lacking, described: Described { mut notes, bounds } } = of;
    let mut comments = vec![format!("Pods of {name} requested {}.", spaced(&used))];
    let has_quota = !bounds.is_empty();
    if has_quota {
        comments.push(format!("Its quotas allow {}.", spaced(&bounds.amounts())));
    }
    let (basis_of_weight, guaranteed) = match basis {
        Basis::Quotas if has_quota => (bounds.amounts(), Some(bounds).filter(|_| are_met)),
        // A quota is a promise. Half of what is used leaves the other half to be shared, and all halves together fit.
        Basis::Usage if has_quota => (used.clone(), Some(half(&used, &bounds))),
        _ => (used.clone(), None),
    };
    let spec = QueueSpec {
        weight: i32::try_from(percentage(&basis_of_weight, whole)).unwrap_or(MAX_WEIGHT),
        guaranteed: guaranteed.as_ref().and_then(resource_map),
        default_requests: (lacking > 0).then(ResourceMap::default_requests),
        mode: Mode::Observe,
        ..QueueSpec::default()
    };
    notes.extend(
        (lacking > 0).then(|| format!("{} without requests", counted(lacking, "workload", "workloads"))),
    );
    Proposal {
        used,
        lacking,
        note: notes.join("; "),
        queue: ProposedQueue { namespace: name.clone(), name, spec, comments },
    }
}

/// Half of the amounts, in whole cpus, GiB and devices, and not above the bounds.
fn half(used: &Amounts, bounds: &Bounds) -> Bounds {
    let halves = used.iter().filter_map(|(resource, amount)| {
        let unit = match resource {
            Resource::Cpu => 1000,
            Resource::Memory => 1 << 30,
            Resource::Extended(_) => 1,
        };
        let whole = amount.units().div_euclid(2).div_euclid(unit).saturating_mul(unit);
        let half = Amount::new(whole).min(bounds.get(resource)?);
        half.is_positive().then(|| (resource.clone(), half))
    });
    halves.collect()
}

/// What the nodes offer, or what is shared out if that is more.
fn whole(cluster: &Cluster) -> Amounts {
    let offered = cluster.offered();
    cluster.plan().map_or_else(|| offered.clone(), |plan| plan.capacity.max(&offered))
}

/// The quotas of every namespace, in one pass: there may be as many namespaces as a cluster has teams.
fn describe(cluster: &Cluster) -> BTreeMap<&str, Described> {
    let mut all: BTreeMap<&str, Described> = BTreeMap::new();
    for object in &cluster.objects {
        if let Object::ResourceQuota(quota) = object {
            all.entry(object.namespace()).or_default().add(object.name(), quota);
        }
    }
    all
}

impl Described {
    fn add(&mut self, name: &str, quota: &ResourceQuota) {
        let Some(hard) = quota.spec.as_ref().and_then(|spec| spec.hard.as_ref()) else { return };
        let bounds = bounds_from_hard(hard);
        // One that Quotient left behind says nothing of the team.
        if bounds.is_empty() || is_scoped(quota) || is_ours(&quota.metadata) {
            return;
        }
        let fate = if name == QUOTA {
            "is taken over by Quotient: create it again under another name before"
        } else {
            "stays and acts as a limit"
        };
        self.notes.push(format!("its ResourceQuota {name} ({}) {fate}", spaced(&bounds.amounts())));
        for (resource, amount) in bounds.iter() {
            let known = self.bounds.get(resource).unwrap_or(amount);
            self.bounds.set(resource.clone(), known.min(amount));
        }
    }
}
