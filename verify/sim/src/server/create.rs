//! New objects.

use serde_json::{Map, Value, json};

use super::{Body, Call, Client, Done, Failure, State};
use crate::objects::{Key, Kind, object};

impl State {
    pub(super) fn create(&mut self, client: &Client, call: &Call) -> Result<Done, Failure> {
        let Body::Object(sent) = &call.body else {
            return Err(Failure::bad_request("an object is expected"));
        };
        let mut created = (**sent).clone();
        let kind = call.key.kind;
        let namespace = &call.key.namespace;
        if kind.is_namespaced() && !namespace.is_empty() {
            object::meta_mut(&mut created).insert("namespace".to_owned(), json!(&**namespace));
        }
        self.name(&mut created);
        let key = Key::of(kind, &created);
        if key.name.is_empty() {
            let why = "metadata.name: Required value: name or generateName is required";
            return Err(Failure::invalid(&key, why));
        }
        self.may_be_in_namespace(&key)?;
        self.is_taken(&key)?;
        self.fill_in(kind, &mut created);
        if kind == Kind::Pod {
            self.resolve_priority(&key, &mut created)?;
            self.gate(&key, &mut created);
            self.admit(&key, &created)?;
            if let Some(done) = self.send(client, call, &key, &created) {
                return Ok(done);
            }
        }
        let done = self.done(201, &key, Some(created));
        Ok(Done { name: Some(key.name), ..done })
    }

    fn name(&mut self, created: &mut Value) {
        let prefix = object::meta(created, "generateName").to_owned();
        if object::name(created).is_empty() && !prefix.is_empty() {
            // As much as is left of a number that no other object has had: always the same, and never the same twice.
            let name = format!("{prefix}{}", letters(self.created));
            object::meta_mut(created).insert("name".to_owned(), name.into());
        }
    }

    pub(super) fn may_be_in_namespace(&self, key: &Key) -> Result<(), Failure> {
        if !key.kind.is_namespaced() {
            return Ok(());
        }
        let namespace = Key::new(Kind::Namespace, "", &key.namespace);
        let found = self.store.get(&namespace).ok_or_else(|| Failure::not_found(&namespace))?;
        if object::is_leaving(found) {
            let why = format!(
                "unable to create new content in namespace {} because it is being terminated",
                key.namespace
            );
            let cause = json!({"reason": "NamespaceTerminating", "message": "namespace is being terminated"});
            return Err(Failure::forbidden(key, &why).with_details(json!({"causes": [cause]})));
        }
        Ok(())
    }

    /// What the server sets by itself.
    fn fill_in(&mut self, kind: Kind, created: &mut Value) {
        created["apiVersion"] = kind.api_version().into();
        created["kind"] = kind.name().into();
        let uid = self.new_uid();
        let date = self.date();
        let meta = object::meta_mut(created);
        meta.insert("uid".to_owned(), uid.into());
        meta.insert("creationTimestamp".to_owned(), date.into());
        if kind.facts().generation {
            meta.insert("generation".to_owned(), 1.into());
        }
        // A node says itself what it offers; the status of every other kind is of another writer.
        if kind.facts().status && kind != Kind::Node {
            created.as_object_mut().map(|members| members.remove("status"));
        }
        match kind {
            Kind::Namespace => created["status"] = json!({"phase": "Active"}),
            Kind::Pod => {
                created["status"] = json!({"phase": "Pending"});
                let spec = object::member_mut(created, "spec");
                spec.entry("terminationGracePeriodSeconds").or_insert_with(|| 30.into());
                spec.entry("schedulerName").or_insert_with(|| "default-scheduler".into());
                spec.entry("restartPolicy").or_insert_with(|| "Always".into());
                fill_in_requests(spec);
            }
            _ => {}
        }
    }

    fn resolve_priority(&self, key: &Key, pod: &mut Value) -> Result<(), Failure> {
        let named = pod["spec"]["priorityClassName"].as_str().unwrap_or_default().to_owned();
        let value = match named.as_str() {
            "" => {
                let mut classes = self.store.list(Kind::PriorityClass, None);
                classes
                    .find(|(_, class)| class["globalDefault"] == true)
                    .map(|(_, class)| class["value"].clone())
            }
            "system-cluster-critical" => Some(2_000_000_000.into()),
            "system-node-critical" => Some(2_000_001_000.into()),
            named => {
                let class = self.store.get(&Key::new(Kind::PriorityClass, "", named));
                let none = || format!("no PriorityClass with name {named} was found");
                Some(class.ok_or_else(|| Failure::forbidden(key, &none()))?["value"].clone())
            }
        };
        let spec = object::member_mut(pod, "spec");
        spec.insert("priority".to_owned(), value.unwrap_or_else(|| 0.into()));
        Ok(())
    }

    /// The pod is given to a node.
    pub(super) fn bind(&mut self, call: &Call) -> Result<Done, Failure> {
        let found = self.store.get(&call.key).ok_or_else(|| Failure::not_found(&call.key))?;
        let Body::Object(binding) = &call.body else {
            return Err(Failure::bad_request("a binding is expected"));
        };
        let mut pod = (**found).clone();
        if pod["spec"]["nodeName"].is_string() || object::is_leaving(&pod) {
            return Err(Failure::conflict(&call.key, "pod is already assigned to a node or is to go"));
        }
        if pod["spec"]["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty()) {
            return Err(Failure::conflict(&call.key, "pod has non-empty .spec.schedulingGates"));
        }
        object::member_mut(&mut pod, "spec").insert("nodeName".to_owned(), binding["target"]["name"].clone());
        object::set_condition(&mut pod, "PodScheduled", "True", "Scheduled", &self.date());
        Ok(self.done(201, &call.key, Some(pod)))
    }
}

/// A limit without a request is a request.
fn fill_in_requests(spec: &mut Map<String, Value>) {
    for list in ["containers", "initContainers"] {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let limits = container["resources"]["limits"].as_object().cloned().unwrap_or_default();
            if limits.is_empty() {
                continue;
            }
            let requests = object::member_mut(&mut container["resources"], "requests");
            for (name, amount) in limits {
                requests.entry(name).or_insert(amount);
            }
        }
    }
}

/// Five letters for a number, as the API server makes names unique.
fn letters(number: u64) -> String {
    const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut rest = number;
    let mut text = [b'b'; 5];
    for place in text.iter_mut().rev() {
        *place = LETTERS[usize::try_from(rest % 27).unwrap_or_default()];
        rest /= 27;
    }
    String::from_utf8_lossy(&text).into_owned()
}
