//! Removing the scheduling gates of a namespace, also while the operator is down.

use std::time::{Duration, Instant};

use kube::api::Patch;
use quotient_crds::names::SHARE_GATE;
use serde_json::{Value, json};

use crate::exit::{ClusterError, CommandError};
use crate::objects::{Kind, find_text};
use crate::source::Live;

/// How long the API server may go on gating new pods after the Queue is gone: it learns of that by a watch.
const SETTLED: Duration = Duration::from_secs(1);

/// How long removing may take in all.
const PATIENCE: Duration = Duration::from_secs(120);

/// Removes the gate of every pod of `namespace`, and returns how many. Pods that are created meanwhile are among them.
pub(super) async fn remove_all(live: &Live, namespace: &str) -> Result<usize, CommandError> {
    let began = Instant::now();
    let (mut removed, mut last) = (0_usize, began);
    while last.elapsed() < SETTLED {
        for pod in gated(live, namespace).await? {
            remove(live, namespace, &pod).await?;
            removed = removed.saturating_add(1);
            last = Instant::now();
        }
        if began.elapsed() >= PATIENCE {
            let seconds = PATIENCE.as_secs();
            return Err(CommandError::TimedOut(format!(
                "pods of namespace {namespace} are still being gated after {seconds} s; look whether it has a Queue: kubectl -n \
                 {namespace} get queues.quotient.dev"
            )));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(removed)
}

/// The names of the pods that have the gate.
async fn gated(live: &Live, namespace: &str) -> Result<Vec<String>, ClusterError> {
    let pods = live.of(Kind::Pod.api(), Some(namespace)).list().await?;
    let is_gated = |pod: &&Value| {
        let gates = pod.pointer("/spec/schedulingGates").and_then(Value::as_array);
        gates.is_some_and(|gates| gates.iter().any(|gate| gate["name"] == SHARE_GATE))
    };
    let names = pods.iter().filter(is_gated).filter_map(|pod| find_text(pod, "/metadata/name"));
    Ok(names.map(str::to_owned).collect())
}

/// Takes the gate from the list by its name. A pod that is gone meanwhile needs nothing any more.
async fn remove(live: &Live, namespace: &str, pod: &str) -> Result<(), ClusterError> {
    let patch = json!({"spec": {"schedulingGates": [{"$patch": "delete", "name": SHARE_GATE}]}});
    match live.of(Kind::Pod.api(), Some(namespace)).patch(pod, &Patch::Strategic(&patch)).await {
        Err(error) if !error.is_not_found() => Err(error),
        _ => Ok(()),
    }
}
