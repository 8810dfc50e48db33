//! The recipes for pipelines: each is YAML, and each command in them is understood and answers as the page says.
#![cfg(test)]

mod program;

use program::command;
use serde::Deserialize as _;
use serde_yaml_ng::{Deserializer, Value};

const PAGE: &str = include_str!("../../docs/how-to/pipelines.md");

fn documents() -> Vec<Value> {
    let blocks = PAGE.split("\n```").skip(1).step_by(2);
    let blocks = blocks.filter_map(|block| block.strip_prefix("yaml\n"));
    let read = |block| Deserializer::from_str(block).map(|document| Value::deserialize(document).unwrap());
    blocks.flat_map(read).collect()
}

/// Every text in a document.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.extend(text.lines().map(str::to_owned)),
        Value::Sequence(values) => values.iter().for_each(|value| texts(value, found)),
        Value::Mapping(fields) => fields.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

/// The words behind `kubectl quotient`, without redirection and quotes.
fn words(line: &str) -> Option<Vec<String>> {
    let (_, rest) = line.split_once("kubectl quotient ")?;
    let rest = rest.split(" >").next()?;
    Some(rest.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect())
}

/// What the program answers, with files of ours in place of those of the page.
fn code(words: &[String]) -> i32 {
    let words = words.iter().map(|word| match word.as_str() {
        "queues/" | "/queues" => "examples/newcomer",
        "prod.json.gz" => "examples/two-queues",
        other => other,
    });
    let words: Vec<&str> = words.collect();
    let snapshot: &[&str] =
        if words.contains(&"--snapshot") { &[] } else { &["--snapshot", "examples/two-queues"] };
    let output = command(words.iter().chain(snapshot)).output().unwrap();
    output.status.code().unwrap_or_else(|| panic!("{words:?}"))
}

#[test]
fn every_command_of_a_recipe_answers() {
    let mut seen = 0;
    for document in documents() {
        let mut lines = Vec::new();
        texts(&document, &mut lines);
        for words in lines.iter().filter_map(|line| words(line)) {
            assert!((0..=1).contains(&code(&words)), "{words:?}");
            seen += 1;
        }
        let container = &document["spec"]["template"]["spec"]["containers"][0];
        if let Some(command) = container["command"].as_sequence() {
            let words: Vec<String> =
                command.iter().skip(1).map(|word| word.as_str().unwrap().to_owned()).collect();
            assert!((0..=1).contains(&code(&words)), "{words:?}");
            seen += 1;
        }
    }
    assert_eq!(seen, 3, "GitHub Actions, GitLab and Argo CD");
}

/// The account of the pipeline may list all that the operator reads, PodGroups of other schedulers apart, and nothing else.
#[test]
fn the_role_is_what_a_comparison_reads() {
    let role = documents().into_iter().find(|document| document["kind"] == "ClusterRole").unwrap();
    let mut listed: Vec<String> = Vec::new();
    for rule in role["rules"].as_sequence().unwrap() {
        assert_eq!(rule["verbs"], Value::Sequence(vec!["list".into()]), "{rule:?}");
        let names = rule["resources"].as_sequence().unwrap().iter();
        listed.extend(names.map(|name| name.as_str().unwrap().to_owned()));
    }
    let mut read: Vec<String> = quotient_operator::watch::kinds()
        .filter(|kind| !kind.contains('.'))
        .map(str::to_owned)
        .chain(["podgroups".to_owned()])
        .collect();
    listed.sort();
    read.sort();
    assert_eq!(listed, read);
}
