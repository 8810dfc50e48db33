//! The cluster as a source, against an API server made of a closure.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use http::{Request, Response};
use http_body_util::Full;
use kube::Client;
use kube::api::Patch;
use kube::client::Body;
use serde_json::{Value, json};
use tower::service_fn;

use super::checks;
use crate::commands::check::{Facts, check};
use crate::exit::{ClusterError, CommandError};
use crate::objects::Kind;
use crate::source::{ConnectionArgs, Live, Scope};

/// Method, path with query, and body of every request, in order.
type Log = Arc<Mutex<Vec<(String, Value)>>>;

/// A connection whose server is `answer`: of method and path with query it makes a status code and a body.
fn live(answer: impl Fn(&str) -> (u16, Value) + Send + Sync + 'static) -> (Live, Log) {
    let log = Log::default();
    let (answer, logged) = (Arc::new(answer), Arc::clone(&log));
    let service = service_fn(move |request: Request<Body>| {
        let (answer, log) = (Arc::clone(&answer), Arc::clone(&logged));
        async move {
            let line = format!("{} {}", request.method(), request.uri());
            let bytes = request.into_body().collect_bytes().await.unwrap();
            let body = serde_json::from_slice(&bytes).unwrap_or_default();
            let (code, reply) = answer(&line);
            log.lock().unwrap().push((line, body));
            let text = serde_json::to_vec(&reply).unwrap();
            Ok::<_, Infallible>(Response::builder().status(code).body(Full::from(text)).unwrap())
        }
    });
    (Live::with(Client::new(service, "default"), "team-a", "prod"), log)
}

fn failure(code: u16, reason: &str, message: &str) -> (u16, Value) {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code,
    });
    (code, status)
}

fn list(names: &[&str], token: &str) -> (u16, Value) {
    let items: Vec<Value> =
        names.iter().map(|name| json!({"metadata": {"name": name, "namespace": "team-a"}})).collect();
    (200, json!({"kind": "PodList", "apiVersion": "v1", "metadata": {"continue": token}, "items": items}))
}

#[tokio::test]
async fn a_list_is_read_page_by_page() {
    let (live, log) =
        live(|line| if line.contains("continue=") { list(&["b"], "") } else { list(&["a"], "next") });
    let pods = live.of(Kind::Pod.api(), Some("team-a")).list().await.unwrap();
    let printed: Vec<(&Value, &Value)> =
        pods.iter().map(|pod| (&pod["kind"], &pod["metadata"]["name"])).collect();
    assert_eq!(printed, [(&json!("Pod"), &json!("a")), (&json!("Pod"), &json!("b"))]);
    let log = log.lock().unwrap();
    assert!(log[0].0.starts_with("GET /api/v1/namespaces/team-a/pods?"), "{log:?}");
    // Finished pods use nothing.
    assert!(log[0].0.contains("fieldSelector=status.phase%21%3DSucceeded"), "{log:?}");
    assert!(log[1].0.contains("continue=next"), "{log:?}");
}

#[tokio::test]
async fn what_may_not_be_listed_is_missing_and_what_is_not_served_is_not() {
    let (live, _) = live(|line| match line {
        line if line.contains("/podgroups") => failure(404, "NotFound", "the server could not find it"),
        line if line.contains("/nodes") => failure(403, "Forbidden", "nodes is forbidden"),
        _ => list(&[], ""),
    });
    let snapshot = live.snapshot(&Scope::everything()).await.unwrap();
    let missing: Vec<&str> = snapshot.missing.iter().map(|missing| missing.resource.as_str()).collect();
    assert_eq!(missing, ["nodes"]);
    assert!(!snapshot.is_partial);
    assert_eq!(snapshot.source, "cluster prod");
}

#[tokio::test]
async fn a_cluster_without_quotient_has_no_queues() {
    let (live, _) = live(|line| match line {
        line if line.contains("/apis/quotient.dev/") => failure(404, "NotFound", "404 page not found"),
        _ => list(&[], ""),
    });
    let snapshot = live.snapshot(&Scope::everything()).await.unwrap();
    assert_eq!((&snapshot.missing[..], &snapshot.not_served[..]), (&[][..], &["queuejobs", "queues"][..]));
    let refused = CommandError::from(ClusterError::require_kinds(&snapshot).unwrap_err());
    assert_eq!(
        (refused.code(), refused.to_string().as_str()),
        (3, "Quotient's kinds are not installed, so there are no Queues; see: kubectl quotient check --pre")
    );
    assert_eq!(live.of(Kind::Queue.api(), None).list_if_allowed().await.unwrap(), Some(Vec::new()));
}

#[tokio::test]
async fn the_operator_is_found_beside_what_is_asked_for() {
    let (live, log) = live(|line| match line {
        line if line.contains("/deployments") => {
            let labels = json!({"app.kubernetes.io/part-of": "quotient"});
            let one =
                json!({"metadata": {"name": "quotient", "namespace": "quotient-system", "labels": labels}});
            (200, json!({"metadata": {}, "items": [one]}))
        }
        _ => list(&[], ""),
    });
    let snapshot = live.snapshot(&Scope::of("queues", Some("team-a"))).await.unwrap();
    assert!(snapshot.is_partial);
    let log = log.lock().unwrap().clone();
    let paths: Vec<&str> = log.iter().map(|(line, _)| line.split('?').next().unwrap()).collect();
    assert_eq!(
        paths,
        [
            "GET /apis/quotient.dev/v1alpha1/namespaces/team-a/queues",
            "GET /apis/apps/v1/deployments",
            "GET /apis/coordination.k8s.io/v1/namespaces/quotient-system/leases",
        ]
    );
    // It is read once where it is among what is asked for.
    let snapshot = live.snapshot(&Scope::of("deployments", Some("quotient-system"))).await.unwrap();
    assert_eq!(snapshot.entries.iter().filter(|entry| entry.kind() == "Deployment").count(), 1);
}

#[tokio::test]
async fn a_refusal_names_verb_resource_and_namespace() {
    let (live, _) = live(|_| failure(403, "Forbidden", "told"));
    let refused = live.of(Kind::Job.api(), Some("team-a")).list().await.unwrap_err();
    assert_eq!(refused.to_string(), "list jobs.batch in namespace team-a: forbidden: told");
    let error =
        CommandError::from(live.of(Kind::Queue.api(), Some("team-a")).delete("team-a").await.unwrap_err());
    assert_eq!(error.to_string(), "delete queues.quotient.dev in namespace team-a: forbidden: told");
    assert_eq!(error.code(), 3);
}

#[tokio::test]
async fn of_queues_of_one_name_that_of_the_own_namespace_is_meant() {
    let found = async |namespaces: &'static [&'static str]| {
        let (live, _) = live(move |_| {
            let items =
                namespaces.iter().map(|namespace| json!({"metadata": {"name": "q", "namespace": namespace}}));
            (200, json!({"metadata": {}, "items": items.collect::<Vec<_>>()}))
        });
        live.namespace_of_queue("q").await.map_err(|error| error.to_string())
    };
    assert_eq!(found(&[]).await.as_deref(), Ok("team-a"));
    assert_eq!(found(&["b"]).await.as_deref(), Ok("b"));
    assert_eq!(found(&["b", "team-a"]).await.as_deref(), Ok("team-a"));
    let refused = found(&["b", "c"]).await.unwrap_err();
    assert_eq!(refused, "several namespaces have a Queue q: name one of them by -n: b, c");
}

#[tokio::test]
async fn an_object_that_does_not_exist_is_none() {
    let (live, _) = live(|_| failure(404, "NotFound", "told"));
    assert_eq!(live.of(Kind::Queue.api(), Some("team-a")).get("x").await.unwrap(), None);
    // It is deleted already.
    live.of(Kind::Queue.api(), Some("team-a")).delete("x").await.unwrap();
    // Without the kind there are no Queues to pause; another kind that is not served is named.
    let refused = live.of(Kind::Queue.api(), None).list().await.unwrap_err();
    assert!(matches!(refused, ClusterError::NotInstalled), "{refused}");
    assert_eq!(live.of(Kind::Job.api(), None).list().await.unwrap_err().to_string(), "list jobs.batch: told");
}

#[tokio::test]
async fn a_change_is_a_merge_patch_under_the_name_of_the_command() {
    let (live, asked) = live(|_| (200, json!({"metadata": {"name": "x"}})));
    let patch = json!({"spec": {"pausedUntil": null}});
    live.of(Kind::Queue.api(), Some("team-a")).patch("x", &Patch::Merge(&patch)).await.unwrap();
    let asked = asked.lock().unwrap();
    let (request, body) = &asked[0];
    assert!(
        request.starts_with("PATCH /apis/quotient.dev/v1alpha1/namespaces/team-a/queues/x?"),
        "{request}"
    );
    assert!(request.contains("fieldManager=kubectl-quotient"), "{request}");
    assert_eq!(body, &patch);
}

/// A review that fails is no reason to believe that all is well. A person who may not ask for one looks at the rest.
#[tokio::test]
async fn rights_that_cannot_be_reviewed_are_a_finding() {
    let (cluster, connection) = (checks::cluster(&[]), ConnectionArgs::default());
    for (code, is_found) in [(500, true), (403, false)] {
        let (live, _) = live(move |line| match line {
            line if line.contains("/version") => {
                (200, json!({"major": "1", "minor": "36", "gitVersion": "v1.36.0"}))
            }
            line if line.contains("/subjectaccessreviews") => failure(code, "told", "told"),
            _ => list(&[], ""),
        });
        let facts = Facts::read(&live, cluster.operator.as_ref(), None, None, &connection).await.unwrap();
        let report = check(&cluster, Some(&facts), None, false);
        let rights = report.results.iter().find(|one| one.id == "operator-rights").unwrap();
        let said = rights.found.as_ref().map(|found| found.texts.concat());
        let expected = "the rights of the operator are not known: create subjectaccessreviews.authorization.k8s.io: told";
        assert_eq!(said.as_deref(), is_found.then_some(expected), "{code}");
    }
}
