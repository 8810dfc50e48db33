//! The YAML in the repository is the one that the types generate.
#![cfg(test)]

use std::path::Path;

use quotient_crds::{GENERATE_COMMAND, MANIFEST_FOLDERS, manifests};

#[test]
fn the_committed_definitions_are_those_of_the_types() {
    MANIFEST_FOLDERS.into_iter().for_each(check);
}

fn check(folder: &str) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let manifests = manifests().unwrap();
    for manifest in &manifests {
        let committed = std::fs::read_to_string(directory.join(&manifest.file_name)).unwrap_or_default();
        let first_difference = committed.lines().zip(manifest.text.lines()).position(|(old, new)| old != new);
        assert!(
            committed == manifest.text,
            "crds/{folder}/{} is not what the types generate (first difference at line {}).\n\
             Run `{GENERATE_COMMAND}`, read the difference, and commit the file.",
            manifest.file_name,
            first_difference
                .map_or_else(|| committed.lines().count().saturating_add(1), |index| index.saturating_add(1)),
        );
    }

    let mut on_disk: Vec<String> = std::fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    on_disk.sort();
    let mut generated: Vec<String> = manifests.into_iter().map(|manifest| manifest.file_name).collect();
    generated.sort();
    assert_eq!(on_disk, generated, "crds/{folder} has files that no type generates: remove them");
}
