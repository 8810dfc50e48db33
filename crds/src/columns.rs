//! The columns of `kubectl get`.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinition,
};

/// A column: its title, the type and the path of its value, what it shows, and 1 if only `-o wide` shows it.
type Column = (&'static str, &'static str, &'static str, &'static str, i32);

/// The columns of Queues.
pub(crate) const QUEUE: [Column; 13] = [
    (
        "Parent",
        "string",
        ".spec.parentRef.name",
        "The queue that it takes its share from; empty for the cluster",
        0,
    ),
    ("Weight", "integer", ".spec.weight", "The queue's weight against the others", 0),
    ("Demand", "string", ".status.summary.demand", "The demand of the queue", 0),
    ("Deserved", "string", ".status.summary.deserved", "The deserved share", 0),
    ("Allocated", "string", ".status.summary.allocated", "The allocated quota", 0),
    ("Used", "string", ".status.summary.used", "What the pods request", 0),
    (
        "Preempting",
        "string",
        ".status.summary.preempting",
        "The room that is free or being freed for the queue and not allocated yet",
        0,
    ),
    (
        "State",
        "string",
        ".status.summary.state",
        "OK, Borrowing, Paused, a mode, or the most severe reason",
        0,
    ),
    ("Age", "date", ".metadata.creationTimestamp", "Time since the queue was created", 0),
    (
        "Nominal",
        "string",
        ".status.summary.nominal",
        "The deserved share if every queue asked for everything",
        1,
    ),
    ("Guaranteed", "string", ".status.summary.guaranteed", "The guaranteed amounts", 1),
    ("Limit", "string", ".status.summary.limit", "The limit", 1),
    ("Pods", "string", ".status.summary.pods", "Running pods and all pods that are not finished", 1),
];

/// The columns of QueueJobs.
pub(crate) const QUEUE_JOB: [Column; 7] = [
    ("State", "string", ".status.state", "Waiting, Starting, Running, Suspended, Complete or Failed", 0),
    (
        "Min",
        "integer",
        ".status.minAvailable",
        "How many pods have to run or have succeeded for the gang to run",
        0,
    ),
    ("Slots", "integer", ".status.slots", "How many pods it may run now", 0),
    ("Running", "integer", ".status.running", "How many of its pods run", 0),
    ("Succeeded", "integer", ".status.succeeded", "How many of its pods have succeeded", 0),
    (
        "Reason",
        "string",
        r#".status.conditions[?(@.type=="Admitted")].reason"#,
        "Why it has its slots, or why it has none",
        0,
    ),
    ("Age", "date", ".metadata.creationTimestamp", "Time since the QueueJob was created", 0),
];

/// The definition with these columns. Rejected: attributes of the derive, which take six lines for each.
pub(crate) fn with_columns(
    mut definition: CustomResourceDefinition,
    columns: &[Column],
) -> CustomResourceDefinition {
    let columns = columns.iter().map(|(name, type_, path, description, priority)| {
        let [name, type_, json_path, description] =
            [name, type_, path, description].map(|text| (*text).to_owned());
        let priority = Some(*priority).filter(|priority| *priority > 0);
        CustomResourceColumnDefinition {
            name,
            type_,
            json_path,
            description: Some(description),
            priority,
            format: None,
        }
    });
    let columns: Vec<CustomResourceColumnDefinition> = columns.collect();
    for version in &mut definition.spec.versions {
        version.additional_printer_columns = Some(columns.clone());
    }
    definition
}
