//! QueueJobs from manifests, and what is wrong with them.

use super::{played, read};
use crate::output::Format;

fn job(name: &str, spec: &str) -> String {
    let template = "template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}";
    let spec = spec.replace("TEMPLATE", template);
    format!(
        "apiVersion: quotient.dev/v1alpha1\nkind: QueueJob\nmetadata: {{name: {name}, namespace: a}}\nspec: {spec}\n---\n"
    )
}

#[test]
fn what_cannot_be_read_is_named() {
    for (spec, sentence) in [
        ("{tasks: [{name: w, replica: 2, TEMPLATE}]}", "spec.tasks[0].replica: a QueueJob has no such field"),
        ("{tasks: [{name: w, template: {spec: {containers: 1}}}]}", "spec.tasks[0].template: "),
        (
            "{tasks: [{name: w, template: {spec: {containers: [{name: c, resources: {requests: {cpu: x}}}]}}}]}",
            "spec.tasks[0].template: read spec.template.spec.containers[c].resources.requests.cpu",
        ),
    ] {
        let problems = read(&[("input.yaml", &job("bad", spec))]).err().unwrap_or_default();
        assert!(problems.contains(sentence) && problems.contains("QueueJob a/bad"), "{spec}: {problems}");
    }
}

/// The API server would refuse it, and the plan says why it waits.
#[test]
fn numbers_that_contradict_each_other_are_played_all_the_same() {
    for spec in [
        "{tasks: []}",
        "{minAvailable: -1, tasks: [{name: w, TEMPLATE}]}",
        "{minAvailable: 3, tasks: [{name: w, replicas: 2, TEMPLATE}, {name: w, TEMPLATE}]}",
    ] {
        let cluster = read(&[("input.yaml", &job("odd", spec))]).unwrap();
        assert!(played(&cluster, Format::Table).ends_with("Stable: nothing more would happen.\n"), "{spec}");
    }
}
