//! Lines that differ only by a number or a namespace, as one line: `pod a,b/p1..3 cpu=2 started=10+5`.

use super::parse::OWNS;

/// The lines that `line` stands for: one for each namespace of its name, and the pods of an owner apart from it.
pub(super) fn unfolded(line: &str) -> Vec<String> {
    let lines = by_namespace(line).into_iter().flat_map(|line| apart_from_pods(&line));
    lines.flat_map(|line| by_number(&line)).collect()
}

/// `queue a,b weight=2` as `queue a weight=2` and `queue b weight=2`.
fn by_namespace(line: &str) -> Vec<String> {
    let name = line.split_whitespace().nth(1).filter(|name| !name.contains('='));
    let namespaces = name.and_then(|name| name.split('/').next()).unwrap_or_default();
    let of = |namespace: &str| line.replacen(namespaces, namespace, 1);
    if namespaces.contains(',') { namespaces.split(',').map(of).collect() } else { vec![line.to_owned()] }
}

/// `owner a/web replicas=3 cpu=1 pods=web-1..2 node=n1` as the owner and its pods, which request the same.
fn apart_from_pods(line: &str) -> Vec<String> {
    let Some((owner, pods)) = line.split_once(" pods=") else { return vec![line.to_owned()] };
    let mut words = owner.split_whitespace().skip(1);
    let (namespace, name) = words.next().and_then(|path| path.split_once('/')).unwrap();
    let alike = words.filter(|word| OWNS.split(' ').all(|own| Some(own) != word.split('=').next()));
    let alike: Vec<&str> = alike.collect();
    vec![owner.to_owned(), format!("pod {namespace}/{pods} owner={name} {}", alike.join(" "))]
}

/// One line for each number of the range in its name, `A+B` being A and B more in each next line.
fn by_number(line: &str) -> Vec<String> {
    let range = line.split_whitespace().find_map(range);
    let Some((prefix, first, last)) = range else { return vec![line.to_owned()] };
    let name = format!("{prefix}{first}..{last}");
    let numbers: Vec<i64> =
        if first <= last { (first..=last).collect() } else { (last..=first).rev().collect() };
    let words = |at: i64, number: i64| -> Vec<String> {
        let word = |word| if word == name { format!("{prefix}{number}") } else { stepped(word, at) };
        line.split_whitespace().map(word).collect()
    };
    (0..).zip(numbers).map(|(at, number)| words(at, number).join(" ")).collect()
}

/// `a/p1..3` as `a/p`, 1 and 3.
fn range(word: &str) -> Option<(&str, i64, i64)> {
    let (start, last) = word.split_once("..")?;
    let (prefix, first) = numbered(start)?;
    Some((prefix, first, last.parse().ok()?))
}

/// `started=10+5` or `node=n1+1` in line `at` of a range, the first one being 0.
fn stepped(word: &str, at: i64) -> String {
    let step = || {
        let (name, steps) = word.split_once('=')?;
        let (first, by) = steps.split_once('+')?;
        let (prefix, first) = first.parse().map_or_else(|_| numbered(first), |number| Some(("", number)))?;
        Some(format!("{name}={prefix}{}", first + at * by.parse::<i64>().ok()?))
    };
    step().unwrap_or_else(|| word.to_owned())
}

/// `a/p12` as `a/p` and 12.
fn numbered(word: &str) -> Option<(&str, i64)> {
    let prefix = word.trim_end_matches(|one: char| one.is_ascii_digit());
    Some((prefix, word.get(prefix.len()..)?.parse().ok()?))
}

/// `told` with each run of lines of one kind, whose names count up or down by one, as one line.
pub(super) fn folded(printed: &str) -> String {
    let mut lines: Vec<Run<'_>> = Vec::new();
    for line in printed.lines() {
        if !lines.last_mut().is_some_and(|run| run.takes(line)) {
            lines.push(Run { line, last: None });
        }
    }
    lines.iter().map(Run::print).collect()
}

/// Lines that stand for one.
struct Run<'a> {
    /// The first one.
    line: &'a str,
    /// The number of the last one, if there are others.
    last: Option<i64>,
}

impl<'a> Run<'a> {
    const KINDS: [&'static str; 5] =
        ["  evict ", "  would evict ", "  spare ", "  remove the gate of ", "  started "];

    /// A line as what stands before the number of its name, the number, and what comes after its name.
    fn parts(line: &'a str) -> Option<(&'a str, i64, &'a str)> {
        let kind = Self::KINDS.into_iter().find(|kind| line.starts_with(kind))?;
        let name_end = line.get(kind.len()..)?.find([' ', ':']).map_or(line.len(), |at| kind.len() + at);
        let (prefix, number) = numbered(line.get(..name_end)?)?;
        Some((prefix, number, line.get(name_end..)?))
    }

    /// Takes `line` if it continues this run.
    fn takes(&mut self, line: &'a str) -> bool {
        let (Some((prefix, first, rest)), Some((next_prefix, next, next_rest))) =
            (Self::parts(self.line), Self::parts(line))
        else {
            return false;
        };
        let last = self.last.unwrap_or(first);
        let by = next - last;
        let continues = by.abs() == 1 && self.last.is_none_or(|_| by == (last - first).signum());
        let is_next = continues && (prefix, rest) == (next_prefix, next_rest);
        if is_next {
            self.last = Some(next);
        }
        is_next
    }

    fn print(&self) -> String {
        match (self.last, Self::parts(self.line)) {
            (Some(last), Some((prefix, first, rest))) => format!("{prefix}{first}..{last}{rest}\n"),
            _ => format!("{}\n", self.line),
        }
    }
}
