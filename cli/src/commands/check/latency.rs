//! How long the quota controller takes to enforce a new quota: every reclaim waits for that once.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::exit::ClusterError;
use crate::objects::Kind;
use crate::source::{Collection, Live};

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
    let quotas = live.of(Kind::ResourceQuota.api(), Some(namespace));
    let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": NAME}, "spec": {"hard": {COUNTED: "1"}}});
    quotas.create(&quota).await?;
    let began = Instant::now();
    let enforced = wait(quotas, began).await;
    quotas.delete(NAME).await?;
    enforced
}

async fn wait(quotas: Collection<'_>, began: Instant) -> Result<Duration, ClusterError> {
    loop {
        let quota = quotas.get(NAME).await?;
        let elapsed = began.elapsed();
        if elapsed >= PATIENCE || quota.is_some_and(|quota| quota.pointer("/status/hard").is_some()) {
            return Ok(elapsed);
        }
        tokio::time::sleep(INTERVAL).await;
    }
}
