//! Exit codes of the program itself, and what stands on which stream.
#![cfg(test)]

use std::path::Path;
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    Command::new(env!("CARGO_BIN_EXE_kubectl-quotient"))
        .args(arguments)
        .current_dir(root)
        // No cluster of the person who runs the tests.
        .env("KUBECONFIG", "/nonexistent")
        .env_remove("KUBERNETES_SERVICE_HOST")
        .output()
        .unwrap()
}

fn code(arguments: &[&str]) -> Option<i32> {
    run(arguments).status.code()
}

#[test]
fn an_answer_is_0_and_a_finding_1() {
    assert_eq!(code(&["status", "-f", "examples/two-queues"]), Some(0));
    let gate = [
        "diff",
        "--snapshot",
        "examples/tree",
        "--set",
        "queue/team-2.weight=3",
        "--fail-on",
        "share-drop>1%",
    ];
    assert_eq!(code(&gate), Some(1));
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
    let ascii =
        String::from_utf8(run(&["status", "-f", "examples/tree", "-r", "cpu", "--ascii"]).stdout).unwrap();
    assert!(ascii.is_ascii(), "{ascii}");
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
