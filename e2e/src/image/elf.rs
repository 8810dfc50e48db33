//! Whether a program loads anything: by the headers of its file, which the kernel reads when it is started.

use anyhow::{Context as _, ensure};

/// How a program is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// The kernel starts it by itself.
    Static,
    /// The kernel starts the loader that it names, which looks for libraries.
    Dynamic,
}

/// The kind of segment that names a loader (`PT_INTERP`).
const LOADER: u64 = 3;

/// How the ELF file with these bytes is linked: 64 bits, little endian.
pub fn linkage(file: &[u8]) -> anyhow::Result<Linkage> {
    ensure!(file.starts_with(b"\x7fELF\x02\x01"), "this is no ELF file of 64 bits, little endian");
    let (table, size, count) = (number(file, 0x20, 8)?, number(file, 0x36, 2)?, number(file, 0x38, 2)?);
    for index in 0..count {
        let header = table.saturating_add(index.saturating_mul(size));
        if number(file, header, 4)? == LOADER {
            return Ok(Linkage::Dynamic);
        }
    }
    Ok(Linkage::Static)
}

fn number(file: &[u8], at: u64, bytes: usize) -> anyhow::Result<u64> {
    let at = usize::try_from(at)?;
    let bytes = file.get(at..at.saturating_add(bytes)).context("the ELF file ends within its headers")?;
    Ok(bytes.iter().rev().fold(0, |number, byte| (number << 8) | u64::from(*byte)))
}
