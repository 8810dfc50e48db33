//! The columns of `kubectl get`.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinition,
};

/// The columns of Queues: the title, the type and the path of the value, 1 if only `-o wide` shows it, and what it shows.
pub(crate) const QUEUE: &str = r#"
    Parent      string   .spec.parentRef.name         0  The queue that it takes its share from; empty for the cluster
    Weight      integer  .spec.weight                 0  The queue's weight against the others
    Demand      string   .status.summary.demand       0  The demand of the queue
    Deserved    string   .status.summary.deserved     0  The deserved share
    Allocated   string   .status.summary.allocated    0  The allocated quota
    Used        string   .status.summary.used         0  What the pods request
    Preempting  string   .status.summary.preempting   0  The room that is free or being freed for the queue and not allocated yet
    State       string   .status.summary.state        0  OK, Borrowing, Paused, a mode, or the most severe reason
    Age         date     .metadata.creationTimestamp  0  Time since the queue was created
    Nominal     string   .status.summary.nominal      1  The deserved share if every queue asked for everything
    Guaranteed  string   .status.summary.guaranteed   1  The guaranteed amounts
    Limit       string   .status.summary.limit        1  The limit
    Pods        string   .status.summary.pods         1  Running pods and all pods that are not finished
"#;

/// The columns of QueueJobs.
pub(crate) const QUEUE_JOB: &str = r#"
    State      string   .status.state                0  Waiting, Starting, Running, Suspended, Complete or Failed
    Min        integer  .status.minAvailable         0  How many pods have to run or have succeeded for the gang to run
    Slots      integer  .status.slots                0  How many pods it may run now
    Running    integer  .status.running              0  How many of its pods run
    Succeeded  integer  .status.succeeded            0  How many of its pods have succeeded
    Reason     string   .status.conditions[?(@.type=="Admitted")].reason  0  Why it has its slots, or why it has none
    Age        date     .metadata.creationTimestamp  0  Time since the QueueJob was created
"#;

/// The definition with the columns of this table. Rejected: attributes of the derive, which take six lines for each.
pub(crate) fn with_columns(
    mut definition: CustomResourceDefinition,
    table: &str,
) -> CustomResourceDefinition {
    let columns: Vec<CustomResourceColumnDefinition> = table.lines().filter_map(column).collect();
    for version in &mut definition.spec.versions {
        version.additional_printer_columns = Some(columns.clone());
    }
    definition
}

/// The column of one line; none for an empty one.
fn column(line: &str) -> Option<CustomResourceColumnDefinition> {
    let (name, rest) = word(line)?;
    let (type_, rest) = word(rest)?;
    let (json_path, rest) = word(rest)?;
    let (priority, description) = word(rest)?;
    Some(CustomResourceColumnDefinition {
        name: name.to_owned(),
        type_: type_.to_owned(),
        json_path: json_path.to_owned(),
        description: Some(description.to_owned()),
        priority: (priority == "1").then_some(1),
        format: None,
    })
}

/// The first word of `line`, and what follows.
fn word(line: &str) -> Option<(&str, &str)> {
    let (word, rest) = line.trim_start().split_once(' ')?;
    Some((word, rest.trim_start()))
}
