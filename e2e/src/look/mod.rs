//! `make look`: the dashboards as they look while shares move.
//!
//! A real Prometheus scrapes the real operator on the test bed, the way it would in a cluster: over TLS, with the token of
//! a service account. Then every panel's queries are run, and drawn into one picture a dashboard. A panel whose query
//! finds nothing, or is no query, cannot hide.

#![expect(clippy::indexing_slicing, reason = "a JSON value that is not there is null")]

mod dashboard;
mod draw;
mod prometheus;
mod scenario;

pub use dashboard::{Dashboard, Panel, PanelKind, Target};
pub use draw::draw;
pub use prometheus::{Prometheus, Sample, Span};
pub use scenario::{Watched, play};
