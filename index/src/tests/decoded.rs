//! Objects that cannot be decoded.

use k8s_openapi::api::apps::v1::ReplicaSet;
use quotient_crds::{Queue, QueueJob, QueueJobStatus};
use serde::de::DeserializeOwned;

use super::kinds::KINDS;
use super::{at, index_of, story};
use crate::pods::LeanPod;
use crate::{Decoded, Index, IndexSettings, Keeps};

/// A map in a map, so many times.
fn nested(levels: usize) -> String {
    format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels))
}

fn decoded<K: DeserializeOwned>(text: &str) -> Decoded<K> {
    serde_json::from_str(text).unwrap()
}

/// A list, as kube's client reads it.
fn listed<K: DeserializeOwned + Clone>(items: &[String]) -> Vec<Decoded<K>> {
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
        Keeps::<Decoded<QueueJob>>::apply(&mut index, job);
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
            let text = format!(r#"{{"kind":"{kind}","metadata":{},"spec":{{}}}}"#, metadata(&fields));
            let set = decoded::<LeanPod>(&text);
            assert!(set.0.is_ok(), "{kind}: {:?}", set.0);
        }
        let spec = r#"{"replicas":2,"selector":{},"template":{"spec":{"containers":[]}}}"#;
        let text = format!(r#"{{"kind":"ReplicaSet","metadata":{},"spec":{spec}}}"#, metadata(&fields));
        let set = decoded::<ReplicaSet>(&text).0.unwrap();
        assert_eq!(set.spec.and_then(|spec| spec.replicas), Some(2));
        assert_eq!(set.metadata.labels.unwrap()["app"], "web");
    }
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
fn what_is_kept_of_an_object_stays_when_a_list_shows_it_as_undecodable() {
    let mut index = index_of(
        "{kind: Pod, metadata: {name: p, namespace: a, uid: u, resourceVersion: '1'}, spec: {containers: []}}",
    );
    let before = story::tell(&index.snapshot(at("12:00:00")));
    let broken = r#"{"kind":"Pod","metadata":{"name":"p","namespace":"a","uid":"u","resourceVersion":"2"},"spec":{"priority":"high"}}"#;
    Keeps::<Decoded<LeanPod>>::relist_begin(&mut index);
    assert!(!Keeps::<Decoded<LeanPod>>::apply(&mut index, &decoded(broken)));
    assert!(!Keeps::<Decoded<LeanPod>>::relist_finish(&mut index));
    assert_eq!(story::tell(&index.snapshot(at("12:00:00"))), before);
    assert!(Keeps::<Decoded<LeanPod>>::delete(&mut index, "a", "p", "u"));
}
