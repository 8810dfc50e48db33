//! Snapshot files: what is written is read back, and redacted ones decide the same.

use quotient_engine::advance::settle;

use super::{example, observed};
use crate::manifests::{self, Cluster};
use crate::snapshot::{Snapshot, is_snapshot, read_file, redact, write_file};

fn through_a_file(snapshot: &Snapshot) -> Snapshot {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.json.gz");
    write_file(snapshot, &path).unwrap();
    assert!(is_snapshot(&path));
    read_file(&path).unwrap()
}

#[test]
fn what_is_written_decides_the_same() {
    let examples = std::fs::read_dir(example("")).unwrap().map(|entry| entry.unwrap().path());
    let mut seen = 0;
    for path in examples.filter(|path| path.is_dir()) {
        let snapshot = manifests::read_snapshot(std::slice::from_ref(&path)).unwrap();
        let mut redacted = snapshot.clone();
        redact(&mut redacted);
        let expected = Cluster::of(&snapshot, None).unwrap().snapshot;
        for stored in [through_a_file(&snapshot), through_a_file(&redacted)] {
            let found = Cluster::of(&stored, None).unwrap().snapshot;
            assert_eq!(settle(&found).1, settle(&expected).1, "{}", path.display());
        }
        seen += 1;
    }
    assert!(seen >= 5, "{seen}");
}

#[test]
fn time_source_and_missing_lists_are_kept() {
    let mut snapshot = observed("ml.yaml", "2026-11-24T14:02:00Z");
    let missing = crate::snapshot::Missing { resource: "nodes".to_owned(), namespace: None };
    snapshot.missing.push(missing.clone());
    let stored = through_a_file(&snapshot);
    assert_eq!(stored.as_of, snapshot.as_of);
    assert_eq!(stored.source, "cluster prod-eu, snapshot of 2026-11-24T14:02:00Z");
    assert_eq!(stored.missing, [missing]);
    assert!(!Cluster::of(&stored, None).unwrap().is_complete);
}

#[test]
fn another_file_is_no_snapshot() {
    let path = example("newcomer");
    assert!(!is_snapshot(&path));
    let directory = super::directory(&[("a.json", "{\"kind\": \"List\", \"items\": []}")]);
    let error = read_file(&directory.path().join("a.json")).unwrap_err().to_string();
    assert!(error.contains("missing field `asOf`"), "{error}");
}
