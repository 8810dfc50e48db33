//! A cluster that answers slowly: a terminal says what is being waited for after a second, a file says nothing.
#![cfg(test)]

use std::net::TcpListener;
use std::process::{Command, Output};

/// Runs a shell command with a kubeconfig of a server that accepts connections and never answers.
fn of_a_silent_server(name: &str, program: &[&str]) -> Output {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let kubeconfig = format!(
        "{{apiVersion: v1, kind: Config, current-context: c, contexts: [{{name: c, context: {{cluster: c, user: u}}}}], \
          users: [{{name: u, user: {{}}}}], clusters: [{{name: c, cluster: {{server: 'http://{}'}}}}]}}",
        server.local_addr().unwrap()
    );
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, kubeconfig).unwrap();
    let (program, arguments) = program.split_first().unwrap();
    Command::new(program).args(arguments).env("KUBECONFIG", path).env("TERM", "xterm").output().unwrap()
}

const COMMAND: &str = concat!(env!("CARGO_BIN_EXE_kubectl-quotient"), " status -A --request-timeout 2s");

#[test]
fn a_terminal_says_what_takes_longer_than_a_second() {
    // `script` gives the command a terminal; what is written to it comes out here.
    let output = of_a_silent_server("terminal", &["script", "-qec", COMMAND, "/dev/null"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{text}");
    let shown = text.find("\r\u{1b}[Kreading the cluster ...").unwrap_or_else(|| panic!("{text:?}"));
    let erased = text.rfind("\r\u{1b}[K").unwrap();
    let error = text.find("error: ").unwrap();
    assert!(shown < erased && erased < error, "{text:?}");
}

#[test]
fn a_file_gets_the_error_alone() {
    let output = of_a_silent_server("file", &["sh", "-c", COMMAND]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.starts_with("error: ") && !text.contains('\u{1b}'), "{text:?}");
    assert!(output.stdout.is_empty());
}
