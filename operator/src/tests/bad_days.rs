//! The whole operator against an API server that has a bad day.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use clap::Parser as _;
use http::Method;
use serde_json::json;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::lease::LeaseError;
use crate::run::{RunError, run};
use crate::settings::Settings;
use crate::tests::api::{Asked, Log, Reply, client};
use crate::tests::objects::{node, queue};

/// A node, two Queues, and a server that stores nothing but answers as if it did.
struct Day {
    refusing: Arc<AtomicBool>,
    log: Log,
    shutdown: CancellationToken,
    operator: JoinHandle<Result<(), RunError>>,
}

impl Day {
    fn begin(refusing: bool, flags: &[&str]) -> Self {
        let refusing = Arc::new(AtomicBool::new(refusing));
        let (refuses, version) = (Arc::clone(&refusing), AtomicU32::new(100));
        let (client, log) = client(move |asked| {
            if refuses.load(Ordering::Relaxed) {
                return Reply::failure(503, "ServiceUnavailable", "apiserver is shutting down");
            }
            answer(asked, version.fetch_add(1, Ordering::Relaxed))
        });
        let anywhere = ["quotient-operator", "--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0"];
        let command_line = anywhere.iter().chain(flags);
        let settings = Settings::from_args(&Args::try_parse_from(command_line).unwrap(), "home").unwrap();
        let shutdown = CancellationToken::new();
        let operator = tokio::spawn(run(settings, client, shutdown.clone()));
        Self { refusing, log, shutdown, operator }
    }

    /// How often quotas were created.
    fn created(&self) -> usize {
        let is_create =
            |asked: &&Asked| asked.method == Method::POST && asked.path.ends_with("/resourcequotas");
        self.log.all().iter().filter(is_create).count()
    }
}

fn answer(asked: &Asked, version: u32) -> Reply {
    if asked.query.contains("watch=true") {
        return Reply::Lines(vec![]);
    }
    let kind = asked.path.rsplit('/').next().unwrap();
    match asked.method {
        Method::GET if asked.path.contains("/namespaces/") => {
            Reply::failure(404, "NotFound", "there is none")
        }
        Method::GET => {
            let items = match kind {
                "nodes" => vec![node(4)],
                "queues" => vec![queue("a"), queue("b")],
                _ => vec![],
            };
            let metadata = json!({"resourceVersion": "7"});
            Reply::Json(
                200,
                json!({"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items}),
            )
        }
        _ if kind == "status" => Reply::Json(200, queue(asked.path.split('/').nth(5).unwrap())),
        _ => {
            let mut stored = asked.body.clone();
            stored["metadata"]["uid"] = json!(version.to_string());
            stored["metadata"]["resourceVersion"] = json!(version.to_string());
            if kind == "resourcequotas" {
                stored["status"] = stored["spec"].clone();
            }
            Reply::Json(201, stored)
        }
    }
}

async fn seconds(count: u64) {
    tokio::time::sleep(Duration::from_secs(count)).await;
}

#[tokio::test(start_paused = true)]
async fn a_minute_in_which_everything_is_refused_passes() {
    let day = Day::begin(true, &["--leader-elect=false"]);
    seconds(60).await;
    assert!(!day.operator.is_finished());
    // Lists are asked for again ever later, not all the time.
    assert!(day.log.all().len() < 200, "{}", day.log.all().len());
    assert_eq!(day.created(), 0);

    day.refusing.store(false, Ordering::Relaxed);
    seconds(60).await;
    assert_eq!(day.created(), 2);

    day.refusing.store(true, Ordering::Relaxed);
    seconds(300).await;
    assert!(!day.operator.is_finished());
    day.refusing.store(false, Ordering::Relaxed);
    seconds(60).await;
    // Nothing was forgotten, and nothing done twice.
    assert_eq!(day.created(), 2);
    day.shutdown.cancel();
    day.operator.await.unwrap().unwrap();
}

/// A replica that cannot renew its Lease must not lead, so the process ends and its successor begins with full lists.
#[tokio::test(start_paused = true)]
async fn a_leader_that_is_refused_for_a_minute_ends() {
    let day = Day::begin(false, &[]);
    seconds(30).await;
    assert_eq!(day.created(), 2);
    day.refusing.store(true, Ordering::Relaxed);
    seconds(15).await;
    let ended = day.operator.await.unwrap();
    assert!(matches!(ended, Err(RunError::Lease(LeaseError::Expired { .. }))), "{ended:?}");
}
