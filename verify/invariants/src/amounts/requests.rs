//! What a pod requests, as the scheduler and quota admission sum it up.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Amount, Amounts, Resource};

/// What `pod` requests: its containers and sidecars together, or the most that starting takes if that is more; what the pod
/// states as a whole in their place; and the overhead.
pub fn requests(pod: &Value) -> Amounts {
    let spec = &pod["spec"];
    let statuses = statuses(&pod["status"]);
    let is_infeasible = is_infeasible(&pod["status"]);
    let of = |container: &Value| of_container(container, &statuses, is_infeasible);
    let mut running = Amounts::new();
    for container in list(spec, "containers") {
        running.add_all(&of(container));
    }
    let (mut sidecars, mut starting) = (Amounts::new(), Amounts::new());
    for container in list(spec, "initContainers") {
        let mut step = of(container);
        if container["restartPolicy"] == "Always" {
            sidecars.add_all(&step);
            step = sidecars.clone();
        } else {
            step.add_all(&sidecars);
        }
        starting = starting.max(&step);
    }
    running.add_all(&sidecars);
    let mut all = running.max(&starting);
    // Where a pod states requests as a whole, those of its containers do not count.
    for (resource, amount) in stated(&spec["resources"]) {
        all.set(resource, amount);
    }
    all.add_all(&amounts(&spec["overhead"]).collect());
    all
}

/// The requests of a container: of its spec, and of what its kubelet still holds for it while it is resized.
fn of_container(container: &Value, statuses: &BTreeMap<&str, &Value>, is_infeasible: bool) -> Amounts {
    let wanted: Amounts = stated(&container["resources"]).into_iter().collect();
    let Some(status) = container["name"].as_str().and_then(|name| statuses.get(name)) else { return wanted };
    let actual: Amounts = amounts(status.pointer("/resources/requests").unwrap_or(&Value::Null)).collect();
    let held = actual.max(&amounts(status.get("allocatedResources").unwrap_or(&Value::Null)).collect());
    if is_infeasible && !held.is_empty() { held } else { wanted.max(&held) }
}

/// What is requested; a limit without a request is a request.
fn stated(resources: &Value) -> BTreeMap<Resource, Amount> {
    amounts(&resources["limits"]).chain(amounts(&resources["requests"])).collect()
}

fn statuses(status: &Value) -> BTreeMap<&str, &Value> {
    let all = list(status, "containerStatuses").chain(list(status, "initContainerStatuses"));
    all.filter_map(|status| Some((status["name"].as_str()?, status))).collect()
}

/// Whether the node will never grant the size that the spec asks for.
fn is_infeasible(status: &Value) -> bool {
    list(status, "conditions")
        .any(|condition| condition["type"] == "PodResizePending" && condition["reason"] == "Infeasible")
}

fn list<'a>(object: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    object[name].as_array().into_iter().flatten()
}

impl Amounts {
    /// Those of the map of quantities at a JSON pointer; `requests.cpu` is cpu. Nothing where no map is.
    pub fn at(object: &Value, pointer: &str) -> Self {
        amounts(object.pointer(pointer).unwrap_or(&Value::Null)).collect()
    }
}

pub(crate) fn amounts(map: &Value) -> impl Iterator<Item = (Resource, Amount)> {
    let pairs = map.as_object().into_iter().flat_map(Map::iter);
    pairs.filter_map(|(name, value)| {
        let name = name.strip_prefix("requests.").unwrap_or(name);
        Some((Resource::named(name), Amount::from_value(value)?))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cpu(amount: &str) -> Value {
        json!({"name": amount, "resources": {"requests": {"cpu": amount}}})
    }

    fn requested(pod: &Value) -> String {
        requests(pod).to_string()
    }

    #[test]
    fn starting_may_take_more_than_running() {
        let mut sidecar = cpu("500m");
        sidecar["restartPolicy"] = "Always".into();
        let pod = |first: &Value, second: &Value| json!({"spec": {"containers": [cpu("1")], "initContainers": [first, second]}});
        assert_eq!(requested(&pod(&sidecar, &cpu("2"))), "cpu 2500m");
        assert_eq!(requested(&pod(&cpu("2"), &sidecar)), "cpu 2");
    }

    #[test]
    fn a_pod_as_a_whole_and_its_overhead() {
        let whole = json!({"spec": {
            "containers": [cpu("1"), cpu("1")],
            "resources": {"requests": {"cpu": "3"}}, "overhead": {"cpu": "250m"},
        }});
        assert_eq!(requested(&whole), "cpu 3250m");
        let device = |count: &str| json!({"resources": {"limits": {"example.org/gpu": count}}});
        let devices = json!({"spec": {"containers": [device("1")], "initContainers": [device("4")]}});
        assert_eq!(requested(&devices), "example.org/gpu 4");
    }

    #[test]
    fn a_resize_counts_what_the_kubelet_still_holds() {
        let resized = |spec: &str, held: &str, reason: &str| {
            let resources = json!({"requests": {"cpu": held}});
            json!({
                "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": spec}}}]},
                "status": {
                    "containerStatuses": [{"name": "main", "allocatedResources": {"cpu": held}, "resources": resources}],
                    "conditions": [{"type": "PodResizePending", "reason": reason}],
                },
            })
        };
        assert_eq!(requested(&resized("1", "2", "Deferred")), "cpu 2");
        assert_eq!(requested(&resized("4", "1", "Deferred")), "cpu 4");
        assert_eq!(requested(&resized("4", "1", "Infeasible")), "cpu 1");
    }
}
