//! Changes of objects that are there.

use std::sync::Arc;

use serde_json::Value;

use super::{Body, Call, Done, Failure, State};
use crate::objects::{Key, object};

impl State {
    pub(super) fn update(&mut self, call: &Call) -> Result<Done, Failure> {
        let Body::Object(sent) = &call.body else {
            return Err(Failure::bad_request("an object is expected"));
        };
        let found = self.found(&call.key)?;
        let wanted = (**sent).clone();
        self.put(call, &found, wanted)
    }

    pub(super) fn patch(&mut self, call: &Call) -> Result<Done, Failure> {
        let found = self.found(&call.key)?;
        let wanted = match &call.body {
            Body::JsonPatch(operations) => super::json_patch::apply(&found, operations).ok_or_else(|| {
                Failure::new(422, "Invalid", "the server rejected our request due to an error in our request")
            })?,
            Body::MergePatch(patch) => {
                let mut wanted = (*found).clone();
                json_patch::merge(&mut wanted, patch);
                wanted
            }
            _ => {
                let why = "only JSON and merge patches are simulated";
                return Err(Failure::new(415, "UnsupportedMediaType", why));
            }
        };
        self.put(call, &found, wanted)
    }

    fn found(&self, key: &Key) -> Result<Arc<Value>, Failure> {
        self.store.get(key).cloned().ok_or_else(|| Failure::not_found(key))
    }

    /// Puts `wanted` in the place of `found`, as far as the request may.
    fn put(&mut self, call: &Call, found: &Arc<Value>, mut wanted: Value) -> Result<Done, Failure> {
        let key = &call.key;
        let version = object::meta(&wanted, "resourceVersion");
        if !version.is_empty() && version != object::meta(found, "resourceVersion") {
            return Err(Failure::stale(key));
        }
        let uid = object::uid(&wanted);
        if !uid.is_empty() && uid != object::uid(found) {
            let why = format!("metadata.uid: Invalid value: \"{uid}\": field is immutable");
            return Err(Failure::invalid(key, &why));
        }
        let facts = key.kind.facts();
        if facts.status {
            if call.subresource == "status" {
                let sent = wanted;
                wanted = (**found).clone();
                set(&mut wanted, "status", sent.get("status").cloned());
                // With the status of a built-in kind its labels and annotations may be written.
                for member in ["labels", "annotations"].into_iter().filter(|_| !key.kind.is_custom()) {
                    set(&mut wanted["metadata"], member, sent["metadata"].get(member).cloned());
                }
            } else {
                set(&mut wanted, "status", found.get("status").cloned());
            }
        }
        // What no client may change.
        for member in ["uid", "name", "namespace", "creationTimestamp", "generation", "resourceVersion"] {
            let kept = found["metadata"].get(member).cloned();
            let meta = object::meta_mut(&mut wanted);
            match kept {
                Some(kept) => meta.insert(member.to_owned(), kept),
                None => meta.remove(member),
            };
        }
        wanted["apiVersion"] = found["apiVersion"].clone();
        wanted["kind"] = found["kind"].clone();
        if wanted == **found {
            return Ok(Done::unchanged(found));
        }
        if facts.generation && wanted["spec"] != found["spec"] {
            let generation = found["metadata"]["generation"].as_u64().unwrap_or_default();
            object::meta_mut(&mut wanted).insert("generation".to_owned(), (generation + 1).into());
        }
        // The last finalizer of an object that is to go has gone.
        let gone = object::is_leaving(&wanted)
            && object::has_finalizers(found)
            && !object::has_finalizers(&wanted)
            && wanted["metadata"]["deletionGracePeriodSeconds"].as_u64().unwrap_or_default() == 0;
        Ok(self.done(200, key, (!gone).then_some(wanted)))
    }
}

fn set(object: &mut Value, member: &str, value: Option<Value>) {
    let Some(members) = object.as_object_mut() else { return };
    match value {
        Some(value) => members.insert(member.to_owned(), value),
        None => members.remove(member),
    };
}
