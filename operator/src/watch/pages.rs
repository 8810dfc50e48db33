//! How many objects a page of a list has, by how large they are.
//!
//! kube asks for pages of a number of objects, and an object may have 1.5 MB: a hundred of them are more memory than the operator
//! has, and kube keeps the text of a page until all of it has come. So the number is lowered on its way, and a page that is too
//! large all the same is given up.

use std::sync::{Arc, Mutex};

use http::Uri;
use http::uri::PathAndQuery;

use crate::lock::lock;

/// The most bytes of one page. The largest object that etcd takes by default has 1.5 MB, so a page of ten always fits.
const MOST_BYTES: usize = 32 << 20;

/// The bytes that a page should have. Lower numbers cost requests: a hundred pods of usual size have 1 MB.
const WANTED_BYTES: usize = 8 << 20;

/// By how much fewer objects are asked for after a page that was given up; the list begins anew then.
const STEP: u32 = 8;

/// The sizes of pages of one kind; none before the first. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Pages(Arc<Mutex<Option<Limits>>>);

/// How many objects a page may have.
#[derive(Clone, Copy, Debug)]
struct Limits {
    now: u32,
    /// What never rises again: a list that began anew would meet the same large objects.
    most: u32,
}

impl Pages {
    /// `uri` with a limit that fits the kind, and a page that counts its bytes; none if it asks for no page.
    pub(super) fn ask(&self, uri: &Uri) -> Option<(Uri, Page)> {
        let asked = uri.query()?.split('&').find_map(|part| part.strip_prefix("limit=")?.parse().ok())?;
        let limits = *lock(&self.0).get_or_insert(Limits { now: asked, most: asked });
        let limit = limits.now.min(asked);
        let uri = with_limit(uri, limit)?;
        Some((uri, Page { pages: self.clone(), limit, bytes: 0 }))
    }
}

/// One page on its way.
#[derive(Debug)]
pub(super) struct Page {
    pages: Pages,
    limit: u32,
    bytes: usize,
}

impl Page {
    /// So many more bytes have come.
    ///
    /// # Errors
    ///
    /// When they are too many. The next page of the kind has fewer objects.
    pub(super) fn add(&mut self, bytes: usize) -> Result<(), String> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes <= MOST_BYTES || self.limit <= 1 {
            return Ok(());
        }
        let fewer = self.limit.checked_div(STEP).unwrap_or_default().max(1);
        self.set(|limits| Limits { now: fewer, most: fewer.min(limits.most) });
        Err(format!(
            "{} objects have more than {MOST_BYTES} bytes; the list begins anew with {fewer} a page",
            self.limit
        ))
    }

    /// All of it has come: the next page may have up to twice as many objects if these were small.
    pub(super) fn end(&self) {
        let bytes = self.bytes.max(1);
        let wanted = u64::from(self.limit).saturating_mul(wide(WANTED_BYTES));
        let fitting = u32::try_from(wanted.checked_div(wide(bytes)).unwrap_or_default()).unwrap_or(u32::MAX);
        let next = fitting.clamp(1, self.limit.saturating_mul(2).max(1));
        self.set(|limits| Limits { now: next.min(limits.most), ..limits });
    }

    fn set(&self, next: impl FnOnce(Limits) -> Limits) {
        if let Some(limits) = lock(&self.pages.0).as_mut() {
            *limits = next(*limits);
        }
    }
}

fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// The same address with another `limit`.
fn with_limit(uri: &Uri, limit: u32) -> Option<Uri> {
    let parts = uri.query()?.split('&');
    let parts =
        parts.map(|part| if part.starts_with("limit=") { format!("limit={limit}") } else { part.to_owned() });
    let query = parts.collect::<Vec<_>>().join("&");
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(format!("{}?{query}", uri.path())).ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    /// The limit of the next page of pods, of which each object has so many bytes.
    fn next(pages: &Pages, bytes: usize) -> (u32, bool) {
        let uri = Uri::from_static("/api/v1/pods?&limit=100&continue=x");
        let (uri, mut page) = pages.ask(&uri).unwrap();
        assert_eq!(uri.to_string(), format!("/api/v1/pods?&limit={}&continue=x", page.limit));
        let fits = (0..page.limit).try_for_each(|_| page.add(bytes)).is_ok();
        if fits {
            page.end();
        }
        (page.limit, fits)
    }

    #[test]
    fn small_objects_come_by_the_hundred() {
        let pages = Pages::default();
        for _ in 0..3 {
            assert_eq!(next(&pages, 10_000), (100, true));
        }
        assert!(pages.ask(&Uri::from_static("/api/v1/pods?watch=true")).is_none());
    }

    #[test]
    fn pages_of_large_objects_are_given_up_and_never_grow_so_large_again() {
        let pages = Pages::default();
        assert_eq!(next(&pages, MIB), (100, false));
        assert_eq!(next(&pages, MIB), (12, true));
        assert_eq!(next(&pages, MIB), (8, true));
        // Small ones in between, and then large ones.
        assert_eq!(next(&pages, 10), (8, true));
        assert_eq!(next(&pages, 10), (12, true));
        assert_eq!(next(&pages, 3 * MIB), (12, false));
        assert_eq!(next(&pages, 3 * MIB), (1, true));
        assert_eq!(next(&pages, 10), (1, true));
        assert_eq!(next(&pages, 40 * MIB), (1, true), "one object is never given up");
    }

    #[test]
    fn pages_shrink_before_they_are_too_large() {
        let pages = Pages::default();
        assert_eq!(next(&pages, MIB / 4), (100, true));
        assert_eq!(next(&pages, MIB / 4), (32, true));
        assert_eq!(next(&pages, 10), (32, true));
        assert_eq!(next(&pages, 10), (64, true));
        assert_eq!(next(&pages, 10), (100, true));
    }
}
