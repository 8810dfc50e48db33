//! Evictions, and the budgets that bound them.

use std::sync::Arc;

use serde_json::{Value, json};

use super::delete::meets;
use super::{Answer, Body, Call, Done, Failure, State, charges};
use crate::objects::{Key, Kind, object};

impl State {
    pub(super) fn evict(&mut self, call: &Call) -> Result<Done, Failure> {
        let Body::Object(eviction) = &call.body else {
            return Err(Failure::bad_request("an eviction is expected"));
        };
        let key = &call.key;
        if object::name(eviction) != &*key.name {
            return Err(Failure::bad_request("name in URL does not match name in Eviction object"));
        }
        let pod = self.store.get(key).cloned().ok_or_else(|| Failure::not_found(key))?;
        let options = &eviction["deleteOptions"];
        let free = charges::is_terminal(&pod) || object::phase(&pod) == "Pending" || object::is_leaving(&pod);
        meets(key, &pod, &options["preconditions"])?;
        if !free {
            self.charge_budget(&pod)?;
        }
        // Two writes, as a real server makes them: first why, then that.
        let mut marked = (*pod).clone();
        object::set_condition(&mut marked, "DisruptionTarget", "True", "EvictionByEvictionAPI", &self.date());
        if marked != *pod {
            self.also("eviction", "status", key, marked);
        }
        let done = self.remove(key, options)?;
        let success = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201,
        });
        Ok(Done { answer: Answer::new(201, Arc::new(success)), before: Some(pod), ..done })
    }

    /// Takes one disruption from the budget of `pod`, if it has one.
    fn charge_budget(&mut self, pod: &Arc<Value>) -> Result<(), Failure> {
        let labels = &pod["metadata"]["labels"];
        let budgets = self.store.list(Kind::PodDisruptionBudget, Some(object::namespace(pod)));
        let matching: Vec<(Key, Arc<Value>)> = budgets
            .filter(|(_, budget)| object::selects(&budget["spec"]["selector"], labels))
            .map(|(key, budget)| (key.clone(), Arc::clone(budget)))
            .collect();
        let (key, budget) = match matching.as_slice() {
            [] => return Ok(()),
            [one] => one,
            _ => {
                let why = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
                return Err(Failure::new(500, "InternalError", why));
            }
        };
        let status = &budget["status"];
        let number = |member: &str| status[member].as_i64().unwrap_or_default();
        let unready = !object::is_true(pod, "Ready");
        if unready {
            let always = budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow";
            if always
                || (number("currentHealthy") >= number("desiredHealthy") && number("desiredHealthy") > 0)
            {
                return Ok(());
            }
        }
        if number("observedGeneration") < budget["metadata"]["generation"].as_i64().unwrap_or_default() {
            let why = "The disruption budget is still being processed by the server.";
            return Err(blocked(why, &key.name, Some(10)));
        }
        if number("disruptionsAllowed") <= 0 {
            let why = format!(
                "The disruption budget {} needs {} healthy pods and has {} currently",
                key.name,
                number("desiredHealthy"),
                number("currentHealthy")
            );
            return Err(blocked(&why, &key.name, None));
        }
        let mut after = (**budget).clone();
        let date = self.date();
        let status = object::member_mut(&mut after, "status");
        status.insert("disruptionsAllowed".to_owned(), (number("disruptionsAllowed") - 1).into());
        let disrupted = status.entry("disruptedPods").or_insert_with(|| json!({}));
        disrupted[object::name(pod)] = date.into();
        self.also("eviction", "status", key, after);
        Ok(())
    }
}

fn blocked(why: &str, budget: &str, retry_after: Option<u32>) -> Failure {
    let message = "Cannot evict pod as it would violate the pod's disruption budget.";
    let cause = json!({"reason": "DisruptionBudget", "message": why});
    let mut details = json!({"name": budget, "causes": [cause]});
    if let Some(seconds) = retry_after {
        details["retryAfterSeconds"] = seconds.into();
    }
    Failure { retry_after, ..Failure::new(429, "TooManyRequests", message).with_details(details) }
}
