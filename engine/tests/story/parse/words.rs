//! A line as words: a kind, a name, and `word=value` or a bare `word`.

use quotient_engine::amounts::{Amount, Amounts, Bounds, Quantity, Resource};
use quotient_engine::labels::Labels;
use quotient_engine::time::Timestamp;

pub(super) struct Words<'a> {
    pub(super) line: &'a str,
    pub(super) kind: &'a str,
    all: Vec<(&'a str, &'a str)>,
}

impl<'a> Words<'a> {
    pub(super) fn of(line: &'a str) -> Self {
        let mut words = line.split_whitespace();
        let kind = words.next().unwrap();
        Self { line, kind, all: words.map(|word| word.split_once('=').unwrap_or((word, ""))).collect() }
    }

    /// The first word, which says what the line is about.
    pub(super) fn name(&self) -> &'a str {
        self.all.first().unwrap_or_else(|| panic!("no name in: {}", self.line)).0
    }

    /// The name as namespace and name.
    pub(super) fn path(&self) -> (&'a str, &'a str) {
        self.name().split_once('/').unwrap_or_else(|| panic!("namespace/name in: {}", self.line))
    }

    /// The words after the name.
    pub(super) fn pairs(&self) -> &[(&'a str, &'a str)] {
        self.all.get(1..).unwrap_or_default()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.all.iter().any(|(word, _)| *word == name)
    }

    pub(super) fn value(&self, name: &str) -> Option<&'a str> {
        self.all.iter().find(|(word, _)| *word == name).map(|(_, value)| *value)
    }

    pub(super) fn number(&self, name: &str) -> Option<i64> {
        self.value(name)
            .map(|text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number: {}", self.line)))
    }

    pub(super) fn count(&self, name: &str) -> Option<u32> {
        self.number(name).map(|number| number.try_into().unwrap())
    }

    pub(super) fn seconds(&self, name: &str) -> Option<Timestamp> {
        self.number(name).map(Timestamp::from_seconds)
    }

    pub(super) fn priority(&self) -> i32 {
        self.number("priority").map_or(0, |priority| priority.try_into().unwrap())
    }

    /// `labels=key:value,key:value`.
    pub(super) fn labels(&self, name: &str) -> Labels {
        self.value(name).map(pairs).unwrap_or_default().into_iter().collect()
    }

    /// One of `names`, which are not the default, by its number.
    pub(super) fn choice<T>(
        &self,
        name: &str,
        choices: impl IntoIterator<Item = (&'static str, T)>,
    ) -> Option<T> {
        let text = self.value(name)?;
        let chosen = choices.into_iter().find(|(choice, _)| *choice == text).map(|(_, choice)| choice);
        Some(chosen.unwrap_or_else(|| panic!("{name}={text} in: {}", self.line)))
    }

    /// Every `resource=amount` but the words that mean something else.
    pub(super) fn requests(&self, others: &str) -> Amounts {
        let is_other = |word: &str| others.split_whitespace().any(|other| other == word);
        self.amounts(self.pairs().iter().copied().filter(|(word, _)| !is_other(word)))
    }

    /// `cpu:5,memory:10Gi`, or nothing.
    pub(super) fn bounds(&self, name: &str) -> Bounds {
        self.amounts(self.value(name).map(pairs).unwrap_or_default())
    }

    fn amounts<'b, C: FromIterator<(Resource, Amount)>>(
        &self,
        named: impl IntoIterator<Item = (&'b str, &'b str)>,
    ) -> C {
        let amounts = named.into_iter().map(|(name, text)| {
            let resource = resource(name);
            let amount = amount(&resource, text, self.line);
            (resource, amount)
        });
        amounts.collect()
    }
}

/// `key:value,key:value`, or nothing.
pub(super) fn pairs(text: &str) -> Vec<(&str, &str)> {
    text.split(',')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once(':').unwrap_or_else(|| panic!("key:value in {pair}")))
        .collect()
}

pub(super) fn resource(word: &str) -> Resource {
    Resource::from_name(if word == "gpu" { "nvidia.com/gpu" } else { word })
}

fn amount(resource: &Resource, text: &str, line: &str) -> Amount {
    resource.rounded_up(text.parse::<Quantity>().unwrap_or_else(|error| panic!("{text}: {error} in: {line}")))
}
