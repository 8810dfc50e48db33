//! Labels and the selectors that match them, as Kubernetes defines them.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The labels of an object; cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Labels(Arc<BTreeMap<String, String>>);

impl Labels {
    /// Every label, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Labels {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Self(Arc::new(pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect()))
    }
}

/// A label selector: all of its requirements have to hold. An empty one matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector(Vec<Requirement>);

/// One requirement of a selector.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Requirement {
    /// The label is there and has one of these values.
    In(String, Vec<String>),
    /// The label is not there, or has none of these values.
    NotIn(String, Vec<String>),
    /// The label is there.
    Exists(String),
    /// The label is not there.
    DoesNotExist(String),
}

impl Selector {
    /// The selector of these requirements.
    pub fn new(requirements: impl IntoIterator<Item = Requirement>) -> Self {
        Self(requirements.into_iter().collect())
    }

    /// Whether `labels` meet every requirement.
    pub fn matches(&self, labels: &Labels) -> bool {
        self.0.iter().all(|requirement| requirement.holds(labels))
    }
}

impl Requirement {
    /// Whether `labels` meet it.
    pub fn holds(&self, labels: &Labels) -> bool {
        let value = |key: &String| labels.get(key);
        let is_one_of =
            |key: &String, values: &[String]| value(key).is_some_and(|v| values.iter().any(|one| one == v));
        match self {
            Self::In(key, values) => is_one_of(key, values),
            Self::NotIn(key, values) => !is_one_of(key, values),
            Self::Exists(key) => value(key).is_some(),
            Self::DoesNotExist(key) => value(key).is_none(),
        }
    }
}
