//! The end of objects.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Body, Call, Done, Failure, State, charges};
use crate::clock::SimClock;
use crate::objects::{Key, Kind, object};

impl State {
    pub(super) fn delete(&mut self, call: &Call) -> Result<Done, Failure> {
        let options = match &call.body {
            Body::Object(options) => Arc::clone(options),
            _ => Arc::default(),
        };
        self.remove(&call.key, &options)
    }

    /// Deletes as `options` say: preconditions, grace.
    pub(super) fn remove(&mut self, key: &Key, options: &Value) -> Result<Done, Failure> {
        let found = self.store.get(key).cloned().ok_or_else(|| Failure::not_found(key))?;
        meets(key, &found, &options["preconditions"])?;
        match key.kind {
            Kind::Pod => Ok(self.remove_pod(key, &found, options["gracePeriodSeconds"].as_u64())),
            Kind::Namespace => Ok(self.remove_namespace(key, &found)),
            _ if object::has_finalizers(&found) => {
                if object::is_leaving(&found) {
                    return Ok(Done::unchanged(&found));
                }
                let mut leaving = (*found).clone();
                let meta = object::meta_mut(&mut leaving);
                meta.insert("deletionTimestamp".to_owned(), self.date().into());
                meta.insert("deletionGracePeriodSeconds".to_owned(), 0.into());
                Ok(self.done(200, key, Some(leaving)))
            }
            _ => Ok(self.done(200, key, None)),
        }
    }

    fn remove_pod(&mut self, key: &Key, found: &Arc<Value>, asked: Option<u64>) -> Done {
        let own = found["spec"]["terminationGracePeriodSeconds"].as_u64().unwrap_or(30);
        let idle = !found["spec"]["nodeName"].is_string() || charges::is_terminal(found);
        let mut grace = if idle { 0 } else { asked.unwrap_or(own) };
        if object::is_leaving(found) {
            let former = found["metadata"]["deletionGracePeriodSeconds"].as_u64().unwrap_or_default();
            // Only a shorter grace changes anything.
            if asked.is_none_or(|asked| asked >= former) && !(idle && former > 0) {
                let stays = former > 0 || object::has_finalizers(found);
                if stays {
                    return Done::unchanged(found);
                }
            }
            grace = grace.min(former);
        }
        if grace == 0 && !object::has_finalizers(found) {
            return self.done(200, key, None);
        }
        let deadline = SimClock::date(self.clock.elapsed() + Duration::from_secs(grace));
        let mut leaving = (**found).clone();
        let meta = object::meta_mut(&mut leaving);
        let deadline = deadline.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        meta.insert("deletionTimestamp".to_owned(), deadline.into());
        meta.insert("deletionGracePeriodSeconds".to_owned(), grace.into());
        self.done(200, key, Some(leaving))
    }

    /// A namespace goes when nothing is left in it.
    fn remove_namespace(&mut self, key: &Key, found: &Arc<Value>) -> Done {
        if object::is_leaving(found) {
            let empty = Kind::all()
                .filter(|kind| kind.is_namespaced())
                .all(|kind| self.store.list(kind, Some(&key.name)).next().is_none());
            return if empty { self.done(200, key, None) } else { Done::unchanged(found) };
        }
        let mut leaving = (**found).clone();
        object::meta_mut(&mut leaving).insert("deletionTimestamp".to_owned(), self.date().into());
        leaving["status"] = json!({"phase": "Terminating"});
        self.done(200, key, Some(leaving))
    }
}

/// Whether the object is the one that was meant.
pub(super) fn meets(key: &Key, found: &Value, preconditions: &Value) -> Result<(), Failure> {
    let uid = preconditions["uid"].as_str();
    if let Some(uid) = uid.filter(|uid| *uid != object::uid(found)) {
        let why = format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been \
             deleted and then recreated",
            object::uid(found)
        );
        return Err(Failure::conflict(key, &why));
    }
    let version = preconditions["resourceVersion"].as_str();
    let newest = object::meta(found, "resourceVersion");
    if let Some(version) = version.filter(|version| *version != newest) {
        let why = format!(
            "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record \
             ({newest}). The object might have been modified"
        );
        return Err(Failure::conflict(key, &why));
    }
    Ok(())
}
