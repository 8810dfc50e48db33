//! The lives of an operator, one after the other.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use quotient_operator::clock::Clock;
use tower::service_fn;

use super::client::SimClient;
use super::{OperatorLink, SimCluster};
use crate::faults::NAMESPACE;

/// How long it takes until an operator that ended by itself is back.
const DOWN: Duration = Duration::from_secs(2);

/// Runs life after life, until the operator is told to end.
pub(super) async fn live(cluster: Arc<SimCluster>, link: Arc<OperatorLink>) {
    loop {
        let (life, stop) = link.begin();
        let time = Arc::clone(&link);
        let identity = format!("{}_{life}", link.name());
        let settings =
            link.options.settings(&identity, Clock::of(move || time.now()).computing(link.options.computing));
        let client = SimClient::new(Arc::clone(&cluster), Arc::clone(&link), life);
        let client = Client::new(service_fn(move |request| client.clone().pass(request)), NAMESPACE);
        let run = quotient_operator::run(settings, client, stop.clone());
        let (why, down) = tokio::select! {
            biased;
            down = link.until_crash() => ("crashed".to_owned(), down),
            result = run => match result {
                Ok(()) => ("ended".to_owned(), DOWN),
                Err(error) => (error.to_string(), DOWN),
            },
        };
        link.end(why);
        if stop.is_cancelled() {
            return;
        }
        tokio::time::sleep(down).await;
    }
}
