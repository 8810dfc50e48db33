//! A cluster that answers slowly: a terminal says what is being waited for after a second, a file says nothing. And one that is
//! watched until no reader is left.
#![cfg(test)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A kubeconfig of the server at this address.
fn kubeconfig(name: &str, server: impl std::fmt::Display) -> PathBuf {
    let kubeconfig = format!(
        "{{apiVersion: v1, kind: Config, current-context: c, contexts: [{{name: c, context: {{cluster: c, user: u}}}}], \
          users: [{{name: u, user: {{}}}}], clusters: [{{name: c, cluster: {{server: 'http://{server}'}}}}]}}"
    );
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, kubeconfig).unwrap();
    path
}

/// Runs a shell command with a kubeconfig of a server that accepts connections and never answers.
fn of_a_silent_server(name: &str, program: &[&str]) -> Output {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let path = kubeconfig(name, server.local_addr().unwrap());
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
fn a_terminal_says_that_files_are_read() {
    let program = env!("CARGO_BIN_EXE_kubectl-quotient");
    let namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: a}}";
    let line = format!("(sleep 1.5; echo '{namespace}') | {program} simulate -f -");
    let output =
        Command::new("script").args(["-qec", &line, "/dev/null"]).env("TERM", "xterm").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success() && text.contains("\r\u{1b}[Kreading the files ...\r\u{1b}[K"),
        "{text:?}"
    );
}

#[test]
fn a_file_gets_the_error_alone() {
    let output = of_a_silent_server("file", &["sh", "-c", COMMAND]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.starts_with("error: ") && !text.contains('\u{1b}'), "{text:?}");
    assert!(output.stdout.is_empty());
}

/// As with kubectl: `HTTPS_PROXY` is asked for the cluster, unless `NO_PROXY` names it.
#[test]
fn a_cluster_is_reached_through_the_proxy_of_the_environment() {
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let path = kubeconfig("proxied", "cluster.invalid:6443");
    let asked = std::thread::spawn(move || {
        let (connection, _) = proxy.accept().unwrap();
        BufReader::new(connection).lines().next().unwrap().unwrap()
    });
    let run = |exempt: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-quotient"));
        command.args(["version", "--server"]).env("KUBECONFIG", &path);
        command.env("HTTPS_PROXY", &address).env("NO_PROXY", exempt);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{output:?}");
    };
    run("10.0.0.0/8,cluster.invalid");
    assert!(!asked.is_finished());
    run("other.invalid");
    assert_eq!(asked.join().unwrap(), "CONNECT cluster.invalid:6443 HTTP/1.1");
}

/// Answers every request with an empty list.
fn answer(connection: TcpStream) {
    const LIST: &str = r#"{"metadata": {}, "items": []}"#;
    let (mut writer, reader) = (connection.try_clone().unwrap(), BufReader::new(connection));
    let lines = reader.lines().map_while(Result::ok);
    for _ in lines.filter(String::is_empty) {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length:";
        if write!(writer, "{head} {}\r\n\r\n{LIST}", LIST.len()).is_err() {
            return;
        }
    }
}

/// `kubectl quotient status -w | head -1` ends.
#[test]
fn a_watch_ends_when_its_reader_has_gone() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let path = kubeconfig("watched", server.local_addr().unwrap());
    std::thread::spawn(move || {
        for connection in server.incoming().map_while(Result::ok) {
            std::thread::spawn(move || answer(connection));
        }
    });
    for words in ["status -A -w", "top queues -w", "events -A -w"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-quotient"));
        command.args(words.split(' ')).stdout(writer).stderr(Stdio::null());
        // As with kubectl, a file of the list may be missing.
        command.env("KUBECONFIG", std::env::join_paths([Path::new("/nonexistent"), &path]).unwrap());
        let mut process = command.spawn().unwrap();
        let began = Instant::now();
        let ended = loop {
            let ended = process.try_wait().unwrap();
            if ended.is_some() || began.elapsed() > Duration::from_secs(20) {
                break ended;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let _ = process.kill();
        assert_eq!(ended.and_then(|status| status.code()), Some(0), "{words}");
    }
}
