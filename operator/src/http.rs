//! The small HTTP server that kubelets ask: is it alive, is it ready.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::connections;
use crate::health::Heartbeat;
use crate::watch::Synced;

/// What the server answers from.
#[derive(Clone, Debug)]
pub struct Vitals {
    /// The parts that must not fall silent: `/healthz`.
    pub beats: Vec<Heartbeat>,
    /// Which kinds have had their first full list: `/readyz`. A replica that does not lead is ready, too.
    pub synced: Synced,
}

/// Serves until `stop`.
pub async fn serve(listener: TcpListener, vitals: Vitals, stop: CancellationToken) {
    connections::serve(listener, None, router(vitals), stop).await;
}

fn router(vitals: Vitals) -> Router {
    Router::new().route("/healthz", get(healthz)).route("/readyz", get(readyz)).with_state(Arc::new(vitals))
}

async fn healthz(State(vitals): State<Arc<Vitals>>) -> impl IntoResponse {
    let failures: Vec<String> = vitals.beats.iter().filter_map(Heartbeat::failure).collect();
    answer(&failures)
}

async fn readyz(State(vitals): State<Arc<Vitals>>) -> impl IntoResponse {
    let waiting: Vec<String> = vitals
        .synced
        .missing()
        .into_iter()
        .map(|kind| format!("waiting for the first list of {kind}"))
        .collect();
    answer(&waiting)
}

fn answer(failures: &[String]) -> (StatusCode, String) {
    if failures.is_empty() {
        (StatusCode::OK, "ok\n".to_owned())
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, format!("{}\n", failures.join("\n")))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::body::Body;
    use axum::http::Request;
    use tower::ServiceExt;

    use super::*;

    /// Status and text of one answer.
    async fn get(vitals: &Vitals, path: &str) -> (u16, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = router(vitals.clone()).oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn health_and_readiness() {
        let synced = Synced::none_of(["nodes", "pods"]);
        let vitals = Vitals {
            beats: vec![Heartbeat::new("the loop", Duration::from_secs(60))],
            synced: synced.clone(),
        };
        assert_eq!(get(&vitals, "/healthz").await, (200, "ok\n".to_owned()));
        synced.mark("nodes");
        assert_eq!(get(&vitals, "/readyz").await, (503, "waiting for the first list of pods\n".to_owned()));
        synced.mark("pods");
        assert_eq!(get(&vitals, "/readyz").await.0, 200);

        tokio::time::advance(Duration::from_secs(90)).await;
        assert_eq!(get(&vitals, "/healthz").await, (503, "the loop has been silent for 90 s\n".to_owned()));
        assert_eq!(get(&vitals, "/metrics").await.0, 404);
    }
}
