//! Exit codes of the program itself, and what stands on which stream.
#![cfg(test)]

mod program;

use std::process::Output;

use program::command;

fn run(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn code(arguments: &[&str]) -> Option<i32> {
    run(arguments).status.code()
}

/// Files do not change, so nothing is waited for.
#[test]
fn files_are_shown_although_a_queue_is_starved() {
    let waited = run(&["status", "--wait", "-f", "examples/tree"]);
    assert_eq!(waited.stdout, run(&["status", "-f", "examples/tree"]).stdout);
}

/// A gate that finds something.
const GATE: [&str; 7] =
    ["diff", "--snapshot", "examples/tree", "--set", "queue/team-2.weight=3", "--fail-on", "share-drop>1%"];

#[test]
fn an_answer_is_0_and_a_finding_1() {
    assert_eq!(code(&["status", "-f", "examples/two-queues"]), Some(0));
    assert_eq!(code(&GATE), Some(1));
}

/// `kubectl quotient … | head -1` says no more than its first line, and a gate still finds what it finds.
#[test]
fn a_reader_that_has_seen_enough_changes_no_exit_code() {
    let commands: [(&[&str], i32); 5] = [
        (&["status", "-f", "examples/tree"], 0),
        (&["simulate", "-f", "examples/newcomer", "--until-stable"], 0),
        (&["diff", "--help"], 0),
        (&["completion", "bash"], 0),
        (&GATE, 1),
    ];
    for (arguments, code) in commands {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command(arguments).stdout(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{arguments:?}");
    }
}

#[test]
fn what_is_not_understood_is_2() {
    assert_eq!(code(&["status", "--nonsense"]), Some(2));
    assert_eq!(code(&["explain", "pod/nothing", "-f", "examples/tree"]), Some(2));
    assert_eq!(code(&["simulate", "-f", "nowhere"]), Some(2));
    assert_eq!(code(&["diff", "--snapshot", "nowhere", "--drain", "x"]), Some(2));
}

#[test]
fn a_cluster_that_cannot_be_reached_is_3() {
    let output = run(&["status"]);
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: find the cluster: ") && !said.contains("'\""), "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn nothing_but_the_answer_is_on_standard_output_and_no_color_without_a_terminal() {
    let output = run(&["status", "-f", "examples/tree", "-o", "json"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["kind"], "Status");
    let text = String::from_utf8(run(&["status", "-f", "examples/tree"]).stdout).unwrap();
    assert!(!text.contains('\u{1b}'), "{text}");
}

/// Longer lines wrap in a terminal, and tables fall apart.
#[test]
fn lines_are_at_most_120_characters_wide() {
    let commands: [&[&str]; 4] = [
        &["status", "-f", "examples/tree"],
        &["explain", "queue/team-1", "-f", "examples/tree", "--arithmetic"],
        &["check", "-f", "examples/tree", "-o", "wide"],
        &["top", "workloads", "-f", "examples/tree"],
    ];
    for command in commands {
        let text = String::from_utf8(run(command).stdout).unwrap();
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or_default();
        assert!((1..=120).contains(&longest), "{command:?}: {longest}\n{text}");
    }
}
