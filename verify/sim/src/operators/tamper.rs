//! What becomes of requests and objects where a test breaks the operator.

use std::sync::Arc;

use serde_json::Value;

use super::OperatorLink;
use crate::faults::Tamper;
use crate::objects::Kind;
use crate::server::{Answer, Call, Reply};

impl OperatorLink {
    /// Deals with `call`, by way of the layer if there is one.
    pub(super) fn pass(&self, call: &Call, server: &dyn Fn(&Call) -> Reply) -> Reply {
        let Some(tamper) = &self.options.tamper else { return server(call) };
        let kind = call.key.kind;
        tamper.pass(call.clone(), server).map(|answer| shown(&**tamper, kind, answer))
    }

    /// Whether the operator is shown `object` at all.
    pub(super) fn shows(&self, kind: Kind, object: &Value) -> bool {
        self.options.tamper.as_ref().is_none_or(|tamper| tamper.shows(kind, &mut object.clone()))
    }

    /// What the operator is shown of `object`; none if that is what it is.
    pub(super) fn altered(&self, kind: Kind, object: &Value) -> Option<Value> {
        let tamper = self.options.tamper.as_ref()?;
        let mut altered = object.clone();
        tamper.shows(kind, &mut altered);
        Some(altered)
    }
}

fn shown(tamper: &dyn Tamper, kind: Kind, mut answer: Answer) -> Answer {
    let body = Arc::make_mut(&mut answer.body);
    if let Some(items) = body["items"].as_array_mut() {
        items.retain_mut(|item| tamper.shows(kind, item));
    } else if body["metadata"].is_object() && body["kind"] != "Status" {
        tamper.shows(kind, body);
    }
    answer
}
