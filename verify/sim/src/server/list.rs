//! Lists, whole or in pages, of now or of then.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Call, Done, Failure, State};
use crate::objects::Key;

impl State {
    /// A page of the newest objects; of older ones if a page was begun then, or the request names a version.
    pub(super) fn list(&self, call: &Call) -> Result<Done, Failure> {
        let query = &call.query;
        let kind = call.key.kind;
        let begun = query.after.as_deref().map(Token::parse).transpose()?;
        let version = begun.as_ref().map(|token| token.version).or(query.version);
        let version = version.unwrap_or(self.store.version()).min(self.store.version());
        if begun.is_some() && version < self.store.forgotten() {
            return Err(Failure::expired());
        }
        let namespace = Some(&*call.key.namespace).filter(|namespace| !namespace.is_empty());
        let wanted = |key: &Key, object: &Value| {
            namespace.is_none_or(|namespace| &*key.namespace == namespace) && query.selects(object)
        };
        let then;
        let objects: Vec<(&Key, &Arc<Value>)> = if version == self.store.version() {
            self.store.list(kind, namespace).filter(|(key, object)| wanted(key, object)).collect()
        } else {
            then = self.store.list_at(kind, version);
            then.iter().filter(|(key, object)| wanted(key, object)).collect()
        };
        let rest = begun.map_or(0, |token| token.shown);
        let end = query.limit.filter(|limit| *limit > 0).map_or(objects.len(), |limit| rest + limit);
        let page = objects.iter().take(end).skip(rest).map(|(_, object)| (***object).clone());
        let mut metadata = json!({"resourceVersion": version.to_string()});
        if end < objects.len() {
            metadata["continue"] = format!("{version}/{end}").into();
        }
        let body = json!({
            "kind": format!("{}List", kind.name()),
            "apiVersion": kind.api_version(),
            "metadata": metadata,
            "items": page.collect::<Vec<_>>(),
        });
        Ok(Done::read(Arc::new(body)))
    }
}

/// Where a list goes on.
struct Token {
    version: u64,
    shown: usize,
}

impl Token {
    fn parse(text: &str) -> Result<Self, Failure> {
        let parts = text.split_once('/').and_then(|(version, shown)| {
            Some(Self { version: version.parse().ok()?, shown: shown.parse().ok()? })
        });
        parts.ok_or_else(|| Failure::bad_request("continue key is not valid"))
    }
}
