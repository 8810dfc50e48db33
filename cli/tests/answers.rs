//! What every command prints for programs is what its schema says, in JSON and in YAML, and names stand alone.
#![cfg(test)]

mod program;
mod schema;

use program::{printed, root};
use serde_json::{Value, json};

fn run(line: &str, format: &str) -> String {
    printed(line.split(' ').chain(["-o", format]))
}

/// Every command that reads files, on the examples.
const COMMANDS: [&str; 13] = [
    "status -f examples/tree",
    "status -f examples/newcomer -r cpu",
    "explain queue/team-1 --arithmetic -f examples/tree",
    "explain deploy/web -f examples/reclaim",
    "explain queuejob/wide -f examples/queue-jobs",
    "top queues -f examples/tree",
    "top namespaces -f examples/tree",
    "top workloads -f examples/reclaim",
    "check -f examples/tree",
    "diff --snapshot examples/two-queues --set queue/team-1.weight=5 --fail-on evictions>0,share-drop>1%",
    "simulate -f examples/queue-jobs --until-stable --explain",
    "migrate kueue -f cli/src/tests/migrate/kueue.yaml",
    "uninstall --check -f examples/tree",
];

#[test]
fn answers_are_what_their_schemas_say() {
    for line in COMMANDS.iter().chain(&["version"]) {
        let answer: Value = serde_json::from_str(&run(line, "json")).unwrap();
        assert_eq!(schema::violations(&answer), [""; 0], "{line}");
        let mut yaml: Value = serde_yaml_ng::from_str(&run(line, "yaml")).unwrap();
        // The command that reads no file has the time.
        if *line == "version" {
            yaml["asOf"] = answer["asOf"].clone();
        }
        assert_eq!(yaml, answer, "{line}");
        let names = run(line, "name");
        assert!(names.lines().all(|name| !name.is_empty()), "{line}: {names}");
        assert!(!run(line, "wide").is_empty(), "{line}");
    }
}

/// Every published schema can be broken, so that the test above can fail.
#[test]
fn a_wrong_answer_is_found() {
    let mut seen = 0;
    for entry in std::fs::read_dir(root().join("docs/reference/cli")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let kind = name.trim_end_matches(".json");
        let empty = json!({"apiVersion": "cli.quotient.dev/v1", "kind": kind, "odd": 1});
        let found = schema::violations(&empty);
        assert!(found.iter().any(|one| one.ends_with(".asOf is missing")), "{kind}: {found:?}");
        assert!(found.iter().any(|one| one.ends_with(".odd is not described")), "{kind}: {found:?}");
        seen += 1;
    }
    assert!(seen >= 10, "{seen}");
}

/// Text for people is ASCII if that is asked for, whatever the command.
#[test]
fn ascii_is_ascii_everywhere() {
    for line in COMMANDS.iter().filter(|line| !line.starts_with("migrate")) {
        for format in ["table", "wide"] {
            let text = run(&format!("{line} --ascii"), format);
            assert!(text.is_ascii(), "{line}: {text}");
        }
    }
}
