//! What the documentation says of names and paths, against what there is.
#![cfg(test)]

#[path = "docs/chart_lines.rs"]
mod chart_lines;
#[path = "docs/code.rs"]
mod code;
#[path = "docs/imports.rs"]
mod imports;
#[path = "docs/names.rs"]
mod names;
mod program;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use program::{command, root, text};
use quotient_crds::{ConditionType, Queue, QueueJobCondition};
use serde_yaml_ng::Value;

/// Every page, by its path from the root.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = [
        "README.md",
        "ARCHITECTURE.md",
        "SECURITY.md",
        "CHANGELOG.md",
        "e2e/testbed/README.md",
        "charts/quotient/README.md",
    ]
    .map(PathBuf::from)
    .into();
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).unwrap() {
            let name = folder.join(entry.unwrap().file_name());
            if root().join(&name).is_dir() {
                folders.push(name);
            } else if name.extension().is_some_and(|extension| extension == "md") {
                pages.push(name);
            }
        }
    }
    pages.sort();
    assert!(pages.len() > 20, "{pages:?}");
    pages
}

/// The words between backticks in a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

// ---- prose --------------------------------------------------------------------------------------------------

/// Words that make a reader guess who is meant; the vocabulary has a noun for each.
const VAGUE: [&str; 7] = ["nobody", "somebody", "everybody", "anybody", "whoever", "whomever", "whom"];

/// The page that lists the words.
const VOCABULARY: &str = "docs/contributing/vocabulary.md";

#[test]
fn sentences_name_what_they_are_about() {
    let mut found = Vec::new();
    for page in pages().into_iter().filter(|page| page != Path::new(VOCABULARY)) {
        let text = text(&page);
        let mut is_code = false;
        for (number, line) in text.lines().enumerate() {
            is_code ^= line.trim_start().starts_with("```");
            // Names and quoted outputs stand between backticks.
            let prose: String = line.split('`').step_by(2).collect();
            let words = prose.split(|letter: char| !letter.is_alphabetic()).map(str::to_lowercase);
            let vague = words.filter(|word| !is_code && VAGUE.contains(&word.as_str()));
            found.extend(vague.map(|word| format!("{}:{}: {word}", page.display(), number + 1)));
        }
    }
    assert!(found.is_empty(), "see {VOCABULARY}:\n{}", found.join("\n"));
}

// ---- links ----------------------------------------------------------------------------------------------------

/// The lines of a page that are no code.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    page.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The anchors of a page's headings, as GitHub makes them.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for line in prose(page).filter(|line| line.starts_with('#')) {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        let anchor: String = kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect();
        let repeated = (1..).map(|number| format!("{anchor}-{number}"));
        let free = std::iter::once(anchor.clone()).chain(repeated).find(|one| !anchors.contains(one));
        anchors.extend(free);
    }
    anchors
}

/// Each link of a page leads to a file of the repository and to a heading in it.
#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    let mut seen = 0;
    for page in pages() {
        let content = text(&page);
        for line in prose(&content) {
            let links = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            for link in links.filter(|link| !link.contains("://")) {
                seen += 1;
                let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
                let target = if path.is_empty() { page.clone() } else { page.with_file_name(path) };
                let target = root().join(target);
                let has_anchor = || {
                    let found = std::fs::read_to_string(&target).unwrap_or_default();
                    anchor.is_empty() || anchors(&found).contains(anchor)
                };
                if !target.exists() || !has_anchor() {
                    broken.push(format!("{}: {link}", page.display()));
                }
            }
        }
    }
    assert!(seen > 300, "{seen}");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Every page can be found from the first one.
#[test]
fn every_page_is_linked() {
    let mut linked = BTreeSet::new();
    for page in pages() {
        for rest in text(&page).split("](").skip(1) {
            let link = rest.split([')', '#']).next().unwrap_or_default();
            if let Ok(path) = root().join(page.with_file_name(link)).canonicalize() {
                linked.insert(path);
            }
        }
    }
    let lost: Vec<PathBuf> = pages()
        .into_iter()
        .filter(|page| page.starts_with("docs") && page != Path::new("docs/README.md"))
        .filter(|page| !linked.contains(&root().join(page).canonicalize().unwrap()))
        .collect();
    assert!(lost.is_empty(), "no page links to {lost:?}");
}

/// Each subject of the concepts has a diagram: a block that is no code and no command.
#[test]
fn every_concept_has_a_diagram() {
    let is_diagram = |block: &str| {
        let lines = block.lines();
        block.starts_with('\n')
            && lines.skip(1).all(|line| !line.contains("kubectl") && !line.contains("helm "))
    };
    let concepts = pages().into_iter().filter(|page| page.starts_with("docs/concepts"));
    let without: Vec<PathBuf> =
        concepts.filter(|page| !text(page).split("```").skip(1).step_by(2).any(is_diagram)).collect();
    assert!(without.is_empty(), "no diagram is in {without:?}");
}

// ---- commands -----------------------------------------------------------------------------------------------

/// What a page says if its commands are not run by a test.
const UNTESTED: &str = "The commands of this page need a real cluster. Tests run only some of them.";

/// The commands of a page: lines of code blocks that begin with a program of ours or of Kubernetes.
fn commands(page: &str) -> Vec<String> {
    let blocks = page.split("```").skip(1).step_by(2).filter_map(|block| Some(block.split_once('\n')?.1));
    let lines = blocks.flat_map(str::lines).map(|line| line.trim().trim_start_matches("$ "));
    let programs = ["kubectl ", "helm ", "flux ", "argocd ", "docker ", "kind "];
    lines.filter(|line| programs.iter().any(|program| line.starts_with(program))).map(str::to_owned).collect()
}

/// Every command of a how-to page or a tutorial is run by a test, or the page says that it is not.
#[test]
fn every_command_is_run_or_marked() {
    let tutorials =
        ["first-share", "gate", "gpus", "hierarchy"].map(|name| format!("docs/tutorials/{name}.md"));
    // `e2e/tests/howto.rs` names those that it plays.
    let by_test = text("e2e/tests/howto.rs");
    let played: BTreeSet<&str> = by_test
        .split("path: \"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .chain(tutorials.iter().map(String::as_str))
        .chain(["docs/how-to/pipelines.md"])
        .collect();
    assert!(played.len() > 10, "{played:?}");
    let mut run = 0;
    for page in pages()
        .into_iter()
        .filter(|page| page.starts_with("docs/how-to") || page.starts_with("docs/tutorials"))
    {
        let content = text(&page);
        let (examples, others): (Vec<String>, Vec<String>) = commands(&content)
            .into_iter()
            .partition(|line| line.starts_with("kubectl quotient simulate -f examples/"));
        for example in &examples {
            let arguments = example.strip_prefix("kubectl quotient ").unwrap().split('|').next().unwrap();
            let output = command(arguments.split_whitespace()).output().unwrap();
            assert!(output.status.success(), "{}: {example}", page.display());
            run += 1;
        }
        let is_played = played.contains(page.to_string_lossy().as_ref());
        assert_eq!(
            !others.is_empty() && !is_played,
            content.contains(UNTESTED),
            "{}: {others:?}",
            page.display()
        );
    }
    assert!(run >= 4, "{run}");
}

#[test]
fn every_example_names_its_own_command() {
    for entry in std::fs::read_dir(root().join("examples")).unwrap() {
        let folder = entry.unwrap().file_name().into_string().unwrap();
        let first = text(format!("examples/{folder}/1-namespaces.yaml"));
        let command = first.lines().find_map(|line| line.split_once("simulate -f ")).unwrap_or_default().1;
        assert_eq!(command.split(' ').next(), Some(format!("examples/{folder}").as_str()), "{folder}");
    }
}

// ---- ARCHITECTURE.md ----------------------------------------------------------------------------------------

/// A manifest in a command begins with a key: some builds of kubectl read what begins with a brace as JSON alone.
#[test]
fn no_manifest_in_a_command_begins_with_a_brace() {
    for page in pages() {
        let text = text(&page);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for pair in lines.windows(2) {
            let [before, line] = pair else { continue };
            let begins = before.ends_with("<<'EOF'") || *before == "---";
            assert!(!(begins && line.starts_with('{')), "{}: {line}", page.display());
        }
    }
}

#[test]
fn every_path_in_the_architecture_exists() {
    let page = text("ARCHITECTURE.md");
    let folders: BTreeSet<String> = std::fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let mut seen = 0;
    for line in page.lines() {
        let links = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for path in quoted(line).chain(links.filter(|link| !link.contains("://"))) {
            let path = path.split('#').next().unwrap_or_default();
            // A file by its name alone cannot be found by a reader.
            assert!(
                path.contains('/') || Path::new(path).extension().is_none_or(|extension| extension != "rs"),
                "ARCHITECTURE.md names {path} without its folder"
            );
            let first = path.split('/').next().unwrap_or_default();
            if path.contains('/') && folders.contains(first) {
                seen += 1;
                assert!(root().join(path).exists(), "ARCHITECTURE.md names {path}, which does not exist");
                assert_eq!(
                    path.ends_with('/'),
                    root().join(path).is_dir(),
                    "{path}: a folder ends with a slash"
                );
            }
        }
    }
    assert!(seen > 30, "{seen}");
}

/// The crates of the workspace that a crate depends on, by its Cargo.toml.
fn dependencies(folder: &str) -> BTreeSet<String> {
    let manifest = text(format!("{folder}/Cargo.toml"));
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    let names = section.lines().filter_map(|line| line.strip_prefix("quotient-"));
    names.filter_map(|rest| rest.split(['.', ' ']).next()).map(str::to_owned).collect()
}

#[test]
fn the_crate_table_is_that_of_the_manifests() {
    let page = text("ARCHITECTURE.md");
    let workspace = text("Cargo.toml");
    let members = workspace.lines().find_map(|line| line.strip_prefix("members = ")).unwrap();
    let members: BTreeSet<&str> = members.split('"').skip(1).step_by(2).collect();
    let mut folders = BTreeSet::new();
    for line in page.lines() {
        let Some((folder, rest)) = line.strip_prefix("| `").and_then(|rest| rest.split_once("/` | ")) else {
            continue;
        };
        if !members.contains(folder) {
            continue;
        }
        let cell = rest.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let mut words = String::new();
        let mut depth = 0;
        for letter in cell.chars() {
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                letter if depth == 0 => words.push(letter),
                _ => {}
            }
        }
        let listed: BTreeSet<String> =
            words.split(',').map(|word| word.trim().to_owned()).filter(|word| word != "none").collect();
        assert_eq!(listed, dependencies(folder), "ARCHITECTURE.md, {folder}");
        folders.insert(folder);
    }
    assert_eq!(folders, members, "ARCHITECTURE.md leaves out a crate");
}

// ---- conditions ---------------------------------------------------------------------------------------------

/// A page that names a condition names one that is reported.
#[test]
fn every_condition_that_a_page_names_exists() {
    let known: BTreeSet<&str> = (ConditionType::ALL.iter().map(|condition| condition.as_str()))
        .chain(QueueJobCondition::ALL.iter().map(|condition| condition.as_str()))
        // Of pods.
        .chain(["DisruptionTarget"])
        .collect();
    let mut seen = 0;
    for page in pages() {
        let joined = text(&page).split_whitespace().collect::<Vec<_>>().join(" ");
        for start in ["condition `", "conditions `"] {
            for rest in joined.split(start).skip(1) {
                let mut rest = rest;
                while let Some((name, more)) = rest.split_once('`') {
                    let name = name.split('=').next().unwrap_or_default();
                    assert!(known.contains(name), "{}: there is no condition {name}", page.display());
                    seen += 1;
                    let next =
                        [" and `", ", `", " or `"].iter().find_map(|between| more.strip_prefix(between));
                    let Some(next) = next else { break };
                    rest = next;
                }
            }
        }
    }
    assert!(seen > 10, "{seen}");
}

// ---- samples ------------------------------------------------------------------------------------------------

/// The Queues among the documents of a YAML text; none if it is no YAML.
fn queues(yaml: &str) -> Vec<Queue> {
    let documents =
        yaml.split("\n---\n").filter_map(|document| serde_yaml_ng::from_str::<Value>(document).ok());
    let mut queues = Vec::new();
    for document in documents {
        let all = document.as_sequence().cloned().unwrap_or_else(|| vec![document.clone()]);
        for object in all.into_iter().filter(|object| object["kind"].as_str() == Some("Queue")) {
            queues.push(serde_yaml_ng::from_value(object).unwrap());
        }
    }
    queues
}

/// No sample is a standing claim, which would evict pods of others for a team without work.
#[test]
fn a_queue_that_a_newcomer_copies_asks_for_what_its_work_needs() {
    let mut samples: Vec<(String, Queue)> = Vec::new();
    for page in pages() {
        let page_text = text(&page);
        let blocks = page_text.split("\n```").skip(1).step_by(2);
        let blocks = blocks.filter_map(|block| Some(block.strip_prefix("yaml")?.split_once('\n')?.1));
        let found = blocks.flat_map(queues);
        samples.extend(found.map(|queue| (page.display().to_string(), queue)));
    }
    let notes = text("charts/quotient/templates/NOTES.txt");
    let inline = notes.lines().filter_map(|line| line.trim().strip_prefix("echo '")?.split('\'').next());
    samples.extend(inline.flat_map(queues).map(|queue| ("NOTES.txt".to_owned(), queue)));
    let chart: Value = serde_yaml_ng::from_str(&text("charts/quotient/Chart.yaml")).unwrap();
    let examples = chart["annotations"]["artifacthub.io/crdsExamples"].as_str().unwrap();
    samples.extend(queues(examples).into_iter().map(|queue| ("Chart.yaml".to_owned(), queue)));
    let places: BTreeSet<&str> = samples.iter().map(|(place, _)| place.as_str()).collect();
    let tutorials =
        ["first-share", "gate", "gpus", "hierarchy"].map(|name| format!("docs/tutorials/{name}.md"));
    let expected: BTreeSet<&str> =
        ["Chart.yaml", "NOTES.txt"].into_iter().chain(tutorials.iter().map(String::as_str)).collect();
    assert_eq!(places, expected);
    for (place, queue) in &samples {
        assert_eq!(queue.spec.request, None, "{place}: {:?}", queue.spec);
    }
}

/// The same for Queues that the chart makes of its values.
#[test]
fn a_queue_among_the_values_of_a_sample_claims_nothing() {
    let mut seen = 0;
    for page in pages() {
        for line in text(&page).lines().filter(|line| line.contains("queues.")) {
            seen += line.matches(".weight=").count();
            assert!(!line.contains(".request"), "{}: {line}", page.display());
        }
    }
    assert!(seen >= 2, "{seen}");
    let values = text("charts/quotient/values.yaml");
    let sample = values.lines().find_map(|line| line.split_once("`{team-a: ")).expect("a sample of queues").1;
    let (spec, _) = sample.split_once('`').unwrap();
    assert!(!spec.contains("request"), "{spec}");
}

// ---- migration ----------------------------------------------------------------------------------------------

/// Each page of a system starts from the command for it, and each system of the command has a page.
#[test]
fn every_migration_page_starts_from_the_command() {
    let mut named = BTreeSet::new();
    for page in pages().into_iter().filter(|page| page.starts_with("docs/how-to/migrate")) {
        let text = text(&page);
        let commands =
            text.lines().map(str::trim).filter_map(|line| line.strip_prefix("kubectl quotient migrate "));
        let systems: BTreeSet<String> =
            commands.filter_map(|rest| rest.split(' ').next()).map(str::to_owned).collect();
        assert!(!systems.is_empty(), "{}", page.display());
        named.extend(systems);
    }
    let known = ["capsule", "hnc", "kai", "kueue", "resourcequota", "volcano", "yunikorn"];
    assert_eq!(named, known.map(str::to_owned).into());
}
