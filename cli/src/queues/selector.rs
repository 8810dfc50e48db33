//! `-l`: Queues by their labels, in kubectl's words.

use std::collections::BTreeSet;

use kube::core::{Expression, Selector, SelectorExt as _};

use super::QueueView;

/// The flag `-l`.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct SelectorArgs {
    /// Only Queues with these labels, such as `org=research,tier!=free` or `org in (research, web)`.
    #[arg(short = 'l', long = "selector", value_name = "SELECTOR", value_parser = selector)]
    selector: Option<Selector>,
}

impl SelectorArgs {
    /// Whether the Queue has the labels.
    pub(crate) fn selects(&self, view: &QueueView) -> bool {
        let labels = view.queue.metadata.labels.clone().unwrap_or_default();
        self.selector.as_ref().is_none_or(|selector| selector.matches(&labels))
    }

    /// As the API takes it; empty for all.
    pub(crate) fn text(&self) -> String {
        self.selector.as_ref().map(ToString::to_string).unwrap_or_default()
    }
}

fn selector(text: &str) -> Result<Selector, String> {
    let parts = parts(text);
    parts.into_iter().map(|part| expression(part).ok_or_else(|| wrong(part))).collect()
}

fn wrong(part: &str) -> String {
    format!(
        "{part:?} is no requirement on a label: write key=value, key!=value, key in (a, b), key notin (a, b), key or !key"
    )
}

/// Separated by commas outside of parentheses.
fn parts(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let is_end = |letter: char| {
        match letter {
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    };
    text.split(is_end).map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn expression(part: &str) -> Option<Expression> {
    let is_key = |key: &str| !key.is_empty() && !key.contains([' ', '(', ')', '=', '!', ',']);
    let named = |key: &str| Some(key.trim().to_owned()).filter(|key| is_key(key));
    if let Some((key, value)) = part.split_once("!=") {
        return Some(Expression::NotEqual(named(key)?, value.trim().to_owned()));
    }
    if let Some((key, value)) = part.split_once('=') {
        return Some(Expression::Equal(named(key)?, value.trim_start_matches('=').trim().to_owned()));
    }
    if let Some(list) = part.strip_suffix(')') {
        let (head, values) = list.split_once('(')?;
        let values: BTreeSet<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
        let (key, word) = head.trim().rsplit_once(' ')?;
        return match word {
            "in" => Some(Expression::In(named(key)?, values)),
            "notin" => Some(Expression::NotIn(named(key)?, values)),
            _ => None,
        };
    }
    match part.strip_prefix('!') {
        Some(key) => Some(Expression::DoesNotExist(named(key)?)),
        None => Some(Expression::Exists(named(part)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_read_as_kubectl_reads_them() {
        let read = |text: &str| selector(text).map(|selector| selector.to_string());
        for text in
            ["a=b", "a!=b", "a in (b,c)", "a notin (b)", "example.com/a", "!a", "a=b,c in (d,e),!f", ""]
        {
            assert_eq!(read(text), Ok(text.to_owned()));
        }
        assert_eq!(read(" a == b , c in ( d , e ) "), Ok("a=b,c in (d,e)".to_owned()));
        for text in ["=b", "a b", "a into (b)", "(b)", "a in b)"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn labels_are_compared() {
        let labels = [("a".to_owned(), "b".to_owned())].into();
        for (text, expected) in
            [("a", true), ("a=b", true), ("a!=b", false), ("c!=d", true), ("!a", false), ("a in (x,b)", true)]
        {
            assert_eq!(selector(text).unwrap().matches(&labels), expected, "{text}");
        }
    }
}
