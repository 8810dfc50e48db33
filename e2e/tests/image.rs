//! The Dockerfile, without a container engine: what it would build and how the image would run.

use quotient_e2e::image::{Dockerfile, Linkage, STATIC_FLAGS, linkage};
use quotient_e2e::quotient::workspace_root;

fn text(path: &str) -> String {
    std::fs::read_to_string(workspace_root().join(path)).unwrap_or_default()
}

/// Two programs, the licence, nobody's user: nothing that anybody could use to get further.
#[test]
fn the_image_holds_two_programs_and_nobody_is_root() {
    let file = Dockerfile::read(&text("Dockerfile"));
    assert_eq!(file.image("FROM"), ["scratch"]);
    assert_eq!(
        file.image("COPY"),
        ["--from=build /out/quotient-operator /out/kubectl-quotient /", "LICENSE /LICENSE"]
    );
    assert_eq!(file.image("USER"), ["65532:65532"]);
    assert_eq!(file.image("ENTRYPOINT"), [r#"["/quotient-operator"]"#]);
    assert!(file.image("RUN").is_empty() && file.image("ENV").is_empty());
}

/// It is built as `make size` builds it, whose programs are looked at, with the compiler of this repository.
#[test]
fn it_is_built_as_the_programs_that_are_measured() {
    let file = Dockerfile::read(&text("Dockerfile"));
    assert_eq!(file.build("ENV"), [format!("RUSTFLAGS=\"{STATIC_FLAGS}\"")]);
    let run = file.build("RUN").concat();
    for part in ["cargo build --release --locked --target", "-p quotient-operator -p quotient-cli"] {
        assert!(run.contains(part), "{part} is not in {run}");
    }
    let toolchain = text("rust-toolchain.toml");
    let channel = toolchain.lines().find_map(|line| line.strip_prefix("channel = \"1.")).unwrap_or_default();
    let minor = channel.split('.').next().unwrap_or_default();
    assert!(
        !minor.is_empty() && file.build("FROM").concat().contains(&format!("rust:1.{minor}-")),
        "{channel}"
    );
}

/// The chart's pods need what the image has: a user by number, and the ports that it says.
#[test]
fn the_chart_runs_what_the_image_has() {
    let values = text("charts/quotient/values.yaml");
    let file = Dockerfile::read(&text("Dockerfile"));
    for port in file.image("EXPOSE").concat().split(' ') {
        assert!(values.contains(&format!("port: {port}\n")), "{port}");
    }
    assert!(values.contains("runAsNonRoot: true") && values.contains("readOnlyRootFilesystem: true"));
}

/// What tells a static program from others does: this test is none.
#[test]
fn a_program_with_a_loader_is_told() {
    let this = std::env::current_exe().and_then(std::fs::read).unwrap_or_default();
    assert_eq!(linkage(&this).ok(), Some(Linkage::Dynamic));
    assert!(linkage(b"#!/bin/sh").is_err());
    assert!(linkage(b"\x7fELF\x02\x01").is_err());
}
