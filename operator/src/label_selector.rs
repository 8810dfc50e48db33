//! Label selectors as kubectl takes them: `pool in (batch,gpu),zone=a,!spot`.

use kube::core::{Expression, Selector};

/// Why a text is no label selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{part:?} is none of key, !key, key=value, key!=value, key in (a,b), key notin (a,b)")]
pub struct SelectorError {
    /// The part that cannot be read.
    part: String,
}

/// Reads a selector; an empty text selects everything.
pub fn parse(text: &str) -> Result<Selector, SelectorError> {
    parts(text).into_iter().filter(|part| !part.is_empty()).map(expression).collect()
}

/// The key of a label that `text` names, and nothing else.
pub(crate) fn key(text: &str) -> Option<String> {
    match expression(text.trim()) {
        Ok(Expression::Exists(key)) => Some(key),
        _ => None,
    }
}

/// The text between the commas that are not inside parentheses.
fn parts(text: &str) -> Vec<&str> {
    let mut inside = false;
    text.split(move |character| {
        match character {
            '(' => inside = true,
            ')' => inside = false,
            _ => {}
        }
        character == ',' && !inside
    })
    .map(str::trim)
    .collect()
}

fn expression(part: &str) -> Result<Expression, SelectorError> {
    let wrong = || SelectorError { part: part.to_owned() };
    let word = |text: &str| {
        let text = text.trim();
        let valid = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        (!text.is_empty() && text.chars().all(valid)).then(|| text.to_owned()).ok_or_else(wrong)
    };
    // A label may have an empty value.
    let value = |text: &str| if text.trim().is_empty() { Ok(String::new()) } else { word(text) };

    if let Some(list) = part.strip_suffix(')') {
        let (head, values) = list.split_once('(').ok_or_else(wrong)?;
        let values = values.split(',').map(value).collect::<Result<_, _>>()?;
        return match head.split_whitespace().collect::<Vec<_>>().as_slice() {
            [key, "in"] => Ok(Expression::In(word(key)?, values)),
            [key, "notin"] => Ok(Expression::NotIn(word(key)?, values)),
            _ => Err(wrong()),
        };
    }
    if let Some((key, wanted)) = part.split_once("!=") {
        return Ok(Expression::NotEqual(word(key)?, value(wanted)?));
    }
    if let Some((key, wanted)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return Ok(Expression::Equal(word(key)?, value(wanted)?));
    }
    if let Some(key) = part.strip_prefix('!') {
        return Ok(Expression::DoesNotExist(word(key)?));
    }
    Ok(Expression::Exists(word(part)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::core::SelectorExt;
    use std::collections::BTreeMap;

    fn check(selector: &str, labels: &[(&str, &str)], expected: bool) {
        let labels: BTreeMap<String, String> =
            labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        assert_eq!(parse(selector).unwrap().matches(&labels), expected, "{selector} on {labels:?}");
    }

    #[test]
    fn every_form_is_understood() {
        let labels = [("pool", "gpu"), ("zone", "a")];
        check("", &labels, true);
        check("pool", &labels, true);
        check("!spot", &labels, true);
        check("!pool", &labels, false);
        check("pool=gpu", &labels, true);
        check("pool == batch", &labels, false);
        check("pool!=batch", &labels, true);
        check("pool in (batch, gpu),zone notin (b,c) , !spot", &labels, true);
        check("pool in (batch)", &labels, false);
        check("node-role.kubernetes.io/worker=", &[("node-role.kubernetes.io/worker", "")], true);
    }

    #[test]
    fn a_key_alone_is_told_from_everything_else() {
        for text in ["pool", "node.kubernetes.io/instance-type", " A_b.c-d "] {
            assert_eq!(key(text).as_deref(), Some(text.trim()));
        }
        for text in ["", "pool=a", "a b", "!a", "a in (b)", "a,b"] {
            assert_eq!(key(text), None, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for text in ["pool in batch", "pool is (gpu)", "=gpu", "pool=(gpu", "a b", "pool in (gpu"] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(text), "{text}: {error}");
        }
    }
}
