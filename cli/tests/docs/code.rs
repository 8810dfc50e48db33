//! Comments and names of functions have a thing as their subject and the spelling of pages. Functions fit on a page.

use std::path::{Path, PathBuf};

use super::{VAGUE, VOCABULARY, root};

/// The folders with code.
const FOLDERS: [&str; 10] =
    ["advance", "amounts", "cli", "crds", "e2e", "engine", "index", "operator", "snapshot", "verify"];

/// The folders whose YAML and templates users read.
const OF_USERS: [&str; 3] = ["charts", "e2e/rules", "examples"];

/// How the prose check wants words to be spelled.
const SPELLING: &str = "docs/contributing/vale/Quotient/Spelling.yml";

/// A word that tokio has in the names of its functions.
const OF_TOKIO: &str = "cancelled";

/// The most characters of a line of a comment.
const WIDEST: usize = 130;

/// The most lines of a function, from its signature to its end.
const LONGEST: usize = 60;

#[test]
fn comments_and_functions_name_what_they_are_about() {
    let mut found = Vec::new();
    for (path, text) in files() {
        for (number, line) in (1_usize..).zip(text.lines()) {
            // rustfmt does not break comments. Diagrams are as wide as they are.
            if line.trim_start().starts_with("//") && !line.contains('─') && line.chars().count() > WIDEST {
                found.push(format!("{}:{number}: more than {WIDEST} characters", path.display()));
            }
            found.extend(vague(said(line)).map(|word| format!("{}:{number}: {word}", path.display())));
        }
    }
    assert!(found.is_empty(), "see {VOCABULARY}:\n{}", found.join("\n"));
}

#[test]
fn the_chart_and_the_examples_name_what_they_are_about() {
    let mut found = Vec::new();
    for (path, text) in files_of(&OF_USERS, &["yaml", "yml", "tpl", "txt"]) {
        for (number, line) in (1_usize..).zip(text.lines()) {
            found.extend(vague(words(line)).map(|word| format!("{}:{number}: {word}", path.display())));
        }
    }
    assert!(found.is_empty(), "see {VOCABULARY}:\n{}", found.join("\n"));
}

/// The words that no page may spell otherwise than Kubernetes does, without plurals and alternatives.
fn misspelled() -> Vec<String> {
    let rules = std::fs::read_to_string(root().join(SPELLING)).unwrap();
    let words =
        rules.lines().skip_while(|line| *line != "swap:").filter_map(|line| line.trim().split_once(": "));
    let words = words.map(|(word, _)| word.trim_end_matches("s?"));
    words
        .filter(|word| word.chars().all(char::is_alphabetic) && *word != OF_TOKIO)
        .map(str::to_owned)
        .collect()
}

#[test]
fn code_spells_as_kubernetes_does() {
    let misspelled = misspelled();
    assert!(misspelled.len() > 5, "{misspelled:?}");
    let mut found = Vec::new();
    for (path, text) in files() {
        for (number, line) in (1_usize..).zip(text.to_lowercase().lines()) {
            let here = misspelled.iter().filter(|word| line.contains(word.as_str()));
            found.extend(here.map(|word| format!("{}:{number}: {word}", path.display())));
        }
    }
    assert!(found.is_empty(), "see {SPELLING}:\n{}", found.join("\n"));
}

#[test]
fn functions_fit_on_a_page() {
    let mut long = Vec::new();
    let is_of_tests = |path: &Path| {
        path.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "benches")
    };
    for (path, text) in files().into_iter().filter(|(path, _)| !is_of_tests(path)) {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines: Vec<&str> = code.lines().collect();
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| begins_a_function(line)) {
            let end = format!("{}}}", &line[..line.len() - line.trim_start().len()]);
            let length = lines[at..].iter().position(|line| **line == end).map_or(0, |last| last + 1);
            if length > LONGEST {
                long.push(format!("{}:{}: {length} lines", path.display(), at + 1));
            }
        }
    }
    assert!(long.is_empty(), "more than {LONGEST} lines:\n{}", long.join("\n"));
}

/// Whether a function with a body of several lines begins here, as rustfmt writes it.
fn begins_a_function(line: &str) -> bool {
    let mut words = line.split_whitespace().map(|word| word.split('(').next().unwrap_or_default());
    let is_prefix = |word: &str| matches!(word, "pub" | "const" | "async") || word.ends_with(')');
    words.find(|word| !is_prefix(word)) == Some("fn") && !line.ends_with([';', '}'])
}

/// Every source file, with its text.
fn files() -> Vec<(PathBuf, String)> {
    files_of(&FOLDERS, &["rs"])
}

/// Every file below these folders whose name ends so, with its text.
fn files_of(folders: &[&str], extensions: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if extensions.iter().any(|extension| path.extension() == Some(extension.as_ref())) {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found
}

/// The words of a comment without what stands between backticks, or of the name of a function.
fn said(line: &str) -> Vec<String> {
    let line = line.trim_start();
    let text: String = if line.starts_with("//") {
        line.split('`').step_by(2).collect()
    } else {
        let name = line.split_once("fn ").map(|(_, rest)| rest.split(['(', '<']).next().unwrap_or_default());
        name.unwrap_or_default().to_owned()
    };
    words(&text)
}

fn words(text: &str) -> Vec<String> {
    text.split(|letter: char| !letter.is_alphabetic()).map(str::to_lowercase).collect()
}

fn vague(words: Vec<String>) -> impl Iterator<Item = String> {
    words.into_iter().filter(|word| VAGUE.contains(&word.as_str()))
}
