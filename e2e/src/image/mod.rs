//! What the container image is made of, looked at without a container engine: the programs that the Dockerfile builds, built
//! the same way here.

mod dockerfile;
mod elf;
mod programs;

pub use dockerfile::{Dockerfile, Instruction};
pub use elf::{Linkage, linkage};
pub use programs::STATIC_FLAGS;
