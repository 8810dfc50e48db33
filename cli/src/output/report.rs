//! Parts of answers for programs: structs that are made of what the engine and the operator say.

/// Defines such structs. Behind each name stands what the struct is made of, and behind each field where it comes from.
///
/// ```ignore
/// report! {
///     struct GateReport(verdict: &Verdict) {
///         gate: String = verdict.gate.to_string(),
///     }
/// }
/// ```
///
/// `GateReport::of(&verdict)` makes one. Fields are camelCase, unless they say otherwise.
macro_rules! report {
    ($(
        $(#[$about:meta])*
        $visibility:vis struct $name:ident($($source:ident: $source_type:ty),+) {
            $($(#[$about_field:meta])* $field:ident: $type:ty = $from:expr,)+
        }
    )+) => {$(
        $(#[$about])*
        #[derive(Debug, serde::Serialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(rename_all = "camelCase")]
        $visibility struct $name {
            $($(#[$about_field])* $field: $type,)+
        }

        impl $name {
            $visibility fn of($($source: $source_type),+) -> Self {
                Self { $($field: $from,)+ }
            }
        }
    )+};
}

pub(crate) use report;
