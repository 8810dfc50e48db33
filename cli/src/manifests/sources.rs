//! Which files are read, and their texts.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::problem::Problem;

/// A file's text under the name that problems are reported with.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) name: String,
    pub(super) text: String,
}

/// The name of standard input.
const STDIN: &str = "-";

/// The endings of the files that count in a directory.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// Reads every file, the manifests of every directory, and standard input for `-`, in the order given.
pub(super) fn read_all(paths: &[PathBuf], problems: &mut Vec<Problem>) -> Vec<Source> {
    let mut sources = Vec::new();
    for path in paths {
        if path == Path::new(STDIN) {
            keep(&mut sources, problems, "standard input", read_stdin());
        } else if path.is_dir() {
            match manifests_in(path) {
                Ok(files) if files.is_empty() => problems.push(Problem::of_file(
                    &path.to_string_lossy(),
                    "read directory: there is no *.yaml, *.yml or *.json file in it",
                )),
                Ok(files) => {
                    for file in files {
                        keep(&mut sources, problems, &file.to_string_lossy(), std::fs::read_to_string(&file));
                    }
                }
                Err(error) => {
                    let message = format!("read directory: {error}");
                    problems.push(Problem::of_file(&path.to_string_lossy(), message));
                }
            }
        } else {
            keep(&mut sources, problems, &path.to_string_lossy(), std::fs::read_to_string(path));
        }
    }
    sources
}

fn keep(sources: &mut Vec<Source>, problems: &mut Vec<Problem>, name: &str, text: std::io::Result<String>) {
    match text {
        Ok(text) => sources.push(Source { name: name.to_owned(), text }),
        Err(error) => problems.push(Problem::of_file(name, format_args!("read file: {error}"))),
    }
}

fn read_stdin() -> std::io::Result<String> {
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text)?;
    Ok(text)
}

/// The manifests directly in the directory, by name: what `kubectl apply -f DIR` takes.
fn manifests_in(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let ending = path.extension().and_then(OsStr::to_str);
        if ending.is_some_and(|ending| ENDINGS.contains(&ending)) && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
