//! Reference pages made from the code: fields, flags, labels and annotations, and the help of the command line.
//!
//! `UPDATE_EXPECT=1` writes them; otherwise a page that differs from the code fails.
#![cfg(test)]

mod program;

use std::fmt::Write as _;

use clap::CommandFactory as _;
use expect_test::expect_file;
use program::{commands, help, root, text};
use quotient_engine::reasons::{EvictionReason, KeptReason, ScalingReason, ShortReason, StallReason};
use quotient_operator::args::Args;
use serde_yaml_ng::Value;

fn check(page: &str, content: &str) {
    let content = format!("{}\n", content.trim_end());
    expect_file![root().join("docs/reference").join(page)].assert_eq(&content);
}

/// A text in one cell of a table.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

// ---- reasons ------------------------------------------------------------------------------------------------

/// The table of one kind of reason: name, meaning and remedy.
fn table<R: Copy>(all: &[R], cells: [fn(R) -> &'static str; 3]) -> String {
    let row = |reason: &R| {
        let [name, meaning, remedy] = cells.map(|text| cell(text(*reason)));
        format!("| `{name}` | {meaning} | {remedy} |\n")
    };
    let head = "| reason | meaning | what ends it, or what to do |\n|---|---|---|\n";
    head.to_owned() + &all.iter().map(row).collect::<String>()
}

macro_rules! tables {
    ($($reasons:ident),+) => {
        [$((
            stringify!($reasons),
            table($reasons::ALL, [$reasons::name, $reasons::meaning, $reasons::remedy]),
        )),+]
    };
}

#[test]
fn the_page_of_reasons_has_every_reason() {
    let mut page = text("docs/reference/reasons.md");
    for (name, table) in tables![EvictionReason, ShortReason, KeptReason, ScalingReason, StallReason] {
        let begin = format!("<!-- reasons: {name} -->\n");
        let (before, rest) = page.split_once(&begin).unwrap();
        let (_, after) = rest.split_once("<!-- end -->").unwrap();
        page = format!("{before}{begin}{table}<!-- end -->{after}");
    }
    check("reasons.md", &page);
}

// ---- fields -------------------------------------------------------------------------------------------------

#[test]
fn the_page_of_the_api_has_every_field() {
    let mut page = "# API\n\nEvery field of `quotient.dev/v1alpha1`, made from the types. `kubectl explain` prints the same.\n\
        `[]` stands for the items of a list, `{}` for the values of a map.\n"
        .to_owned();
    for kind in ["queues", "queuejobs"] {
        let crd: Value =
            serde_yaml_ng::from_str(&text(format!("crds/yaml/{kind}.quotient.dev.yaml"))).unwrap();
        let version = &crd["spec"]["versions"][0];
        let _ = write!(page, "\n## {}\n\n### Columns\n\n", crd["spec"]["names"]["kind"].as_str().unwrap());
        page.push_str("| column | `-o wide` | content |\n|---|---|---|\n");
        for column in version["additionalPrinterColumns"].as_sequence().unwrap() {
            let name = column["name"].as_str().unwrap().to_uppercase();
            let wide = if column["priority"].as_u64().unwrap_or_default() > 0 { "only" } else { "" };
            let _ =
                writeln!(page, "| `{name}` | {wide} | {} |", cell(column["description"].as_str().unwrap()));
        }
        for part in ["spec", "status"] {
            let _ =
                write!(page, "\n### {part}\n\n| field | type | default | description |\n|---|---|---|---|\n");
            fields(&mut page, part, &version["schema"]["openAPIV3Schema"]["properties"][part]);
        }
    }
    check("api.md", &page);
}

/// Adds the fields below `schema`, depth first. What Kubernetes defines is named and not repeated.
fn fields(page: &mut String, path: &str, schema: &Value) {
    let Some(properties) = schema["properties"].as_mapping() else { return };
    for (name, field) in properties {
        let path = format!("{path}.{}", name.as_str().unwrap());
        let kind = field["type"].as_str().unwrap_or("integer or string");
        let (kind, below, items) = match kind {
            "array" => ("list", format!("{path}[]"), &field["items"]),
            "object" if field["additionalProperties"].is_mapping() => {
                ("map", format!("{path}{{}}"), &field["additionalProperties"])
            }
            other => (other, path.clone(), field),
        };
        let values = items["enum"].as_sequence().map(|values| {
            let names = values.iter().filter_map(Value::as_str).map(|value| format!("`{value}`"));
            names.collect::<Vec<_>>().join(", ")
        });
        let default = serde_json::to_string(&field["default"]).unwrap();
        let default = if default == "null" { String::new() } else { format!("`{default}`") };
        let description = cell(field["description"].as_str().unwrap_or_default());
        assert!(!description.is_empty() || path.contains("template"), "{path} has no description");
        let _ = writeln!(
            page,
            "| `{path}` | {} | {default} | {description} |",
            values.filter(|values| !values.is_empty()).unwrap_or_else(|| kind.to_owned())
        );
        if !path.ends_with("template") && !path.ends_with("conditions") {
            fields(page, &below, items);
        }
    }
}

// ---- flags --------------------------------------------------------------------------------------------------

#[test]
fn the_page_of_flags_has_every_flag() {
    let mut page = "# Flags of the operator\n\nMade from the code. Each flag has an environment variable: `--resync-seconds` is \
        `QUOTIENT_RESYNC_SECONDS`.\nThe chart sets flags by [`config`](../../charts/quotient/README.md).\n\n\
        | flag | default | meaning |\n|---|---|---|\n"
        .to_owned();
    let command = Args::command();
    let mut flags = 0;
    for flag in command.get_arguments().filter(|flag| !flag.is_hide_set()) {
        let Some(name) = flag.get_long() else { continue };
        let defaults = flag.get_default_values().iter().map(|value| value.to_string_lossy());
        let defaults = defaults.filter(|value| !value.is_empty()).collect::<Vec<_>>().join(",");
        let default = if defaults.is_empty() { String::new() } else { format!("`{defaults}`") };
        let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
        assert!(!help.is_empty(), "--{name} has no help");
        let _ = writeln!(page, "| `--{name}` | {default} | {} |", cell(&help));
        flags += 1;
    }
    assert!(flags > 30, "{flags}");
    check("flags.md", &page);
}

// ---- labels and annotations ---------------------------------------------------------------------------------

/// Names of other programs that Quotient reads: on which objects, and what for. A test of `index` has each of them.
const OTHERS: [(&str, &str, &str); 15] = [
    (
        "cluster-autoscaler.kubernetes.io/safe-to-evict",
        "annotation on pods",
        "With the value `false` it means the same as `quotient.dev/preemptible: last`.",
    ),
    (
        "karpenter.sh/do-not-disrupt",
        "annotation on pods",
        "With the value `true` it means the same as `quotient.dev/preemptible: last`.",
    ),
    (
        "scheduling.x-k8s.io/pod-group",
        "label on pods",
        "The PodGroup of scheduler-plugins, which has the minimum of the gang.",
    ),
    (
        "pod-group.scheduling.sigs.k8s.io/name",
        "label on pods",
        "The gang, for older releases of the coscheduling plugin.",
    ),
    ("pod-group.scheduling.sigs.k8s.io/min-available", "label on pods", "The minimum of that gang."),
    (
        "scheduling.k8s.io/group-name",
        "annotation on pods",
        "The PodGroup of Volcano, which has the minimum of the gang.",
    ),
    ("scheduling.volcano.sh/group-name", "annotation on pods", "The same."),
    ("scheduling.volcano.sh/group-min-member", "annotation on pods", "The minimum of that gang."),
    ("pod-group-name", "annotation on pods", "The PodGroup of KAI, which has the minimum of the gang."),
    ("kueue.x-k8s.io/pod-group-name", "label on pods", "The gang, for groups of plain pods of Kueue."),
    (
        "kueue.x-k8s.io/pod-group-total-count",
        "annotation on pods",
        "The minimum of that gang: all of its pods.",
    ),
    ("yunikorn.apache.org/task-group-name", "annotation on pods", "The gang, for task groups of YuniKorn."),
    ("yunikorn.apache.org/task-groups", "annotation on pods", "The minimum of that gang (`minMember`)."),
    (
        "kueue.x-k8s.io/queue-name",
        "label on pods",
        "Kueue manages the pod, so a Queue in its namespace is `Stalled` ([Guards](../concepts/guards.md#namespaces-of-kueue)).",
    ),
    (
        "node-role.kubernetes.io/control-plane",
        "taint on nodes",
        "With the effect NoSchedule, the node does not count as capacity.",
    ),
];

/// Names that the chart uses, and no constant has.
const OF_THE_CHART: [(&str, &str, &str); 2] = [
    (
        "quotient.dev/queue-job-service-accounts",
        "annotation on Namespaces",
        "The service accounts that pods of QueueJobs may run as, beside `default`, separated by commas.",
    ),
    ("quotient.dev/role", "label on ClusterRoles", "The roles for users: `viewer`, `editor` and `admin`."),
];

const LABELS_HEAD: &str = "\
# Labels, annotations and other names

What Quotient writes on objects, and what it reads there. Made from `crds/src/names.rs` (`make reference`).

";

/// The constants of `crds/src/names.rs`: name, value, and the lines above it.
fn constants() -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    let mut doc = String::new();
    for line in text("crds/src/names.rs").lines() {
        if let Some(line) = line.strip_prefix("///") {
            doc.push_str(line);
        } else if let Some((constant, value)) =
            line.strip_prefix("pub const ").and_then(|rest| rest.split_once(": &str = \""))
        {
            let value = value.trim_end_matches("\";").to_owned();
            found.push((constant.to_owned(), value, std::mem::take(&mut doc)));
        } else {
            doc.clear();
        }
    }
    found
}

/// `Annotation on pods: text` as two cells; a text without an object is the name of something.
fn object_and_meaning(doc: &str) -> (String, String) {
    let found = doc.split_once(": ").filter(|(place, _)| {
        ["Annotation on ", "Label on ", "Scheduling gate on ", "Key in "]
            .iter()
            .any(|start| place.starts_with(start))
    });
    let Some((place, meaning)) = found else { return (String::new(), doc.to_owned()) };
    let capital =
        |text: &str| text.chars().take(1).flat_map(char::to_uppercase).chain(text.chars().skip(1)).collect();
    let small =
        |text: &str| text.chars().take(1).flat_map(char::to_lowercase).chain(text.chars().skip(1)).collect();
    (small(place), capital(meaning))
}

#[test]
fn the_page_of_labels_has_every_name() {
    let constants = constants();
    assert!(constants.len() > 20, "{constants:?}");
    // `[`NAME`]` of a comment is its value.
    let resolved = |doc: &str| {
        constants.iter().fold(doc.trim().to_owned(), |doc, (name, value, _)| {
            doc.replace(&format!("[`{name}`]"), &format!("`{value}`"))
        })
    };
    let is_value = |doc: &str| doc.starts_with("The only value of") || doc.starts_with("The value of");
    let mut page = LABELS_HEAD.to_owned();
    page.push_str("| name | on | meaning |\n|---|---|---|\n");
    let mut others = String::new();
    for (_, value, doc) in constants.iter().filter(|(_, _, doc)| !is_value(doc.trim())) {
        let (place, meaning) = object_and_meaning(&resolved(doc));
        if place.is_empty() {
            let _ = writeln!(others, "| `{value}` | {} |", cell(&meaning));
        } else {
            let _ = writeln!(page, "| `{value}` | {} | {} |", cell(&place), cell(&meaning));
        }
    }
    for (name, place, meaning) in OF_THE_CHART {
        let _ = writeln!(page, "| `{name}` | {place} | {meaning} |");
    }
    page.push_str("\n## Names of other programs\n\n| name | on | meaning |\n|---|---|---|\n");
    for (name, place, meaning) in OTHERS {
        let _ = writeln!(page, "| `{name}` | {place} | {meaning} |");
    }
    let _ = write!(page, "\n## Objects and groups\n\n| name | meaning |\n|---|---|\n{others}");
    check("labels.md", &page);
}

/// The contents of every file of a folder of the repository.
fn contents(folder: &str) -> String {
    let mut all = String::new();
    for entry in std::fs::read_dir(root().join(folder)).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.push_str(&contents(&path.strip_prefix(root()).unwrap().to_string_lossy()));
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            all.push_str(&text);
        }
    }
    all
}

#[test]
fn names_of_others_are_read_and_those_of_the_chart_are_in_it() {
    let index = contents("index/src") + &contents("engine/src/tree");
    for (name, ..) in OTHERS {
        assert!(index.contains(&format!("\"{name}\"")), "nothing reads {name}");
    }
    let chart = contents("charts/quotient/templates");
    for (name, ..) in OF_THE_CHART {
        assert!(chart.contains(name), "the chart has no {name}");
    }
}

// ---- the command line ---------------------------------------------------------------------------------------

#[test]
fn the_page_of_help_has_every_command() {
    let mut page =
        "# Help of every command\n\nWhat `kubectl quotient COMMAND --help` prints. [Command line](cli.md) explains it.\n".to_owned();
    for command in commands() {
        let help = help(&[&command]);
        let lines: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
        let _ = write!(page, "\n## {command}\n\n```\n{}\n```\n", lines.join("\n"));
    }
    check("help.md", &page);
}
