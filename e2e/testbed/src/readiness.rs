//! Asking the components whether they are ready.

use std::time::{Duration, Instant};

use anyhow::bail;
use kube::{Client, Config};

use super::components::{Component, HealthCheck};
use super::layout::Layout;
use super::process::ManagedProcess;

/// How long a component may take. They need one or two seconds; a machine that compiles at the same time needs more.
const PATIENCE: Duration = Duration::from_secs(90);
/// How often each is asked.
const POLL: Duration = Duration::from_millis(5);
/// How long one question may take, so that one unlucky connection does not cost the whole patience.
const ANSWER: Duration = Duration::from_secs(2);

/// Waits until a component says that it is ready; an error as soon as its process ends.
pub(super) async fn wait(
    component: Component,
    process: &ManagedProcess,
    layout: &Layout,
) -> anyhow::Result<()> {
    let check = component.health_check(layout);
    let client = client(check, layout)?;
    let started = Instant::now();
    loop {
        process.must_run()?;
        let last = match tokio::time::timeout(ANSWER, ask(&client, check.path)).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(problem)) => format!("{problem:#}"),
            Err(_elapsed) => "no answer".to_owned(),
        };
        if started.elapsed() >= PATIENCE {
            let log = process.log_path().display();
            bail!("{component} is not ready after {PATIENCE:?} (log {log}); last seen: {last}");
        }
        tokio::time::sleep(POLL).await;
    }
}

async fn ask(client: &Client, path: &str) -> anyhow::Result<()> {
    client.request_text(http::Request::get(path).body(Vec::new())?).await?;
    Ok(())
}

/// A client of the component itself.
pub(super) fn client(check: HealthCheck, layout: &Layout) -> anyhow::Result<Client> {
    let scheme = if check.encrypted { "https" } else { "http" };
    let mut config = Config::new(format!("{scheme}://127.0.0.1:{}", check.port).parse()?);
    config.root_cert = Some(vec![layout.authority.certificate_der()]);
    config.default_retry = false;
    Ok(Client::try_from(config)?)
}
