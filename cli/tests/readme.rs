//! The README shows what the command prints.

use std::path::Path;
use std::process::Command;

#[test]
fn the_table_in_the_readme_is_what_simulate_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-quotient"))
        .args(["simulate", "-f", "examples/newcomer", "--until-stable"])
        .current_dir(root)
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    assert!(readme.contains(printed.trim()), "README.md shows something else than:\n{printed}");
}
