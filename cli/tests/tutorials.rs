//! The README and the tutorials without a cluster: every command on a page is run, and prints what the page says.
//!
//! `UPDATE_EXPECT=1` writes what commands print, and the manifests, into the pages; read the difference.
#![cfg(test)]

mod program;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use expect_test::expect_file;
use program::{root, text};

#[test]
fn the_pages_say_what_simulate_prints() {
    let mut commands = 0;
    for path in pages() {
        let page = text(&path);
        commands += page.lines().filter(|line| line.starts_with("$ ")).count();
        expect_file![path].assert_eq(&played(&page));
    }
    assert!(commands >= 5, "{commands}");
}

/// Played on a real control plane by the end-to-end test `tutorial`.
const NEED_A_CLUSTER: [&str; 2] = ["first-share.md", "gate.md"];

/// The pages, by name.
fn pages() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("docs/tutorials")).unwrap();
    let mut pages: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| {
        page.extension().is_some() && !NEED_A_CLUSTER.iter().any(|other| page.ends_with(other))
    });
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

/// A page as it is if its commands are run and its manifests are those of the files.
fn played(page: &str) -> String {
    let mut written = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(written, "{line}");
        if let Some(path) = line.strip_prefix("```yaml ") {
            block(&mut lines);
            written.push_str(&text(path));
            written.push_str("```\n");
        } else if line == "```console" {
            let shown = block(&mut lines);
            for command in shown.iter().filter_map(|line| line.strip_prefix("$ ")) {
                let _ = write!(written, "$ {command}\n{}", run(command));
            }
            written.push_str("```\n");
        }
    }
    written
}

/// The lines up to the end of a block.
fn block<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    lines.take_while(|line| *line != "```").collect()
}

/// What a command prints in the repository.
fn run(command: &str) -> String {
    let program = env!("CARGO_BIN_EXE_kubectl-quotient");
    let command = command.replace("kubectl quotient ", &format!("{program} "));
    let output = Command::new("sh").args(["-c", &command]).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
