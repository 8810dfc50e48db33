//! Quotas, a ledger and leaders as data: what a write tests before it lands, and what lands late.

#![allow(dead_code, reason = "every test file uses its part of it")]

use std::collections::BTreeMap;
use std::sync::Arc;

use quotient_engine::amounts::{Amount, Bounds, Resource};
use quotient_engine::ledger::{Generation, Ledger, Seen, SeenPods};
use quotient_engine::names::{Namespace, QueueUid};
use quotient_engine::plan::{Plan, QuotaWrite};
use quotient_engine::planner::plan;
use quotient_engine::snapshot::Snapshot;

/// A ResourceQuota as the API server keeps it, of cpu alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quota {
    pub(crate) life: u32,
    pub(crate) stamp: Option<Generation>,
    pub(crate) hard: i128,
    pub(crate) enforced: i128,
    pub(crate) owner: Option<QueueUid>,
}

/// What the API server keeps of all that leaders write.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cluster {
    /// Nodes, pods and Queues.
    pub(crate) rest: Snapshot,
    pub(crate) quotas: BTreeMap<Namespace, Quota>,
    /// The ledger and its resourceVersion.
    pub(crate) ledger: Option<(u32, Ledger)>,
    lives: u32,
    /// Whether leaders cannot ask which Queues exist.
    pub(crate) is_mute: bool,
}

/// A write of a quota, sent and perhaps never answered.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    namespace: Namespace,
    /// The life and the stamp that it tests; none for a create.
    based_on: Option<(u32, Option<Generation>)>,
    stamp: Option<Generation>,
    hard: i128,
    owner: Option<QueueUid>,
}

impl Write {
    /// The namespace whose quota it creates, if it does.
    pub(crate) fn creates(&self) -> Option<&Namespace> {
        self.based_on.is_none().then_some(&self.namespace)
    }

    /// What it leaves behind on the quota.
    pub(crate) const fn stamp(&self) -> Option<Generation> {
        self.stamp
    }
}

/// A leader: the ledger as it read or wrote it last.
#[derive(Clone, Debug)]
pub(crate) struct Leader {
    version: Option<u32>,
    pub(crate) ledger: Ledger,
    /// Whether the ledger that it made up has yet to be written.
    made_up: bool,
}

pub(crate) fn cpu(cores: i128) -> Bounds {
    [(Resource::Cpu, Amount::new(cores * 1000))].into_iter().collect()
}

fn cores(bounds: &Bounds) -> i128 {
    bounds.get(&Resource::Cpu).unwrap_or_default().units() / 1000
}

impl Quota {
    fn bounds(&self) -> (Bounds, Bounds) {
        (cpu(self.hard), cpu(self.enforced))
    }
}

impl Cluster {
    /// The cluster that a story describes, where only cpu is governed and no quota is yet.
    pub(crate) fn new(mut rest: Snapshot) -> Self {
        rest.settings.resources = [Resource::Cpu].into();
        Self { rest, ..Self::default() }
    }

    /// The same cluster, now with what a story describes.
    pub(crate) fn becomes(&mut self, rest: Snapshot) {
        self.rest = Snapshot { now: self.rest.now, ..Self::new(rest).rest };
    }

    /// The garbage collector deletes the quotas whose Queue is gone.
    pub(crate) fn collect(&mut self) {
        let mut quotas = std::mem::take(&mut self.quotas);
        quotas.retain(|name, quota| quota.owner.as_ref().is_none_or(|owner| self.exists(name, owner)));
        self.quotas = quotas;
    }

    /// Whether this Queue is in `namespace`.
    fn exists(&self, namespace: &Namespace, queue: &QueueUid) -> bool {
        let state = self.rest.namespaces.get(namespace);
        state.is_some_and(|state| state.queues.iter().any(|one| one.uid == *queue))
    }

    /// The quota controller has looked at every quota.
    pub(crate) fn enforce(&mut self) {
        for quota in self.quotas.values_mut() {
            quota.enforced = quota.hard;
        }
    }

    /// `write` lands now, if it still can. Says whether it did.
    pub(crate) fn land(&mut self, write: &Write) -> bool {
        let standing = self.quotas.get(&write.namespace);
        if standing.map(|quota| (quota.life, quota.stamp)) != write.based_on {
            return false;
        }
        let is_alive = |owner: &QueueUid| self.exists(&write.namespace, owner);
        if standing.is_none() && !write.owner.as_ref().is_some_and(is_alive) {
            // Collected before it is enforced.
            return false;
        }
        self.lives += u32::from(standing.is_none());
        let quota = Quota {
            life: standing.map_or(self.lives, |quota| quota.life),
            stamp: write.stamp,
            hard: write.hard,
            enforced: standing.map_or(0, |quota| quota.enforced),
            owner: write.owner.clone().or_else(|| standing?.owner.clone()),
        };
        self.quotas.insert(write.namespace.clone(), quota);
        true
    }

    /// The quota of `namespace`.
    pub(crate) fn quota(&self, namespace: &str) -> &Quota {
        &self.quotas[&Namespace::from(namespace)]
    }

    /// The quota of `namespace`, for a person to change.
    pub(crate) fn edit(&mut self, namespace: &str) -> &mut Quota {
        self.quotas.get_mut(&Namespace::from(namespace)).unwrap()
    }

    /// A leader that starts now.
    pub(crate) fn leader(&self) -> Leader {
        if let Some((version, ledger)) = &self.ledger {
            return Leader { version: Some(*version), ledger: ledger.clone().inherited(), made_up: false };
        }
        let bounds: Vec<_> = self.quotas.iter().map(|(name, quota)| (name, quota, quota.bounds())).collect();
        let seen = bounds.iter().map(|(name, quota, bounds)| (*name, seen(quota, bounds)));
        let ledger = Ledger::rebuild(seen, self.rest.now);
        let made_up = !ledger.entries.is_empty();
        Leader { version: None, ledger, made_up }
    }

    /// What `leader` sees.
    pub(crate) fn see(&self, leader: &Leader) -> Snapshot {
        let mut snapshot = self.rest.clone();
        let names: Vec<Namespace> = self.quotas.keys().chain(leader.ledger.entries.keys()).cloned().collect();
        for name in names {
            let quota = self.quotas.get(&name);
            let bounds = quota.map(Quota::bounds);
            let seen = quota.zip(bounds.as_ref()).map(|(quota, bounds)| seen(quota, bounds));
            let state = snapshot.namespaces.entry(name.clone()).or_default();
            let state = Arc::make_mut(state);
            state.quota = leader.ledger.quota(&name, seen);
            state.vacant = !self.is_mute && state.governing().is_none();
        }
        snapshot.grant_gate =
            leader.ledger.grant_gate(&snapshot.namespaces, SeenPods::UpToLedger, snapshot.now);
        snapshot
    }
}

fn seen<'a>(quota: &'a Quota, (hard, enforced): &'a (Bounds, Bounds)) -> Seen<'a> {
    Seen { stamp: quota.stamp, hard, enforced, ours: true, owner: quota.owner.as_ref() }
}

impl Leader {
    /// Decides on `snapshot` and writes the ledger. None if another writer wrote it in between.
    pub(crate) fn decide(
        &mut self,
        cluster: &mut Cluster,
        snapshot: &Snapshot,
    ) -> Option<(Plan, Vec<Write>)> {
        let plan = plan(snapshot);
        let next = plan.ledger_after(&self.ledger, snapshot);
        if let Some(ledger) = next.or_else(|| self.made_up.then(|| self.ledger.clone())) {
            let standing = cluster.ledger.as_ref().map(|(version, _)| *version);
            if standing != self.version {
                return None;
            }
            let version = standing.unwrap_or_default() + 1;
            cluster.ledger = Some((version, ledger.clone()));
            *self = Self { version: Some(version), ledger, made_up: false };
        }
        let writes = self.writes(cluster, &plan);
        Some((plan, writes))
    }

    /// Looks, decides and writes the ledger.
    pub(crate) fn act(&mut self, cluster: &mut Cluster) -> (Plan, Vec<Write>) {
        let seen = cluster.see(self);
        self.decide(cluster, &seen).unwrap()
    }

    /// A whole cycle that nothing goes wrong in, and the quota controller after it.
    pub(crate) fn cycle(&mut self, cluster: &mut Cluster) -> Plan {
        let (plan, writes) = self.act(cluster);
        for write in &writes {
            assert!(cluster.land(write), "{write:?}");
        }
        cluster.enforce();
        plan
    }

    /// Cycles until nothing is to be written.
    pub(crate) fn settle(&mut self, cluster: &mut Cluster) {
        for _ in 0..10 {
            if self.cycle(cluster).is_settled() {
                return;
            }
        }
        panic!("not settled: {cluster:#?}");
    }

    /// The quota writes of `plan`, in order.
    ///
    /// Each is based on the quota as it is when the write is sent, and is not sent over one that a later ledger wrote.
    fn writes(&self, cluster: &Cluster, plan: &Plan) -> Vec<Write> {
        let write = |namespace: &Namespace, write: &QuotaWrite| {
            let standing = cluster.quotas.get(namespace).map(|quota| (quota.life, quota.stamp));
            let is_later = standing.is_some_and(|(_, stamp)| stamp > Some(self.ledger.generation));
            (!is_later).then(|| Write {
                namespace: namespace.clone(),
                based_on: standing,
                stamp: self.ledger.entries.get(namespace).map(|entry| entry.generation),
                hard: cores(&write.hard),
                owner: write.owner.clone(),
            })
        };
        plan.quota_writes().filter_map(|(name, one)| write(&name.namespace, one)).collect()
    }
}

/// What `plan` grants to the Queue of `namespace`, in cores.
pub(crate) fn granted(plan: &Plan, namespace: &str) -> i128 {
    let found = plan.queues.iter().find(|(name, _)| name.namespace.as_str() == namespace);
    found.unwrap().1.allocated.get(&Resource::Cpu).units() / 1000
}
