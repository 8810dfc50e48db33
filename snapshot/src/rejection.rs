//! Why the API server refuses pods whatever room there is, and what helps.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::amounts::Resource;

/// Why the API server refuses pods.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rejection {
    /// In its own words.
    ByServer(Arc<str>),
    /// The quota bounds these resources, so each container has to name a request for them, and one names none.
    Unspecified(Vec<Resource>),
}

/// What the API server says, and what then helps; the first that matches.
const WAYS_OUT: [(&str, &str); 7] = [
    ("must specify", SET_REQUESTS),
    ("service account", "create the ServiceAccount, or name another in the template"),
    ("PodSecurity", "correct the template, or the pod-security labels of the namespace"),
    ("PriorityClass", "create the PriorityClass, or name another in the template"),
    ("exceeded quota", "free some of that quota, or raise it"),
    (" per Container", KEEP_WITHIN),
    (" per Pod", KEEP_WITHIN),
];

const SET_REQUESTS: &str = "set the requests in its template, or defaultRequests of the Queue";
const KEEP_WITHIN: &str = "keep the template within the LimitRange of the namespace";

impl Rejection {
    /// What helps.
    pub fn way_out(&self) -> &'static str {
        match self {
            Self::Unspecified(_) => SET_REQUESTS,
            Self::ByServer(said) => WAYS_OUT
                .into_iter()
                .find(|(words, _)| said.contains(words))
                .map_or("correct its template, or the rule that rejects it", |(_, way_out)| way_out),
        }
    }

    /// What is refused and why, and what helps, in at most `most` characters: of the API server's words as many as fit.
    pub fn sentence(&self, most: usize) -> String {
        let begin = "the API server rejects its pods: ";
        let way_out = self.way_out();
        let others = begin.chars().count().saturating_add(way_out.chars().count()).saturating_add(2);
        let quote = self.to_string();
        let room = most.saturating_sub(others);
        let quote = if quote.chars().count() <= room {
            quote
        } else {
            quote.chars().take(room.saturating_sub(1)).chain(['…']).collect()
        };
        format!("{begin}{quote}; {way_out}")
    }
}

/// Why, without what helps.
impl fmt::Display for Rejection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByServer(said) => formatter.pad(said),
            Self::Unspecified(lacking) => {
                let names: Vec<&str> = lacking.iter().map(Resource::name).collect();
                let names = names.join(" and ");
                write!(
                    formatter,
                    "the quota demands a request for {names} of each container, and one has none"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Rejection {
        Rejection::ByServer(text.into())
    }

    #[test]
    fn the_sentence_says_what_helps() {
        let of = |rejection: Rejection| rejection.sentence(240);
        assert_eq!(
            of(Rejection::Unspecified(vec![Resource::Cpu, Resource::Memory])),
            "the API server rejects its pods: the quota demands a request for cpu and memory of each container, and \
             one has none; set the requests in its template, or defaultRequests of the Queue"
        );
        assert_eq!(
            of(said("error looking up service account team/nope: serviceaccount \"nope\" not found")),
            "the API server rejects its pods: error looking up service account team/nope: serviceaccount \"nope\" not \
             found; create the ServiceAccount, or name another in the template"
        );
        for (text, way_out) in [
            (
                "failed quota: quotient: must specify requests.cpu for: main",
                "set the requests in its template",
            ),
            (
                "violates PodSecurity \"restricted:latest\": runAsNonRoot != true",
                "correct the template, or the pod",
            ),
            ("no PriorityClass with name high was found", "create the PriorityClass"),
            (
                "exceeded quota: own, requested: pods=1, used: pods=9, limited: pods=9",
                "free some of that quota",
            ),
            ("maximum cpu usage per Container is 1, but limit is 2", "keep the template within"),
            ("admission webhook \"x\" denied the request", "correct its template, or the rule"),
        ] {
            let sentence = of(said(text));
            assert!(sentence.contains(text) && sentence.contains(&format!("; {way_out}")), "{sentence}");
        }
    }

    #[test]
    fn a_long_quote_is_cut() {
        let sentence = said(&"ü".repeat(500)).sentence(240);
        assert_eq!(sentence.chars().count(), 240);
        assert!(sentence.contains("üü…; correct its template"), "{sentence}");
        let fits = said(&"ü".repeat(156)).sentence(240);
        assert!(!fits.contains('…'), "{fits}");
    }
}
