//! The checker checked: a proper reclaim passes, and every way to spoil it is named.
//!
//! A story is a list of writes, from [`BEGINNING`] on. After ` ! ` stand the promises that the write breaks.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "an overflow, a gap or a misspelled story fails the test"
)]

use std::collections::BTreeMap;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use k8s_openapi::ByteString;
use quotient_invariants::{InvariantChecker, Tolerance, Verb, Write};
use serde_json::{Value, json};

/// An API server of two queues, one node of 4 cpu, and a clock.
struct Server {
    checker: InvariantChecker,
    index: u64,
    at: i64,
    objects: BTreeMap<(String, String, String), Value>,
}

/// `loser` runs four pods of 1 cpu and has to give two to `gainer`; both quotas are as they were before.
const BEGINNING: &str = "
    other nodes - node-1 {status: {allocatable: {cpu: 4, pods: 110}, conditions: [{type: Ready, status: 'True'}]}}
    queue loser {spec: {}}
    enforced loser 4 4 1
    queue gainer {spec: {}}
    enforced gainer 0 0 1
    pod loser pod-1 {cpu: 1}
    pod loser pod-2 {cpu: 1}
    pod loser pod-3 {cpu: 1}
    pod loser pod-4 {cpu: 1}
    wait 60000";

/// Plays a story.
fn check(story: &str) -> Server {
    check_with(Tolerance::default(), story)
}

fn check_with(tolerance: Tolerance, story: &str) -> Server {
    let checker = InvariantChecker::new(tolerance);
    let mut server = Server { checker, index: 0, at: 0, objects: BTreeMap::new() };
    server.plays(BEGINNING);
    server.plays(story);
    server
}

impl Server {
    fn plays(&mut self, story: &str) {
        for write in story.split([';', '\n']).map(str::trim).filter(|write| !write.is_empty()) {
            let (act, expected) = write.split_once(" ! ").unwrap_or((write, ""));
            let before = self.checker.violations().len();
            self.acts(act);
            let found = &self.checker.violations()[before..];
            let names: Vec<String> = found.iter().map(|one| format!("{:?}", one.invariant)).collect();
            assert_eq!(names.join(" "), expected, "{write} {found:?}\n{story}");
        }
    }

    fn acts(&mut self, act: &str) {
        let (words, object) = act.split_at(act.find('{').unwrap_or(act.len()));
        let object: Option<Value> = (!object.is_empty()).then(|| serde_yaml_ng::from_str(object).unwrap());
        match (words.split_whitespace().collect::<Vec<_>>().as_slice(), object) {
            (["wait", milliseconds], None) => self.at += milliseconds.parse::<i64>().unwrap(),
            (["rests"], None) => self.checker.rests(self.at),
            // A Queue is called like its namespace.
            (["queue", name], Some(mut queue)) => {
                queue["metadata"] = json!({"uid": name, "namespace": name});
                self.write(false, ("queues", ""), (name, name), None, Some(queue));
            }
            (["pod", namespace, name], Some(requests)) => {
                let spec =
                    json!({"nodeName": "node-1", "containers": [{"resources": {"requests": requests}}]});
                let pod = json!({"metadata": {"uid": format!("uid-{name}")}, "spec": spec});
                self.write(false, ("pods", ""), (namespace, name), None, Some(pod));
            }
            (["gone", name], None) => self.write(false, ("pods", ""), ("loser", name), None, None),
            // The operator writes a quota, or its controller enforces it: what it says, what is enforced, and its stamp.
            (["quota", namespace, rest @ ..], None) => {
                self.write(true, ("resourcequotas", ""), (namespace, "quotient"), None, Some(quota(rest)));
            }
            (["enforced", namespace, rest @ ..], None) => {
                let quota = Some(quota(rest));
                self.write(false, ("resourcequotas", "status"), (namespace, "quotient"), None, quota);
            }
            // It is lowered, and that is enforced.
            (["lower", cpu], None) => {
                self.plays(&format!("quota loser {cpu} 4 2; enforced loser {cpu} {cpu} 2"));
            }
            (["evict", name], None) => self.evicts(name, &json!({"preconditions": uid(name)})),
            (["evict", name, grace], None) => {
                let grace: u64 = grace.parse().unwrap();
                self.evicts(name, &json!({"gracePeriodSeconds": grace, "preconditions": uid(name)}));
            }
            (["evict-any-life", name], None) => self.evicts(name, &json!({})),
            (["ledger"], Some(ledger)) => {
                let mut packed = GzEncoder::new(Vec::new(), Compression::default());
                packed.write_all(ledger.to_string().as_bytes()).unwrap();
                let data = json!({"binaryData": {"ledger.json.gz": ByteString(packed.finish().unwrap())}});
                let place = ("quotient-system", "quotient-ledger");
                self.write(false, ("configmaps", ""), place, None, Some(data));
            }
            ([who @ ("operator" | "other"), resource, namespace, name], object) => {
                self.write(*who == "operator", (resource, ""), (namespace, name), None, object);
            }
            (words, object) => panic!("{words:?} {object:?}"),
        }
    }

    fn evicts(&mut self, name: &str, options: &Value) {
        let key = ("pods".to_owned(), "loser".to_owned(), name.to_owned());
        let mut pod = self.objects[&key].clone();
        pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        if let Some(grace) = options.get("gracePeriodSeconds") {
            pod["metadata"]["deletionGracePeriodSeconds"] = grace.clone();
        }
        let body = json!({"deleteOptions": options});
        self.write(true, ("pods", "eviction"), ("loser", name), Some(&body), Some(pod));
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
}

fn uid(pod: &str) -> Value {
    json!({"uid": format!("uid-{pod}")})
}

fn quota(words: &[&str]) -> Value {
    let [hard, enforced, stamp] = words else { panic!("{words:?}") };
    json!({
        "metadata": {"uid": "quota", "annotations": {"quotient.dev/generation": stamp}},
        "spec": {"hard": {"requests.cpu": hard}},
        "status": {"hard": {"requests.cpu": enforced}},
    })
}

#[test]
fn a_proper_reclaim_breaks_nothing() {
    let server = check(
        "lower 2; evict pod-4; evict pod-3; gone pod-4; quota gainer 1 0 3; gone pod-3; quota gainer 2 1 4",
    );
    assert_eq!(server.checker.evicted().len(), 2);
}

#[test]
fn a_pod_goes_once_that_is_one_too_many_under_an_enforced_quota() {
    for story in [
        "quota loser 2 4 2; evict pod-4 ! FencedAndNeeded",
        "lower 2; evict pod-4; evict pod-3; evict pod-2 ! FencedAndNeeded",
        // Who ends by himself a moment before is not known yet.
        "lower 3; gone pod-1; evict pod-4",
        "lower 3; gone pod-1; wait 5000; evict pod-4 ! FencedAndNeeded",
        "lower 2; evict-any-life pod-4 ! EvictionNamesLife",
        "lower 2; evict pod-4; evict pod-4 ! EvictedOnce; evict pod-4 0 ! Gentle",
        // A pod that something else gave hours may be asked once to end within what its queue allows.
        "lower 2
         other pods loser pod-4 {metadata: {uid: uid-pod-4, deletionTimestamp: '2026-01-01T18:00:00Z', deletionGracePeriodSeconds: 64800}}
         evict pod-4 600; evict pod-4 600 ! EvictedOnce",
        "queue loser {spec: {eviction: {}}}; lower 2; evict pod-4 0 ! Gentle",
        "queue loser {spec: {eviction: {maxGraceSeconds: 30}}}; lower 2; evict pod-4 0 ! Gentle",
        "queue loser {spec: {eviction: {maxGraceSeconds: 0}}}; lower 2; evict pod-4 0",
    ] {
        check(story);
    }
    let said = check("quota loser 2 4 2; evict pod-4 ! FencedAndNeeded").checker.violations()[0].to_string();
    assert!(said.contains("loser/pod-4 (cpu 1): live pods request cpu 4, allowed is cpu 4"), "{said}");
    // A process that died in between may ask again.
    let repeats = Tolerance { repeats: true, ..Tolerance::default() };
    check_with(repeats, "lower 2; evict pod-4; evict pod-4");
    // What is under way while another leader opens the door is no fault.
    for (under_way, outcome) in [(0, " ! FencedAndNeeded"), (2_000, "")] {
        let leaders = Tolerance { under_way, ..Tolerance::default() };
        let story = format!("quota loser 2 2 2; quota loser 4 4 3; evict pod-4{outcome}; wait 5000");
        check_with(leaders, &format!("{story}; evict pod-3 ! FencedAndNeeded"));
    }
}

#[test]
fn no_quota_grows_before_its_room_is_free_and_no_stamp_goes_back() {
    for story in [
        "lower 2; evict pod-4; quota gainer 1 0 3 ! NeverOverGranted",
        // The same room twice; what the loser's live pods hold anyway is no grant.
        "lower 2; evict pod-4; gone pod-4; quota gainer 1 0 3; quota loser 3 2 3; quota loser 4 3 4 ! NeverOverGranted",
        // Capacity that leaves at the same moment is no fault.
        "quota loser 2 2 2; evict pod-4; evict pod-3; gone pod-4; gone pod-3
         other nodes - node-1 {status: {allocatable: {cpu: 2}}}
         quota gainer 2 0 3; wait 5000; quota gainer 3 2 4 ! LoansBounded NeverOverGranted",
        "quota loser 3 4 5; quota loser 2 3 4 ! GenerationsRise",
    ] {
        check(story);
    }
}

/// What a queue deserves is not only what the operator says. It is, where the claim is smaller or of another resource, the limit
/// is lower, the queue has siblings, or guarantees do not fit.
#[test]
fn no_eviction_takes_what_is_guaranteed() {
    for (spec, deserved, outcome) in [
        ("guaranteed: {cpu: 4}", 4, " ! GuaranteeKept"),
        ("guaranteed: {cpu: 4}, request: {cpu: 9}", 2, " ! GuaranteeKept"),
        ("guaranteed: {cpu: 4}, request: {cpu: 2}", 2, ""),
        ("guaranteed: {cpu: 4}, request: {memory: 1Gi}", 2, ""),
        ("guaranteed: {cpu: 4}, request: {cpu: 9}, limit: {cpu: 2}", 2, ""),
        ("guaranteed: {cpu: 4}", 2, ""),
        ("guaranteed: {cpu: 4}, request: {cpu: 9}, parentRef: {name: org}", 2, ""),
        ("guaranteed: {cpu: 5}, request: {cpu: 9}", 2, ""),
        ("guaranteed: {cpu: 3}, request: {cpu: 9}", 2, ""),
    ] {
        let status = format!("observedGeneration: 1, deserved: {{cpu: {deserved}}}");
        let queue = format!("queue loser {{spec: {{{spec}}}, status: {{{status}}}}}");
        check(&format!("{queue}; quota loser 2 2 2; evict pod-4{outcome}"));
    }
    // A queue that gives cpu back may fall below what is guaranteed of memory, of which nothing is reclaimed.
    let queue = "queue loser {spec: {guaranteed: {memory: 4Gi}}, status: {observedGeneration: 1, deserved: {cpu: 2, memory: 4Gi}}}";
    let pods =
        [1, 2, 3, 4].map(|number| format!("; pod loser pod-{number} {{cpu: 1, memory: 1Gi}}")).concat();
    for (memory, outcome) in [("4Gi", ""), ("3Gi", " ! GuaranteeKept")] {
        let hard = format!("{{hard: {{requests.cpu: 2, requests.memory: {memory}}}}}");
        let quota = format!("operator resourcequotas loser quotient {{spec: {hard}, status: {hard}}}");
        check(&format!("{queue}{pods}; {quota}; evict pod-4{outcome}"));
    }
}

/// A pod goes for a queue that the ledger owes something to, or because of a limit above it.
#[test]
fn evicting_for_none_or_for_a_limit() {
    let more = "other pods loser pod-5 {metadata: {uid: pod-5}, spec: {containers: [{resources: {requests: {cpu: 1}}}]}}";
    for (above, own, comes, leaves_first, outcome) in [
        (4, 4, "", "", " ! OwedFirst"),
        (4, 3, "", "", ""),
        (3, 4, "", "", ""),
        (4, 3, "", "gone pod-1", ""),
        // Admission let in more than there is.
        (9, 9, more, "", ""),
        (9, 9, more, "gone pod-1", ""),
    ] {
        check(&format!(
            "queue org {{spec: {{children: {{}}, limit: {{cpu: {above}}}}}}}
             queue loser {{spec: {{parentRef: {{namespace: org, name: org}}, limit: {{cpu: {own}}}}}}}
             ledger {{entries: {{loser: {{granted: {{cpu: '3'}}}}}}}}
             enforced loser 3 3 2; {comes}; wait 60000; {leaves_first}; evict pod-4{outcome}"
        ));
    }
}

#[test]
fn what_is_not_the_operators() {
    let kept_by =
        |keeper: &str| format!("{{metadata: {{labels: {{app.kubernetes.io/managed-by: {keeper}}}}}}}");
    let web = |note: u32, replicas: u32| {
        format!(
            "{{metadata: {{annotations: {{quotient.dev/requeued-at: '{note}'}}}}, spec: {{replicas: {replicas}}}}}"
        )
    };
    check(&format!(
        "operator pods loser pod-1 ! Gentle
         operator resourcequotas loser of-the-team {{}} ! KeepsToItsOwn
         operator resourcequotas loser quotient ! KeepsToItsOwn
         operator secrets loser key {{}} ! KeepsToItsOwn
         other replicasets gainer web {first}
         operator replicasets gainer web {requeued}
         operator replicasets gainer web {lowered} ! KeepsToItsOwn
         operator limitranges loser quotient {ours}
         operator limitranges loser quotient
         other limitranges loser quotient {theirs}
         operator limitranges loser quotient ! KeepsToItsOwn
         operator limitranges loser of-the-team {ours} ! KeepsToItsOwn",
        first = web(1, 2),
        requeued = web(2, 2),
        lowered = web(3, 1),
        ours = kept_by("quotient"),
        theirs = kept_by("kubectl"),
    ));
}

/// Each of these changes of an object by the operator is its own, or breaks the promise that is named.
fn check_changes(object: &str, changes: &[(String, String, &str)]) {
    for (before, after, outcome) in changes {
        check(&format!("other {object} {before}; operator {object} {after}{outcome}"));
    }
}

const NOT_ITS_OWN: &str = " ! KeepsToItsOwn";

#[test]
fn a_job_is_woken_by_what_means_the_same() {
    let job = |note: u32, said: &str, parallelism: u32| {
        let annotations = format!("{{quotient.dev/requeued-at: '{note}'}}");
        format!("{{metadata: {{annotations: {annotations}}}, spec: {{parallelism: {parallelism}{said}}}}}")
    };
    let [is_false, is_true] = [", manualSelector: false", ", manualSelector: true"];
    let changes = [
        (job(1, "", 2), job(2, is_false, 2), ""),
        (job(1, is_false, 2), job(2, "", 2), ""),
        (job(1, "", 2), job(2, is_true, 2), NOT_ITS_OWN),
        (job(1, is_true, 2), job(2, "", 2), NOT_ITS_OWN),
        (job(1, "", 2), job(2, is_false, 3), NOT_ITS_OWN),
    ];
    check_changes("jobs gainer train", &changes);
}

#[test]
fn a_size_is_lowered_with_what_remembers_it_and_raised_no_further() {
    let with = |size: u32, beside: &str| {
        format!(
            "{{metadata: {{annotations: {{kept: x{beside}}}}}, spec: {{replicas: {size}, paused: false}}}}"
        )
    };
    let plain = |size| with(size, "");
    let lowered = |size, before: u32, to: u32| {
        with(
            size,
            &format!(", quotient.dev/replicas-before: '{before}', quotient.dev/replicas-lowered-to: '{to}'"),
        )
    };
    let changes = [
        (plain(3), lowered(2, 3, 2), ""),
        (lowered(2, 3, 2), lowered(1, 3, 1), ""),
        (lowered(1, 3, 1), lowered(2, 3, 2), ""),
        (lowered(2, 3, 2), plain(3), ""),
        (plain(3), plain(2), NOT_ITS_OWN),
        (plain(3), lowered(2, 9, 2), NOT_ITS_OWN),
        (plain(3), lowered(2, 3, 1), NOT_ITS_OWN),
        (lowered(2, 3, 2), plain(4), NOT_ITS_OWN),
        (lowered(2, 3, 2), lowered(3, 3, 3), NOT_ITS_OWN),
    ];
    check_changes("deployments gainer web", &changes);
}

#[test]
fn pods_are_marked_and_changed_in_no_other_way() {
    let pod = |cost: &str, label: &str| {
        format!(
            "{{metadata: {{uid: uid-pod-1, labels: {{of: {label}}}, annotations: {{{cost}}}}}, spec: {{}}}}"
        )
    };
    let mark = "controller.kubernetes.io/pod-deletion-cost: '-2147483648'";
    let other = "controller.kubernetes.io/pod-deletion-cost: '5'";
    let changes = [
        (pod("", "a"), pod(mark, "a"), ""),
        (pod(other, "a"), pod(mark, "a"), ""),
        (pod(mark, "a"), pod("", "a"), ""),
        (pod("", "a"), pod(other, "a"), " ! Gentle"),
        (pod("", "a"), pod(mark, "b"), " ! Gentle"),
    ];
    check_changes("pods loser pod-1", &changes);
}

#[test]
fn what_rests_has_to_add_up() {
    let told = |queue: &str, [deserved, allocated, preempting]: [u32; 3], condition: &str| {
        let amounts = format!(
            "deserved: {{cpu: {deserved}}}, allocated: {{cpu: {allocated}}}, preempting: {{cpu: {preempting}}}"
        );
        let conditions = format!("conditions: [{{type: '{condition}', status: 'True'}}]");
        format!("queue {queue} {{status: {{observedGeneration: 1, {amounts}, {conditions}}}}}")
    };
    let mut server =
        check(&format!("{}; {}; rests", told("loser", [4, 4, 0], ""), told("gainer", [0, 0, 0], "")));
    for (loser, gainer, outcome) in [
        // Not what its quota says, and promised more than it lacks; an unexcused share, and a promise that does not fit.
        (
            told("loser", [3, 3, 1], ""),
            told("gainer", [2, 0, 2], ""),
            " ! SharesArrive SharesAddUp QuotaIsAllocated Conserved",
        ),
        (told("loser", [3, 4, 0], "Stalled"), told("gainer", [1, 0, 1], "Starved"), ""),
        // No more is promised than is missing.
        (told("loser", [0, 0, 0], "Stalled"), told("gainer", [2, 0, 2], "Starved"), ""),
        (told("loser", [0, 0, 0], "Stalled"), told("gainer", [2, 0, 3], "Starved"), " ! SharesAddUp"),
    ] {
        server.plays(&format!("{loser}; {gainer}; rests{outcome}"));
    }
}

#[test]
fn no_pod_goes_from_or_for_a_queue_that_is_restrained() {
    let full = "{mode: Full, pausedUntil: '1970-01-01T00:00:01Z'}";
    let reclaim = |loser: &str, gainer: &str, outcome: &str| {
        let queues = format!("queue loser {{spec: {loser}}}; queue gainer {{spec: {gainer}}}");
        check(&format!("{queues}; enforced loser 2 2 2; wait 60000; evict pod-4{outcome}"));
    };
    reclaim(full, full, "");
    for restrained in ["{mode: Observe}", "{mode: Quota}", "{pausedUntil: '2030-01-01T00:00:00Z'}"] {
        reclaim(restrained, full, " ! Restrained");
        reclaim(full, restrained, " ! Restrained");
    }
    for story in [
        // A parent restrains its children.
        "queue org {spec: {children: {}, mode: Quota}}
         queue loser {spec: {parentRef: {namespace: org, name: org}}}
         enforced loser 2 2 2; wait 60000; evict pod-4 ! Restrained",
        // Who has just changed a mode may see one more eviction.
        "enforced loser 2 2 2; wait 60000; queue loser {spec: {mode: Observe}}; evict pod-4",
        // No quota is written in Observe, and none restricts a paused queue more.
        "queue loser {spec: {mode: Observe}}; wait 60000; quota loser 4 4 2 ! Restrained",
        "queue loser {spec: {mode: Quota}}; wait 60000; quota loser 2 4 2",
        "queue loser {spec: {pausedUntil: '2030-01-01T00:00:00Z'}}; wait 60000; quota loser 2 4 2 ! Restrained",
        "queue loser {spec: {pausedUntil: '2030-01-01T00:00:00Z'}}; wait 60000; quota loser 4 4 2",
    ] {
        check(story);
    }
}

/// A checker whose writes count their time from a later beginning compares the end of a pause with that.
#[test]
fn a_pause_ends() {
    let mut server = check("");
    server.checker = server.checker.since(1_893_456_000_000);
    server.plays("queue loser {spec: {pausedUntil: '2030-01-01T00:05:00Z'}}; enforced loser 2 2 2");
    server.plays("wait 230000; evict pod-4 ! Restrained; wait 10000; evict pod-3");
}

fn member(name: &str, minimum: u32, gates: &str) -> String {
    let gang = format!("{{quotient.dev/gang: x, quotient.dev/gang-min-available: '{minimum}'}}");
    let containers = "[{resources: {requests: {cpu: 1}}}]";
    format!(
        "{{metadata: {{uid: {name}, annotations: {gang}}}, spec: {{schedulingGates: [{gates}], containers: {containers}}}}}"
    )
}

/// `gainer` in Gate mode, long ago by now, with two gated pods of a gang.
fn gated(minimum: u32) -> String {
    let queue = "gone pod-4; gone pod-3; queue gainer {spec: {admission: Gate}}; wait 60000";
    let [first, second] = ["x-1", "x-2"].map(|name| member(name, minimum, "{name: quotient.dev/share}"));
    format!("{queue}; other pods gainer x-1 {first}; other pods gainer x-2 {second}; wait 60000")
}

/// Without a ledger nothing is granted.
#[test]
fn a_gang_is_let_in_when_all_of_it_is_there_and_whole() {
    let removal = |minimum: u32| format!("operator pods gainer x-1 {}", member("x-1", minimum, ""));
    check(&format!("{}; {} ! GatesWithinShare", gated(2), removal(2)));
    let lacking = format!("{}; {} ! GatesWithinShare GangsWhole", gated(3), removal(3));
    // At rest it is let in in part.
    check(&format!("{lacking}; rests ! SharesArrive SharesArrive GangsWhole"));
    // What has succeeded counts.
    let of_job = member("x-0", 3, "").replace("uid: x-0", "uid: x-0, ownerReferences: [{kind: Job, uid: j}]");
    let succeeded = of_job.replace("{metadata", "{status: {phase: Succeeded}, metadata");
    check(&format!("{}; other pods gainer x-0 {succeeded}; {} ! GatesWithinShare", gated(3), removal(3)));
}

#[test]
fn no_pod_stays_gated_where_no_queue_is_in_gate_mode() {
    check(&format!("{}; other queues gainer gainer; rests ! SharesArrive NothingWaitsWithRoom", gated(2)));
}
