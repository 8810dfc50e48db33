//! What makes another operator of the real one: layers between it and the server.

use std::io::Read;
use std::sync::{Arc, Mutex};

use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use k8s_openapi::ByteString;
use quotient_sim::faults::Tamper;
use quotient_sim::objects::{Key, Kind};
use quotient_sim::server::{Answer, Body, Call, Reply};
use quotient_sim::trace::Verb;
use serde_json::{Map, Value, json};

/// How a request is carried out.
pub(crate) type Server<'a> = &'a dyn Fn(&Call) -> Reply;

/// What deals with a request in the operator's place.
pub(crate) type Dealer = fn(Call, Server<'_>) -> Reply;

/// Changes the requests that are meant.
#[derive(Debug)]
pub(crate) struct Asks {
    pub(crate) means: fn(&Call) -> bool,
    pub(crate) change: fn(&mut Call),
}

/// Changes what is seen of a kind.
#[derive(Debug)]
pub(crate) struct Alters {
    pub(crate) kind: Kind,
    pub(crate) change: fn(&mut Value),
}

/// Changes or hides what is seen.
#[derive(Debug)]
pub(crate) struct Sees(pub(crate) fn(Kind, &mut Value) -> bool);

/// Deals with every request itself.
#[derive(Debug)]
pub(crate) struct Deals(pub(crate) Dealer);

/// The same, of one that does not know a kind.
#[derive(Debug)]
pub(crate) struct DealsWithout {
    pub(crate) kind: Kind,
    pub(crate) deals: Dealer,
}

/// Has an object of its own where all should share one: `quotient-ledger` is `quotient-ledger-1`.
#[derive(Debug)]
pub(crate) struct Keeps {
    pub(crate) kind: Kind,
    pub(crate) number: usize,
}

/// Stores the first targets that are made with every later stamp, too.
#[derive(Debug, Default)]
pub(crate) struct FirstTargets(Mutex<Option<Value>>);

impl Tamper for FirstTargets {
    fn pass(&self, mut call: Call, server: Server<'_>) -> Reply {
        ledger(&mut call, |ledger| {
            let Some(targets) = ledger.get_mut("targets") else { return };
            let mut first = self.0.lock().unwrap();
            targets["of"] = first.get_or_insert_with(|| targets["of"].clone()).clone();
        });
        server(&call)
    }
}

impl Tamper for Asks {
    fn pass(&self, mut call: Call, server: Server<'_>) -> Reply {
        if (self.means)(&call) {
            (self.change)(&mut call);
        }
        server(&call)
    }
}

impl Tamper for Alters {
    fn shows(&self, kind: Kind, object: &mut Value) -> bool {
        if kind == self.kind {
            (self.change)(object);
        }
        true
    }
}

impl Tamper for Sees {
    fn shows(&self, kind: Kind, object: &mut Value) -> bool {
        (self.0)(kind, object)
    }
}

impl Tamper for Deals {
    fn pass(&self, call: Call, server: Server<'_>) -> Reply {
        (self.0)(call, server)
    }
}

impl Tamper for DealsWithout {
    fn pass(&self, call: Call, server: Server<'_>) -> Reply {
        (self.deals)(call, server)
    }

    fn shows(&self, kind: Kind, _: &mut Value) -> bool {
        kind != self.kind
    }
}

impl Tamper for Keeps {
    fn pass(&self, mut call: Call, server: Server<'_>) -> Reply {
        if call.key.kind == self.kind {
            let name = format!("{}-{}", call.key.name, self.number);
            change(&mut call, |object| object["metadata"]["name"] = name.as_str().into());
            call.key.name = name.into();
        }
        server(&call)
    }
}

// ===== words to write layers with =====

pub(crate) fn is_eviction(call: &Call) -> bool {
    call.subresource == "eviction"
}

pub(crate) fn is_gate_removal(call: &Call) -> bool {
    call.key.kind == Kind::Pod && call.verb == Verb::Patch && matches!(&call.body, Body::JsonPatch(_))
}

pub(crate) fn is_quota_write(call: &Call) -> bool {
    call.key.kind == Kind::ResourceQuota && call.verb.may_write()
}

/// What was sent, changed.
pub(crate) fn change(call: &mut Call, change: impl FnOnce(&mut Value)) {
    if let Body::Object(value) | Body::JsonPatch(value) | Body::MergePatch(value) = &mut call.body {
        change(Arc::make_mut(value));
    }
}

/// The status of a Queue that is merged or replaced, changed.
pub(crate) fn status(call: &mut Call, edit: impl FnOnce(&mut Map<String, Value>)) {
    if call.key.kind != Kind::Queue || call.subresource != "status" {
        return;
    }
    change(call, |body| {
        let status = match body {
            Value::Array(operations) => operations.last_mut().map(|operation| &mut operation["value"]),
            merge => Some(&mut merge["status"]),
        };
        if let Some(Value::Object(status)) = status {
            edit(status);
        }
    });
}

/// The operations of a JSON patch, changed.
pub(crate) fn operations(call: &mut Call, mut keep: impl FnMut(&mut Value) -> bool) {
    if let Body::JsonPatch(value) = &mut call.body
        && let Some(operations) = Arc::make_mut(value).as_array_mut()
    {
        operations.retain_mut(|operation| keep(operation));
    }
}

/// The entries of the ledger that was sent, changed.
pub(crate) fn entries(call: &mut Call, mut change_entry: impl FnMut(&mut Value)) {
    ledger(call, |ledger| {
        ledger["entries"].as_object_mut().unwrap().values_mut().for_each(&mut change_entry);
    });
}

/// The ledger that was sent, changed.
fn ledger(call: &mut Call, change_ledger: impl FnOnce(&mut Value)) {
    if call.key.kind != Kind::ConfigMap || !call.verb.may_write() {
        return;
    }
    change(call, |object| {
        let Some(data) = object.pointer_mut("/binaryData/ledger.json.gz") else { return };
        let packed: ByteString = serde_json::from_value(data.clone()).unwrap();
        let mut ledger: Value = serde_json::from_reader(GzDecoder::new(&*packed.0)).unwrap();
        change_ledger(&mut ledger);
        let mut repacked = Vec::new();
        GzEncoder::new(ledger.to_string().as_bytes(), Compression::default())
            .read_to_end(&mut repacked)
            .unwrap();
        *data = serde_json::to_value(ByteString(repacked)).unwrap();
    });
}

/// The pod of an eviction, deleted.
pub(crate) fn deletion(eviction: &Call) -> Call {
    let options = match &eviction.body {
        Body::Object(body) => body["deleteOptions"].clone(),
        _ => json!({}),
    };
    Call::delete(Key::new(Kind::Pod, &eviction.key.namespace, &eviction.key.name), options)
}

/// What an eviction is answered that succeeded.
pub(crate) fn success() -> Answer {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201,
    });
    Answer { code: 201, body: Arc::new(status) }
}

/// Whether a pod is on its way out.
pub(crate) fn is_leaving(pod: &Value) -> bool {
    pod["metadata"]["deletionTimestamp"].is_string()
}

/// A quota without a count of what pods are charged.
pub(crate) fn uncounted(quota: &mut Value) {
    if let Some(status) = quota["status"].as_object_mut() {
        status.remove("used");
    }
}
