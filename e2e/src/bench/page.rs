//! Numbers in a page that people write: what is between two marks is replaced.

use std::path::Path;

use anyhow::{Context as _, bail};
use jiff::Timestamp;

use super::Machine;

const END: &str = "<!-- end -->";

/// The beginning of what `by` measured, up to the machine, about which the caller says more.
pub fn measured_by(by: &str, machine: Machine, at: Timestamp) -> String {
    format!("Written by `{by} WRITE=1` on {}, on a machine with {machine}", at.strftime("%Y-%m-%d"))
}

/// Replaces what `page` has between `<!-- measured: by -->` and `<!-- end -->`.
pub fn write(page: &Path, by: &str, text: &str) -> anyhow::Result<()> {
    let old = std::fs::read_to_string(page).with_context(|| format!("reading {}", page.display()))?;
    let new = replaced(&old, by, text).with_context(|| format!("in {}", page.display()))?;
    std::fs::write(page, new).with_context(|| format!("writing {}", page.display()))
}

fn replaced(page: &str, by: &str, text: &str) -> anyhow::Result<String> {
    let begin = format!("<!-- measured: {by} -->");
    let Some((before, rest)) = page.split_once(&begin) else { bail!("there is no {begin}") };
    let Some((_, after)) = rest.split_once(END) else { bail!("there is no {END} after {begin}") };
    Ok(format!("{before}{begin}\n\n{}\n\n{END}{after}", text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_wrote_stays() {
        let page = "# A\n<!-- measured: make b -->\nold\n<!-- end -->\nB\n";
        let new = replaced(page, "make b", "new\n").unwrap();
        assert_eq!(new, "# A\n<!-- measured: make b -->\n\nnew\n\n<!-- end -->\nB\n");
        assert_eq!(replaced(&new, "make b", "new").unwrap(), new);
        let error = replaced(page, "make c", "new").unwrap_err();
        assert_eq!(error.to_string(), "there is no <!-- measured: make c -->");
    }
}
