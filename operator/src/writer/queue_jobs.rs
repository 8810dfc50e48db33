//! How many operations on QueueJobs one cycle carries out, and what is told of them.

use quotient_engine::plan::QueueJobName;
use tokio::time::Instant;

use crate::context::Context;
use crate::events::Notice;
use crate::executor::{Completed, Executor, Operation, Purpose};
use crate::operations::queue_jobs::MOST_PER_CYCLE;

/// Tells that the API server refuses a Job of `name`, or the deletion of `name` itself.
pub(super) fn settle(
    name: &QueueJobName,
    Completed { why, is_newly_refused, .. }: &Completed,
    context: &Context,
) {
    if !*is_newly_refused {
        return;
    }
    if let Some(observed) = context.view.read(|index| index.observed_queue_job(&name.namespace, &name.name)) {
        context.recorder.record(Notice::job_refused(name, &observed.uid, why));
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
    fn a_cycle_carries_out_so_much_and_all_that_frees_room() {
        assert_eq!(printed(5), ("5 1 2 2 3 4".to_owned(), false));
        assert_eq!(printed(3), ("5 1 2 2".to_owned(), true));
        assert_eq!(printed(2), ("5 1 2 2".to_owned(), true));
        assert_eq!(printed(1), ("5 1".to_owned(), true));
    }
}
