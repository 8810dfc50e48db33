//! Tests of the whole operator, and what the tests of its parts share.

pub(crate) mod api;
pub(crate) mod objects;
pub(crate) mod plan;
