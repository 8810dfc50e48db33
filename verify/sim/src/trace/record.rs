//! One request, or one write without a request.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::objects::Kind;
use crate::objects::Name;

/// What was asked for, as RBAC calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// One object.
    Get,
    /// Many.
    List,
    /// Changes from now on.
    Watch,
    /// A new object, or a subresource such as `eviction`.
    Create,
    /// The whole object anew.
    Update,
    /// A part of it.
    Patch,
    /// Its end.
    Delete,
}

impl Verb {
    /// Whether a request of this kind may change something.
    pub const fn may_write(self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Patch | Self::Delete)
    }
}

/// One request as the server dealt with it, or one write that it made by itself.
///
/// What one request changes beside its own object is a record of its own right before it: admission that charges a
/// quota for a new pod is `client: "admission"`; an eviction that is charged to a budget is `client: "eviction"`.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The place in the trace, from 0.
    pub number: u64,
    /// If it changed an object: how many writes there were before it, of all clients. The state of the cluster is a
    /// function of this number.
    pub write: Option<u64>,
    /// When, since the simulation began.
    pub time: Duration,
    /// The client: `quotient-0` (an operator, all its lives), `job-controller`, `kubelet`, `human`, …
    pub client: Name,
    /// Which life of an operator, from 0: a crash or an exit ends one. 0 for others.
    pub life: u32,
    /// What was asked for.
    pub verb: Verb,
    /// Of which kind.
    pub kind: Kind,
    /// In which namespace; empty for all and for kinds without.
    pub namespace: Name,
    /// The object's name; empty for lists and watches. Of a created object the name it got.
    pub name: Name,
    /// `status`, `eviction`, `binding`; empty for the object itself.
    pub subresource: &'static str,
    /// What the server found, as an HTTP status, whether or not the client ever heard of it.
    pub code: u16,
    /// Why not, where it refused.
    pub message: Option<Box<str>>,
    /// What was sent: object, patch or options.
    pub asked: Option<Arc<Value>>,
    /// The object before; none if there was none, or nothing was to be changed.
    pub before: Option<Arc<Value>>,
    /// The object after; none if it is gone. Equal to `before` where nothing changed.
    pub after: Option<Arc<Value>>,
    /// The fault that hit the request, if one did, by its name.
    pub fault: Option<Name>,
    /// Of a list or a watch: the version of the cluster that was shown, which an old view makes less than the newest.
    /// Of a write: the version that it made.
    pub version: u64,
}

impl Record {
    /// Whether this is about the object of this kind and name.
    pub fn concerns(&self, kind: Kind, namespace: &str, name: &str) -> bool {
        self.kind == kind && &*self.namespace == namespace && &*self.name == name
    }

    /// Whether this is an eviction that made a pod go: one of a pod that is on its way already changes nothing.
    pub fn evicted(&self) -> bool {
        self.subresource == "eviction" && self.write.is_some()
    }

    /// Whether this is the lease's: written for ever, whatever else happens.
    pub fn is_lease(&self) -> bool {
        self.kind == Kind::Lease
    }
}

/// One line.
impl fmt::Display for Record {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = format!("{:?}", self.verb);
        write!(
            formatter,
            "{:>5} {:>10.3} {:<22} {:<6} {:?}",
            self.number,
            self.time.as_secs_f64(),
            format!("{}/{}", self.client, self.life),
            verb,
            self.kind
        )?;
        match (&*self.namespace, &*self.name) {
            ("", "") => {}
            ("", name) => write!(formatter, " {name}")?,
            (namespace, name) => write!(formatter, " {namespace}/{name}")?,
        }
        if !self.subresource.is_empty() {
            write!(formatter, " {}", self.subresource)?;
        }
        write!(formatter, " -> {}", self.code)?;
        if let Some(write) = self.write {
            write!(formatter, " w{write}")?;
        }
        write!(formatter, " v{}", self.version)?;
        if let Some(fault) = &self.fault {
            write!(formatter, " [{fault}]")?;
        }
        if let Some(message) = &self.message {
            write!(formatter, " {message}")?;
        }
        Ok(())
    }
}
