//! The checker checked: a proper reclaim passes, and every way to spoil it is named.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "an overflow or a gap fails the test"
)]

use std::collections::BTreeMap;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use k8s_openapi::ByteString;
use quotient_invariants::{Invariant, InvariantChecker, Tolerance, Verb, Write};
use serde_json::{Value, json};

/// An API server of two queues, one node of 4 cpu, and a clock.
struct Server {
    checker: InvariantChecker,
    index: u64,
    at: i64,
    objects: BTreeMap<(String, String, String), Value>,
}

impl Server {
    /// `loser` runs four pods of 1 cpu and has to give two to `gainer`; both quotas are as they were before.
    fn start() -> Self {
        Self::start_with(Tolerance::default())
    }

    fn start_with(tolerance: Tolerance) -> Self {
        let checker = InvariantChecker::new(tolerance);
        let mut server = Self { checker, index: 0, at: 0, objects: BTreeMap::new() };
        server.other(
            "nodes",
            "",
            "node-1",
            Some(json!({"status": {"allocatable": {"cpu": "4", "pods": "110"}, "conditions": [{"type": "Ready", "status": "True"}]}})),
        );
        for (namespace, cpu) in [("loser", "4"), ("gainer", "0")] {
            server.queue(namespace, json!({"metadata": {"uid": namespace}, "spec": {}}));
            server.quota_of_others(namespace, cpu, cpu, 1);
        }
        for number in 1..=4 {
            server.pod("loser", &format!("pod-{number}"));
        }
        server.at += 60_000;
        server
    }

    fn write(
        &mut self,
        by_operator: bool,
        (resource, subresource): (&str, &str),
        (namespace, name): (&str, &str),
        request: Option<&Value>,
        after: Option<Value>,
    ) {
        let key = (resource.to_owned(), namespace.to_owned(), name.to_owned());
        let before = self.objects.get(&key).cloned();
        let verb = match (&before, &after) {
            _ if subresource == "eviction" => Verb::Create,
            (None, _) => Verb::Create,
            (Some(_), Some(_)) => Verb::Update,
            (Some(_), None) => Verb::Delete,
        };
        self.index += 1;
        self.at += 10;
        self.checker.see(&Write {
            index: self.index,
            at: self.at,
            by_operator,
            verb,
            resource,
            subresource,
            namespace,
            name,
            request,
            before: before.as_ref(),
            after: after.as_ref(),
        });
        match after {
            Some(object) => self.objects.insert(key, object),
            None => self.objects.remove(&key),
        };
    }

    fn other(&mut self, resource: &str, namespace: &str, name: &str, after: Option<Value>) {
        self.write(false, (resource, ""), (namespace, name), None, after);
    }

    /// A write of the operator.
    fn own(&mut self, resource: &str, namespace: &str, name: &str, after: Option<Value>) {
        self.write(true, (resource, ""), (namespace, name), None, after);
    }

    /// A Queue of the name of its namespace.
    fn queue(&mut self, name: &str, queue: Value) {
        self.other("queues", name, name, Some(queue));
    }

    fn pod(&mut self, namespace: &str, name: &str) {
        let pod = json!({
            "metadata": {"uid": format!("uid-{name}")},
            "spec": {"nodeName": "node-1", "containers": [{"resources": {"requests": {"cpu": "1"}}}]},
        });
        self.other("pods", namespace, name, Some(pod));
    }

    fn gone(&mut self, name: &str) {
        self.other("pods", "loser", name, None);
    }

    fn quota_object(hard: &str, enforced: &str, stamp: u64) -> Value {
        json!({
            "metadata": {
                "uid": "quota",
                "labels": {"app.kubernetes.io/managed-by": "quotient"},
                "annotations": {"quotient.dev/generation": stamp.to_string()},
            },
            "spec": {"hard": {"requests.cpu": hard}},
            "status": {"hard": {"requests.cpu": enforced}},
        })
    }

    fn quota_of_others(&mut self, namespace: &str, hard: &str, enforced: &str, stamp: u64) {
        let quota = Self::quota_object(hard, enforced, stamp);
        self.write(false, ("resourcequotas", "status"), (namespace, "quotient"), None, Some(quota));
    }

    fn quota(&mut self, namespace: &str, hard: &str, enforced: &str, stamp: u64) {
        let quota = Self::quota_object(hard, enforced, stamp);
        self.own("resourcequotas", namespace, "quotient", Some(quota));
    }

    /// The operator lowers the quota of `loser`, and it is in force.
    fn lower(&mut self, cpu: &str) {
        self.quota("loser", cpu, "4", 2);
        self.quota_of_others("loser", cpu, cpu, 2);
    }

    fn evict(&mut self, name: &str) {
        let body = json!({"deleteOptions": {"preconditions": {"uid": format!("uid-{name}")}}});
        self.evict_with(name, &body);
    }

    fn evict_with(&mut self, name: &str, body: &Value) {
        let key = ("pods".to_owned(), "loser".to_owned(), name.to_owned());
        let mut pod = self.objects[&key].clone();
        pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        if let Some(grace) = body.pointer("/deleteOptions/gracePeriodSeconds") {
            pod["metadata"]["deletionGracePeriodSeconds"] = grace.clone();
        }
        self.write(true, ("pods", "eviction"), ("loser", name), Some(body), Some(pod));
    }

    fn found(&self) -> Vec<Invariant> {
        self.checker.violations().iter().map(|violation| violation.invariant).collect()
    }
}

#[test]
fn a_proper_reclaim_breaks_nothing() {
    let mut server = Server::start();
    server.lower("2");
    server.evict("pod-4");
    server.evict("pod-3");
    server.gone("pod-4");
    server.quota("gainer", "1", "0", 3);
    server.gone("pod-3");
    server.quota("gainer", "2", "1", 4);
    assert_eq!(server.checker.violations(), []);
    assert_eq!(server.checker.evicted().len(), 2);
}

#[test]
fn evicting_before_the_lower_quota_is_in_force() {
    let mut server = Server::start();
    server.quota("loser", "2", "4", 2);
    server.evict("pod-4");
    assert_eq!(server.found(), [Invariant::FencedAndNeeded]);
}

#[test]
fn evicting_one_too_many() {
    let mut server = Server::start();
    server.lower("2");
    for name in ["pod-4", "pod-3", "pod-2"] {
        server.evict(name);
    }
    assert_eq!(server.found(), [Invariant::FencedAndNeeded]);
    assert!(
        server.checker.violations()[0].message.contains("loser/pod-2"),
        "{}",
        server.checker.violations()[0]
    );
}

#[test]
fn who_ends_by_himself_a_moment_before_is_not_known_yet() {
    let mut server = Server::start();
    server.lower("3");
    server.gone("pod-1");
    server.evict("pod-4");
    assert_eq!(server.checker.violations(), []);
    // Later it is.
    let mut server = Server::start();
    server.lower("3");
    server.gone("pod-1");
    server.at += 5_000;
    server.evict("pod-4");
    assert_eq!(server.found(), [Invariant::FencedAndNeeded]);
}

#[test]
fn growing_before_the_room_is_free() {
    let mut server = Server::start();
    server.lower("2");
    server.evict("pod-4");
    server.quota("gainer", "1", "0", 3);
    assert_eq!(server.found(), [Invariant::NeverOverGranted]);
}

#[test]
fn granting_the_same_room_twice() {
    let mut server = Server::start();
    server.lower("2");
    server.evict("pod-4");
    server.gone("pod-4");
    server.quota("gainer", "1", "0", 3);
    server.quota("loser", "3", "2", 3);
    // What the loser's live pods hold anyway is no grant.
    assert_eq!(server.checker.violations(), []);
    server.quota("loser", "4", "3", 4);
    assert_eq!(server.found(), [Invariant::NeverOverGranted]);
}

#[test]
fn capacity_that_leaves_at_the_same_moment_is_nobodys_fault() {
    let mut server = Server::start();
    server.quota("loser", "2", "2", 2);
    server.evict("pod-4");
    server.evict("pod-3");
    server.gone("pod-4");
    server.gone("pod-3");
    server.other("nodes", "", "node-1", Some(json!({"status": {"allocatable": {"cpu": "2"}}})));
    server.quota("gainer", "2", "0", 3);
    assert_eq!(server.checker.violations(), []);
    server.at += 5_000;
    server.quota("gainer", "3", "2", 4);
    assert_eq!(server.found(), [Invariant::LoansBounded, Invariant::NeverOverGranted]);
}

#[test]
fn an_eviction_without_the_uid() {
    let mut server = Server::start();
    server.quota("loser", "2", "2", 2);
    server.evict_with("pod-4", &json!({}));
    assert_eq!(server.found(), [Invariant::EvictionNamesLife]);
}

#[test]
fn evicting_twice_or_by_force() {
    let mut server = Server::start();
    server.quota("loser", "2", "2", 2);
    server.evict("pod-4");
    server.evict("pod-4");
    assert_eq!(server.found(), [Invariant::EvictedOnce]);
    let force = json!({"deleteOptions": {"gracePeriodSeconds": 0, "preconditions": {"uid": "uid-pod-4"}}});
    server.evict_with("pod-4", &force);
    assert_eq!(server.found(), [Invariant::EvictedOnce, Invariant::Gentle]);
    // A process that died in between may ask again.
    let mut server = Server::start_with(Tolerance { repeats: true, ..Tolerance::default() });
    server.quota("loser", "2", "2", 2);
    server.evict("pod-4");
    server.evict("pod-4");
    assert_eq!(server.checker.violations(), []);
}

/// A pod that something else gave hours may be asked once to end within what its queue allows.
#[test]
fn asking_again_for_a_pod_that_takes_its_time() {
    let again = |grace: u64| json!({"deleteOptions": {"gracePeriodSeconds": grace, "preconditions": {"uid": "uid-pod-4"}}});
    let mut server = Server::start();
    server.quota("loser", "2", "2", 2);
    let slow = json!({
        "metadata": {
            "uid": "uid-pod-4", "deletionTimestamp": "2026-01-01T18:00:00Z", "deletionGracePeriodSeconds": 64_800,
        },
    });
    server.other("pods", "loser", "pod-4", Some(slow));
    server.evict_with("pod-4", &again(600));
    assert_eq!(server.checker.violations(), []);
    server.evict_with("pod-4", &again(600));
    assert_eq!(server.found(), [Invariant::EvictedOnce]);
}

#[test]
fn taking_what_is_guaranteed() {
    let mut server = Server::start();
    let queue = json!({
        "metadata": {"uid": "loser"},
        "spec": {"guaranteed": {"cpu": "4"}},
        "status": {"observedGeneration": 1, "deserved": {"cpu": "4"}},
    });
    server.queue("loser", queue);
    server.quota("loser", "2", "2", 2);
    server.evict("pod-4");
    assert_eq!(server.found(), [Invariant::GuaranteeKept]);
}

/// A queue that gives cpu back may fall below what is guaranteed of memory, of which nothing is reclaimed.
#[test]
fn a_guarantee_is_about_what_is_reclaimed() {
    let evicted = |memory: &str| {
        let mut server = Server::start();
        let of = json!({"observedGeneration": 1, "deserved": {"cpu": "2", "memory": "4Gi"}});
        let queue = json!({"spec": {"guaranteed": {"memory": "4Gi"}}, "status": of});
        server.queue("loser", queue);
        for name in ["pod-1", "pod-2", "pod-3", "pod-4"] {
            let requests = json!({"requests": {"cpu": "1", "memory": "1Gi"}});
            let spec = json!({"nodeName": "node-1", "containers": [{"resources": requests}]});
            let pod = json!({"metadata": {"uid": format!("uid-{name}")}, "spec": spec});
            server.other("pods", "loser", name, Some(pod));
        }
        let mut quota = Server::quota_object("2", "2", 2);
        for part in ["spec", "status"] {
            quota[part]["hard"]["requests.memory"] = json!(memory);
        }
        server.own("resourcequotas", "loser", "quotient", Some(quota));
        server.evict("pod-4");
        server.found()
    };
    assert_eq!(evicted("4Gi"), []);
    assert_eq!(evicted("3Gi"), [Invariant::GuaranteeKept]);
}

/// What it deserves is not only what the operator says.
#[test]
fn taking_what_is_guaranteed_and_said_not_to_be_deserved() {
    let evicted = |spec: Value| {
        let mut server = Server::start();
        let status = json!({"observedGeneration": 1, "deserved": {"cpu": "2"}});
        server.queue("loser", json!({"spec": spec, "status": status}));
        server.quota("loser", "2", "2", 2);
        server.evict("pod-4");
        server.found()
    };
    let claim = json!({"cpu": "9"});
    assert_eq!(evicted(json!({"guaranteed": {"cpu": "4"}, "request": claim})), [Invariant::GuaranteeKept]);
    // The claim is smaller or of another resource, the limit is lower, the queue has siblings, or guarantees do not fit.
    for spec in [
        json!({"guaranteed": {"cpu": "4"}, "request": {"cpu": "2"}}),
        json!({"guaranteed": {"cpu": "4"}, "request": {"memory": "1Gi"}}),
        json!({"guaranteed": {"cpu": "4"}, "request": claim, "limit": {"cpu": "2"}}),
        json!({"guaranteed": {"cpu": "4"}}),
        json!({"guaranteed": {"cpu": "4"}, "request": claim, "parentRef": {"name": "org"}}),
        json!({"guaranteed": {"cpu": "5"}, "request": claim}),
        json!({"guaranteed": {"cpu": "3"}, "request": claim}),
    ] {
        assert_eq!(evicted(spec.clone()), [], "{spec}");
    }
}

/// A pod goes for a queue that the ledger owes something to, or because of a limit above it.
#[test]
fn evicting_for_none_or_for_a_limit() {
    let evicted = |limits: [&str; 2], comes: Option<&str>, leaves_first: Option<&str>| {
        let mut server = Server::start();
        let limit = |cpu: &str| json!({"cpu": cpu});
        let org = json!({"metadata": {"uid": "org"}, "spec": {"children": {}, "limit": limit(limits[0])}});
        server.queue("org", org);
        let parent = json!({"namespace": "org", "name": "org"});
        let spec = json!({"parentRef": parent, "limit": limit(limits[1])});
        server.queue("loser", json!({"metadata": {"uid": "loser"}, "spec": spec}));
        let mut ledger = GzEncoder::new(Vec::new(), Compression::default());
        ledger.write_all(br#"{"entries": {"loser": {"granted": {"cpu": "3"}}}}"#).unwrap();
        let data = ByteString(ledger.finish().unwrap());
        let ledger = json!({"binaryData": {"ledger.json.gz": data}});
        server.other("configmaps", "quotient-system", "quotient-ledger", Some(ledger));
        server.quota_of_others("loser", "3", "3", 2);
        if let Some(name) = comes {
            let spec = json!({"containers": [{"resources": {"requests": {"cpu": "1"}}}]});
            server.other("pods", "loser", name, Some(json!({"metadata": {"uid": name}, "spec": spec})));
        }
        server.at += 60_000;
        if let Some(pod) = leaves_first {
            server.gone(pod);
        }
        server.evict("pod-4");
        server.found()
    };
    assert_eq!(evicted(["4", "4"], None, None), [Invariant::OwedFirst]);
    assert_eq!(evicted(["4", "3"], None, None), []);
    assert_eq!(evicted(["3", "4"], None, None), []);
    assert_eq!(evicted(["4", "3"], None, Some("pod-1")), []);
    // Admission let in more than there is.
    assert_eq!(evicted(["9", "9"], Some("pod-5"), None), []);
    assert_eq!(evicted(["9", "9"], Some("pod-5"), Some("pod-1")), []);
}

#[test]
fn evicting_at_once_who_may_take_his_time() {
    let at_once = json!({"deleteOptions": {"gracePeriodSeconds": 0, "preconditions": {"uid": "uid-pod-4"}}});
    for (grace, expected) in
        [(Value::Null, vec![Invariant::Gentle]), (json!(30), vec![Invariant::Gentle]), (json!(0), vec![])]
    {
        let mut server = Server::start();
        let spec = json!({"eviction": {"maxGraceSeconds": grace}});
        server.queue("loser", json!({"spec": spec}));
        server.quota("loser", "2", "2", 2);
        server.evict_with("pod-4", &at_once);
        assert_eq!(server.found(), expected);
    }
}

#[test]
fn what_is_not_the_operators() {
    let mut server = Server::start();
    server.own("pods", "loser", "pod-1", None);
    server.own("resourcequotas", "loser", "of-the-team", Some(json!({})));
    server.own("resourcequotas", "loser", "quotient", None);
    server.own("secrets", "loser", "key", Some(json!({})));
    let owner = |note: &str, replicas: u32| json!({"metadata": {"annotations": {"quotient.dev/requeued-at": note}}, "spec": {"replicas": replicas}});
    server.other("replicasets", "gainer", "web", Some(owner("1", 2)));
    server.own("replicasets", "gainer", "web", Some(owner("2", 2)));
    server.own("replicasets", "gainer", "web", Some(owner("3", 1)));
    let range = |keeper: &str| json!({"metadata": {"labels": {"app.kubernetes.io/managed-by": keeper}}});
    server.own("limitranges", "loser", "quotient", Some(range("quotient")));
    server.own("limitranges", "loser", "quotient", None);
    server.other("limitranges", "loser", "quotient", Some(range("kubectl")));
    server.own("limitranges", "loser", "quotient", None);
    server.own("limitranges", "loser", "of-the-team", Some(range("quotient")));
    let own = Invariant::KeepsToItsOwn;
    assert_eq!(server.found(), [Invariant::Gentle, own, own, own, own, own, own]);
}

/// Each of these changes of an object by the operator is its own, or breaks `invariant`.
fn check_changes(
    (resource, namespace, name): (&str, &str, &str),
    invariant: Invariant,
    changes: &[(Value, Value, bool)],
) {
    for (before, after, is_own) in changes {
        let mut server = Server::start();
        server.other(resource, namespace, name, Some(before.clone()));
        server.own(resource, namespace, name, Some(after.clone()));
        let expected = if *is_own { vec![] } else { vec![invariant] };
        assert_eq!(server.found(), expected, "{before} {after}");
    }
}

#[test]
fn a_job_is_woken_by_what_means_the_same() {
    let job = |note: &str, said: Option<bool>, parallelism: u32| {
        let mut job = json!({"metadata": {"annotations": {"quotient.dev/requeued-at": note}}, "spec": {"parallelism": parallelism}});
        if let Some(said) = said {
            job["spec"]["manualSelector"] = said.into();
        }
        job
    };
    let changes = [
        (job("1", None, 2), job("2", Some(false), 2), true),
        (job("1", Some(false), 2), job("2", None, 2), true),
        (job("1", None, 2), job("2", Some(true), 2), false),
        (job("1", Some(true), 2), job("2", None, 2), false),
        (job("1", None, 2), job("2", Some(false), 3), false),
    ];
    check_changes(("jobs", "gainer", "train"), Invariant::KeepsToItsOwn, &changes);
}

/// An owner of this size, and what stands beside it.
fn sized(size: u32, before: Option<&str>, lowered: Option<&str>) -> Value {
    let mut annotations = json!({"kept": "as it is"});
    for (name, text) in [("replicas-before", before), ("replicas-lowered-to", lowered)] {
        if let Some(text) = text {
            annotations[format!("quotient.dev/{name}")] = json!(text);
        }
    }
    json!({"metadata": {"annotations": annotations}, "spec": {"replicas": size, "paused": false}})
}

#[test]
fn a_size_is_lowered_with_what_remembers_it_and_raised_no_further() {
    let lower = sized(2, Some("3"), Some("2"));
    let changes = [
        (sized(3, None, None), lower.clone(), true),
        (lower.clone(), sized(1, Some("3"), Some("1")), true),
        (sized(1, Some("3"), Some("1")), lower.clone(), true),
        (lower.clone(), sized(3, None, None), true),
        (sized(3, None, None), sized(2, None, None), false),
        (sized(3, None, None), sized(2, Some("9"), Some("2")), false),
        (sized(3, None, None), sized(2, Some("3"), Some("1")), false),
        (lower.clone(), sized(4, None, None), false),
        (lower, sized(3, Some("3"), Some("3")), false),
    ];
    check_changes(("deployments", "gainer", "web"), Invariant::KeepsToItsOwn, &changes);
}

#[test]
fn pods_are_marked_and_changed_in_no_other_way() {
    let pod = |cost: Option<&str>, label: &str| {
        let mut pod = json!({"metadata": {"uid": "uid-pod-1", "labels": {"of": label}}, "spec": {}});
        if let Some(cost) = cost {
            pod["metadata"]["annotations"] = json!({"controller.kubernetes.io/pod-deletion-cost": cost});
        }
        pod
    };
    let mark = Some("-2147483648");
    let changes = [
        (pod(None, "a"), pod(mark, "a"), true),
        (pod(Some("5"), "a"), pod(mark, "a"), true),
        (pod(mark, "a"), pod(None, "a"), true),
        (pod(None, "a"), pod(Some("5"), "a"), false),
        (pod(None, "a"), pod(mark, "b"), false),
    ];
    check_changes(("pods", "loser", "pod-1"), Invariant::Gentle, &changes);
}

#[test]
fn a_stamp_that_goes_back() {
    let mut server = Server::start();
    server.quota("loser", "3", "4", 5);
    server.quota("loser", "2", "3", 4);
    assert_eq!(server.found(), [Invariant::GenerationsRise]);
}

#[test]
fn what_rests_has_to_add_up() {
    let mut server = Server::start();
    let queue = |deserved: &str, allocated: &str, preempting: &str, conditions: Value| {
        json!({"spec": {}, "status": {
            "observedGeneration": 1,
            "deserved": {"cpu": deserved},
            "allocated": {"cpu": allocated},
            "preempting": {"cpu": preempting},
            "conditions": conditions,
        }})
    };
    server.queue("loser", queue("4", "4", "0", json!([])));
    server.queue("gainer", queue("0", "0", "0", json!([])));
    server.checker.rests(server.at);
    assert_eq!(server.checker.violations(), []);

    // Not what its quota says, and promised more than it lacks; a share that nothing excuses, and a promise that does not fit.
    server.queue("loser", queue("3", "3", "1", json!([])));
    server.queue("gainer", queue("2", "0", "2", json!([])));
    server.checker.rests(server.at);
    assert_eq!(
        server.found(),
        [Invariant::SharesArrive, Invariant::SharesAddUp, Invariant::QuotaIsAllocated, Invariant::Conserved]
    );
    let excused = json!([{"type": "Starved", "status": "True"}]);
    server.queue("gainer", queue("1", "0", "1", excused));
    server.queue("loser", queue("3", "4", "0", json!([{"type": "Stalled", "status": "True"}])));
    server.checker.rests(server.at);
    assert_eq!(server.found().len(), 4);
}

#[test]
fn no_more_is_promised_than_is_missing() {
    let mut server = Server::start();
    for (preempting, expected) in [("2", 0), ("1", 0), ("3", 1)] {
        let status = json!({
            "observedGeneration": 1, "deserved": {"cpu": "2"}, "preempting": {"cpu": preempting},
            "conditions": [{"type": "Starved", "status": "True"}],
        });
        server.queue(
            "loser",
            json!({"status": {"conditions": [
                {"type": "Stalled", "status": "True"},
            ]}}),
        );
        server.queue("gainer", json!({"spec": {}, "status": status}));
        server.checker.rests(server.at);
        assert_eq!(server.found(), vec![Invariant::SharesAddUp; expected], "{preempting}");
    }
}

#[test]
fn what_is_under_way_while_another_leader_opens_the_door_is_nobodys_fault() {
    for (under_way, expected) in [(0, vec![Invariant::FencedAndNeeded]), (2_000, vec![])] {
        let mut server = Server::start_with(Tolerance { under_way, ..Tolerance::default() });
        server.quota("loser", "2", "2", 2);
        server.quota("loser", "4", "4", 3);
        server.evict("pod-4");
        assert_eq!(server.found(), expected);
        // Long afterwards it is.
        server.at += 5_000;
        server.evict("pod-3");
        assert_eq!(server.found().len(), expected.len() + 1);
    }
}

/// Changes the spec of a Queue, long ago by now.
fn restrain(server: &mut Server, namespace: &str, spec: &Value) {
    let queue = json!({"metadata": {"uid": namespace, "namespace": namespace}, "spec": spec});
    server.queue(namespace, queue);
    server.at += 60_000;
}

/// How the writes of a proper reclaim are found where the two queues are like that.
fn reclaim_between(loser: &Value, gainer: &Value) -> Vec<Invariant> {
    let mut server = Server::start();
    restrain(&mut server, "loser", loser);
    restrain(&mut server, "gainer", gainer);
    server.quota_of_others("loser", "2", "2", 2);
    server.at += 60_000;
    server.evict("pod-4");
    server.found()
}

#[test]
fn no_pod_goes_from_or_for_a_queue_that_is_restrained() {
    let full = json!({"mode": "Full", "pausedUntil": "1970-01-01T00:00:01Z"});
    assert_eq!(reclaim_between(&full, &full), []);
    for restrained in
        [json!({"mode": "Observe"}), json!({"mode": "Quota"}), json!({"pausedUntil": "2030-01-01T00:00:00Z"})]
    {
        assert_eq!(reclaim_between(&restrained, &full), [Invariant::Restrained], "{restrained}");
        assert_eq!(reclaim_between(&full, &restrained), [Invariant::Restrained], "{restrained}");
    }
}

#[test]
fn a_parent_restrains_its_children() {
    let mut server = Server::start();
    let parent =
        json!({"metadata": {"uid": "org", "namespace": "org"}, "spec": {"children": {}, "mode": "Quota"}});
    server.queue("org", parent);
    restrain(&mut server, "loser", &json!({"parentRef": {"namespace": "org", "name": "org"}}));
    server.quota_of_others("loser", "2", "2", 2);
    server.at += 60_000;
    server.evict("pod-4");
    assert_eq!(server.found(), [Invariant::Restrained]);
}

#[test]
fn who_has_just_changed_a_mode_may_see_one_more_eviction() {
    let mut server = Server::start();
    server.quota_of_others("loser", "2", "2", 2);
    server.at += 60_000;
    restrain(&mut server, "loser", &json!({"mode": "Observe"}));
    server.at -= 59_900;
    server.evict("pod-4");
    assert_eq!(server.found(), []);
}

#[test]
fn no_quota_is_written_in_observe_and_none_restricts_a_paused_queue_more() {
    let write = |spec: &Value, cpu: &str| {
        let mut server = Server::start();
        restrain(&mut server, "loser", spec);
        server.quota("loser", cpu, "4", 2);
        server.found()
    };
    let paused = json!({"pausedUntil": "2030-01-01T00:00:00Z"});
    assert_eq!(write(&json!({"mode": "Observe"}), "4"), [Invariant::Restrained]);
    assert_eq!(write(&json!({"mode": "Quota"}), "2"), []);
    assert_eq!(write(&paused, "2"), [Invariant::Restrained]);
    assert_eq!(write(&paused, "4"), []);
}

/// A checker whose writes count their time from a later beginning compares the end of a pause with that.
#[test]
fn a_pause_ends() {
    let mut server = Server::start();
    server.checker = server.checker.since(1_893_456_000_000);
    restrain(&mut server, "loser", &json!({"pausedUntil": "2030-01-01T00:05:00Z"}));
    server.quota_of_others("loser", "2", "2", 2);
    server.at = 299_000;
    server.evict("pod-4");
    server.at = 300_000;
    server.evict("pod-3");
    assert_eq!(server.found(), [Invariant::Restrained]);
}

/// `gainer` in Gate mode, long ago by now, with two gated pods of a gang.
fn gated(minimum: &str) -> Server {
    let mut server = Server::start();
    server.gone("pod-4");
    server.gone("pod-3");
    restrain(&mut server, "gainer", &json!({"admission": "Gate"}));
    for name in ["x-1", "x-2"] {
        server.other("pods", "gainer", name, Some(member(name, minimum, true)));
    }
    server.at += 60_000;
    server
}

fn member(name: &str, minimum: &str, is_gated: bool) -> Value {
    let gates = if is_gated { json!([{"name": "quotient.dev/share"}]) } else { json!([]) };
    json!({
        "metadata": {"uid": name, "annotations": {
            "quotient.dev/gang": "x", "quotient.dev/gang-min-available": minimum,
        }},
        "spec": {"schedulingGates": gates, "containers": [{"resources": {"requests": {"cpu": "1"}}}]},
    })
}

#[test]
fn a_gang_is_let_in_when_all_of_it_is_there_and_whole() {
    let removal = |minimum: &str| {
        let mut server = gated(minimum);
        server.own("pods", "gainer", "x-1", Some(member("x-1", minimum, false)));
        server
    };
    // Without a ledger nothing is granted.
    assert_eq!(removal("2").found(), [Invariant::GatesWithinShare]);
    let mut lacking = removal("3");
    assert_eq!(lacking.found(), [Invariant::GatesWithinShare, Invariant::GangsWhole]);
    // What has succeeded counts.
    let mut server = gated("3");
    let mut first = member("x-0", "3", false);
    first["metadata"]["ownerReferences"] = json!([{"kind": "Job", "uid": "j"}]);
    first["status"] = json!({"phase": "Succeeded"});
    server.other("pods", "gainer", "x-0", Some(first));
    server.own("pods", "gainer", "x-1", Some(member("x-1", "3", false)));
    assert_eq!(server.found(), [Invariant::GatesWithinShare]);
    // At rest it is let in in part.
    lacking.checker.rests(lacking.at);
    assert_eq!(lacking.found().last(), Some(&Invariant::GangsWhole));
}

#[test]
fn no_pod_stays_gated_where_no_queue_is_in_gate_mode() {
    let mut server = gated("2");
    server.other("queues", "gainer", "gainer", None);
    server.checker.rests(server.at);
    assert_eq!(server.found().last(), Some(&Invariant::NothingWaitsWithRoom));
}
