//! Numbers with their nouns.

/// `1 pod`, `2 pods`.
pub(crate) fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}
