//! Numbers with their nouns, and prose in lines of bounded width.

use std::borrow::Borrow;
use std::fmt::Display;

use quotient_engine::amounts::{Amount, Amounts, Resource};

/// `1 pod`, `2 pods`.
pub(crate) fn counted<N: Copy + Display + PartialEq + From<u8>>(
    count: N,
    one: &str,
    several: &str,
) -> String {
    format!("{count} {}", if count == N::from(1) { one } else { several })
}

/// `a, b, c`.
pub(crate) fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

/// What a sentence of the operator names as the cause: what stands behind "because".
pub(crate) fn cause(message: &str) -> &str {
    let clause = message.split_once(" because ").map_or(message, |(_, clause)| clause);
    clause.split(". ").next().unwrap_or_default().trim_end_matches('.')
}

/// `40 s`, `12 min`, `3 h`.
pub(crate) fn duration(seconds: i64) -> String {
    match seconds {
        ..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds.div_euclid(60)),
        _ => format!("{} h", seconds.div_euclid(3600)),
    }
}

/// The amounts of those resources that `others` name.
pub(crate) fn only(amounts: &Amounts, others: &Amounts) -> Amounts {
    others.resources().map(|resource| (resource.clone(), amounts.get(resource))).collect()
}

/// All of them together.
pub(crate) fn sum<A: Borrow<Amounts>>(all: impl IntoIterator<Item = A>) -> Amounts {
    let mut sum = Amounts::new();
    all.into_iter().for_each(|one| sum.add_all(one.borrow()));
    sum
}

/// `2 cpu 4Gi 1 gpu`, for sentences.
pub(crate) fn spaced(amounts: &Amounts) -> String {
    let parts = amounts.iter().map(|(resource, amount)| match resource {
        Resource::Memory => number(resource, amount),
        _ => format!("{} {}", number(resource, amount), short_name(resource)),
    });
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(" ") }
}

/// `2`, `4Gi`: how much of a resource, without its name.
pub(crate) fn number(resource: &Resource, amount: Amount) -> String {
    match resource {
        Resource::Extended(_) => amount.units().to_string(),
        _ => Amounts::from_iter([(resource.clone(), amount)]).compact().trim_end_matches('c').to_owned(),
    }
}

/// Amounts in short form; of the resource that is asked about, if there is one, the number alone.
pub(crate) fn short(amounts: &Amounts, selected: Option<&Resource>) -> String {
    selected.map_or_else(|| amounts.compact(), |resource| number(resource, amounts.get(resource)))
}

/// The last part of the name of a resource.
pub(crate) fn short_name(resource: &Resource) -> &str {
    let name = resource.name();
    name.rsplit('/').next().unwrap_or(name)
}

/// A space at which no line ends, such as those of a command that is to be copied.
pub(crate) const UNBROKEN: &str = "\u{a0}";

/// `text` in lines of at most `width` characters, where words allow it.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split([' ', '\n']).filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if length(line).saturating_add(length(word)).saturating_add(1) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.into_iter().map(|line| line.replace(UNBROKEN, " ")).collect()
}

/// `text` behind `first`, which is `indent` characters wide; further lines are indented as much. `width` is that of all.
pub(crate) fn hanging(first: &str, indent: usize, text: &str, width: usize) -> Vec<String> {
    let lines = wrap(text, width.saturating_sub(indent)).into_iter().enumerate();
    lines
        .map(|(at, line)| if at == 0 { format!("{first}{line}") } else { format!("{:indent$}{line}", "") })
        .collect()
}

/// How many characters it has.
pub(crate) fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_stand_in_sentences() {
        let of = |name: &str, units| (Resource::from_name(name), Amount::new(units));
        let amounts = [of("cpu", 1500), of("memory", 4 << 30), of("nvidia.com/gpu", 3)];
        assert_eq!(spaced(&amounts.into_iter().collect()), "1.5 cpu 4Gi 3 gpu");
        assert_eq!(spaced(&Amounts::new()), "nothing");
    }

    #[test]
    fn lines_end_between_words() {
        assert_eq!(wrap("one two  three four", 9), ["one two", "three", "four"]);
        assert_eq!(wrap("extraordinary", 5), ["extraordinary"]);
        assert!(wrap("", 5).is_empty());
        assert_eq!(hanging("! ", 2, "one two three", 9), ["! one two", "  three"]);
    }
}
