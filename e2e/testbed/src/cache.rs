//! The cache directory: everything the test bed keeps between runs lives there, outside the repository.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Context as _;

/// The cache directory: `$QUOTIENT_CACHE`, else `$XDG_CACHE_HOME/quotient`, else `$HOME/.cache/quotient`.
/// It may not exist yet.
pub fn cache_directory() -> anyhow::Result<PathBuf> {
    choose(std::env::var_os("QUOTIENT_CACHE"), std::env::var_os("XDG_CACHE_HOME"), std::env::var_os("HOME")).context(
        "finding the cache directory: none of QUOTIENT_CACHE, XDG_CACHE_HOME and HOME names an absolute path; set \
         QUOTIENT_CACHE to a directory with 6 GB of room",
    )
}

/// Relative paths are passed over, as the XDG base directory specification demands: they would mean another
/// directory for every working directory.
fn choose(own: Option<OsString>, xdg: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |value: OsString| Some(PathBuf::from(value)).filter(|path| path.is_absolute());
    own.and_then(absolute)
        .or_else(|| Some(xdg.and_then(absolute)?.join("quotient")))
        .or_else(|| Some(home.and_then(absolute)?.join(".cache").join("quotient")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(own: Option<&str>, xdg: Option<&str>, home: Option<&str>, expected: Option<&str>) {
        let chosen = choose(own.map(Into::into), xdg.map(Into::into), home.map(Into::into));
        assert_eq!(chosen, expected.map(PathBuf::from));
    }

    #[test]
    fn the_most_specific_absolute_path_wins() {
        check(Some("/own"), Some("/xdg"), Some("/home/a"), Some("/own"));
        check(None, Some("/xdg"), Some("/home/a"), Some("/xdg/quotient"));
        check(None, None, Some("/home/a"), Some("/home/a/.cache/quotient"));
        check(Some("relative"), Some(""), Some("/home/a"), Some("/home/a/.cache/quotient"));
        check(None, None, None, None);
    }
}
