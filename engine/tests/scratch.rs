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
    if std::env::var_os("SHUFFLE").is_some() {
        let (settled, _) = settle(&world);
        for world in [&world, &settled] {
        let mut other = world.clone();
        for state in other.namespaces.values_mut() { let state = std::sync::Arc::make_mut(state); state.pods.reverse(); state.owners.reverse(); }
        let (a, b) = (format!("{:#?}", plan(&world)), format!("{:#?}", plan(&other)));
        for (x, y) in a.lines().zip(b.lines()).filter(|(x, y)| x != y).take(20) { println!("- {x}\n+ {y}"); }
        }
    }
    for step in 1..=steps {
        let (settled, decided) = settle(&world);
        let advanced = advance(&settled, &decided);
        println!("{}{}{}", story::print(step, &decided, &advanced.started), story::print_writes(&decided), story::print_passed_over(&decided));
        world = advanced.snapshot;
    }
}
