//! The metadata of an object without `managedFields`, which is most of it and which no decision needs.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time};
use serde::Deserialize;

/// Defines structs of the fields that the index reads of a type of Kubernetes, each turned into the whole type. Other fields
/// are passed over and not decoded.
macro_rules! lean {
    ($(
        $(#[$about:meta])*
        $name:ident => $whole:ident { $($(#[$about_field:meta])* $field:ident: $type:ty,)+ }
    )+) => {$(
        $(#[$about])*
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub(crate) struct $name {
            $($(#[$about_field])* $field: $type,)+
        }

        impl From<$name> for $whole {
            fn from(lean: $name) -> Self {
                Self { $($field: lean.$field,)+ ..Self::default() }
            }
        }
    )+};
}

pub(crate) use lean;

lean! {
    /// What the index reads of an object's metadata.
    Metadata => ObjectMeta {
        name: Option<String>,
        namespace: Option<String>,
        uid: Option<String>,
        resource_version: Option<String>,
        creation_timestamp: Option<Time>,
        deletion_timestamp: Option<Time>,
        deletion_grace_period_seconds: Option<i64>,
        generation: Option<i64>,
        labels: Option<BTreeMap<String, String>>,
        annotations: Option<BTreeMap<String, String>>,
        owner_references: Option<Vec<OwnerReference>>,
    }

    /// What tells one object from another: read where nothing else of the metadata can be.
    Names => ObjectMeta {
        name: Option<String>,
        namespace: Option<String>,
        uid: Option<String>,
        resource_version: Option<String>,
    }
}
