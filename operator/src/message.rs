//! Messages of events and conditions: what, why, what follows and what you can do, in at most 240 characters.

use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};

/// The most characters of a message.
pub(crate) const MOST: usize = 240;

/// `sentences` as one message: the first one, and of the others those that still fit.
pub(crate) fn message(sentences: impl IntoIterator<Item = String>) -> String {
    let mut text = String::new();
    for sentence in sentences.into_iter().filter(|sentence| !sentence.is_empty()) {
        if text.is_empty() {
            text = shortened(sentence);
        } else if text.chars().count().saturating_add(sentence.chars().count()) < MOST {
            text.push(' ');
            text.push_str(&sentence);
        }
    }
    text
}

/// `cpu 2, memory 6Gi`.
pub(crate) fn listed(amounts: &Bounds) -> String {
    let each = amounts.iter().map(|(resource, amount)| format!("{resource} {}", resource.format(amount)));
    each.collect::<Vec<_>>().join(", ")
}

/// `cpu 3, memory 0`: these resources, zeros included.
pub(crate) fn amounts_of<'a>(amounts: &Amounts, resources: impl Iterator<Item = &'a Resource>) -> String {
    let each = resources.map(|resource| format!("{resource} {}", resource.format(amounts.get(resource))));
    each.collect::<Vec<_>>().join(", ")
}

/// Amounts by the names of their resources, as objects have them.
pub(crate) fn texts<'a, C: FromIterator<(String, String)>>(
    amounts: impl Iterator<Item = (&'a Resource, Amount)>,
) -> C {
    amounts.map(|(resource, amount)| (resource.name().to_owned(), resource.format(amount))).collect()
}

/// A number as objects have it.
pub(crate) fn count(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// `text`, cut where it is too long.
fn shortened(text: String) -> String {
    if text.chars().count() <= MOST {
        return text;
    }
    let kept: String = text.chars().take(MOST.saturating_sub(1)).collect();
    kept + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(sentences: &[&str]) -> String {
        message(sentences.iter().map(ToString::to_string))
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        assert_eq!(joined(&["One.", "", "Two.", "Three."]), "One. Two. Three.");
        let long = "x".repeat(230);
        assert_eq!(joined(&[&long, "does not fit.", "Fits."]), format!("{long} Fits."));
        assert_eq!(joined(&[&"x".repeat(234), "Fits."]).chars().count(), MOST);
        let cut = joined(&[&"ä".repeat(300), "Two."]);
        assert!(cut.chars().count() == MOST && cut.ends_with('…'), "{cut}");
    }
}
