//! Every file of tests is run: where several make one program, its root names them, and what it forgets would not be missed.

use std::path::Path;

#[test]
fn every_file_of_tests_is_named_by_a_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut crates = 0;
    let workspace = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let members = workspace.lines().find_map(|line| line.strip_prefix("members = ")).unwrap();
    for member in members.split('"').skip(1).step_by(2) {
        let folder = root.join(member);
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        // Some tests are a package of their own, in the folder of the crate that they test.
        let is_package_of_tests = member.ends_with("/tests");
        let tests = if is_package_of_tests { folder } else { folder.join("tests") };
        let is_of_many_files =
            manifest.contains("\nautotests = false\n") && !tests.join("Cargo.toml").is_file();
        if !is_package_of_tests && !is_of_many_files {
            continue;
        }
        crates += 1;
        let is_program = |name: &String| manifest.contains(&format!("[[test]]\nname = \"{name}\""));
        let names = std::fs::read_dir(&tests).unwrap().map(|entry| entry.unwrap().file_name());
        let names = names.filter_map(|name| name.to_str()?.strip_suffix(".rs").map(str::to_owned));
        let (programs, others): (Vec<String>, Vec<String>) = names.partition(is_program);
        let read = |name: &String| std::fs::read_to_string(tests.join(format!("{name}.rs"))).unwrap();
        let roots: String = programs.iter().map(read).collect();
        let is_forgotten = |name: &&String| !roots.contains(&format!("\nmod {name};"));
        let forgotten: Vec<&String> = others.iter().filter(is_forgotten).collect();
        assert!(forgotten.is_empty(), "{}: no program of the crate names {forgotten:?}", tests.display());
    }
    assert!(crates >= 5, "{crates} crates with programs of many files");
}
