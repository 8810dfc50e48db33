//! Waiting for something to become true.

use std::fmt::{Debug, Display};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};

/// How long things may take that take a second on an idle machine: others may be busy on it.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// How long to wait between two looks, at least and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(250));

/// Looks again and again until `look` returns a value; what it returned as an error is what it saw instead, and the last one
/// is in the error message when `timeout` has passed. A look that hangs is given up then, too.
///
/// It looks every ten milliseconds at first. What takes longer is looked at less often, by an eighth of the time that it took
/// already: looks cost the API server more than what most tests ask it for.
///
/// ```no_run
/// # use quotient_testbed::eventually;
/// # use k8s_openapi::api::core::v1::Pod;
/// # async fn example(pods: kube::Api<Pod>) -> anyhow::Result<()> {
/// let pod = eventually("web-0 is Running", std::time::Duration::from_secs(5), async || {
///     let pod = pods.get("web-0").await.map_err(|error| error.to_string())?;
///     match pod.status.as_ref().and_then(|status| status.phase.as_deref()) {
///         Some("Running") => Ok(pod),
///         other => Err(format!("its phase is {other:?}")),
///     }
/// })
/// .await?;
/// # Ok(())
/// # }
/// ```
pub async fn eventually<T, E: Display>(
    what: impl Into<String>,
    timeout: Duration,
    mut look: impl AsyncFnMut() -> Result<T, E>,
) -> anyhow::Result<T> {
    let started = Instant::now();
    let mut last = String::from("nothing, the first look did not return");
    loop {
        let left = timeout.saturating_sub(started.elapsed());
        match tokio::time::timeout(left, look()).await {
            Ok(Ok(value)) => return Ok(value),
            // The alternate form of an `anyhow::Error` names its causes; others do not care.
            Ok(Err(seen)) => last = format!("{seen:#}"),
            Err(_elapsed) => {}
        }
        if started.elapsed() >= timeout {
            bail!("waiting until {}: still not after {timeout:?}; last seen: {last}", what.into());
        }
        tokio::time::sleep(started.elapsed().mul_f64(0.125).clamp(PAUSES.0, PAUSES.1)).await;
    }
}

/// Waits until `look` returns what is expected, as [`eventually`] does, for [`PATIENCE`].
pub async fn until_is<T: Debug + PartialEq<U>, U: Debug>(
    what: impl Into<String>,
    expected: U,
    mut look: impl AsyncFnMut() -> anyhow::Result<T>,
) -> anyhow::Result<()> {
    eventually(what, PATIENCE, async || {
        let seen = look().await?;
        ensure!(seen == expected, "{seen:?} instead of {expected:?}");
        Ok(())
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_value_is_returned() {
        let mut looks = 0;
        let seen = eventually("three", Duration::from_secs(5), async || {
            looks += 1;
            if looks == 3 { Ok(looks) } else { Err(looks) }
        });
        assert_eq!(seen.await.unwrap(), 3);
    }

    #[tokio::test]
    async fn the_error_says_what_was_seen_last() {
        let error = eventually("pigs fly", Duration::from_millis(50), async || Err::<(), _>("they walk"))
            .await
            .unwrap_err();
        assert_eq!(error.to_string(), "waiting until pigs fly: still not after 50ms; last seen: they walk");
    }

    #[tokio::test]
    async fn a_look_that_hangs_is_given_up() {
        let hang = async || std::future::pending::<Result<(), String>>().await;
        let error = eventually("it returns", Duration::from_millis(50), hang).await.unwrap_err();
        assert!(error.to_string().contains("did not return"), "{error}");
    }
}
