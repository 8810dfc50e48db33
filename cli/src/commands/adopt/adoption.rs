//! What is proposed for a cluster that already works.

use std::collections::{BTreeMap, BTreeSet};

use quotient_crds::MAX_WEIGHT;
use quotient_engine::amounts::Amounts;

use crate::commands::check::Report;
use crate::commands::init::{Proposal, percentage, proposals, whole};
use crate::commands::migrate::system_of_sign;
use crate::manifests::{Cluster, Object};
use crate::output::{Cell, Colour, Screen, columns, counted};
use crate::proposals::{ProposedQueue, resource_map};

/// Everything that is proposed.
#[derive(Debug)]
pub(crate) struct Adoption {
    namespaces: Vec<(Proposal, ProposedQueue)>,
    /// Namespaces that another system shares out, by the system.
    systems: BTreeMap<&'static str, BTreeSet<String>>,
}

/// The proposal for `cluster`.
pub(crate) fn adoption(cluster: &Cluster) -> Adoption {
    let proposals = proposals(cluster);
    let whole = whole(cluster);
    let mut together = Amounts::new();
    for proposal in &proposals {
        together.add_all(&proposal.bounds.amounts());
    }
    let fits = together.fits_in(&whole);
    let queue = |proposal: Proposal| {
        let mut queue = proposal.queue();
        if !proposal.bounds.is_empty() {
            let bounds = proposal.bounds.amounts();
            let weight = percentage(&bounds, &whole);
            queue.spec.weight = i32::try_from(weight).unwrap_or(MAX_WEIGHT);
            queue.spec.guaranteed = resource_map(&proposal.bounds).filter(|_| fits);
            queue.comments.push(format!("Its quotas allow {bounds}."));
        }
        (proposal, queue)
    };
    Adoption { namespaces: proposals.into_iter().map(queue).collect(), systems: systems(cluster) }
}

fn systems(cluster: &Cluster) -> BTreeMap<&'static str, BTreeSet<String>> {
    let mut found: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for object in &cluster.objects {
        let metadata = object.metadata();
        let name = match object {
            Object::Namespace(_) => metadata.name.clone(),
            Object::Pod(_) => metadata.namespace.clone(),
            _ => continue,
        };
        let maps = [&metadata.labels, &metadata.annotations].into_iter().flatten();
        for key in maps.flat_map(BTreeMap::keys) {
            if let Some(system) = system_of_sign(key) {
                found.entry(system).or_default().extend(name.clone());
            }
        }
    }
    found
}

impl Adoption {
    pub(crate) fn queues(&self) -> impl Iterator<Item = &ProposedQueue> {
        self.namespaces.iter().map(|(_, queue)| queue)
    }

    /// The table, the other systems, what the checks found, and what comes next.
    pub(crate) fn text(&self, directory: &str, report: &Report, screen: Screen) -> String {
        let titles = ["NAMESPACE", "USED NOW", "WEIGHT", "GUARANTEED", "DEFAULT REQUESTS", "NOTE"];
        let mut rows = vec![titles.map(|title| Cell::new(title, Colour::Faint)).to_vec()];
        rows.extend(self.namespaces.iter().map(|(proposal, queue)| {
            let guaranteed = queue.spec.guaranteed.as_ref().map(|_| proposal.bounds.amounts().compact());
            vec![
                Cell::plain(&proposal.namespace),
                Cell::plain(&proposal.used.compact()),
                Cell::plain(&queue.spec.weight.to_string()).right(),
                Cell::plain(guaranteed.as_deref().unwrap_or("-")),
                Cell::plain(if proposal.lacking > 0 { "100m, 128Mi" } else { "-" }),
                Cell::plain(&proposal.note()),
            ]
        }));
        let mut lines = columns(&rows, screen.style);
        for (system, namespaces) in &self.systems {
            lines.push(format!(
                "{} {} to {system}. Its queues become Queues by: kubectl quotient migrate {system}",
                counted(namespaces.len(), "namespace", "namespaces"),
                if namespaces.len() == 1 { "belongs" } else { "belong" }
            ));
        }
        lines.push(String::new());
        lines.push(report.text(false, screen));
        lines.push(format!(
            "{} written with mode: Observe. Nothing was applied.",
            counted(self.namespaces.len(), "Queue", "Queues")
        ));
        lines.push(format!("Next: kubectl quotient diff -f {directory}"));
        lines.push(String::new());
        lines.join("\n")
    }
}
