//! `replay`: what the operator records is computed again, and with other settings.

use expect_test::expect;
use quotient_advance::{advance, settle};
use quotient_operator::decisions::Decisions;

use super::{PAGE, args, example};
use crate::commands::explain::{Question, Target, explain};
use crate::commands::replay::{Replay, ReplayArgs, ReplayText};
use crate::commands::simulate::at_rest;
use crate::manifests;
use crate::output::Screen;
use crate::snapshot::Setting;

/// Every decision about an example that evicts pods, as the operator keeps it.
fn records(name: &str) -> Vec<Vec<u8>> {
    let cluster = at_rest(manifests::read(&[example(name)], None).unwrap());
    let decisions = Decisions::kept();
    let mut files = Vec::new();
    let mut snapshot = cluster.snapshot;
    for _ in 0..20 {
        let (settled, plan) = settle(&snapshot);
        if decisions.is_news(&plan) {
            let number = decisions.begin(&settled, &plan).unwrap();
            decisions.keep(number, &settled, &plan);
            files.push(decisions.file(Some(number)).unwrap());
        }
        snapshot = advance(&settled, &plan).snapshot;
    }
    files
}

fn with(line: &str) -> Vec<Setting> {
    args::<ReplayArgs>(&format!("file --with {line}")).with
}

#[test]
fn a_replay_names_every_pod_and_what_another_setting_had_changed() {
    let record = &records("newcomer")[0];
    assert!(Replay::of(record, &with("queue/team-1.eviction.forceAfterSeconds=60")).is_ok());
    let replay = Replay::of(record, &with("queue/team-1.guaranteed.cpu=3")).unwrap();
    expect![[r#"
        Decision 1 of 1970-01-01T00:00:00Z by Quotient 0.1.0: 2 pods to evict. Computed again, it is the same plan, byte for byte.
        POD           QUEUE          FOR            REASON     RANK  ANSWER
        team-1/pod-3  team-1/team-1  team-3/team-3  Reclaimed     1  -
        team-2/pod-3  team-2/team-2  team-3/team-3  Reclaimed     1  -
        With guaranteed.cpu of Queue team-1 = 3:
          not evicted: team-1/pod-3, team-2/pod-3
          evicted besides: none
          queue team-1/team-1 deserves 4.3c 6Gi, not 2c 6Gi
          queue team-2/team-2 deserves 2.6c 12Gi, not 4c 12Gi
          queue team-3/team-3 deserves 2c 9Gi, not 3c 9Gi
    "#]].assert_eq(&replay.table(Screen::plain()));
    assert!(PAGE.contains(&replay.table(Screen::plain())), "docs/reference/cli.md shows something else");
    let orphaned = Replay::of(record, &with("queue/team-1.parentRef.name=gone")).unwrap();
    let printed = orphaned.table(Screen::plain());
    assert!(printed.contains("\n  queue without a share: team-1 (ParentNotFound: "), "{printed}");
    let document = serde_json::to_value(ReplayText::of(&replay)).unwrap();
    let fields = document.as_object().unwrap().iter().map(|(name, value)| format!("{name}: {value}\n"));
    expect![[r#"
        alternative: {"added":[],"deserved":{"team-1/team-1":{"cpu":"4333m","memory":"6Gi"},"team-2/team-2":{"cpu":"2667m","memory":"12Gi"},"team-3/team-3":{"cpu":"2","memory":"9Gi"}},"spared":["team-1/pod-3","team-2/pod-3"],"stalled":[],"with":["guaranteed.cpu of Queue team-1 = 3"]}
        evictions: [{"beneficiary":"team-3/team-3","pod":"team-1/pod-3","queue":"team-1/team-1","rank":1,"reason":"Reclaimed"},{"beneficiary":"team-3/team-3","pod":"team-2/pod-3","queue":"team-2/team-2","rank":1,"reason":"Reclaimed"}]
        identical: true
        kept: []
        number: 1
        version: "0.1.0"
    "#]].assert_eq(&fields.collect::<String>());
}

#[test]
fn what_is_no_record_is_refused() {
    let record = &records("newcomer")[0];
    let said = |file: &[u8], settings: &[Setting]| Replay::of(file, settings).unwrap_err().to_string();
    assert!(said(b"{}", &[]).starts_with("this is no decision: "));
    let other = String::from_utf8_lossy(&record[..20]).into_owned();
    assert!(said(other.as_bytes(), &[]).starts_with("this is no decision: "));
    let end = record.iter().position(|byte| *byte == b'\n').unwrap();
    let line = String::from_utf8(record[..end].to_vec()).unwrap();
    let newer = line.replace(env!("CARGO_PKG_VERSION"), "9.9.9");
    assert_eq!(
        said(newer.as_bytes(), &[]),
        "Quotient 9.9.9 made this decision: use kubectl-quotient of that version"
    );
    assert!(
        said(line.as_bytes(), &[]).contains("the inputs of the decision"),
        "{}",
        said(line.as_bytes(), &[])
    );
    assert_eq!(said(record, &with("queue/nothing.weight=2")), "there is no Queue nothing in the record");
    assert!(said(record, &with("queue/team-1.weigth=2")).contains("weigth: a Queue has no such field"));
    assert!(said(record, &with("queue/team-1.weight=-2")).contains("weight"));
}

#[test]
fn a_pod_that_the_decision_did_not_evict_is_named() {
    let cluster = at_rest(manifests::read(&[example("newcomer")], None).unwrap());
    let replay = Replay::of(&records("newcomer")[0], &[]).unwrap();
    let question = Question { replay: Some(&replay), ..Question::default() };
    let refused = explain(&cluster, &Target::parse("pod/pod-1").unwrap(), Some("team-1"), &question);
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the decision in the record evicted no Pod pod-1 in namespace team-1"
    );
}

/// The rule is named, and pods of other teams are only counted.
#[test]
fn pods_that_a_rule_kept_are_named_to_their_team_alone() {
    let cluster = at_rest(manifests::read(&[example("budget")], None).unwrap());
    let replay = records("budget").into_iter().map(|record| Replay::of(&record, &[]).unwrap());
    let printed: Vec<String> = replay
        .filter_map(|replay| {
            let eviction = replay.plan.evictions.first()?;
            let target = Target::parse(&format!("pod/{}", eviction.pod.name)).unwrap();
            let namespace = eviction.pod.namespace.as_str().to_owned();
            let question = Question { replay: Some(&replay), ..Question::default() };
            let printed = explain(&cluster, &target, Some(&namespace), &question).unwrap();
            Some(printed.text(Screen::plain()))
        })
        .collect();
    expect![[r#"
        Evicted at 1970-01-01T00:00:00Z by Quotient to return 1 cpu 1Gi to queue team-2 (not node pressure, not the scheduler).

        Why           team-1 used 5 cpu 5Gi and deserved 3 cpu 6Gi: 2 cpu over. team-2 used nothing and deserved 3 cpu 6Gi: 3
                      cpu 6Gi below.
        Why this pod  rank 4 of 5 candidates, 2 evicted: lowest priority (0), started last (0 s ago), no protecting annotation
                      kept by a rule: web-1 (PodDisruptionBudget web allows 0), web-2 (PodDisruptionBudget web allows 0), web-3
                      (PodDisruptionBudget web allows 0)
        Decision      1: computed again, it is the same plan, byte for byte
    "#]].assert_eq(&printed.join("---\n"));
}
