//! What makes pods a gang, and which pods of it share what.

use super::index_of;

/// The gang of a pod of the ReplicaSet `r-1` with this metadata, as `name/minimum`.
fn gang(metadata: &str) -> Option<String> {
    gang_of(&format!(
        "{metadata}, ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: r-1, controller: true}}]"
    ))
}

fn gang_of(metadata: &str) -> Option<String> {
    let pod =
        format!("{{kind: Pod, metadata: {{name: p, namespace: a, {metadata}}}, spec: {{containers: []}}}}");
    let snapshot = index_of(&pod).snapshot(super::at("12:00:00"));
    let gang = snapshot.namespaces[&"a".into()].pods[0].gang().cloned();
    gang.map(|gang| format!("{}/{}", gang.name, gang.min_available))
}

#[test]
fn ours() {
    let named = "annotations: {quotient.dev/gang: train, quotient.dev/gang-min-available: '3'}";
    assert_eq!(gang(named).as_deref(), Some("train/3"));
    assert_eq!(gang_of(named).as_deref(), Some("train/3"));
    // Without a name the owner is the gang; without an owner there is none.
    let unnamed = "annotations: {quotient.dev/gang-min-available: '3'}";
    assert_eq!(gang(unnamed).as_deref(), Some("r-1/3"));
    assert_eq!(gang_of(unnamed), None);
    assert_eq!(gang("annotations: {quotient.dev/gang: train}"), None);
}

#[test]
fn a_size_that_is_none_is_ignored() {
    for size in ["", "0", "-1", "two", "1.5", "4294967296", "'3 '"] {
        let size = format!("annotations: {{quotient.dev/gang-min-available: '{}'}}", size.replace('\'', ""));
        assert_eq!(gang(&size), None, "{size}");
    }
}

#[test]
fn of_other_schedulers() {
    for (metadata, expected) in [
        (
            "labels: {pod-group.scheduling.sigs.k8s.io/name: g, pod-group.scheduling.sigs.k8s.io/min-available: '2'}",
            Some("g/2"),
        ),
        ("labels: {scheduling.x-k8s.io/pod-group: g}", None),
        (
            "labels: {kueue.x-k8s.io/pod-group-name: g}, annotations: {kueue.x-k8s.io/pod-group-total-count: '4'}",
            Some("g/4"),
        ),
        ("labels: {kueue.x-k8s.io/pod-group-name: g}", None),
        ("annotations: {scheduling.k8s.io/group-name: g}", None),
        (
            "annotations: {scheduling.k8s.io/group-name: g, scheduling.volcano.sh/group-min-member: '5'}",
            Some("g/5"),
        ),
        (
            "annotations: {scheduling.volcano.sh/group-name: g, scheduling.volcano.sh/group-min-member: '5'}",
            Some("g/5"),
        ),
    ] {
        assert_eq!(gang(metadata).as_deref(), expected, "{metadata}");
    }
}

#[test]
fn of_yunikorn() {
    let metadata = |labels: &str, groups: &str| {
        format!(
            "labels: {{{labels}}}, annotations: {{yunikorn.apache.org/task-group-name: workers, \
             yunikorn.apache.org/task-groups: '{groups}'}}"
        )
    };
    let groups =
        r#"[{"name": "driver", "minMember": 1}, {"name": "workers", "minMember": 6, "minResource": {}}]"#;
    assert_eq!(gang(&metadata("", groups)).as_deref(), Some("r-1/workers/6"));
    assert_eq!(gang(&metadata("applicationId: spark", groups)).as_deref(), Some("spark/workers/6"));
    assert_eq!(
        gang(&metadata("yunikorn.apache.org/app-id: spark", groups)).as_deref(),
        Some("spark/workers/6")
    );
    for groups in [
        "",
        "[",
        "{}",
        "[1]",
        r#"[{"name": "driver", "minMember": 1}]"#,
        r#"[{"name": "workers"}]"#,
        r#"[{"name": "workers", "minMember": -1}]"#,
        r#"[{"name": "workers", "minMember": 4294967296}]"#,
    ] {
        assert_eq!(gang(&metadata("", groups)), None, "{groups}");
    }
}

#[test]
fn ours_is_heard_first() {
    let both = "annotations: {quotient.dev/gang: ours, quotient.dev/gang-min-available: '3', \
                kueue.x-k8s.io/pod-group-total-count: '4'}, labels: {kueue.x-k8s.io/pod-group-name: theirs}";
    assert_eq!(gang(both).as_deref(), Some("ours/3"));
    // Where ours cannot be read, theirs still counts.
    assert_eq!(gang(&both.replace("'3'", "many")).as_deref(), Some("theirs/4"));
}
