//! Queues with their statuses: as the operator reported them, or computed as it would.

mod amounts;
mod leaving;
mod selector;
mod view;

pub(crate) use amounts::{Selected, amounts, percentage, resource_names, select};
pub(crate) use leaving::leaving;
pub(crate) use selector::SelectorArgs;
pub(crate) use view::{QueueView, Starvation, governing, in_tree_order, needs_a_person, views};
