//! The operator is killed at each removal of a gate: nothing is lost, and no gate is removed twice.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use kube::api::PostParams;
use quotient_e2e::quotient::{
    GATE_MODE, OPERATOR_GROUP, OPERATOR_USER, Operator, PodCounts, SHORT_LEASE, Stage, upgrade_chart,
};
use quotient_e2e::testbed::AuditEvent;
use quotient_e2e::testbed::proxy::{Call, Fault, Proxy, Rule};
use quotient_invariants::Tolerance;
use serde_json::json;

use crate::gate::{end, gated, gated_queue, member, pods, running, waiting};

/// How many pods a gang has, and how many have room.
const SIZE: u32 = 3;

async fn start(stage: &Stage, proxy: &Proxy) -> Result<Operator> {
    let arguments = [&["--gate-mode"], &SHORT_LEASE[..]].concat();
    Operator::start_as(&stage.bed, &stage.programs.operator, proxy.kubeconfig(), &arguments).await
}

/// How often the API server has said that it removed the gate of each pod.
fn removals(events: &[AuditEvent]) -> BTreeMap<&str, usize> {
    let is_removal = |event: &&AuditEvent| {
        event.is_about("pods") && event.verb == "patch" && event.user == OPERATOR_USER && event.succeeded()
    };
    let mut counts = BTreeMap::new();
    for event in events.iter().filter(is_removal) {
        *counts.entry(&*event.name).or_default() += 1;
    }
    counts
}

/// Two gangs of three on room for one, the pods of both created in turns: the first one is let in whole whatever happens.
#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_removal_of_a_gate_the_gang_comes_in_whole_and_once() -> Result<()> {
    let stage = Stage::set(&[("node-1", "3", "64Gi")]).await?;
    upgrade_chart(&stage.bed, &[GATE_MODE]).await?;
    let mut proxy = stage.bed.proxy(OPERATOR_USER, Some(OPERATOR_GROUP)).await?;
    let mut operator = start(&stage, &proxy).await?;
    gated_queue(&stage, "team", json!({})).await?;
    let all = pods(&stage.bed.client(), "team");
    // `verify/sim` kills it before and after each.
    let faults = [("before", Fault::HoldBefore), ("after", Fault::HoldAfter), ("before", Fault::HoldBefore)];
    for (nth, (when, fault)) in (0..).zip(faults) {
        let is_removal = |call: &Call| call.is_write() && call.names("pods") && !call.names("eviction");
        proxy.obey(vec![Rule::new(is_removal, fault).after(nth).times(1)]);
        let mark = stage.bed.audit().mark()?;
        for number in 0..SIZE {
            for gang in ["x", "y"] {
                let gang = format!("{gang}-{when}-{nth}");
                let annotations = json!({
                    "quotient.dev/gang": gang, "quotient.dev/gang-min-available": SIZE.to_string(),
                });
                let member = member(&format!("{gang}-{number}"), &annotations)?;
                all.create(&PostParams::default(), &member).await?;
            }
        }
        let call = proxy.held().await;
        operator.process().kill()?;
        proxy.obey(Vec::new());
        operator = start(&stage, &proxy).await?;
        stage
            .until_pods("team", waiting(SIZE, SIZE))
            .await
            .with_context(|| format!("killed {when} {call}"))?;
        println!("killed {when} removal {nth}: {call}");
        let first = running(&stage, "team").await?;
        ensure!(first.iter().all(|name| name.starts_with("x-")), "killed {when} removal {nth}: {first:?}");
        ensure!(gated(&stage, "team").await?.len() == usize::try_from(SIZE)?);
        for name in &first {
            end(&stage, "team", name).await?;
        }
        stage.until_pods("team", PodCounts::running(SIZE)).await?;
        let second = running(&stage, "team").await?;
        for name in &second {
            end(&stage, "team", name).await?;
        }
        stage.until_pods("team", PodCounts::default()).await?;
        let events = stage.bed.audit().events_since(mark)?;
        // A removal that was under way when its operator was killed may be carried out and answered to no one.
        let removed = removals(&events);
        ensure!(removed.values().all(|times| *times == 1), "killed {when} removal {nth}: {removed:?}");
        let evicted = events.iter().filter(|event| event.is_about("pods/eviction")).count();
        ensure!(evicted == 0, "killed {when} removal {nth}: {evicted} evictions");
    }
    stage.end_with(operator, Tolerance { repeats: true, ..Tolerance::default() }).await
}
