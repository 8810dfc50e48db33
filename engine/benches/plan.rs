//! How long one full plan takes (criterion). `make speed` compares these with what they took before.

#![allow(missing_docs, reason = "criterion's macros make public items")]

mod clusters;

use std::cell::LazyCell;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use quotient_engine::planner::plan;

fn stories(criterion: &mut Criterion) {
    for story in clusters::STORIES {
        // Built only if it is asked for.
        let snapshot = LazyCell::new(story.cluster);
        criterion.bench_function(story.name, |bencher| {
            let snapshot = &*snapshot;
            bencher.iter(|| plan(black_box(snapshot)));
        });
    }
}

criterion_group! {
    name = group;
    config = Criterion::default().sample_size(20);
    targets = stories
}
criterion_main!(group);
