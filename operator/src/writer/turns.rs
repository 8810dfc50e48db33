//! Namespaces take turns where a cycle writes only so much.

use std::collections::BTreeMap;

use quotient_engine::names::Namespace;
use quotient_engine::plan::QueueJobName;

use crate::executor::{Operation, Purpose};

/// How many operations on QueueJobs one cycle carries out: less than a second of work for the API server. A tenant may submit
/// 100,000 QueueJobs, and the next plan of all other queues waits for the end of the cycle.
pub(super) const MOST: usize = 200;

/// Of `all`, which are in the order of their QueueJobs, those that free room, and `most` of the others: the first QueueJob of
/// every namespace, then the second of each, and so on. Says whether some are left. The operations of one QueueJob stay
/// together, because its gang starts as a whole.
pub(super) fn in_turns(all: Vec<Operation>, most: usize) -> (Vec<Operation>, bool) {
    let count = all.len();
    if count <= most {
        return (all, false);
    }
    let mut turns: BTreeMap<Namespace, usize> = BTreeMap::new();
    let mut by_queue_job: Vec<(usize, Option<QueueJobName>, Vec<Operation>)> = Vec::new();
    for operation in all {
        let name = queue_job(&operation).cloned();
        match by_queue_job.last_mut() {
            Some((_, last, operations)) if *last == name => operations.push(operation),
            _ => {
                let turn = turns.entry(operation.object.namespace.clone()).or_default();
                by_queue_job.push((*turn, name, vec![operation]));
                *turn = turn.saturating_add(1);
            }
        }
    }
    by_queue_job.sort_by_key(|(turn, _, operations)| (!operations.iter().any(frees), *turn));
    let mut taken: Vec<Operation> = Vec::new();
    for (_, _, operations) in by_queue_job {
        if taken.len() < most || operations.iter().any(frees) {
            taken.extend(operations);
        }
    }
    let is_left = taken.len() < count;
    (taken, is_left)
}

const fn queue_job(operation: &Operation) -> Option<&QueueJobName> {
    match &operation.purpose {
        Purpose::Job { name, .. } | Purpose::Expiry(name) | Purpose::JobStatus { name, .. } => Some(name),
        _ => None,
    }
}

const fn frees(operation: &Operation) -> bool {
    matches!(operation.purpose, Purpose::Job { frees: true, .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::{Kind, Object, Request};

    fn job(namespace: &str, name: &str, frees: bool) -> Operation {
        let name = QueueJobName { namespace: namespace.into(), name: name.into() };
        Operation {
            object: Object { kind: Kind::Job, namespace: namespace.into(), name: name.name.clone() },
            purpose: Purpose::Job { name, frees },
            life: None,
            request: Request::Impossible(String::new()),
        }
    }

    fn told(all: Vec<Operation>, most: usize) -> (String, bool) {
        let (taken, is_left) = in_turns(all, most);
        let names = taken.iter().map(|one| format!("{}/{}", one.object.namespace, one.object.name));
        (names.collect::<Vec<_>>().join(" "), is_left)
    }

    #[test]
    fn a_namespace_with_many_lets_the_others_in_between() {
        let all = || {
            let crowd = ["1", "2", "2", "3", "4"].map(|name| job("a", name, false));
            let others = [job("b", "1", false), job("b", "2", false), job("c", "1", true)];
            crowd.into_iter().chain(others).collect::<Vec<_>>()
        };
        assert!(!told(all(), 8).1);
        assert_eq!(told(all(), 3), ("c/1 a/1 b/1".to_owned(), true));
        assert_eq!(told(all(), 4), ("c/1 a/1 b/1 a/2 a/2".to_owned(), true));
        assert_eq!(told(all(), 1), ("c/1".to_owned(), true));
    }
}
