//! Scratch.
#![allow(clippy::all)]
#![allow(dead_code, unused_imports, clippy::all)]
mod story;
use quotient_engine::advance::{advance, settle, keep};
use quotient_engine::plan::plan;
#[test]
fn scratch() {
    let text = std::fs::read_to_string(std::env::var("STORY").unwrap()).unwrap();
    let steps: usize = std::env::var("STEPS").ok().and_then(|t| t.parse().ok()).unwrap_or(3);
    let mut world = story::parse(&text);
    for step in 1..=steps {
        let (settled, decided) = settle(&world);
        let advanced = advance(&settled, &decided);
        println!("{}{}{}", story::print(step, &decided, &advanced.started), story::print_writes(&decided), story::print_passed_over(&decided));
        world = advanced.snapshot;
    }
}
