//! Pods and their owners cost little.

#![expect(clippy::arithmetic_side_effects, reason = "an overflow in a test is a failure, as it should be")]

use std::mem::size_of;

use quotient_snapshot::{Owner, Pod, QueueJob, QueueTask};

use crate::meta::Age;
use crate::namespace::OwnerNote;
use crate::queue_jobs::{ObservedTask, QueueJobEntry};

/// What an allocation of a reference-counted text takes: two counts, the text, and what glibc's malloc adds
/// and rounds to.
fn allocated(text: &str) -> usize {
    (2 * size_of::<usize>() + text.len() + 8).next_multiple_of(16)
}

/// The goal is 200 bytes and the bound 260; shapes, node names, owners and namespaces are shared and do not count.
#[test]
fn a_pod_takes_less_than_260_bytes() {
    let uid = "0b5ce7a2-7e3c-4c1c-9a35-5c2ac0c0ffee";
    let name = "recommender-7d9c6b5f8d-x8k2z-extra";
    let entry = size_of::<Pod>() + size_of::<Age>();
    let total = entry + allocated(uid) + allocated(name);
    assert!(total < 260, "{total} bytes, {entry} of them in the entry");
}

/// Owners that want nothing cost nothing at all; of the others there are far fewer than pods.
#[test]
fn an_owner_takes_less_than_420_bytes() {
    let uid = "0b5ce7a2-7e3c-4c1c-9a35-5c2ac0c0ffee";
    let name = "recommender-7d9c6b5f8d-of-the-shop";
    let entry = size_of::<Owner>() + size_of::<OwnerNote>();
    let total = entry + allocated(uid) + allocated(name);
    assert!(total < 420, "{total} bytes, {entry} of them in the entry");
}

/// A tenant may have 100,000 of them. What its owner takes is counted above, and what its status says is shared.
#[test]
fn a_queue_job_takes_less_than_1000_bytes() {
    let entry = size_of::<QueueJobEntry>() + size_of::<QueueJob>();
    let tasks = size_of::<ObservedTask>() + 2 * size_of::<QueueTask>();
    let texts = allocated("0b5ce7a2-7e3c-4c1c-9a35-5c2ac0c0ffee") + allocated("train-the-model-of-tuesday");
    let total = entry + tasks + texts;
    assert!(total < 1000, "{total} bytes, {entry} of them in the entries");
}
