//! Asking the components whether they are ready.

use std::time::{Duration, Instant};

use kube::{Client, Config};

use super::components::{Component, HealthCheck};
use super::layout::Layout;
use super::process::ManagedProcess;
use super::{TestBedError, WaitError};

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
) -> Result<(), TestBedError> {
    let check = component.health_check(layout);
    let client = client(check, layout)?;
    let started = Instant::now();
    loop {
        process.must_run()?;
        let last = match tokio::time::timeout(ANSWER, ask(&client, check.path)).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(problem)) => problem,
            Err(_elapsed) => "no answer".to_owned(),
        };
        if started.elapsed() >= PATIENCE {
            let what = format!("{component} is ready (log {})", process.log_path().display());
            return Err(WaitError { what, timeout: PATIENCE, last }.into());
        }
        tokio::time::sleep(POLL).await;
    }
}

async fn ask(client: &Client, path: &str) -> Result<(), String> {
    let request = http::Request::get(path).body(Vec::new()).map_err(|error| error.to_string())?;
    client.request_text(request).await.map(drop).map_err(|error| error.to_string())
}

/// A client of the component itself.
pub(super) fn client(check: HealthCheck, layout: &Layout) -> Result<Client, TestBedError> {
    let scheme = if check.encrypted { "https" } else { "http" };
    let url = format!("{scheme}://127.0.0.1:{}", check.port);
    let of = |reason: String| TestBedError::Client { path: url.clone().into(), reason };
    let mut config = Config::new(url.parse().map_err(|error| of(format!("{error}")))?);
    config.root_cert = Some(vec![layout.authority.certificate_der()]);
    config.default_retry = false;
    Client::try_from(config).map_err(|error| of(error.to_string()))
}
