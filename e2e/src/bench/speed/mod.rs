//! `bench speed`: how fast a share moves, seen from the API server.
//!
//! A scenario sets a stage on a fresh control plane, waits until nothing moves, then a queue asks for its share. Every
//! time is taken from a watch of all pods and from the API server's audit log, never from the operator's own word; so any
//! peer could be measured with the same scenarios.

mod layout;
mod measures;
mod page;
mod play;
mod plot;
mod recorder;
mod scenario;
mod scenarios;
mod summary;
mod timeline;
mod work;

pub use layout::{ClusterLayout, NodeGroup, QueueAt};
pub use measures::Measures;
pub use page::{page, summary};
pub use play::play;
pub use plot::timeline_plot;
pub use recorder::{PodTimes, Recorder};
pub use scenario::{Demand, Outcome, Scenario};
pub use scenarios::{churn, free_room, reclaim_half, scenarios};
pub use summary::{Figure, Series};
pub use timeline::{Step, Timeline};
pub use work::{Kind, Work};
