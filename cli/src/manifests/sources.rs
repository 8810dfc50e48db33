//! Which files are read, their documents and the objects in these, and what is wrong with them.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::objects::Kind;
use crate::snapshot::Place;

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
            let mut bytes = Vec::new();
            let read = io::stdin().read_to_end(&mut bytes).map(|_| bytes);
            keep(&mut sources, problems, "standard input", read);
        } else if path.is_dir() {
            match manifests_in(path) {
                Ok(files) if files.is_empty() => problems.push(Problem::of_file(
                    &path.to_string_lossy(),
                    "read directory: there is no *.yaml, *.yml or *.json file in it",
                )),
                Ok(files) => {
                    for file in files {
                        keep(&mut sources, problems, &file.to_string_lossy(), std::fs::read(&file));
                    }
                }
                Err(error) => {
                    let message = format!("read directory: {error}");
                    problems.push(Problem::of_file(&path.to_string_lossy(), message));
                }
            }
        } else {
            keep(&mut sources, problems, &path.to_string_lossy(), std::fs::read(path));
        }
    }
    sources
}

fn keep(sources: &mut Vec<Source>, problems: &mut Vec<Problem>, name: &str, bytes: io::Result<Vec<u8>>) {
    match bytes.and_then(decoded) {
        Ok(text) => sources.push(Source { name: name.to_owned(), text }),
        Err(error) => problems.push(Problem::of_file(name, format_args!("read file: {error}"))),
    }
}

/// The text of a file, without its byte-order mark; without a mark it is UTF-8.
fn decoded(bytes: Vec<u8>) -> io::Result<String> {
    let utf_16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.as_chunks().0.iter().map(|pair| unit(*pair)).collect();
        String::from_utf16(&units).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    };
    let utf_8 = |bytes| {
        String::from_utf8(bytes)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
    };
    match bytes.as_slice() {
        [0xef, 0xbb, 0xbf, text @ ..] => utf_8(text.to_vec()),
        [0xff, 0xfe, text @ ..] => utf_16(text, u16::from_le_bytes),
        [0xfe, 0xff, text @ ..] => utf_16(text, u16::from_be_bytes),
        [0x1f, 0x8b, ..] => Err(io::Error::other("it is compressed: a snapshot is named with --snapshot")),
        _ => utf_8(bytes),
    }
}

/// The manifests directly in the directory, by name: what `kubectl apply -f DIR` takes.
fn manifests_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
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

/// Every document of the file that is not empty, and where it stands.
pub(super) fn documents(source: &Source, problems: &mut Vec<Problem>) -> Vec<(Place, Value)> {
    let values = match parse(source) {
        Ok(values) => values,
        Err(message) => {
            problems.push(Problem::of_file(&source.name, message));
            return Vec::new();
        }
    };
    let several = values.len() > 1;
    let numbered = values.into_iter().zip(1_usize..).filter(|(value, _)| !value.is_null());
    numbered
        .map(|(value, number)| {
            let document = several.then_some(number);
            (Place { document, ..Place::file(&source.name) }, value)
        })
        .collect()
}

/// JSON where it is JSON, YAML elsewhere. Nearly all JSON is YAML too, but not several documents in a row.
fn parse(source: &Source) -> Result<Vec<Value>, String> {
    let json = || serde_json::Deserializer::from_str(&source.text).into_iter().collect::<Result<Vec<_>, _>>();
    if Path::new(&source.name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
        return json().map_err(|error| format!("read JSON: {error}"));
    }
    if source.text.trim_start().starts_with('{')
        && let Ok(values) = json()
    {
        return Ok(values);
    }
    yaml(&source.text).map_err(|error| format!("read YAML: {error}"))
}

fn yaml(text: &str) -> Result<Vec<Value>, serde_yaml_ng::Error> {
    serde_yaml_ng::Deserializer::from_str(text)
        .map(|document| {
            // Through the YAML value, because JSON knows neither `<<` nor anchors.
            let mut value = serde_yaml_ng::Value::deserialize(document)?;
            value.apply_merge()?;
            serde_yaml_ng::from_value(value)
        })
        .collect()
}

/// The objects of the document: itself, or, if it is a list, its items, to any depth.
///
/// A list is `List`, or `…List` of a kind that is understood or with items: another kind may end so. Items of a typed list need
/// no kind of their own: the API server leaves it out.
pub(super) fn take_apart(place: Place, value: Value, problems: &mut Vec<Problem>) -> Vec<(Place, Value)> {
    let item_kind = value.get("kind").and_then(Value::as_str).and_then(|kind| kind.strip_suffix("List"));
    let is_list = |of: &&str| {
        of.is_empty() || value.get("items").is_some() || Kind::ALL.iter().any(|kind| kind.name() == *of)
    };
    let Some(item_kind) = item_kind.filter(is_list).map(str::to_owned) else { return vec![(place, value)] };
    let api_version = value.get("apiVersion").cloned();
    let Value::Object(mut list) = value else { return Vec::new() };
    let items = match list.remove("items") {
        Some(Value::Array(items)) => items,
        Some(Value::Null) => Vec::new(),
        _ => {
            let message = "items: a list has its objects here".to_owned();
            problems.push(Problem { place, object: Some(format!("{item_kind}List")), message });
            return Vec::new();
        }
    };
    let mut objects = Vec::new();
    for (mut item, number) in items.into_iter().zip(0_usize..) {
        let place = Place { item: Some(number), ..place.clone() };
        if let Value::Object(fields) = &mut item
            && !item_kind.is_empty()
        {
            fields.entry("kind").or_insert_with(|| item_kind.clone().into());
            if let Some(api_version) = &api_version {
                fields.entry("apiVersion").or_insert_with(|| api_version.clone());
            }
        }
        objects.extend(take_apart(place, item, problems));
    }
    objects
}

/// Something in the input that is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The file as the user named it, with the document if there are several.
    pub(crate) place: Place,
    /// Kind, namespace and name, as far as they are known.
    pub(crate) object: Option<String>,
    /// What is wrong; names the field where there is one.
    pub(crate) message: String,
}

impl Problem {
    pub(crate) fn of_file(file: &str, message: impl fmt::Display) -> Self {
        Self { place: Place::file(file), object: None, message: message.to_string() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: ", self.place)?;
        if let Some(object) = &self.object {
            write!(formatter, "{object}: ")?;
        }
        formatter.write_str(&self.message)
    }
}

/// All problems of one input; it has at least one.
#[derive(Debug, thiserror::Error)]
pub(crate) struct Problems(pub(crate) Vec<Problem>);

/// A line for each.
impl fmt::Display for Problems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(|problem| format!("error: {problem}")).collect();
        formatter.write_str(&lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PowerShell writes UTF-16 by `>`, and editors of Windows begin a file with a mark.
    #[test]
    fn the_byte_order_mark_tells_the_encoding() {
        let text = "kind: Pod # ü";
        let utf_16 =
            |bytes: fn(u16) -> [u8; 2]| "\u{feff}kind: Pod # ü".encode_utf16().flat_map(bytes).collect();
        let marked = "\u{feff}kind: Pod # ü".as_bytes().to_vec();
        for bytes in [text.as_bytes().to_vec(), marked, utf_16(u16::to_le_bytes), utf_16(u16::to_be_bytes)] {
            assert_eq!(decoded(bytes).unwrap(), text);
        }
        let wrong = decoded(vec![b'a', 0xff]).unwrap_err().to_string();
        assert_eq!(wrong, "invalid utf-8 sequence of 1 bytes from index 1");
        assert!(decoded(vec![0xff, 0xfe, 0x00, 0xdc]).is_err());
        let snapshot = decoded(vec![0x1f, 0x8b, 0x08]).unwrap_err().to_string();
        assert_eq!(snapshot, "it is compressed: a snapshot is named with --snapshot");
    }
}
