//! The lives of an operator, one after the other.

use std::sync::Arc;

use kube::Client;
use quotient_operator::clock::Clock;

use super::client::SimClient;
use super::{OperatorLink, SimCluster};
use crate::faults::NAMESPACE;

/// Runs life after life, until the operator is told to end.
pub(super) async fn live(cluster: Arc<SimCluster>, link: Arc<OperatorLink>) {
    loop {
        let (life, stop) = link.begin();
        let time = Arc::clone(&link);
        let identity = format!("{}_{life}", link.name());
        let settings =
            link.options.settings(&identity, Clock::of(move || time.now()).computing(link.options.computing));
        let client = Client::new(SimClient::new(Arc::clone(&cluster), Arc::clone(&link), life), NAMESPACE);
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
