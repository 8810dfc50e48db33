//! Objects of which a tenant has thousands.

use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use kube::Api;
use kube::api::PostParams;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// How many resources a wide pod requests; its object is nearly as large as one may be.
pub const WIDE: usize = 12_000;

/// How many are created at a time.
const AT_ONCE: usize = 32;

/// How often a pod is tried that the quota refuses, and how long it waits each time: the operator raises a quota behind the pods
/// that run, and admission gives up where others changed the quota's status three times meanwhile.
const TRIES: usize = 300;
const RETRY: Duration = Duration::from_millis(200);

/// How many objects a test of a crowd has: `few` in every run of all tests, `many` with `QUOTIENT_CROWD=large`, as in
/// `make hostile`.
pub fn crowd_size(few: usize, many: usize) -> usize {
    if std::env::var("QUOTIENT_CROWD").is_ok_and(|size| size == "large") { many } else { few }
}

/// Creates all of these at the pace of the API server, and where a quota holds, at that of the quota.
pub async fn create<K>(all: &Api<K>, objects: impl Iterator<Item = Value>) -> anyhow::Result<()>
where
    K: Clone + std::fmt::Debug + DeserializeOwned + Serialize,
{
    let create = async |object: Value| -> anyhow::Result<()> {
        let object = serde_json::from_value(object)?;
        for _ in 1..TRIES {
            match all.create(&PostParams::default(), &object).await {
                Err(kube::Error::Api(status)) if status.is_forbidden() || status.is_conflict() => {
                    tokio::time::sleep(RETRY).await;
                }
                other => return Ok(other.map(drop)?),
            }
        }
        Ok(all.create(&PostParams::default(), &object).await.map(drop)?)
    };
    stream::iter(objects).map(create).buffer_unordered(AT_ONCE).try_collect().await
}

/// A ReplicaSet that was lowered to no pods, so that it is kept in mind and nothing starts.
pub fn resting(at: usize) -> Value {
    json!({
        "metadata": {
            "name": format!("rs-{at}"),
            "annotations": {"quotient.dev/replicas-before": "1", "quotient.dev/replicas-lowered-to": "0"},
        },
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": format!("rs-{at}")}},
            "template": {
                "metadata": {"labels": {"app": format!("rs-{at}")}},
                "spec": {"containers": [{"name": "main", "image": "main"}]},
            },
        },
    })
}

/// The autoscaler of one of these ReplicaSets.
pub fn autoscaler(at: usize) -> Value {
    let target = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("rs-{at}")});
    json!({"metadata": {"name": format!("rs-{at}")}, "spec": {"maxReplicas": 2, "scaleTargetRef": target}})
}

/// A pod of the tenant `crowd` with a label of its own.
pub fn member(at: usize) -> Value {
    json!({
        "metadata": {"name": format!("member-{at}"), "namespace": "crowd", "labels": {"member": format!("{at}")}},
        "spec": {"terminationGracePeriodSeconds": 0, "containers": [{
            "name": "main", "image": "main", "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
        }]},
    })
}

/// A budget for one of these pods, and a selector that no other budget has.
pub fn budget(at: usize, pods: usize) -> Value {
    let member = format!("{}", at.checked_rem(pods).unwrap_or_default());
    let selector = json!({"matchExpressions": [
        {"key": "member", "operator": "In", "values": [member]},
        {"key": format!("absent-{at}"), "operator": "DoesNotExist"},
    ]});
    json!({"metadata": {"name": format!("budget-{at}")}, "spec": {"maxUnavailable": 1, "selector": selector}})
}

/// A pod that no scheduler looks at and that requests resources that it has made up.
pub fn wide(at: usize, resources: usize) -> Value {
    let invented = (0..resources).map(|name| (format!("x.io/{at}-{name}"), json!("1")));
    let amounts: Map<String, Value> = [("cpu".to_owned(), json!("1")), ("memory".to_owned(), json!("1Gi"))]
        .into_iter()
        .chain(invented)
        .collect();
    json!({
        "metadata": {"name": format!("wide-{at}")},
        "spec": {
            "schedulerName": "none",
            "containers": [{"name": "main", "image": "main", "resources": {"requests": amounts, "limits": amounts}}],
        },
    })
}
