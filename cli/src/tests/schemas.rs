//! The published schemas are those of what is printed.

use std::path::Path;

use expect_test::expect_file;
use schemars::JsonSchema;

use crate::commands::{check, diff, events, migrate, pause, replay, simulate, status, top, version};
use crate::output::{Document, Explanation};
use crate::snapshot;

fn check<T: JsonSchema>(kind: &str) {
    let schema = serde_json::to_string_pretty(&schemars::schema_for!(Document<T>)).unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/reference/cli/{kind}.json"));
    expect_file![file].assert_eq(&format!("{schema}\n"));
}

#[test]
fn every_answer_for_programs_has_a_schema() {
    check::<check::Report>("CheckReport");
    check::<diff::Report>("Diff");
    check::<events::Report<'static>>("Events");
    check::<Explanation>("Explanation");
    check::<migrate::MigrationText>("Migration");
    check::<pause::Report>("Pause");
    check::<replay::ReplayText>("Replay");
    check::<simulate::Report>("Simulation");
    check::<status::Report>("Status");
    check::<top::Report>("Top");
    check::<version::Versions>("Version");
    check::<snapshot::Body>("Snapshot");
}
