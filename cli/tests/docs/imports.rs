//! The imports inside each crate run one way: at most three files, which are read together, import each other.

#![expect(clippy::arithmetic_side_effects, reason = "a test that overflows fails, as it should")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const CRATES: [&str; 13] = [
    "advance",
    "amounts",
    "cli",
    "crds",
    "e2e",
    "e2e/testbed",
    "engine",
    "index",
    "operator",
    "snapshot",
    "verify/invariants",
    "verify/model",
    "verify/sim",
];

/// The most files in one cycle of a crate's imports. No folders are in one.
const MOST_FILES: usize = 3;

/// A module by its path inside the crate.
type Module = Vec<String>;

/// Which module imports from which.
type Imports = BTreeMap<Module, BTreeSet<Module>>;

#[test]
fn imports_run_one_way() {
    for name in CRATES {
        let source = super::root().join(name).join("src");
        let imports = imports(&source);
        assert!(!imports.is_empty() || name == "crds", "{name} has no imports");
        let cycle = largest_cycle(&imports, BTreeSet::len);
        assert!(
            cycle.len() <= MOST_FILES,
            "{name}: more than {MOST_FILES} files import each other: {cycle:#?}"
        );
        let parts = parts(&imports);
        let is_folder = |part: &&Module| source.join(part.join("/")).is_dir();
        let cycle = largest_cycle(&parts, |cycle| cycle.iter().filter(is_folder).count());
        let cycle: Vec<_> = cycle.iter().filter(is_folder).collect();
        // One folder and a file beside it are neighbors.
        assert!(cycle.len() <= 1, "{name}: folders import each other: {cycle:#?}");
    }
}

/// The imports of all files, without those of their unit tests.
fn imports(source: &Path) -> Imports {
    let mut texts = BTreeMap::new();
    read(source, &mut Vec::new(), &mut texts);
    let modules: BTreeSet<Module> = texts.keys().cloned().collect();
    let mut used: BTreeMap<Module, Vec<(bool, Module)>> = BTreeMap::new();
    for (module, text) in &texts {
        let absolute =
            |(is_public, path): (bool, Module)| Some((is_public, absolute(module, &path, &modules)?));
        used.insert(module.clone(), uses(text).into_iter().filter_map(absolute).collect());
    }
    let mut imports = Imports::new();
    for (module, paths) in &used {
        for (_, path) in paths.iter().filter(|(is_public, _)| !is_public) {
            let from = home(path, &modules, &used, 0);
            if !from.is_empty() && from != *module {
                imports.entry(module.clone()).or_default().insert(from);
            }
        }
    }
    imports
}

/// Reads the files of a folder, by module.
fn read(folder: &Path, module: &mut Module, texts: &mut BTreeMap<Module, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if matches!(name.as_str(), "tests" | "bin" | "main") {
            continue;
        }
        let is_own = matches!(name.as_str(), "mod" | "lib");
        if !is_own {
            module.push(name);
        }
        if path.is_dir() {
            read(&path, module, texts);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            texts.insert(module.clone(), text.to_owned());
        }
        if !is_own {
            module.pop();
        }
    }
}

/// Every path that a text imports, and whether it exports it again.
fn uses(text: &str) -> Vec<(bool, Module)> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(at) = ["use ", "pub use ", "pub(crate) use ", "pub(super) use "]
            .iter()
            .find(|start| line.starts_with(*start))
        else {
            continue;
        };
        let mut tree = line[at.len()..].to_owned();
        while !tree.contains(';') {
            let Some(next) = lines.next() else { break };
            tree.push_str(next.trim());
        }
        let is_public = at.starts_with("pub");
        let tree = tree.trim_end_matches(';').replace(", ", ",");
        found.extend(paths(&tree).into_iter().map(|path| (is_public, path)));
    }
    found
}

/// The paths of an import with braces.
fn paths(tree: &str) -> Vec<Module> {
    let split = |path: &str| -> Module {
        let path = path.split(" as ").next().unwrap_or_default();
        path.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let Some((head, rest)) = tree.split_once('{') else { return vec![split(tree)] };
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for character in rest[..rest.rfind('}').unwrap()].chars() {
        depth += i32::from(character == '{') - i32::from(character == '}');
        if character == ',' && depth == 0 {
            parts.push(String::new());
        } else {
            parts.last_mut().unwrap().push(character);
        }
    }
    let inner = parts.iter().filter(|part| !part.is_empty()).flat_map(|part| paths(part));
    inner.map(|path| [split(head), path].concat()).collect()
}

/// The path from the root of the crate; none if it leads to another crate.
fn absolute(module: &[String], path: &[String], modules: &BTreeSet<Module>) -> Option<Module> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "self" => Some([module, rest].concat()),
        "super" => {
            let above = path.iter().take_while(|part| *part == "super").count();
            Some([&module[..module.len() - above], &path[above..]].concat())
        }
        _ => {
            let child = [module, std::slice::from_ref(first)].concat();
            modules.contains(&child).then(|| [module, path].concat())
        }
    }
}

/// The module in which what a path names is defined, not one that only exports it again.
fn home(
    path: &[String],
    modules: &BTreeSet<Module>,
    used: &BTreeMap<Module, Vec<(bool, Module)>>,
    depth: usize,
) -> Module {
    let length = (0..=path.len()).rev().find(|length| modules.contains(&path[..*length]));
    let (module, rest) = path.split_at(length.unwrap_or_default());
    let exports = used.get(module).into_iter().flatten();
    let mut exports = exports.filter(|(is_public, other)| *is_public && other.last() == rest.first());
    match exports.next() {
        Some((_, other)) if depth < 8 && !rest.is_empty() => {
            home(&[other, &rest[1..]].concat(), modules, used, depth + 1)
        }
        _ => module.to_vec(),
    }
}

/// The same between what stands side by side in the source folder: files and folders.
fn parts(imports: &Imports) -> Imports {
    let mut parts = Imports::new();
    for (module, others) in imports.iter().filter(|(module, _)| !module.is_empty()) {
        let outside = others.iter().filter(|other| other[0] != module[0]).map(|other| other[..1].to_vec());
        parts.entry(module[..1].to_vec()).or_default().extend(outside);
    }
    parts
}

/// The cycle that is largest by this measure; empty if there is none.
fn largest_cycle(imports: &Imports, measure: impl Fn(&BTreeSet<Module>) -> usize) -> BTreeSet<Module> {
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        imports.keys().map(|module| (module, reached_from(imports, module))).collect();
    let cycle = |module: &&Module| -> BTreeSet<Module> {
        let back = |other: &&&Module| reached.get(**other).is_some_and(|reached| reached.contains(*module));
        reached[*module].iter().filter(back).map(|other| (*other).clone()).collect()
    };
    reached.keys().map(cycle).max_by_key(measure).unwrap_or_default()
}

fn reached_from<'a>(imports: &'a Imports, from: &Module) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&Module> = imports[from].iter().collect();
    while let Some(module) = open.pop() {
        if reached.insert(module) {
            open.extend(imports.get(module).into_iter().flatten());
        }
    }
    reached
}
