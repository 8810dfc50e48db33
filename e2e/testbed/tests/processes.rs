//! Test beds do not disturb each other and leave nothing behind, however they end.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Node;
use kube::Api;
use quotient_testbed::cache::cache_directory;
use quotient_testbed::process::{Signal, running, send_signal};
use quotient_testbed::run_directory::RunningTestBed;
use quotient_testbed::{Component, Options, TestBed, eventually};

const PATIENCE: Duration = Duration::from_secs(20);

/// The running processes of a group, the watchdog included.
fn members(group: i32) -> BTreeSet<i32> {
    running().filter(|process| process.pgrp == group).map(|process| process.pid).collect()
}

/// The process group of a test bed, by what its directory says.
fn group(directory: &Path) -> Result<i32> {
    let etcd: i32 = std::fs::read_to_string(directory.join("pids").join("etcd"))?.parse()?;
    let etcd = running().find(|process| process.pid == etcd);
    Ok(etcd.context("etcd is not running")?.pgrp)
}

fn testbed() -> Command {
    Command::new(env!("CARGO_BIN_EXE_testbed"))
}

#[tokio::test(flavor = "multi_thread")]
async fn two_at_once_know_nothing_of_each_other() -> Result<()> {
    let (one, other) =
        tokio::try_join!(TestBed::start(Options::default()), TestBed::start(Options::default()))?;
    one.add_node("node-1", &[("cpu", "1")]).await?;
    let nodes = Api::<Node>::all(other.client()).list(&kube::api::ListParams::default()).await?;
    assert_eq!(nodes.items.len(), 0);
    // Nor does the one let the other's certificates in.
    let url = one.server();
    let foreign = other.kubectl(["get", "nodes", "--server", &url]).await.unwrap_err().to_string();
    assert!(foreign.contains("certificate"), "{foreign}");

    let cache = cache_directory()?;
    let names: Vec<String> = RunningTestBed::all(&cache).into_iter().map(|bed| bed.name).collect();
    assert!(
        names.iter().any(|name| name == one.name()) && names.iter().any(|name| name == other.name()),
        "{names:?}"
    );
    let again = Options { name: Some(one.name().to_owned()), ..Options::default() };
    let taken = TestBed::start(again).await.unwrap_err().to_string();
    assert!(taken.contains("one of that name is running"), "{taken}");
    one.stop().await?;
    other.stop().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_after_stop() -> Result<()> {
    let bed = TestBed::start(Options::default()).await?;
    let directory = bed.directory().to_owned();
    let group = group(&directory)?;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "echo \"$GREETING\"; sleep 1000 & wait"]).env("GREETING", "hello");
    let sleeper = bed.spawn("sleeper", command)?;
    eventually("the program greets", PATIENCE, async || {
        let log = sleeper.log();
        if log == "hello\n" { Ok(()) } else { Err(log) }
    })
    .await?;
    // Five components, the watchdog, the program and its child.
    eventually("all eight are there", PATIENCE, async || {
        let members = members(group);
        if members.len() == 8 { Ok(()) } else { Err(format!("{members:?}")) }
    })
    .await?;

    bed.pause(Component::Scheduler)?;
    bed.stop().await?;
    assert_eq!(members(group), BTreeSet::new());
    assert!(!directory.exists());
    // Even what the watchdog has killed can still be asked about.
    assert!(sleeper.status()?.is_some());
    sleeper.signal(Signal::TERM)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_are_kept_after_a_drop() -> Result<()> {
    let bed = TestBed::start(Options::default()).await?;
    let directory = bed.directory().to_owned();
    let group = group(&directory)?;
    drop(bed);
    assert_eq!(members(group), BTreeSet::new());
    for log in ["etcd.log", "kube-apiserver.log", "kube-controller-manager.log", "kwok.log", "audit.log"] {
        assert!(directory.join("logs").join(log).is_file(), "{log}");
    }
    assert!(!directory.join("data").exists(), "the data of etcd are of no use any more");
    std::fs::remove_dir_all(directory)?;
    Ok(())
}

/// Runs `testbed up` until it says that the test bed is running.
fn up(name: &str) -> Result<(Child, String)> {
    let mut owner = testbed().args(["up", "--name", name]).stdout(Stdio::piped()).spawn()?;
    let mut said = String::new();
    let mut printed = BufReader::new(owner.stdout.take().context("no output")?);
    while !said.contains("Ctrl-C ends it") {
        ensure!(printed.read_line(&mut said)? > 0, "it has ended: {said}");
    }
    Ok((owner, said))
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_after_the_owner_is_killed() -> Result<()> {
    let name = format!("killed-{}", std::process::id());
    let (mut owner, _) = up(&name)?;
    let all = RunningTestBed::all(&cache_directory()?);
    let directory = all.into_iter().find(|bed| bed.name == name).context("it is not running")?.directory;
    let group = group(&directory)?;
    assert_eq!(members(group).len(), 6);
    send_signal(owner.id(), Signal::KILL)?;
    owner.wait()?;
    eventually("its processes are gone", PATIENCE, async || {
        let left = members(group);
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?} are left")) }
    })
    .await?;
    std::fs::remove_dir_all(directory)?;
    Ok(())
}

#[test]
fn run_passes_the_exit_status_on() -> Result<()> {
    let script = "kubectl get nodes -o name; exit 7";
    let output = testbed().args(["run", "--nodes", "2", "--", "sh", "-c", script]).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "node/node-1\nnode/node-2\n");
    // The logs of what failed are kept, and named.
    let (_, path) = said.split_once("logs kept in ").context("no logs are named")?;
    let logs = Path::new(path.split_once(" (").context("no path")?.0);
    assert!(logs.join("kube-apiserver.log").is_file(), "{said}");
    std::fs::remove_dir_all(logs.parent().context("no parent")?)?;
    Ok(())
}

#[test]
fn a_test_bed_stays_until_it_is_ended() -> Result<()> {
    let name = format!("stays-{}", std::process::id());
    let run = |arguments: &[&str]| -> Result<(bool, String)> {
        let output = testbed().args(arguments).output()?;
        let said = [output.stdout, output.stderr].concat();
        Ok((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
    };
    let (mut owner, said) = up(&name)?;
    assert!(said.contains("export KUBECONFIG="), "{said}");
    let (again, said) = run(&["up", "--name", &name])?;
    assert!(!again && said.contains("one of that name is running"), "{said}");
    let (asked, said) = run(&["kubectl", "--name", &name, "get", "namespaces", "-o=name"])?;
    assert!(asked && said.contains("namespace/kube-system"), "{said}");
    let (down, said) = run(&["down", "--name", &name])?;
    assert!(down && owner.wait()?.success(), "{said}");
    let (asked, said) = run(&["kubectl", "--name", &name, "get", "namespaces"])?;
    assert!(!asked && said.contains("no test bed"), "{said}");
    Ok(())
}
