//! Tests of the whole operator, and what the tests of its parts share.

pub(crate) mod api;
mod bad_days;
pub(crate) mod objects;
pub(crate) mod plan;
