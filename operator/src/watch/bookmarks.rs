//! Finding the bookmarks in what a watch says.

use kube::core::WatchEvent;
use quotient_index::ResourceVersion;
use serde::de::IgnoredAny;

/// How the line of a bookmark begins, as the API server writes it.
const BEGINNING: &[u8] = b"{\"type\":\"BOOKMARK\"";

/// The longest line that is kept to be read. A bookmark is an object without content, of some hundred bytes.
const LONGEST: usize = 16 * 1024;

/// Reads the bookmarks among the lines of one watch, which come in pieces.
///
/// kube reads bookmarks as well and reports none. Other lines are objects; the feed says whether an object could be read.
#[derive(Debug, Default)]
pub(super) struct Bookmarks {
    /// The line so far, as long as it may be one.
    line: Vec<u8>,
    /// Whether the line so far is none.
    is_other: bool,
}

impl Bookmarks {
    /// Takes the next piece. Returns the version of the last bookmark that ended in it and could be read.
    pub(super) fn read(&mut self, piece: &[u8]) -> Option<ResourceVersion> {
        let mut found = None;
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.add(part);
            if part.ends_with(b"\n") {
                found = self.version().or(found);
                *self = Self::default();
            }
        }
        found
    }

    fn add(&mut self, part: &[u8]) {
        if self.is_other {
            return;
        }
        self.line.extend(part.iter().take(LONGEST.saturating_sub(self.line.len()).saturating_add(1)));
        let begun = self.line.iter().zip(BEGINNING).all(|(said, expected)| said == expected);
        if !begun || self.line.len() > LONGEST {
            *self = Self { line: Vec::new(), is_other: true };
        }
    }

    fn version(&self) -> Option<ResourceVersion> {
        match serde_json::from_slice::<WatchEvent<IgnoredAny>>(&self.line) {
            Ok(WatchEvent::Bookmark(bookmark)) => {
                Some(ResourceVersion::new(bookmark.metadata.resource_version))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOKMARK: &str = r#"{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7","creationTimestamp":null},"spec":{"containers":null},"status":{}}}"#;

    #[test]
    fn a_bookmark_is_found_in_whatever_pieces_it_comes() {
        let text = format!("{{\"type\":\"ADDED\",\"object\":{{}}}}\n{BOOKMARK}\n");
        for size in [1, 7, 100, 1000] {
            let mut bookmarks = Bookmarks::default();
            let found: Vec<_> = text.as_bytes().chunks(size).map(|piece| bookmarks.read(piece)).collect();
            let (last, before) = found.split_last().unwrap();
            assert_eq!(*last, Some(ResourceVersion::new("7")), "{size}");
            assert!(before.iter().all(Option::is_none), "{size}: {found:?}");
        }
    }

    #[test]
    fn what_is_no_bookmark_or_cannot_be_read_is_none() {
        let long = BOOKMARK.replace("\"7\"", &format!("\"{}\"", "7".repeat(LONGEST)));
        let nameless = BOOKMARK.replace("resourceVersion", "version");
        for line in
            ["", "{}", "{\"type\":\"BOOKMARK\"", &long, &nameless, &BOOKMARK.replace("BOOKMARK", "ADDED")]
        {
            let mut bookmarks = Bookmarks::default();
            assert_eq!(bookmarks.read(format!("{line}\n").as_bytes()), None, "{line}");
            assert!(bookmarks.read(format!("{BOOKMARK}\n").as_bytes()).is_some());
        }
        assert_eq!(Bookmarks::default().read(BOOKMARK.as_bytes()), None, "its end has not come");
    }
}
