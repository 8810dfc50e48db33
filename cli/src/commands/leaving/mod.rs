//! `release` and `uninstall --check`: what happens when Quotient leaves, and what would stay behind.

mod inventory;
mod release;
mod uninstall;

pub(crate) use release::{ReleaseArgs, release, run as run_release};
pub(crate) use uninstall::{UninstallArgs, run as run_uninstall, uninstall};

use inventory::{Inventory, Leftover};
