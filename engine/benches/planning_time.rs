//! The tables of docs/evidence/planning-time.md: `make planning-time`, with `WRITE=1` into the file.
//!
//! Times are those of the processor, so that other work on the machine counts for little.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a bench may fail loudly"
)]

mod clusters;

use std::fmt::Write as _;
use std::time::Duration;

use clusters::effort::measure;
use clusters::{LARGE, Newcomer, Size, cluster};
use quotient_advance::keep;
use quotient_engine::planner::{Planner, plan};

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/evidence/planning-time.md");
const BEGIN: &str = "<!-- measured: make planning-time WRITE=1 -->\n";
const END: &str = "<!-- end -->\n";

/// `12.3 ms`.
fn shown(time: Duration) -> String {
    let tenths = time.as_micros() / 100;
    format!("{}.{} ms", tenths / 10, tenths % 10)
}

fn stories() -> String {
    let mut table = "| cluster | median | least | decided |\n|---|---|---|---|\n".to_owned();
    let mut row = |what: &str, (least, median): (Duration, Duration), decided: &str| {
        println!("{what}: {}", shown(median));
        writeln!(table, "| {what} | {} | {} | {decided} |", shown(median), shown(least)).unwrap();
    };
    for story in clusters::STORIES {
        let snapshot = (story.cluster)();
        let decided = match plan(&snapshot).evictions.len() {
            0 => "nothing to do".to_owned(),
            evictions => format!("{evictions} evictions"),
        };
        row(story.name, measure(15, || plan(&snapshot)), &decided);
        if story.name == "large at rest" {
            let (mut snapshot, mut planner) = (snapshot, Planner::new());
            let first = planner.plan(&snapshot);
            keep(&mut snapshot, &first);
            planner.plan(&snapshot);
            let again = measure(15, || planner.plan(&snapshot));
            row("large at rest, the same input again", again, "what was decided before");
        }
    }
    table
}

fn curve() -> String {
    let mut table =
        "| pods | at rest | times | a newcomer takes its share | times |\n|---|---|---|---|---|\n".to_owned();
    let mut before: Option<[Duration; 2]> = None;
    for pods in [1_500, 15_000, 150_000, 1_500_000] {
        let now = [Newcomer::None, Newcomer::Claims].map(|newcomer| {
            let snapshot = cluster(Size { pods, ..LARGE }, newcomer);
            measure(9, || plan(&snapshot)).1
        });
        let times = |which: usize| {
            let ratio = before.map(|before| now[which].as_nanos() * 10 / before[which].as_nanos());
            ratio.map_or_else(String::new, |tenths| format!("{}.{}", tenths / 10, tenths % 10))
        };
        let row =
            format!("| {pods} | {} | {} | {} | {} |\n", shown(now[0]), times(0), shown(now[1]), times(1));
        print!("{row}");
        table += &row;
        before = Some(now);
    }
    table
}

fn main() {
    let tables = format!(
        "{}\nTen times the pods, in 1,000 queues in 3 levels on 5,000 nodes:\n\n{}",
        stories(),
        curve()
    );
    if std::env::var_os("WRITE").is_some_and(|write| !write.is_empty()) {
        let document = std::fs::read_to_string(DOCUMENT).unwrap();
        let (head, rest) = document.split_once(BEGIN).unwrap();
        let (_, tail) = rest.split_once(END).unwrap();
        std::fs::write(DOCUMENT, format!("{head}{BEGIN}\n{tables}\n{END}{tail}")).unwrap();
    }
}
