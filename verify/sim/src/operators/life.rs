//! The lives of an operator, one after the other.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use quotient_operator::clock::Clock;

use super::port::Port;
use super::{Line, Stage};

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
pub(super) async fn live(stage: Arc<Stage>, line: Arc<Line>) {
    loop {
        let (life, stop) = line.begin();
        let time = Arc::clone(&line);
        let identity = format!("{}_{life}", line.name());
        let settings =
            line.options.settings(&identity, Clock::of(move || time.now()).computing(line.options.computing));
        let client = Client::new(Port::new(Arc::clone(&stage), Arc::clone(&line), life), super::NAMESPACE);
        let run = quotient_operator::run(settings, client, stop.clone());
        let (why, down) = tokio::select! {
            biased;
            down = line.until_crash() => ("crashed".to_owned(), down),
            result = run => match result {
                Ok(()) => ("ended".to_owned(), line.options.down),
                Err(error) => (error.to_string(), line.options.down),
            },
        };
        line.end(why);
        if stop.is_cancelled() {
            return;
        }
        tokio::time::sleep(down).await;
    }
}
