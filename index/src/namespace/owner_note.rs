//! What only the index needs to know of an owner.

use std::sync::Arc;

use quotient_snapshot::amounts::Amounts;
use quotient_snapshot::{Shape, Unspecified};

use crate::meta::Age;
use crate::pod_requests::Defaultable;
use crate::priority_classes::AskedPriority;
use crate::sizes::DeclaredReplicas;

/// What only the index needs to know of an owner.
#[derive(Debug, Default)]
pub(crate) struct OwnerNote {
    /// How new it is.
    pub(crate) age: Age,
    /// How its template asks for a priority.
    pub(crate) asked: AskedPriority,
    /// Whether its template states a gang. If not, its pods are of the PodGroup that it controls.
    pub(crate) states_gang: bool,
    /// How many pods it wants by its own spec.
    pub(crate) wanted: u32,
    /// How many it would want if it had the size that it had before it was scaled down.
    pub(crate) rightful: u32,
    /// What it says of its size itself.
    pub(crate) declared: DeclaredReplicas,
    /// The shape of its template.
    pub(crate) template: Arc<Shape>,
    /// What some container of its template names no request for.
    pub(crate) unspecified: Unspecified,
    /// What its template does not say of the requests of its pods, if that is known.
    pub(crate) open: Option<Box<OpenRequests>>,
    /// What `manualSelector` of a Job says.
    pub(crate) manual_selector: Option<bool>,
    /// Whether a pod of a Job was ever seen Ready.
    pub(crate) was_ready: bool,
}

/// What the template of an owner does not say of the requests of its pods.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct OpenRequests {
    /// What its pods request by the defaults of the namespace, if some container of its template names none.
    pub(crate) defaultable: Option<Box<Defaultable>>,
    /// What the last pod requested that the quota refused, of the resources that there was too little of.
    pub(crate) refused: Amounts,
}

impl OwnerNote {
    /// Whether its pods request what those of an owner with the `other` note do.
    pub(crate) fn requests_as(&self, other: &Self) -> bool {
        (&self.template, &self.open, self.unspecified) == (&other.template, &other.open, other.unspecified)
    }
}
