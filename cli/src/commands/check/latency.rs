//! How long the quota controller takes to enforce a new quota: every reclaim waits for that once.

use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::ResourceQuota;
use kube::Api;
use kube::api::{DeleteParams, PostParams};
use serde_json::json;

use crate::source::{ClusterError, Live};

/// The quota that is created and deleted again.
const NAME: &str = "quotient-check";

/// What it counts: objects of a kind that does not exist, so it limits nothing.
const COUNTED: &str = "count/checks.quotient.dev";

/// How long to wait for it.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often to look.
const INTERVAL: Duration = Duration::from_millis(2);

/// Creates a quota in `namespace` that limits nothing, waits until its status has its amounts, and deletes it.
///
/// Returns at least [`PATIENCE`] if nothing enforced it.
pub(super) async fn measure(live: &Live, namespace: &str) -> Result<Duration, ClusterError> {
    let quotas: Api<ResourceQuota> = Api::namespaced(live.client().clone(), namespace);
    let failed = |verb| move |error| ClusterError::of(error, verb, "resourcequotas", Some(namespace));
    let quota = ResourceQuota {
        metadata: kube::api::ObjectMeta { name: Some(NAME.to_owned()), ..kube::api::ObjectMeta::default() },
        ..serde_json::from_value(json!({"spec": {"hard": {COUNTED: "1"}}})).unwrap_or_default()
    };
    quotas.create(&PostParams::default(), &quota).await.map_err(failed("create"))?;
    let began = Instant::now();
    let enforced = wait(&quotas, began).await;
    quotas.delete(NAME, &DeleteParams::default()).await.map_err(failed("delete"))?;
    enforced.map_err(failed("get"))
}

async fn wait(quotas: &Api<ResourceQuota>, began: Instant) -> Result<Duration, kube::Error> {
    loop {
        let status = quotas.get(NAME).await?.status;
        let elapsed = began.elapsed();
        if elapsed >= PATIENCE || status.is_some_and(|status| status.hard.is_some()) {
            return Ok(elapsed);
        }
        tokio::time::sleep(INTERVAL).await;
    }
}
