//! A layer between an operator and the server by which tests break the operator: to the cluster it is then one that does
//! something else, and the checker has to notice.

use std::fmt;

use serde_json::Value;

use crate::objects::Kind;
use crate::server::{Call, Reply};

/// What is not done, or not seen, as the operator means it.
///
/// Every life of an operator has the same layer, so what it remembers outlives a crash.
pub trait Tamper: fmt::Debug + Send + Sync {
    /// Deals with a request in the operator's place. `server` carries one out: as it is, changed, several, or none.
    fn pass(&self, call: Call, server: &dyn Fn(&Call) -> Reply) -> Reply {
        server(&call)
    }

    /// Changes what the operator is shown of an object, in lists, watches and answers. False hides it: where it was
    /// seen before, it is seen to go.
    fn shows(&self, _kind: Kind, _object: &mut Value) -> bool {
        true
    }
}
