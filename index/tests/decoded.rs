//! Objects that cannot be decoded.

use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::core::v1::{Node, ResourceQuota};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use quotient_crds::{Queue, QueueJob, QueueJobStatus};
use quotient_snapshot::NodeTerm;
use quotient_snapshot::labels::Selector;
use serde::de::DeserializeOwned;

use super::kinds::{KINDS, for_kind};
use super::{apply, index_of, namespace_a, printed};
use quotient_index::pods::LeanPod;
use quotient_index::{Decoded, Index, IndexSettings};

/// A map in a map, so many times.
fn nested(levels: usize) -> String {
    format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels))
}

fn decoded<K: DeserializeOwned + 'static>(text: &str) -> Decoded<K> {
    serde_json::from_str(text).unwrap()
}

/// A list, as kube's client reads it.
fn listed<K: DeserializeOwned + Clone + 'static>(items: &[String]) -> Vec<Decoded<K>> {
    let text =
        format!(r#"{{"kind":"List","apiVersion":"v1","metadata":{{}},"items":[{}]}}"#, items.join(","));
    let list: kube::core::ObjectList<Decoded<K>> = serde_json::from_str(&text).unwrap();
    list.items
}

fn queue_job(name: &str, template: &str) -> String {
    format!(
        r#"{{"kind":"QueueJob","apiVersion":"quotient.dev/v1alpha1",
        "metadata":{{"name":"{name}","namespace":"a","uid":"u-{name}","resourceVersion":"7","generation":3}},
        "spec":{{"minAvailable":1,"tasks":[{{"name":"w","replicas":1,"template":{template}}}]}},
        "status":{{"observedGeneration":3}}}}"#
    )
}

#[test]
fn an_object_that_is_nested_too_deeply_hides_no_other_of_its_list() {
    let sound = r#"{"spec":{"containers":[]}}"#;
    let items = [queue_job("first", sound), queue_job("deep", &nested(140)), queue_job("last", sound)];
    let jobs = listed::<QueueJob>(&items);
    let names: Vec<bool> = jobs.iter().map(|job| job.0.is_ok()).collect();
    assert_eq!(names, [true, false, true]);
    let undecodable = jobs[1].0.as_ref().unwrap_err();
    assert_eq!(undecodable.error, "its fields are nested more than 128 levels deep");
    assert_eq!(undecodable.metadata.name.as_deref(), Some("deep"));
    assert_eq!(undecodable.metadata.generation, Some(3));
    let status: Option<QueueJobStatus> = undecodable.status();
    assert_eq!(status.and_then(|status| status.observed_generation), Some(3));

    let mut index = Index::new(IndexSettings::default());
    for job in &jobs {
        index.apply_decoded::<QueueJob>(&(), job);
    }
    let observed = |name| index.observed_queue_job(&"a".into(), name).is_some();
    assert!(observed("first") && observed("deep") && observed("last"));
}

#[test]
fn what_other_writers_put_into_managed_fields_hides_nothing() {
    let metadata = |fields: &str| {
        format!(
            r#"{{"name":"web","namespace":"a","uid":"u","resourceVersion":"7","labels":{{"app":"web"}},
            "managedFields":[{{"manager":"m","operation":"Update","apiVersion":"v1","time":"9999-12-31T23:59:59Z",
            "fieldsType":"FieldsV1","fieldsV1":{fields}}}]}}"#
        )
    };
    for fields in ["{}".to_owned(), nested(130), nested(100_000)] {
        for kind in KINDS {
            let text = format!(r#"{{"metadata":{},{}}}"#, metadata(&fields), content(kind));
            macro_rules! is_read {
                ($kind:ty, $of:expr) => {
                    is_read::<$kind>(&text)
                };
            }
            for_kind!(kind, is_read);
        }
        let spec = r#"{"replicas":2,"selector":{},"template":{"spec":{"containers":[]}}}"#;
        let text = format!(r#"{{"kind":"ReplicaSet","metadata":{},"spec":{spec}}}"#, metadata(&fields));
        let set = decoded::<ReplicaSet>(&text).0.unwrap();
        assert_eq!(set.spec.and_then(|spec| spec.replicas), Some(2));
        assert_eq!(set.metadata.labels.unwrap()["app"], "web");
    }
}

/// The least that an object of this kind has beside its metadata.
fn content(kind: &str) -> &'static str {
    match kind {
        "ReplicaSet" | "StatefulSet" => r#""spec":{"selector":{},"serviceName":"s"}"#,
        "DaemonSet" | "Deployment" | "Job" => r#""spec":{"selector":{},"template":{}}"#,
        "HorizontalPodAutoscaler" => r#""spec":{"maxReplicas":1,"scaleTargetRef":{"kind":"k","name":"n"}}"#,
        "PriorityClass" => r#""value":5"#,
        "QueueJob" => r#""spec":{"tasks":[]}"#,
        _ => r#""spec":{}"#,
    }
}

fn is_read<K: DeserializeOwned + 'static>(text: &str) {
    let object = decoded::<K>(text);
    assert!(object.0.is_ok(), "{}: {}", std::any::type_name::<K>(), object.0.err().unwrap().error);
}

#[test]
fn of_managed_fields_only_the_writers_of_the_spec_are_kept() {
    let entry = |manager: &str, time: &str, more: &str, fields: &str| {
        format!(
            r#"{{"manager":"{manager}","time":"{time}",{more}"fieldsV1":{{"{fields}":{}}}}}"#,
            nested(200)
        )
    };
    let entries = [
        entry("kubectl-patch", "2026-01-01T00:00:00Z", "", "f:spec"),
        entry("odd", "9999-12-31T23:59:59Z", "", "f:spec"),
        entry("labels", "2026-01-01T00:00:00Z", "", "f:metadata"),
        entry("status", "2026-01-01T00:00:00Z", r#""subresource":"status","#, "f:spec"),
        "7".to_owned(),
    ];
    let text =
        format!(r#"{{"metadata":{{"name":"web","managedFields":[{}],"uid":"u"}}}}"#, entries.join(","));
    let metadata = decoded::<ResourceQuota>(&text).0.unwrap().metadata;
    assert_eq!((metadata.name.as_deref(), metadata.uid.as_deref()), (Some("web"), Some("u")));
    let kept = metadata.managed_fields.unwrap();
    let kept: Vec<_> = kept.iter().map(|entry| (entry.manager.as_deref(), entry.time.is_some())).collect();
    assert_eq!(kept, [(Some("kubectl-patch"), true), (Some("odd"), false)]);
}

#[test]
fn an_object_whose_name_cannot_be_read_hides_no_other_of_its_list() {
    let items = [
        r#"{"metadata":{"name":"first"}}"#.to_owned(),
        r#"{"metadata":{"name":5,"namespace":["a"]}}"#.to_owned(),
        format!(r#"{{"metadata":{{"name":{}}}}}"#, nested(140)),
        r#"{"metadata":{"name":"last"}}"#.to_owned(),
    ];
    let nodes = listed::<Node>(&items);
    let sound: Vec<bool> = nodes.iter().map(|node| node.0.is_ok()).collect();
    assert_eq!(sound, [true, false, false, true]);
}

/// The text of a budget that allows a disruption of the pods with a label, unless `broken` stands in its spec.
fn budget(version: u32, broken: &str) -> String {
    format!(
        r#"{{"kind":"PodDisruptionBudget","metadata":{{"name":"web","namespace":"a","uid":"u","resourceVersion":"{version}"}},
        "spec":{{{broken}"selector":{{"matchLabels":{{"app":"web"}}}}}},"status":{{"disruptionsAllowed":1}}}}"#
    )
}

#[test]
fn a_budget_that_cannot_be_decoded_allows_no_disruption_in_its_namespace() {
    let mut index = index_of("{kind: Queue, metadata: {name: q, namespace: a}, spec: {}}");
    let mut allowed = |version: u32, broken: &str| {
        let object = decoded::<PodDisruptionBudget>(&budget(version, broken));
        assert!(index.apply_decoded(&(), &object));
        let budget = namespace_a(&mut index).budgets[0].clone();
        (budget.allowed, budget.selector == Selector::default())
    };
    // At a start, and in place of one that could be read.
    let broken = r#""unhealthyPodEvictionPolicy":[],"#;
    assert_eq!(allowed(5, broken), (0, true));
    assert_eq!(allowed(6, ""), (1, false));
    assert_eq!(allowed(7, broken), (0, true));
}

/// What is told of the namespace `a`.
fn skipped(index: &Index) -> Vec<String> {
    let objects = index.skipped_objects(&"a".into()).map(|objects| objects.to_vec()).unwrap_or_default();
    objects.iter().map(|object| format!("{} {}: {}", object.kind, object.name, object.error)).collect()
}

fn quota(name: &str, hard: &str) -> Decoded<ResourceQuota> {
    decoded(&format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"a","uid":"{name}"}},"spec":{{"hard":{hard}}}}}"#
    ))
}

#[test]
fn what_cannot_be_decoded_is_named_until_it_can_be_or_is_gone() {
    let mut index = Index::new(IndexSettings::default());
    assert!(!index.apply_decoded(&(), &quota("bad", "5")), "no Queue has to tell it");
    apply(&mut index, "{kind: Queue, metadata: {name: q, namespace: a}, spec: {}}");
    let expected = "resourcequotas bad: spec.hard: invalid type: integer `5`, expected a map";
    assert_eq!(skipped(&index), [expected]);
    assert!(!index.apply_decoded(&(), &quota("bad", "5")), "it is known");
    assert!(index.apply_decoded(&(), &quota("worse", "[]")));
    assert_eq!(skipped(&index).len(), 2);
    assert!(index.apply_decoded(&(), &quota("worse", "{}")));
    assert_eq!(skipped(&index), [expected]);
    assert!(index.delete::<ResourceQuota>(&(), "a", "bad", "bad"));
    assert_eq!(skipped(&index), [""; 0]);

    // A full list ends what was deleted unseen, and the list of another kind does not.
    index.apply_decoded(&(), &quota("bad", "5"));
    index.relist_begin::<LeanPod>(&());
    assert!(!index.relist_finish::<LeanPod>(&()));
    assert_eq!(skipped(&index), [expected]);
    index.relist_begin::<ResourceQuota>(&());
    assert!(index.relist_finish::<ResourceQuota>(&()));
    assert_eq!(skipped(&index), [""; 0]);
}

#[test]
fn few_of_many_that_cannot_be_decoded_are_kept() {
    let mut index = Index::new(IndexSettings::default());
    for number in 0..1000 {
        index.apply_decoded::<ResourceQuota>(&(), &quota(&format!("bad-{number}"), "5"));
    }
    assert_eq!(skipped(&index).len(), 8);
}

#[test]
fn the_reason_is_short_and_names_the_field() {
    let text = |weight: &str| {
        format!(
            r#"{{"kind":"Queue","metadata":{{"name":"q","namespace":"a","uid":"u"}},"spec":{{"weight":{weight}}}}}"#
        )
    };
    let error = |weight: &str| decoded::<Queue>(&text(weight)).0.unwrap_err().error;
    assert_eq!(error("[]"), "spec.weight: invalid type: sequence, expected i32");
    assert_eq!(error(&format!("\"{}\"", "x".repeat(1_000_000))).chars().count(), 300);
}

#[test]
fn a_queue_whose_status_cannot_be_decoded_has_its_share_all_the_same() {
    let text = |status: &str| {
        format!(
            r#"{{"metadata":{{"name":"q","namespace":"a","uid":"u"}},"spec":{{"weight":7,"admission":"Quota"}},"status":{status}}}"#
        )
    };
    for status in ["5", r#"{"windows":{"cpu":{"size":"6"}}}"#] {
        let mut index = Index::new(IndexSettings::default());
        index.apply_decoded::<Queue>(&(), &decoded(&text(status)));
        let queue = namespace_a(&mut index).queues[0].clone();
        assert_eq!((queue.weight, &queue.invalid), (7, &None), "{status}");
        assert!(skipped(&index)[0].starts_with("queues.quotient.dev q: "), "{:?}", skipped(&index));
        index.apply_decoded::<Queue>(&(), &decoded(&text("{}")));
        assert_eq!(skipped(&index), [""; 0]);
    }
    let job = r#"{"metadata":{"name":"j","namespace":"a"},"spec":{"minAvailable":1,"tasks":[]},"status":[]}"#;
    let mut index = index_of("{kind: Queue, metadata: {name: q, namespace: a}, spec: {}}");
    index.apply_decoded::<QueueJob>(&(), &decoded(job));
    assert_eq!(namespace_a(&mut index).queue_jobs[0].invalid, None);
}

#[test]
fn what_is_kept_of_an_object_stays_when_a_list_shows_it_as_undecodable() {
    let mut index = index_of(
        "{kind: Pod, metadata: {name: p, namespace: a, uid: u, resourceVersion: '1'}, spec: {containers: []}}",
    );
    let before = printed(&mut index);
    let broken = r#"{"kind":"Pod","metadata":{"name":"p","namespace":"a","uid":"u","resourceVersion":"2"},"spec":{"priority":"high"}}"#;
    index.relist_begin::<LeanPod>(&());
    assert!(!index.apply_decoded::<LeanPod>(&(), &decoded(broken)));
    assert!(!index.relist_finish::<LeanPod>(&()));
    assert_eq!(printed(&mut index), before);
    assert!(index.delete::<LeanPod>(&(), "a", "p", "u"));
}

#[test]
fn a_placement_with_too_many_parts_fits_no_node_and_is_named() {
    let pod = |values: usize| {
        let names: Vec<String> = (0..values).map(|number| format!("\"n{number}\"")).collect();
        let term = format!(
            r#"{{"matchFields":[{{"key":"metadata.name","operator":"NotIn","values":[{}]}}]}}"#,
            names.join(",")
        );
        let required = format!(
            r#"{{"requiredDuringSchedulingIgnoredDuringExecution":{{"nodeSelectorTerms":[{term}]}}}}"#
        );
        decoded::<LeanPod>(&format!(
            r#"{{"metadata":{{"name":"p","namespace":"a","uid":"u"}},"spec":{{"containers":[],"affinity":{{"nodeAffinity":{required}}}}}}}"#
        ))
    };
    let mut index = index_of("{kind: Queue, metadata: {name: q, namespace: a}, spec: {}}");
    let required = |index: &mut Index| namespace_a(index).pods[0].shape.placement.required.clone();
    index.apply_decoded::<LeanPod>(&(), &pod(1022));
    assert_eq!((required(&mut index)[0].0.len(), skipped(&index).len()), (1, 0));
    index.apply_decoded::<LeanPod>(&(), &pod(1023));
    assert_eq!(required(&mut index), [NodeTerm::default()]);
    assert_eq!(
        skipped(&index),
        [
            "pods p: its node selector, node affinity and tolerations have 1025 parts, and of pods with more than 1024 none is placed"
        ]
    );
    index.apply_decoded::<LeanPod>(&(), &pod(2));
    assert_eq!(skipped(&index), [""; 0]);
}

#[test]
fn of_the_labels_of_a_pod_so_many_are_kept() {
    let labels: Vec<String> = (1000..2000).map(|number| format!(r#""l{number}":"x""#)).collect();
    let text = format!(
        r#"{{"metadata":{{"name":"p","namespace":"a","uid":"u","labels":{{{}}}}},"spec":{{"containers":[]}}}}"#,
        labels.join(",")
    );
    let mut index = index_of("{kind: Queue, metadata: {name: q, namespace: a}, spec: {}}");
    index.apply_decoded::<LeanPod>(&(), &decoded(&text));
    let kept = namespace_a(&mut index).pods[0].metadata.labels.iter().count();
    assert_eq!(kept, 256);
    assert_eq!(skipped(&index), ["pods p: it has 1000 labels, of which 256 are kept"]);
}

#[test]
fn a_selector_with_too_many_values_allows_no_disruption() {
    let values: Vec<String> = (0..1024).map(|number| format!("\"v{number}\"")).collect();
    let text = format!(
        r#"{{"metadata":{{"name":"web","namespace":"a","uid":"u"}},"spec":{{"selector":{{"matchExpressions":[
        {{"key":"k","operator":"In","values":[{}]}}]}}}},"status":{{"disruptionsAllowed":1}}}}"#,
        values.join(",")
    );
    let mut index = index_of("{kind: Queue, metadata: {name: q, namespace: a}, spec: {}}");
    index.apply_decoded::<PodDisruptionBudget>(&(), &decoded(&text));
    let budget = namespace_a(&mut index).budgets[0].clone();
    assert_eq!((budget.allowed, budget.selector), (0, Selector::default()));
    assert_eq!(
        skipped(&index),
        [
            "poddisruptionbudgets.policy web: its selector has 1025 labels and values, and of more than 1024 none is kept"
        ]
    );
}
