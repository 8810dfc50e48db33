//! `release` and `uninstall --check`: what happens when Quotient leaves, and what would stay behind.

mod release;
mod uninstall;

#[cfg(test)]
pub(crate) use release::release;
pub(crate) use release::{ReleaseArgs, run as run_release};
#[cfg(test)]
pub(crate) use uninstall::uninstall;
use uninstall::{Inventory, is_gated};
pub(crate) use uninstall::{UninstallArgs, run as run_uninstall};
