//! Which clients may read, on a simulated API server, and that no token goes over the wire in the clear.

use std::net::Ipv4Addr;

use axum::body::Body;
use axum::http::Request;
use quotient_engine::names::QueueName;
use quotient_engine::plan::{Eviction, Plan, PodId};
use quotient_engine::snapshot::Snapshot;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tower::ServiceExt as _;

use super::*;
use crate::tests::api::{Asked, Log, Reply, client};
use crate::tests::plan::eviction;

/// An API server that knows the tokens `prometheus` and `admin`, who may read metrics, and `tenant`, who may not. Only `admin`
/// may list pods.
fn reviewer() -> (Client, Log) {
    client(|asked: &Asked| {
        let spec = &asked.body["spec"];
        match asked.path.as_str() {
            "/apis/authentication.k8s.io/v1/tokenreviews" => {
                let token = spec["token"].as_str().unwrap_or_default();
                let known = ["prometheus", "admin", "tenant"].contains(&token);
                let user = json!({"username": token, "groups": ["system:authenticated"]});
                let status = if known { json!({"authenticated": true, "user": user}) } else { json!({}) };
                Reply::Json(201, json!({"spec": spec, "status": status}))
            }
            "/apis/authorization.k8s.io/v1/subjectaccessreviews" => {
                assert_eq!(spec["groups"], json!(["system:authenticated"]));
                let user = spec["user"].as_str().unwrap_or_default();
                let allowed = if spec["nonResourceAttributes"].is_null() {
                    let pods = json!({"verb": "list", "group": "", "version": "v1", "resource": "pods"});
                    assert_eq!(spec["resourceAttributes"], pods);
                    user == "admin"
                } else {
                    assert_eq!(spec["nonResourceAttributes"], json!({"path": "/metrics", "verb": "get"}));
                    user != "tenant"
                };
                Reply::Json(201, json!({"spec": spec, "status": {"allowed": allowed}}))
            }
            other => panic!("{other}"),
        }
    })
}

async fn get(router: &Router, path: &str, authorization: Option<&str>) -> (u16, String) {
    let mut request = Request::get(path);
    if let Some(authorization) = authorization {
        request = request.header("authorization", authorization);
    }
    let response = router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let status = response.status().as_u16();
    let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

fn served() -> Served {
    let registry = Registry::new();
    crate::metrics::Metrics::register(&registry).unwrap();
    Served { registry, decisions: Decisions::kept() }
}

#[tokio::test(start_paused = true)]
async fn only_who_is_known_and_may_read_gets_metrics() {
    let (client, log) = reviewer();
    let router = router(served(), Some(Gate::new(client)));
    for unknown in [None, Some("Bearer wrong"), Some("Basic prometheus"), Some("Bearer ")] {
        let (status, text) = get(&router, "/metrics", unknown).await;
        assert_eq!(status, 401, "{unknown:?}");
        assert!(!text.contains("quotient_"), "{text}");
    }
    let denied = "tenant needs the verb get on the non-resource URL /metrics\n";
    assert_eq!(get(&router, "/metrics", Some("Bearer tenant")).await, (403, denied.to_owned()));
    let (status, text) = get(&router, "/metrics", Some("bearer prometheus")).await;
    assert_eq!(status, 200);
    assert!(text.contains("quotient_build_info"), "{text}");

    let asked = log.all().len();
    assert_eq!(get(&router, "/metrics", Some("Bearer prometheus")).await.0, 200);
    assert_eq!(log.all().len(), asked, "who was let in is not asked for again");
    tokio::time::advance(std::time::Duration::from_secs(61)).await;
    assert_eq!(get(&router, "/metrics", Some("Bearer prometheus")).await.0, 200);
    assert_eq!(log.all().len(), asked + 2, "but a minute later it is");
}

/// They name the pods of all teams: those who may not list pods get neither a name nor a record.
#[tokio::test(start_paused = true)]
async fn decisions_name_pods_to_those_who_may_list_them_alone() {
    let (client, _) = reviewer();
    let served = served();
    let (snapshot, plan) = (Snapshot::default(), evicting());
    let number = served.decisions.begin(&snapshot, &plan).unwrap();
    served.decisions.keep(number, &snapshot, &plan);
    assert!(!served.decisions.is_news(&plan), "the same pods are one decision");
    let router = router(served, Some(Gate::new(client)));
    for path in ["/decisions", "/decisions/1", "/decisions/latest"] {
        assert_eq!(get(&router, path, None).await.0, 401, "{path}");
        assert_eq!(get(&router, path, Some("Bearer tenant")).await.0, 403, "{path}");
    }
    let (code, list) = get(&router, "/decisions", Some("Bearer admin")).await;
    assert_eq!(code, 200);
    assert!(list.contains("\"number\":1") && list.contains("\"pod\":\"a/x\""), "{list}");
    for path in ["/decisions/2", "/decisions/none"] {
        assert_eq!(get(&router, path, Some("Bearer admin")).await.0, 404, "{path}");
    }
    let (code, list) = get(&router, "/decisions", Some("Bearer prometheus")).await;
    assert_eq!(code, 200);
    assert!(list.contains("\"pod\":\"(hidden)\"") && list.contains("\"queue\":\"a/a\""), "{list}");
    assert!(!list.contains("a/x") && !list.contains("\"uid\":\"1\""), "{list}");
    for path in ["/decisions/1", "/decisions/latest", "/decisions/2"] {
        let denied = "prometheus needs the verb list on the pods of all namespaces\n";
        let answer = get(&router, path, Some("Bearer prometheus")).await;
        assert_eq!(answer, (403, denied.to_owned()), "{path}");
    }
}

/// A plan that evicts a pod.
fn evicting() -> Plan {
    let eviction = Eviction {
        pod: PodId { namespace: "a".into(), name: "x".into(), uid: "1".into() },
        queue: QueueName::new("a", "a"),
        ..eviction("x")
    };
    Plan { evictions: vec![eviction], ..Plan::default() }
}

#[tokio::test(start_paused = true)]
async fn without_an_answer_no_client_is_let_in() {
    let (client, _) = client(|_| Reply::failure(403, "Forbidden", "tokenreviews is forbidden"));
    let router = router(served(), Some(Gate::new(client)));
    let (status, text) = get(&router, "/metrics", Some("Bearer prometheus")).await;
    assert_eq!(status, 503);
    assert!(text.contains("tokenreviews is forbidden"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn guessing_is_slow() {
    let (client, _) = reviewer();
    let router = router(served(), Some(Gate::new(client)));
    let began = tokio::time::Instant::now();
    let guesses = (0..20).map(|_| get(&router, "/metrics", Some("Bearer guess")));
    futures::future::join_all(guesses).await;
    assert!(began.elapsed() >= std::time::Duration::from_secs(2), "{:?}", began.elapsed());
}

#[tokio::test]
async fn beyond_loopback_it_is_encrypted() {
    let settings = ScrapeSettings { listen: (Ipv4Addr::UNSPECIFIED, 0).into(), certificate: None };
    let scrapes = Scrapes::open(&settings).await.unwrap();
    assert!(scrapes.url().unwrap().starts_with("https://"));
    let port = scrapes.listener.local_addr().unwrap().port();
    let stop = CancellationToken::new();
    let serving = tokio::spawn(scrapes.serve(served(), reviewer().0, stop.clone()));

    let request =
        b"GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer prometheus\r\nConnection: close\r\n\r\n";
    let mut plain = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
    plain.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer).await;
    assert!(!String::from_utf8_lossy(&answer).contains("HTTP/1.1 200"), "plain text is not answered");

    // Ours is made up.
    let address = format!("https://127.0.0.1:{port}").parse().unwrap();
    let mut config = kube::Config::new(address);
    config.accept_invalid_certs = true;
    let request = Request::get("/metrics").header("authorization", "Bearer prometheus");
    let client = Client::try_from(config).unwrap();
    let answer = client.request_text(request.body(Vec::new()).unwrap()).await.unwrap();
    assert!(answer.contains("quotient_leader 0"), "{answer}");
    stop.cancel();
    serving.await.unwrap();
}

#[tokio::test]
async fn on_loopback_any_client_may_read() {
    let settings = ScrapeSettings { listen: (Ipv4Addr::LOCALHOST, 0).into(), certificate: None };
    let scrapes = Scrapes::open(&settings).await.unwrap();
    assert!(scrapes.url().unwrap().starts_with("http://127.0.0.1:"));
    assert_eq!(get(&router(served(), None), "/metrics", None).await.0, 200);
}
