//! The kinds that are understood.

use quotient_crds::names::API_VERSION;

/// A kind of object that `simulate` understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Namespace,
    Node,
    Pod,
    Queue,
    ResourceQuota,
}

/// Every kind, as they are listed to users.
const ALL: [Kind; 5] = [Kind::Namespace, Kind::Node, Kind::Pod, Kind::Queue, Kind::ResourceQuota];

impl Kind {
    /// The kind of this name in this API group and version.
    pub(super) fn find(api_version: &str, name: &str) -> Result<Self, String> {
        let found = ALL.into_iter().find(|kind| kind.name() == name);
        match found {
            Some(kind) if kind.api_version() == api_version => Ok(kind),
            Some(kind) => Err(format!(
                "apiVersion: {name} is understood in {}, not in {api_version}",
                kind.api_version()
            )),
            None => {
                let names: Vec<&str> = ALL.iter().map(|kind| kind.name()).collect();
                Err(format!("kind: {name} is not understood; what is: {}", names.join(", ")))
            }
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Namespace => "Namespace",
            Self::Node => "Node",
            Self::Pod => "Pod",
            Self::Queue => "Queue",
            Self::ResourceQuota => "ResourceQuota",
        }
    }

    pub(super) const fn api_version(self) -> &'static str {
        match self {
            Self::Namespace | Self::Node | Self::Pod | Self::ResourceQuota => "v1",
            Self::Queue => API_VERSION,
        }
    }

    /// Whether its objects are in a namespace.
    pub(super) const fn is_namespaced(self) -> bool {
        matches!(self, Self::Pod | Self::Queue | Self::ResourceQuota)
    }
}
