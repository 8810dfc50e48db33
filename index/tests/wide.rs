//! Many objects of one tenant, and pods that request many resources: reading them takes a time that grows as they do.

use std::fmt::Write as _;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use quotient_snapshot::amounts::Resource;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use super::kinds::apply_value;
use super::{QUEUE, at, documents, index_of, namespace_a};
use quotient_index::{Index, IndexSettings, POD_GROUPS, PodGroup};

/// The processor time of this thread so far: other work on the machine does not count.
fn effort() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}

/// An index that has been told of `objects`, and the processor time that this took.
fn load(objects: &[Value]) -> (Index, Duration) {
    let begin = effort();
    let mut index = Index::new(IndexSettings::default());
    for object in objects {
        apply_value(&mut index, object);
    }
    (index, effort().saturating_sub(begin))
}

/// Asserts that the `whole` takes at most 2.3 times as long as one `half` of it, and what the clock cannot tell apart.
///
/// Both are tried in turn, because a neighbor on the machine takes caches from whichever runs beside it.
#[track_caller]
fn grows_no_faster(half: &[Value], whole: &[Value]) {
    let mut times = [Duration::MAX; 2];
    for _ in 0..10 {
        for (time, objects) in times.iter_mut().zip([half, whole]) {
            *time = (*time).min(load(objects).1);
        }
        if times[1] <= times[0].mul_f64(2.3) + Duration::from_millis(60) {
            return;
        }
    }
    panic!("{:?} for one half, {:?} for the whole", times[0], times[1]);
}

/// Deployments, their ReplicaSets, StatefulSets and an autoscaler for each of both, so many of each.
fn sized(number: usize) -> Vec<Value> {
    let template = json!({"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}});
    let mut all = documents(QUEUE);
    let each = |make: &dyn Fn(usize) -> Value| (0..number).map(make).collect::<Vec<_>>();
    all.extend(each(&|at| {
        let owner = json!([{"kind": "Deployment", "name": format!("web-{at}"), "uid": format!("d-{at}"),
            "controller": true, "apiVersion": "apps/v1"}]);
        json!({"kind": "ReplicaSet",
            "metadata": {"name": format!("web-{at}-x"), "namespace": "a", "uid": format!("r-{at}"), "ownerReferences": owner},
            "spec": {"replicas": 2, "selector": {}, "template": template}})
    }));
    all.extend(each(&|at| {
        json!({"kind": "StatefulSet", "metadata": {"name": format!("db-{at}"), "namespace": "a", "uid": format!("s-{at}")},
            "spec": {"replicas": 2, "serviceName": "", "selector": {}, "template": template}})
    }));
    all.extend(each(&|at| {
        json!({"kind": "Deployment", "metadata": {"name": format!("web-{at}"), "namespace": "a", "uid": format!("d-{at}")},
            "spec": {"replicas": 3, "selector": {}, "template": {}}})
    }));
    for (kind, name) in [("Deployment", "web"), ("StatefulSet", "db")] {
        all.extend(each(&|at| {
            json!({"kind": "HorizontalPodAutoscaler",
                "metadata": {"name": format!("{name}-{at}"), "namespace": "a", "uid": format!("h-{name}-{at}")},
                "spec": {"maxReplicas": 9, "scaleTargetRef": {"kind": kind, "name": format!("{name}-{at}")}}})
        }));
    }
    all
}

/// Before, each autoscaler was looked at for each owner with every event: this took minutes.
#[test]
fn autoscalers_are_found_by_their_targets() {
    let all = sized(3_000);
    let (mut index, whole) = load(&all);
    let snapshot = index.snapshot(at("12:00:00"));
    let owners = &snapshot.namespaces[&"a".into()].owners;
    let autoscaled = Some(quotient_snapshot::reasons::KeptReason::Autoscaled);
    assert_eq!(owners.len(), 6_000);
    assert!(owners.iter().all(|owner| owner.size.left_alone == autoscaled), "each has one");
    let wanted: u32 = owners.iter().map(|owner| owner.wanted).sum();
    assert_eq!(wanted, 3_000 * 3 + 3_000 * 2);
    assert!(whole < Duration::from_secs(6), "{whole:?}");
    grows_no_faster(&sized(1_500), &all);
}

/// Many ReplicaSets of one Deployment, and many autoscalers of it, are no worse than as many of many.
#[test]
fn one_deployment_may_have_many_of_all() {
    let concentrated = |number: usize| -> Vec<Value> {
        let mut all = sized(number);
        for object in &mut all {
            if let Some(owner) = object.pointer_mut("/metadata/ownerReferences/0") {
                (owner["name"], owner["uid"]) = ("web-0".into(), "d-0".into());
            }
            if object["kind"] == "HorizontalPodAutoscaler" {
                object["spec"]["scaleTargetRef"]["name"] = "web-0".into();
            }
        }
        all
    };
    grows_no_faster(&concentrated(750), &concentrated(1_500));
}

/// Jobs, and a PodGroup for each, of which the pods and the Job are members.
fn gangs(number: usize) -> (Vec<Value>, Vec<PodGroup>) {
    let spec = json!({"containers": [{"name": "c"}]});
    let metadata = |at: usize| {
        let labels = json!({"scheduling.x-k8s.io/pod-group": format!("g-{at}")});
        json!({"name": format!("g-{at}"), "namespace": "a", "uid": format!("g-{at}"), "labels": labels})
    };
    let jobs = (0..number).map(|at| {
        let template = json!({"metadata": metadata(at), "spec": spec});
        json!({"kind": "Job", "metadata": metadata(at), "spec": {"parallelism": 1, "template": template}})
    });
    let pods = (0..number).map(|at| json!({"kind": "Pod", "metadata": metadata(at), "spec": spec}));
    let group = |at| {
        let group = json!({"metadata": metadata(at), "spec": {"minMember": 1}});
        serde_json::from_value(group).unwrap()
    };
    (documents(QUEUE).into_iter().chain(jobs).chain(pods).collect(), (0..number).map(group).collect())
}

/// Before, all pods and owners of the namespace were looked at for each PodGroup, also if nothing of it had changed.
#[test]
fn a_list_of_pod_groups_looks_at_each_pod_once() {
    let api = &POD_GROUPS[0];
    let list = |index: &mut Index, groups: &[PodGroup]| {
        let begin = effort();
        index.relist_begin::<PodGroup>(api);
        for group in groups {
            index.apply_of(api, group);
        }
        let changed = index.relist_finish::<PodGroup>(api);
        (changed, effort().saturating_sub(begin))
    };
    let (objects, groups) = gangs(6_000);
    let (mut index, _) = load(&objects);
    let (changed, elapsed) = list(&mut index, &groups);
    let state = namespace_a(&mut index);
    assert!(changed && state.pods.iter().all(|pod| pod.gang().is_some()));
    assert!(state.owners.iter().all(|owner| owner.gang.as_ref().unwrap().min_available == 1));
    drop(state);
    let (changed, again) = list(&mut index, &groups);
    assert!(!changed);
    assert!(elapsed + again < Duration::from_millis(600), "{elapsed:?} and {again:?}");
}

// ---- requests ---------------------------------------------------------------------------------------------

/// A pod that requests cpu, memory and so many resources that no node offers.
fn wide(name: &str, resources: usize) -> String {
    let mut requests = "cpu: 1, memory: 1Gi".to_owned();
    for at in 0..resources {
        write!(requests, ", example.org/r{at:05}: 1").unwrap();
    }
    format!(
        "{{kind: Pod, metadata: {{name: {name}, namespace: a, uid: {name}}}, spec: {{containers: [{{name: c, \
         resources: {{requests: {{{requests}}}, limits: {{{requests}}}}}}}]}}}}\n---\n"
    )
}

#[test]
fn of_a_pod_64_resources_are_kept() {
    for (requested, kept, left_out) in [(0, 2, 0), (62, 64, 0), (63, 64, 1), (12_000, 64, 11_938)] {
        let mut index = index_of(&[QUEUE, &wide("p", requested)].concat());
        let shape = &namespace_a(&mut index).pods[0].shape;
        let names: Vec<&str> = shape.requests.resources().map(Resource::name).collect();
        assert_eq!((names.len(), shape.left_out.resources), (kept, left_out), "{requested}");
        assert_eq!(names[..2], ["cpu", "memory"]);
        assert!(names[2..].iter().enumerate().all(|(at, name)| *name == format!("example.org/r{at:05}")));
    }
}

/// What is requested in an amount of nothing pushes out nothing.
#[test]
fn a_request_of_nothing_takes_nobodys_place() {
    let mut zeros = String::new();
    for at in 0..100 {
        write!(zeros, "a.org/r{at}: 0, ").unwrap();
    }
    let pod = wide("p", 10).replace("cpu: 1", &format!("{zeros}cpu: 1"));
    let mut index = index_of(&[QUEUE, &pod].concat());
    let shape = &namespace_a(&mut index).pods[0].shape;
    assert_eq!((shape.requests.iter().count(), shape.left_out.resources), (12, 0));
}

/// The same of a template, and however the names are spread over containers.
#[test]
fn of_a_template_64_are_kept_as_well() {
    let containers: Vec<Value> = (0..500)
        .map(|at| {
            let requests: serde_json::Map<String, Value> =
                (0..20).map(|more| (format!("example.org/r{:05}", at * 20 + more), json!("2"))).collect();
            json!({"name": format!("c{at}"), "resources": {"requests": requests}})
        })
        .collect();
    let job = json!({"kind": "Job", "metadata": {"name": "j", "namespace": "a", "uid": "j"},
        "spec": {"template": {"spec": {"containers": containers}}}});
    let mut index = index_of(QUEUE);
    let begin = effort();
    apply_value(&mut index, &job);
    assert!(effort().saturating_sub(begin) < Duration::from_secs(2), "{:?}", effort().saturating_sub(begin));
    let shape = &namespace_a(&mut index).owners[0].shape;
    assert_eq!((shape.requests.iter().count(), shape.left_out.resources), (64, 9_936));
}

/// Before, five such pods took 28 s in every plan.
#[test]
fn pods_with_12_000_resources_are_read_and_planned_for_in_no_time() {
    let node = "{kind: Node, metadata: {name: n1, uid: n1}, status: {allocatable: {cpu: 8, memory: 8Gi}, \
                conditions: [{type: Ready, status: 'True', lastTransitionTime: 2026-01-01T00:00:00Z}]}}\n---\n";
    let mut index = index_of(&[QUEUE, node].concat());
    let pods: Vec<Value> = (0..5).map(|at| documents(&wide(&format!("p{at}"), 12_000)).remove(0)).collect();
    let begin = effort();
    for pod in &pods {
        index.apply(&serde_json::from_value::<Pod>(pod.clone()).unwrap());
    }
    let plan = quotient_engine::planner::plan(&index.snapshot(at("12:00:00")));
    let elapsed = effort().saturating_sub(begin);
    assert_eq!(plan.queues.values().next().unwrap().pods.pending, 5);
    assert!(elapsed < Duration::from_secs(3), "{elapsed:?}");
}
