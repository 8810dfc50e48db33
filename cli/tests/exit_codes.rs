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

/// `kubectl quotient … 2>&1 | head -1`.
#[test]
fn a_closed_standard_error_changes_no_exit_code() {
    let commands: [(&[&str], i32); 3] =
        [(&["adopt", "-f", "examples/two-queues"], 0), (&["simulate", "-f", "nowhere"], 2), (&["status"], 3)];
    for (arguments, code) in commands {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command(arguments).stderr(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    }
}

/// A second look finds more namespaces, and what a person has edited stays.
#[test]
fn proposals_are_written_beside_those_that_exist() {
    let folder = tempfile::tempdir().unwrap();
    let pod = |namespace: &str| {
        format!(
            "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: {namespace}}}, spec: {{containers: []}}}}\n"
        )
    };
    let [input, queues] = ["input.yaml", "queues"].map(|name| folder.path().join(name));
    std::fs::write(&input, [pod("a"), pod("b"), pod("c")].concat()).unwrap();
    let [input, output] = [&input, &queues].map(|path| path.to_str().unwrap());
    let proposed = |more: &[&str]| {
        let words = [&["init", "--from-usage", "-f", input, "-o", output], more].concat();
        let answer = run(&words);
        let [said, noted] = [answer.stdout, answer.stderr].map(|text| String::from_utf8(text).unwrap());
        assert_eq!(answer.status.code(), Some(0), "{noted}");
        (said, noted)
    };
    let (_, noted) = proposed(&["-n", "d"]);
    assert!(noted.contains("Namespace d has a Queue or no pods"), "{noted}");
    let (said, _) = proposed(&["-n", "a"]);
    assert!(said.contains("1 Queue written") && !said.contains("\nb "), "{said}");
    std::fs::write(queues.join("a.yaml"), "# edited\n").unwrap();
    let (said, noted) = proposed(&[]);
    assert!(
        said.contains("2 Queues written") && noted.contains("queues/a.yaml is kept as it is."),
        "{said}{noted}"
    );
    assert_eq!(std::fs::read_to_string(queues.join("a.yaml")).unwrap(), "# edited\n");
    assert!(queues.join("b.yaml").exists() && queues.join("c.yaml").exists());
}

#[test]
fn what_is_not_understood_is_2() {
    assert_eq!(code(&["status", "--nonsense"]), Some(2));
    // A variable of a script that is not set.
    assert_eq!(code(&["status", "-n", ""]), Some(2));
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
