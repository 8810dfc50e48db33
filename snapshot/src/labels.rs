//! Labels and the selectors that match them, as Kubernetes defines them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The labels of an object; cheap to clone.
///
/// A hundred thousand pods have them: sorted pairs in one piece, and a reader of many objects can share the texts
/// that they have in common by collecting from shared ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Labels(Arc<[(Arc<str>, Arc<str>)]>);

impl Labels {
    /// Every label, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }

    /// The value of `key`.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&str> {
        let at = self.0.binary_search_by(|(other, _)| (**other).cmp(key)).ok()?;
        self.0.get(at).map(|(_, value)| &**value)
    }
}

/// Of several labels with one key the last counts.
impl<K: Into<Arc<str>>, V: Into<Arc<str>>> FromIterator<(K, V)> for Labels {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let by_key: BTreeMap<Arc<str>, Arc<str>> =
            pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        Self(by_key.into_iter().collect())
    }
}

/// A label selector: all of its requirements have to hold. An empty one matches everything. Copies share the requirements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selector(Arc<[Requirement]>);

/// One requirement of a selector.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

    /// The labels of which everything that it matches has one: each key with the values that it may have.
    pub fn required(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0.iter().filter_map(|requirement| match requirement {
            Requirement::In(key, values) => Some((key.as_str(), values.as_slice())),
            _ => None,
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_found_whatever_order_they_came_in() {
        let labels: Labels = [("b", "2"), ("c", "3"), ("a", "0"), ("a", "1")].into_iter().collect();
        assert_eq!(labels.iter().collect::<Vec<_>>(), [("a", "1"), ("b", "2"), ("c", "3")]);
        assert_eq!([labels.get("a"), labels.get("c"), labels.get("d")], [Some("1"), Some("3"), None]);
        assert_eq!(labels, [("c", "3"), ("b", "2"), ("a", "1")].into_iter().collect());
        assert_eq!(Labels::default().get("a"), None);
    }
}
