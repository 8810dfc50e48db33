//! Admission of pods by resource quotas.
//!
//! It goes by `status.hard`, never by `spec.hard`, and charges `status.used` itself.

use serde_json::{Value, json};

use super::charges::{self, Amounts, quantities, text};
use super::{Failure, State};
use crate::objects::{Key, Kind, object};

impl State {
    /// Admits `pod` or says why not. Charges every quota of its namespace that has to do with it.
    pub(super) fn admit(&mut self, key: &Key, pod: &Value) -> Result<(), Failure> {
        let wanted = charges::in_words_of_quota(&charges::requests(pod));
        let namespace = object::namespace(pod);
        // A pod that one quota refuses is admitted if the status of another one meets a conflict meanwhile (kubernetes#141904).
        let quotas = self.store.list(Kind::ResourceQuota, Some(namespace)).count();
        let is_forgiven = quotas > 1 && self.in_flight.meets_a_conflict(namespace);
        let mut charged = Vec::new();
        for (quota, found) in self.store.list(Kind::ResourceQuota, Some(namespace)) {
            let [hard, used] = ["hard", "used"].map(|field| quantities(&found["status"][field]));
            let concerned: Amounts =
                hard.into_iter().filter(|(name, _)| wanted.contains_key(name) || computes(name)).collect();
            if concerned.is_empty() {
                continue;
            }
            if let Some(missing) = unnamed(&concerned, pod) {
                let why = format!("failed quota: {}: must specify {missing}", quota.name);
                return Err(Failure::forbidden(key, &why));
            }
            let unknown: Vec<&str> =
                concerned.keys().filter(|name| !used.contains_key(*name)).map(String::as_str).collect();
            if !unknown.is_empty() {
                let why =
                    format!("status unknown for quota: {}, resources: {}", quota.name, unknown.join(","));
                return Err(Failure::forbidden(key, &why));
            }
            let asked = |name: &String| wanted.get(name).copied().unwrap_or_default();
            let exceeded: Vec<&String> = concerned
                .iter()
                .filter(|(name, hard)| asked(name) > 0 && used[*name] + asked(name) > **hard)
                .map(|(name, _)| name)
                .collect();
            if !exceeded.is_empty() && is_forgiven {
                continue;
            }
            if !exceeded.is_empty() {
                let listed = |amount: &dyn Fn(&String) -> i128| {
                    let one = |name: &&String| format!("{name}={}", text(name, amount(name)));
                    exceeded.iter().map(one).collect::<Vec<_>>().join(",")
                };
                let why = format!(
                    "exceeded quota: {}, requested: {}, used: {}, limited: {}",
                    quota.name,
                    listed(&asked),
                    listed(&|name| used[name]),
                    listed(&|name| concerned[name])
                );
                return Err(Failure::forbidden(key, &why));
            }
            let mut after = (**found).clone();
            let status = object::member_mut(&mut after["status"], "used");
            for name in concerned.keys().filter(|name| asked(name) > 0) {
                status.insert(name.clone(), json!(text(name, used[name] + asked(name))));
            }
            charged.push((quota.clone(), after));
        }
        for (quota, after) in charged {
            self.also("admission", "status", &quota, after);
        }
        Ok(())
    }
}

/// Whether a quota that bounds this wants every container to name it.
fn computes(name: &str) -> bool {
    matches!(name, "cpu" | "memory" | "requests.cpu" | "requests.memory" | "limits.cpu" | "limits.memory")
}

/// `requests.cpu for: work`: what containers would have to name and do not.
fn unnamed(concerned: &Amounts, pod: &Value) -> Option<String> {
    let containers = pod["spec"]["containers"].as_array().into_iter().flatten();
    let containers: Vec<&Value> = containers.collect();
    let lacks = |name: &str, container: &Value| {
        let (list, resource) = match name.split_once('.') {
            Some(("limits", resource)) => ("limits", resource),
            Some((_, resource)) => ("requests", resource),
            None => ("requests", name),
        };
        let resources = &container["resources"];
        resources[list][resource].is_null() && resources["limits"][resource].is_null()
    };
    let mut missing = Vec::new();
    for name in concerned.keys().filter(|name| computes(name)) {
        let of: Vec<&str> = containers
            .iter()
            .filter(|container| lacks(name, container))
            .map(|container| container["name"].as_str().unwrap_or_default())
            .collect();
        if !of.is_empty() {
            missing.push(format!("{name} for: {}", of.join(",")));
        }
    }
    (!missing.is_empty()).then(|| missing.join("; "))
}
