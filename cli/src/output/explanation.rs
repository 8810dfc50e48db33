//! An explanation: a first sentence, what was looked at, and what follows.

use serde::Serialize;

use super::{Color, Screen, hanging, joined, length, wrap};

/// Why something is as it is.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Explanation {
    /// What is explained.
    pub(crate) object: ObjectName,
    /// What is the case.
    pub(crate) headline: String,
    /// The engine's word for it, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// What was looked at, in the order in which it matters.
    pub(crate) checks: Vec<Check>,
    /// What is known beside, each under a word.
    pub(crate) facts: Vec<Fact>,
    /// What happens next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
    /// Whether pods cannot start until a person changes something.
    pub(crate) needs_a_person: bool,
    /// Further lines as they are.
    #[serde(skip)]
    pub(crate) lines: Vec<String>,
}

/// An object by its name.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ObjectName {
    pub(crate) kind: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// Something that was looked at.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Check {
    pub(crate) mark: Mark,
    pub(crate) text: String,
}

/// How it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) enum Mark {
    /// As it should be.
    Good,
    /// In the way.
    Bad,
    /// What stands in the way, and what comes next.
    Next,
}

/// A word and what is to be said about it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Fact {
    pub(crate) title: &'static str,
    pub(crate) text: String,
}

/// The width of a check that has another one beside it.
const BESIDE: usize = 48;

impl Explanation {
    /// One that says nothing yet.
    pub(crate) fn of(kind: &str, namespace: &str, name: &str) -> Self {
        let [kind, namespace, name] = [kind, namespace, name].map(str::to_owned);
        Self { object: ObjectName { kind, namespace, name }, ..Self::default() }
    }

    pub(crate) fn check(&mut self, is_good: bool, text: impl Into<String>) {
        let mark = if is_good { Mark::Good } else { Mark::Bad };
        self.checks.push(Check { mark, text: text.into() });
    }

    pub(crate) fn step(&mut self, text: impl Into<String>) {
        self.checks.push(Check { mark: Mark::Next, text: text.into() });
    }

    pub(crate) fn fact(&mut self, title: &'static str, text: impl Into<String>) {
        self.facts.push(Fact { title, text: text.into() });
    }

    /// The explanation for people.
    pub(crate) fn text(&self, screen: Screen) -> String {
        let mut lines = wrap(&self.headline, screen.width);
        lines.extend(self.checked(screen));
        if !self.facts.is_empty() {
            lines.push(String::new());
        }
        let width = self.facts.iter().map(|fact| fact.title.len()).max().unwrap_or_default();
        for fact in &self.facts {
            let title = screen.style.paint(fact.title, Color::Strong);
            let padding = width.saturating_sub(fact.title.len());
            let mut first = format!("{title}{:padding$}  ", "");
            // A line break in a fact is one on the screen.
            for line in fact.text.lines() {
                lines.extend(hanging(&first, width.saturating_add(2), line, screen.width));
                first = format!("{:width$}  ", "");
            }
        }
        if !self.lines.is_empty() {
            lines.push(String::new());
            lines.extend(self.lines.iter().cloned());
        }
        if let Some(next) = &self.next {
            if !self.facts.is_empty() || !self.lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(wrap(next, screen.width));
        }
        joined(lines).replace('·', screen.glyphs.dot)
    }

    /// A line for each check; two short ones that are as they should be stand side by side.
    fn checked(&self, screen: Screen) -> Vec<String> {
        let mut lines = Vec::new();
        let mut checks = self.checks.iter().peekable();
        while let Some(check) = checks.next() {
            let is_short = |check: &Check| check.mark == Mark::Good && length(&check.text) <= BESIDE;
            let beside = checks.next_if(|next| is_short(check) && is_short(next));
            let (first, indent) = check.mark.first(screen);
            match beside {
                Some(beside) => {
                    let (second, _) = beside.mark.first(screen);
                    lines.push(format!("{first}{:BESIDE$}{second}{}", check.text, beside.text));
                }
                None => lines.extend(hanging(&first, indent, &check.text, screen.width)),
            }
        }
        lines
    }
}

impl Mark {
    /// The beginning of its line, and how wide it is.
    fn first(self, screen: Screen) -> (String, usize) {
        let (glyph, color) = match self {
            Self::Good => (screen.glyphs.good, Color::Good),
            Self::Bad => (screen.glyphs.bad, Color::Alarm),
            Self::Next => (screen.glyphs.next, Color::Notice),
        };
        (format!(" {} ", screen.style.paint(glyph, color)), length(glyph).saturating_add(2))
    }
}
