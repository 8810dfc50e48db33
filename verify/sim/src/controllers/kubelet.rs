//! Kubelets: bound pods start, pods that are told to end do.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Controller, ControllerClient, Lags};
use crate::objects::{Key, Kind, object};
use crate::server::{Change, Store, is_terminal};

/// Annotation of a pod: after how many seconds its work is done.
pub const RUNS_SECONDS: &str = "sim.quotient.dev/runs-seconds";

/// Annotation of a pod: how many seconds it takes to end when told to, at most its grace.
pub const STOPS_SECONDS: &str = "sim.quotient.dev/stops-seconds";

/// Annotation of a node: its kubelet is not heard of, so nothing on it starts or ends.
pub const LOST: &str = "sim.quotient.dev/lost";

/// All kubelets.
pub(super) struct Kubelet {
    lags: Lags,
    /// When what is under way with each pod is done, by uid and by what it is.
    under_way: BTreeMap<(String, &'static str), Duration>,
}

impl Kubelet {
    pub(super) const fn new(lags: Lags) -> Self {
        Self { lags, under_way: BTreeMap::new() }
    }

    /// How long `what`, which takes `length`, still takes; none if it is done.
    fn left(&mut self, pod: &Value, what: &'static str, now: Duration, length: Duration) -> Option<Duration> {
        let done = *self.under_way.entry((object::uid(pod).to_owned(), what)).or_insert(now + length);
        done.checked_sub(now).filter(|left| !left.is_zero())
    }

    /// The pod has been told to end.
    fn end(&mut self, key: &Key, pod: &Value, client: &mut ControllerClient<'_>) -> Option<Duration> {
        let now = client.state.clock.elapsed();
        let own = seconds(pod, STOPS_SECONDS);
        let length = own.unwrap_or_else(|| client.draw(self.lags.stop));
        let deadline: jiff::Timestamp = object::meta(pod, "deletionTimestamp").parse().ok()?;
        let grace = deadline.duration_since(client.state.clock.now());
        let grace = Duration::try_from(grace).unwrap_or_default();
        let left = self.left(pod, "stop", now, length).unwrap_or_default().min(grace);
        if !left.is_zero() {
            return Some(left);
        }
        if object::has_finalizers(pod) && !is_terminal(pod) {
            let mut status = pod["status"].clone();
            status["phase"] = "Failed".into();
            client.write_status(Kind::Pod, pod, status);
        }
        client.delete(key, pod, Some(0));
        None
    }
}

impl Controller for Kubelet {
    fn concerns(&self, change: &Change, store: &Store, keys: &mut Vec<Key>) {
        match (change.key.kind, &change.after) {
            (Kind::Pod, Some(pod)) if pod["spec"]["nodeName"].is_string() => keys.push(change.key.clone()),
            (Kind::Node, Some(_)) => {
                let pods = store.list(Kind::Pod, None);
                let here = pods.filter(|(_, pod)| pod["spec"]["nodeName"] == *change.key.name);
                keys.extend(here.map(|(key, _)| key.clone()));
            }
            _ => {}
        }
    }

    fn act(&mut self, key: &Key, client: &mut ControllerClient<'_>) -> Option<Duration> {
        let pod = client.get(key)?;
        let node = client.get(&Key::new(Kind::Node, "", pod["spec"]["nodeName"].as_str()?))?;
        if object::annotation(&node, LOST).is_some() {
            return None;
        }
        if object::is_leaving(&pod) {
            return self.end(key, &pod, client);
        }
        let now = client.state.clock.elapsed();
        match object::phase(&pod) {
            "Pending" => {
                let length = client.draw(self.lags.start);
                if let Some(left) = self.left(&pod, "start", now, length) {
                    return Some(left);
                }
                let date = client.state.date();
                let mut running = (*pod).clone();
                running["status"]["phase"] = "Running".into();
                running["status"]["startTime"] = date.clone().into();
                for condition in ["Initialized", "ContainersReady", "Ready"] {
                    object::set_condition(&mut running, condition, "True", "Started", &date);
                }
                client.write_status(Kind::Pod, &pod, running["status"].take());
                None
            }
            "Running" => {
                let length = seconds(&pod, RUNS_SECONDS)?;
                if let Some(left) = self.left(&pod, "run", now, length) {
                    return Some(left);
                }
                let mut status = pod["status"].clone();
                status["phase"] = "Succeeded".into();
                status["conditions"] =
                    json!([{"type": "Ready", "status": "False", "reason": "PodCompleted"}]);
                client.write_status(Kind::Pod, &pod, status);
                None
            }
            _ => None,
        }
    }
}

fn seconds(pod: &Value, annotation: &str) -> Option<Duration> {
    object::annotation(pod, annotation)?.parse().ok().map(Duration::from_secs)
}
