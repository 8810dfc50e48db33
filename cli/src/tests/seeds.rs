//! The examples of the documents that Quotient implements, and further ones, as they stand in `examples/`.

use std::path::Path;

use expect_test::expect_file;

use super::{example, played};
use crate::manifests;
use crate::output::Format;

/// Played to the end on a page, which `cli/tests/tutorials.rs` compares.
const ON_PAGES: [&str; 3] = ["fence", "hierarchy", "newcomer"];

#[test]
fn every_example_comes_to_rest_as_its_text_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/examples");
    let mut seen = 0;
    for entry in std::fs::read_dir(example("")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !example(&name).is_dir() || ON_PAGES.contains(&&*name) {
            continue;
        }
        let cluster = manifests::read(&[example(&name)], None).unwrap();
        expect_file![folder.join(format!("{name}.txt"))].assert_eq(&played(&cluster, Format::Table));
        seen += 1;
    }
    assert!(seen >= 10, "{seen}");
}
