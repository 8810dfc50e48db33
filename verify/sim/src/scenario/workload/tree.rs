//! Queues in a tree.

use quotient_crds::{ChildNamespaces, Children, NamespacesFrom, ParentRef, QueueSpec};

use super::{CLAIM, JOIN, WORK, Workload, created, teams};
use crate::objects::Kind;
use crate::scenario::build;

/// A tree of three levels: what a child lends comes back from its sibling, and the other branch loses nothing.
pub fn grandchildren() -> Workload {
    let parent = |namespace: &str, name: &str, spec: QueueSpec| {
        let from = ChildNamespaces { from: NamespacesFrom::All, ..ChildNamespaces::default() };
        let children = Children { namespaces: Some(from) };
        build::queue(namespace, name, QueueSpec { children: Some(children), ..spec })
    };
    let under = |name: &str| ParentRef { namespace: Some("org".to_owned()), name: name.to_owned() };
    let leaf = |name: &str, above: &str| {
        let spec = QueueSpec {
            parent_ref: Some(under(above)),
            request: Some(build::everything()),
            ..QueueSpec::default()
        };
        build::queue(name, name, spec)
    };
    let mut objects = vec![
        (Kind::Node, build::node("node-1", "12", "48Gi")),
        (Kind::Namespace, build::namespace("org")),
        (Kind::Queue, parent("org", "root", QueueSpec::default())),
    ];
    for branch in ["left", "right"] {
        let spec = QueueSpec { parent_ref: Some(under("root")), ..QueueSpec::default() };
        objects.push((Kind::Queue, parent("org", branch, spec)));
    }
    objects.extend(teams(3));
    objects.push((Kind::Queue, leaf("team-1", "left")));
    objects.push((Kind::Queue, leaf("team-3", "right")));
    let work = build::work("1", "1Gi");
    Workload {
        name: "grandchildren",
        objects,
        later: vec![
            (WORK, created(Kind::ReplicaSet, build::replica_set("team-1", "web", 9, &work))),
            (WORK, created(Kind::ReplicaSet, build::replica_set("team-3", "web", 9, &work))),
            (JOIN, created(Kind::Queue, leaf("team-2", "left"))),
            (CLAIM, created(Kind::ReplicaSet, build::replica_set("team-2", "web", 9, &work))),
        ],
        length: CLAIM,
        hard: vec![
            ("team-1", "requests.cpu 3, requests.memory 12Gi"),
            ("team-2", "requests.cpu 3, requests.memory 12Gi"),
            ("team-3", "requests.cpu 6, requests.memory 24Gi"),
        ],
        running_cpu: vec![("team-1", "3"), ("team-2", "3"), ("team-3", "6")],
        evictions: 3,
    }
}
