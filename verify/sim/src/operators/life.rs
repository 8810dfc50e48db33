//! The lives of an operator, one after the other.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use quotient_operator::clock::Clock;

use super::client::SimClient;
use super::{OperatorLink, SimCluster};

/// How a life ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// When.
    pub time: Duration,
    /// Which life, from 0.
    pub life: u32,
    /// `crashed`, `ended` after it was told to, or the error that the process would have ended with.
    pub why: String,
}

impl Exit {
    /// Whether the operator ended because one of its parts panicked: a bug, whatever the fault was.
    pub fn is_panic(&self) -> bool {
        self.why.contains("panic")
    }
}

/// Runs life after life, until the operator is told to end.
pub(super) async fn live(cluster: Arc<SimCluster>, link: Arc<OperatorLink>) {
    loop {
        let (life, stop) = link.begin();
        let time = Arc::clone(&link);
        let identity = format!("{}_{life}", link.name());
        let settings =
            link.options.settings(&identity, Clock::of(move || time.now()).computing(link.options.computing));
        let client =
            Client::new(SimClient::new(Arc::clone(&cluster), Arc::clone(&link), life), super::NAMESPACE);
        let run = quotient_operator::run(settings, client, stop.clone());
        let (why, down) = tokio::select! {
            biased;
            down = link.until_crash() => ("crashed".to_owned(), down),
            result = run => match result {
                Ok(()) => ("ended".to_owned(), link.options.down),
                Err(error) => (error.to_string(), link.options.down),
            },
        };
        link.end(why);
        if stop.is_cancelled() {
            return;
        }
        tokio::time::sleep(down).await;
    }
}
