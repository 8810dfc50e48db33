//! As much of `PromQL` as it takes to find the series that an expression asks for.

use std::collections::BTreeSet;

/// A series that is asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Selector {
    /// Its name.
    pub(crate) name: String,
    /// The labels that it is chosen by.
    pub(crate) labels: BTreeSet<String>,
}

/// What follows these in parentheses are labels, not series.
const GROUPERS: [&str; 6] = ["by", "without", "on", "ignoring", "group_left", "group_right"];

/// Words of the language.
const WORDS: [&str; 6] = ["and", "or", "unless", "bool", "offset", "atan2"];

/// The series that `expression` asks for.
pub(crate) fn selectors(expression: &str) -> BTreeSet<Selector> {
    let mut rest = expression;
    let mut found = BTreeSet::new();
    while let Some(first) = rest.chars().next() {
        if first == '"' || first == '\'' {
            rest = after_text(rest, first);
        } else if first == '[' {
            rest = rest.split_once(']').map_or("", |(_, rest)| rest);
        } else if first.is_ascii_digit() || first == '.' {
            rest = rest.trim_start_matches(|digit: char| digit.is_ascii_alphanumeric() || digit == '.');
        } else if first.is_ascii_alphabetic() || first == '_' || first == ':' {
            let end = rest.find(|letter: char| !is_of_name(letter)).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            let after = after.trim_start();
            if GROUPERS.contains(&name) && after.starts_with('(') {
                rest = after.split_once(')').map_or("", |(_, rest)| rest);
            } else if after.starts_with('(')
                || is_grouped(after)
                || GROUPERS.contains(&name)
                || WORDS.contains(&name)
            {
                rest = after;
            } else {
                let (labels, after) = matchers(after);
                found.insert(Selector { name: name.to_owned(), labels });
                rest = after;
            }
        } else {
            rest = &rest[first.len_utf8()..];
        }
    }
    found
}

/// Whether a `by (…)` follows: then what comes before it is an aggregation.
fn is_grouped(text: &str) -> bool {
    let grouper = ["by", "without"].iter().find_map(|word| text.strip_prefix(word));
    grouper.is_some_and(|rest| rest.trim_start().starts_with('('))
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == ':'
}

fn after_text(text: &str, quote: char) -> &str {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if letter == quote => return &text[at + 1..],
            _ => {}
        }
    }
    ""
}

/// The names in `{name="value", …}`, and what follows.
fn matchers(text: &str) -> (BTreeSet<String>, &str) {
    let Some(mut rest) = text.strip_prefix('{') else { return (BTreeSet::new(), text) };
    let mut labels = BTreeSet::new();
    while let Some(first) = rest.chars().next() {
        match first {
            '}' => return (labels, &rest[1..]),
            '"' => rest = after_text(rest, '"'),
            _ if is_of_name(first) => {
                let end = rest.find(|letter: char| !is_of_name(letter)).unwrap_or(rest.len());
                labels.insert(rest[..end].to_owned());
                rest = &rest[end..];
            }
            _ => rest = &rest[first.len_utf8()..],
        }
    }
    (labels, "")
}

#[test]
fn series_are_told_from_words_labels_and_numbers() {
    let expression = r#"
        sum by (namespace, queue) (rate(x_total{namespace=~"$namespace",reason!="a}b"}[$__rate_interval])) > 1e3
          and on (resource) group_left () (max by (resource) (a:b:c) > 0) unless y offset 5m or vector(0)
    "#;
    let names: Vec<_> = selectors(expression).into_iter().map(|found| (found.name, found.labels)).collect();
    let labels = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(
        names,
        [
            ("a:b:c".to_owned(), labels(&[])),
            ("x_total".to_owned(), labels(&["namespace", "reason"])),
            ("y".to_owned(), labels(&[])),
        ]
    );
}
