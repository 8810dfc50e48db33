//! Numbers with their nouns.

/// `1 pod`, `2 pods`.
pub(crate) fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// `40 s`, `12 min`, `3 h`.
pub(crate) fn duration(seconds: i64) -> String {
    match seconds {
        ..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds.div_euclid(60)),
        _ => format!("{} h", seconds.div_euclid(3600)),
    }
}
