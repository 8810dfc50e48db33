//! Comments and names of functions have a thing as their subject, as the sentences of pages do.

use std::path::Path;

use super::{VAGUE, VOCABULARY, root};

/// The folders with code.
const FOLDERS: [&str; 9] =
    ["advance", "amounts", "cli", "crds", "e2e", "engine", "index", "operator", "verify"];

/// The most characters of a line of a comment.
const WIDEST: usize = 130;

#[test]
fn comments_and_functions_name_what_they_are_about() {
    let mut found = Vec::new();
    for folder in FOLDERS {
        search(&root().join(folder), &mut found);
    }
    assert!(found.is_empty(), "see {VOCABULARY}:\n{}", found.join("\n"));
}

fn search(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            search(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            for (number, line) in (1_usize..).zip(text.lines()) {
                // rustfmt does not break comments. Diagrams are as wide as they are.
                if line.trim_start().starts_with("//") && !line.contains('─') && line.chars().count() > WIDEST
                {
                    found.push(format!("{}:{number}: more than {WIDEST} characters", path.display()));
                }
                let vague = said(line).into_iter().filter(|word| VAGUE.contains(&word.as_str()));
                found.extend(vague.map(|word| format!("{}:{}: {word}", path.display(), number)));
            }
        }
    }
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
    text.split(|letter: char| !letter.is_alphabetic()).map(str::to_lowercase).collect()
}
