//! How many operations on QueueJobs one cycle carries out, and what became of them.

use std::collections::{BTreeMap, BTreeSet};

use quotient_engine::plan::QueueJobName;
use tokio::time::Instant;

use crate::context::Context;
use crate::events::{JobNews, Notice};
use crate::executor::{Completed, Executor, Operation, Outcome, Purpose};
use crate::operations::queue_jobs::MOST_PER_CYCLE;

/// What the API server refused, in its words, until it is accepted.
pub(super) type RefusedJobs = BTreeMap<QueueJobName, String>;

/// Takes note of what became of a Job of `name`, or of `name` itself.
pub(super) fn settle(
    refused: &mut RefusedJobs,
    name: &QueueJobName,
    Completed { outcome, why, .. }: &Completed,
    context: &Context,
) {
    match outcome {
        Outcome::Done => drop(refused.remove(name)),
        Outcome::Refused(_) if refused.insert(name.clone(), why.clone()).as_ref() != Some(why) => {
            report(name, why, context);
        }
        _ => {}
    }
}

/// Keeps of `refused` what is still `wanted`: what was refused may be right without it by now.
pub(super) fn forget_settled(refused: &mut RefusedJobs, wanted: &[Operation]) {
    if refused.is_empty() {
        return;
    }
    let names = wanted.iter().filter_map(|operation| match &operation.purpose {
        Purpose::Job { name, .. } | Purpose::Expiry(name) => Some(name),
        _ => None,
    });
    let names: BTreeSet<&QueueJobName> = names.collect();
    refused.retain(|name, _| names.contains(name));
}

fn report(name: &QueueJobName, why: &str, context: &Context) {
    let observed = context.view.read(|index| index.observed_queue_job(&name.namespace, &name.name));
    if let Some(observed) = observed {
        let news = JobNews::Refused(why.to_owned());
        context.recorder.record(Notice::QueueJob { name: name.clone(), uid: observed.uid, news });
    }
}

/// Those of `all` that one cycle carries out: what frees room, and as much of the rest as is allowed. Says whether some are left.
///
/// What is put off does not count. The operations of one QueueJob stay together, because its gang starts as a whole.
pub(super) fn bounded(mut all: Vec<Operation>, executor: &Executor) -> (Vec<Operation>, bool) {
    let now = Instant::now();
    all.retain(|operation| executor.retries.until(&operation.purpose.key()).is_none_or(|until| until <= now));
    take(all, MOST_PER_CYCLE)
}

fn take(all: Vec<Operation>, most: usize) -> (Vec<Operation>, bool) {
    let (mut freeing, mut others, mut is_left) = (Vec::new(), Vec::new(), false);
    let mut all = all.into_iter().peekable();
    while let Some(first) = all.next() {
        let key = first.purpose.key();
        let mut of_one = vec![first];
        while let Some(next) = all.next_if(|next| next.purpose.key() == key) {
            of_one.push(next);
        }
        if of_one.iter().any(frees) {
            freeing.extend(of_one);
        } else if others.len() < most {
            others.extend(of_one);
        } else {
            is_left = true;
        }
    }
    freeing.extend(others);
    (freeing, is_left)
}

const fn frees(operation: &Operation) -> bool {
    matches!(operation.purpose, Purpose::Job { frees: true, .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::{Kind, Object, Request};

    fn job(name: &str, frees: bool) -> Operation {
        let name = QueueJobName { namespace: "a".into(), name: name.into() };
        Operation {
            object: Object { kind: Kind::Job, namespace: "a".into(), name: name.name.clone() },
            purpose: Purpose::Job { name, frees },
            life: None,
            request: Request::Impossible(String::new()),
        }
    }

    fn printed(most: usize) -> (String, bool) {
        let all = ["1", "2", "2", "3", "4"].map(|name| job(name, false));
        let (taken, is_left) = take(all.into_iter().chain([job("5", true)]).collect(), most);
        let names = taken.iter().map(|one| one.object.name.to_string());
        (names.collect::<Vec<_>>().join(" "), is_left)
    }

    #[test]
    fn a_refusal_is_over_once_nothing_is_wanted() {
        let name = |name: &str| QueueJobName { namespace: "a".into(), name: name.into() };
        let mut refused: RefusedJobs = ["1", "2"].map(|job| (name(job), "no".to_owned())).into();
        forget_settled(&mut refused, &[job("2", false), job("3", true)]);
        assert_eq!(refused.into_keys().collect::<Vec<_>>(), [name("2")]);
    }

    #[test]
    fn a_cycle_carries_out_so_much_and_all_that_frees_room() {
        assert_eq!(printed(5), ("5 1 2 2 3 4".to_owned(), false));
        assert_eq!(printed(3), ("5 1 2 2".to_owned(), true));
        assert_eq!(printed(2), ("5 1 2 2".to_owned(), true));
        assert_eq!(printed(1), ("5 1".to_owned(), true));
    }
}
