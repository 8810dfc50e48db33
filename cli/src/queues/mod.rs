//! Queues with their statuses: as the operator reported them, or computed as it would.

mod amounts;
mod leaving;
mod view;

pub(crate) use amounts::{amounts, percentage, resource_names, select};
pub(crate) use leaving::{Leaving, leaving};
pub(crate) use view::{QueueView, Remedy, SelectorArgs, Starvation, governing, in_tree_order, views};
