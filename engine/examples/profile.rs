//! temporary
#![allow(clippy::all, clippy::pedantic, clippy::restriction, missing_docs)]
#[path = "../benches/clusters/mod.rs"]
mod clusters;
use std::time::Instant;
fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for story in clusters::STORIES {
        if !wanted.is_empty() && !wanted.iter().any(|one| story.name.contains(one.as_str())) {
            continue;
        }
        let snapshot = (story.cluster)();
        let mut times = Vec::new();
        let n = if wanted.is_empty() { 5 } else { 20 };
        for _ in 0..n {
            let t = Instant::now();
            std::hint::black_box(quotient_engine::planner::plan(&snapshot));
            times.push(t.elapsed());
        }
        times.sort();
        println!("{:45} min {:?} median {:?}", story.name, times[0], times[times.len() / 2]);
    }
}
