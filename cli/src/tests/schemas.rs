//! The published schemas are those of what is printed.

use expect_test::{ExpectFile, expect_file};

use crate::{commands, snapshot};

fn check(schema: &schemars::Schema, expected: &ExpectFile) {
    expected.assert_eq(&format!("{}\n", serde_json::to_string_pretty(schema).unwrap()));
}

#[test]
fn every_answer_for_programs_has_a_schema() {
    check(&commands::check::schema(), &expect_file!["../../../docs/reference/cli/CheckReport.json"]);
    check(&commands::diff::schema(), &expect_file!["../../../docs/reference/cli/Diff.json"]);
    check(&commands::events::schema(), &expect_file!["../../../docs/reference/cli/Events.json"]);
    check(&commands::explain::schema(), &expect_file!["../../../docs/reference/cli/Explanation.json"]);
    check(&commands::migrate::schema(), &expect_file!["../../../docs/reference/cli/Migration.json"]);
    check(&commands::replay::schema(), &expect_file!["../../../docs/reference/cli/Replay.json"]);
    check(&commands::simulate::schema(), &expect_file!["../../../docs/reference/cli/Simulation.json"]);
    check(&commands::status::schema(), &expect_file!["../../../docs/reference/cli/Status.json"]);
    check(&commands::top::schema(), &expect_file!["../../../docs/reference/cli/Top.json"]);
    check(&commands::version::schema(), &expect_file!["../../../docs/reference/cli/Version.json"]);
    check(&snapshot::schema(), &expect_file!["../../../docs/reference/cli/Snapshot.json"]);
}
