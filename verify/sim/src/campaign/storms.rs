//! Whether an operator storms the API server: the same refused request, again and again.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::campaign::trial::OPERATOR;
use crate::objects::Kind;
use crate::trace::{Record, Trace, Verb};

/// So often, within so long, a request may be refused and come again.
const MOST: usize = 15;
const WITHIN: Duration = Duration::from_secs(10);

type Request<'a> = (&'a str, Verb, Kind, &'a str, &'a str, &'static str);

/// The requests that were repeated too fast, a line each.
pub(crate) fn storms(trace: &Trace) -> Vec<String> {
    let mut recent: BTreeMap<Request<'_>, VecDeque<Duration>> = BTreeMap::new();
    let mut storms = BTreeMap::new();
    for record in trace.records.iter().filter(|record| is_refused_write(record)) {
        let request = request(record);
        let times = recent.entry(request).or_default();
        times.push_back(record.time);
        while times.front().is_some_and(|first| *first + WITHIN < record.time) {
            times.pop_front();
        }
        if times.len() > MOST {
            storms.entry(request).or_insert(record);
        }
    }
    storms.into_values().map(line).collect()
}

fn is_refused_write(record: &Record) -> bool {
    record.client.starts_with(OPERATOR) && record.verb.may_write() && record.code >= 400 && !record.is_lease()
}

fn request(record: &Record) -> Request<'_> {
    (&record.client, record.verb, record.kind, &record.namespace, &record.name, record.subresource)
}

fn line(record: &Record) -> String {
    let Record { client, verb, kind, namespace, name, subresource, code, time, .. } = record;
    format!(
        "{client} storms the API server: {verb:?} {kind:?} {namespace}/{name} {subresource} was refused with {code} more than {MOST} times within {WITHIN:?}, at {time:?}"
    )
}
