//! Keys of labels, as the API server accepts them.

/// The longest part before the slash.
const LONGEST_PREFIX: usize = 253;

/// The longest part after it.
const LONGEST_NAME: usize = 63;

/// Whether `text` can be the key of a label: a name, or a domain, a slash and a name.
pub(crate) fn is_label_key(text: &str) -> bool {
    match text.split_once('/') {
        Some((prefix, name)) => is_domain(prefix) && is_name(name),
        None => is_name(text),
    }
}

fn is_name(text: &str) -> bool {
    text.len() <= LONGEST_NAME
        && is_enclosed(text, |character| character.is_ascii_alphanumeric())
        && text.chars().all(|character| character.is_ascii_alphanumeric() || "-_.".contains(character))
}

fn is_domain(text: &str) -> bool {
    let inside = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit();
    text.len() <= LONGEST_PREFIX
        && text.split('.').all(|part| {
            is_enclosed(part, inside) && part.chars().all(|character| inside(character) || character == '-')
        })
}

/// Whether `text` begins and ends with such a character.
fn is_enclosed(text: &str, character: impl Fn(char) -> bool) -> bool {
    text.starts_with(&character) && text.ends_with(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_from_everything_else() {
        for key in ["pool", "node.kubernetes.io/instance-type", "a", "A_b.c-d", "example.org/Pool"] {
            assert!(is_label_key(key), "{key}");
        }
        let long = "a".repeat(64);
        for other in [
            "",
            "/pool",
            "pool/",
            "pool=a",
            "a/b/c",
            "-pool",
            "pool.",
            "Example.org/pool",
            "a b",
            "!a",
            &long,
        ] {
            assert!(!is_label_key(other), "{other}");
        }
    }
}
