//! `status`: reported by the operator, and computed from manifests.

use clap::Parser as _;
use expect_test::{Expect, expect};
use serde_json::json;

use super::{example, observed};
use crate::args::{Args, Command};
use crate::commands::status::{Status, StatusArgs, findings, text};
use crate::exit::CommandError;
use crate::manifests;
use crate::output::Screen;
use crate::snapshot::Snapshot;
use crate::source::ConnectionArgs;

fn args(line: &str) -> (StatusArgs, ConnectionArgs) {
    let words = ["kubectl-quotient", "status"].into_iter().chain(line.split_whitespace());
    let args = Args::try_parse_from(words).unwrap();
    let Command::Status(status) = args.command else { panic!("{line}") };
    (status, args.connection)
}

pub(super) fn printed(snapshot: &Snapshot, line: &str) -> Result<String, CommandError> {
    let (args, connection) = args(line);
    let status = Status::of(snapshot, &args, &connection)?;
    text(&status, &findings(&status), args.output.output, Screen::plain())
}

fn check(snapshot: &Snapshot, line: &str, expected: &Expect) {
    expected.assert_eq(&printed(snapshot, line).unwrap());
}

/// As a command reads it of a large cluster: without pods.
fn ml() -> Snapshot {
    Snapshot { is_partial: true, ..observed("ml.yaml", "2026-11-24T14:02:00Z") }
}

#[test]
fn all_resources_are_short_and_wide_has_more_columns() {
    check(
        &ml(),
        "ml-train web -o wide",
        &expect![[r#"
            Quotient 0.2.0 · mode Full · leader quotient-7c9f_1 (2 of 2 replicas ready) · lease renewed 2 s ago
            queues use 55gpu · 0 of 2 queues are starved

            QUEUE     WEIGHT  DEMAND  NOMINAL  LIMIT  PODS   GUARANTEED  DESERVED  ALLOCATED  USED   STATE
            ml-train       3  60gpu   42gpu    -      44/47  16gpu       44gpu     44gpu      47gpu  Borrowing
            web            1  8gpu    8gpu     -      8/8    8gpu        8gpu      8gpu       8gpu   OK

            ! ml-train  Deployment notebooks: 2 pods rejected by the quota   explain deploy/notebooks -n ml-train
        "#]],
    );
}

#[test]
fn manifests_show_what_the_operator_would_report() {
    let snapshot = manifests::read_snapshot(&[example("tree")], None).unwrap();
    let printed = printed(&snapshot, "").unwrap().replace(&*example("").to_string_lossy(), "examples/");
    expect![[r#"
        Computed from examples/tree
        12c 24Gi, 12c 4Gi used · unmanaged namespaces use 0 · 2 of 3 queues are starved

        QUEUE         WEIGHT  GUARANTEED  DESERVED  ALLOCATED  USED     STATE
        org/batch          1  -           4c 12Gi   2c 12Gi    2c 1Gi   Fenced
          batch-1          1  -           4c 12Gi   2c 12Gi    2c 1Gi   Fenced
        org/research       1  -           8c 12Gi   4c 12Gi    10c 3Gi  WaitingForPreemption
          team-1           1  4c          4c 4Gi    4Gi        0        WaitingForPreemption
          team-2           1  -           4c 8Gi    4c 8Gi     10c 3Gi  Borrowing

        ! batch-1  needs 2 cpu; queues outside the preemption fence use the room   explain queue/batch-1
        ! team-1   needs 4 cpu; 1 pod of team-2 is evicted next                    explain queue/team-1
    "#]]
    .assert_eq(&printed);
}

/// The line about the cluster counts all queues, and a share returns to a queue that is not shown.
#[test]
fn one_resource_of_some_queues_is_shown_with_what_they_lack() {
    let snapshot = manifests::read_snapshot(&[example("fence")], None).unwrap();
    let printed = printed(&snapshot, "speech -r cpu").unwrap();
    expect![[r#"
        Computed from examples/fence
        12 cpu, 12 used · unmanaged namespaces use 0 · 1 of 1 queues is starved

        QUEUE   WEIGHT  GUARANTEED  DESERVED  ALLOCATED  USED  STATE
        speech       1           -         2          0     0  ░░░░░░░░░░░░░░░░░░░░  2 below, Fenced

        ! speech  needs 2 cpu; queues outside the preemption fence use the room   explain queue/speech
    "#]]
    .assert_eq(&printed.replace(&*example("").to_string_lossy(), "examples/"));
    check(
        &ml(),
        "ml-train -r gpu",
        &expect![[r#"
        Quotient 0.2.0 · mode Full · leader quotient-7c9f_1 (2 of 2 replicas ready) · lease renewed 2 s ago
        queues use 47 gpu · 0 of 1 queues are starved

        QUEUE     WEIGHT  GUARANTEED  DESERVED  ALLOCATED  USED  STATE
        ml-train       3          16        44         44    47  ███████████████████▓  3 over, returning

        ! ml-train  Deployment notebooks: 2 pods rejected by the quota   explain deploy/notebooks -n ml-train
    "#]],
    );
}

#[test]
fn what_is_not_known_is_no_zero_and_every_command_can_be_run() {
    let mut snapshot = ml();
    for entry in &mut snapshot.entries {
        match entry.name() {
            "web" => entry.change(|queue| queue["status"] = json!({})),
            "ml-train" => entry.change(|queue| queue["status"]["unmet"][0]["kind"] = "RayCluster".into()),
            _ => {}
        }
    }
    check(
        &snapshot,
        "web ml-train",
        &expect![[r#"
        Quotient 0.2.0 · mode Full · leader quotient-7c9f_1 (2 of 2 replicas ready) · lease renewed 2 s ago
        queues use 47gpu · 0 of 2 queues are starved

        QUEUE     WEIGHT  GUARANTEED  DESERVED  ALLOCATED  USED   STATE
        ml-train       3  16gpu       44gpu     44gpu      47gpu  Borrowing
        web            1  8gpu        -         -          -      Unknown

        ! ml-train  RayCluster notebooks-5d9c: 2 pods rejected by the quota   explain queue/ml-train
        ! web       Quotient has not reported on it yet                       explain queue/web
    "#]],
    );
}

#[test]
fn pods_that_have_room_can_start() {
    let mut snapshot = ml();
    let queue = snapshot.entries.iter_mut().find(|entry| entry.name() == "ml-train").unwrap();
    queue.change(|queue| {
        let unmet = &mut queue["status"]["unmet"][0];
        unmet["reason"] = "RoomAvailable".into();
        unmet["message"] =
            "The pods cannot start because they are not created yet. The controller creates them.".into();
    });
    let printed = printed(&snapshot, "ml-train").unwrap();
    assert!(
        printed.contains("Deployment notebooks: 2 pods can start: they are not created yet   explain"),
        "{printed}"
    );
}

#[test]
fn names_alone_are_for_pipes() {
    check(
        &ml(),
        "-n web -o name",
        &expect![[r#"
        queue.quotient.dev/web/web
    "#]],
    );
    check(
        &ml(),
        "-n web -A ml-dev -o name",
        &expect![[r#"
        queue.quotient.dev/ml-dev/ml-dev
    "#]],
    );
}

#[test]
fn programs_read_statuses_and_findings() {
    let text = printed(&ml(), "-o json").unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&json["apiVersion"], &json["kind"]), (&"cli.quotient.dev/v1".into(), &"Status".into()));
    assert_eq!(json["operator"]["leader"], "quotient-7c9f_1");
    assert_eq!(json["queues"][1]["starvedSeconds"], 40);
    assert_eq!(json["findings"][0]["command"], "kubectl quotient explain queue/ml-dev");
}

#[test]
fn a_queue_that_is_starved_for_long_is_a_finding() {
    let serious = |time: &str| {
        let snapshot = Snapshot { is_partial: true, ..observed("ml.yaml", time) };
        let (args, connection) = args("");
        let status = Status::of(&snapshot, &args, &connection).unwrap();
        findings(&status).iter().any(|finding| finding.is_serious)
    };
    assert!(!serious("2026-11-24T14:06:19Z"));
    assert!(serious("2026-11-24T14:06:20Z"));
}

#[test]
fn what_does_not_exist_is_named() {
    let refused = |line: &str| printed(&ml(), line).unwrap_err();
    assert_eq!(refused("nothing").to_string(), "there is no Queue nothing");
    assert_eq!(refused("-r fpga").code(), 2);
    assert!(refused("-r fpga").to_string().ends_with("there are nvidia.com/gpu"));
}
