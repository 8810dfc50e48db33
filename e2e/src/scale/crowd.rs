//! Creating very many objects over many connections at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use kube::Client;
use tokio::task::JoinSet;

use crate::demo::Narrator;

/// How many requests are under way at once. The client speaks HTTP/1.1: each has a connection of its own.
const CONNECTIONS: usize = 32;
/// Between two lines of progress.
pub(super) const PROGRESS: Duration = Duration::from_secs(5);

/// Calls `create` with every number below `count`, and shows now and then how many of `what` there are.
///
/// # Errors
///
/// The first failure; what is under way then is given up.
pub(super) async fn post<F, Created>(
    what: &'static str,
    count: u32,
    narrator: &Narrator,
    client: Client,
    create: F,
) -> anyhow::Result<()>
where
    F: Fn(Client, u32) -> Created + Clone + Send + 'static,
    Created: Future<Output = anyhow::Result<()>> + Send,
{
    let next = Arc::new(AtomicU32::new(0));
    let created = Arc::new(AtomicU32::new(0));
    let mut workers = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (next, created) = (Arc::clone(&next), Arc::clone(&created));
        let (client, create) = (client.clone(), create.clone());
        workers.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return anyhow::Ok(());
                }
                let done = create(client.clone(), number).await;
                done.with_context(|| format!("creating number {number} of {count} {what}"))?;
                created.fetch_add(1, Ordering::Relaxed);
            }
        });
    }

    let mut progress = tokio::time::interval(PROGRESS);
    // The first tick comes at once.
    progress.tick().await;
    loop {
        tokio::select! {
            ended = workers.join_next() => match ended {
                None => return Ok(()),
                Some(ended) => ended.context("posting in the background")??,
            },
            _ = progress.tick() => {
                narrator.line(&format!("     {} of {count} {what}", created.load(Ordering::Relaxed)));
            }
        }
    }
}
