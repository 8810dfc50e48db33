//! Bad days on a real control plane: a bad line to the API server, crashes in the middle of a reclaim, components that
//! restart, a leader that is frozen. Whatever happens, the right pods go, no others, and every queue has its share in the
//! end.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use quotient_e2e::quotient::{
    Newcomer, OPERATOR_GROUP, OPERATOR_USER, Operator, SHORT_LEASE, Stage, promises_kept,
};
use quotient_e2e::testbed::proxy::{Call, Fault, Proxy, Rule};
use quotient_e2e::testbed::{AuditMark, Component, eventually};
use quotient_invariants::Tolerance;

/// What has to go for the newcomer.
const VICTIMS: [&str; 2] = ["q1/small", "q2/small"];

async fn proxy(stage: &Stage) -> Result<Proxy> {
    stage.bed.proxy(OPERATOR_USER, Some(OPERATOR_GROUP)).await
}

/// Every promise was kept, whatever happened; a process that was killed, or lost an answer, may have asked twice.
fn check(stage: &Stage) -> Result<()> {
    let repeats = Tolerance { repeats: true, ..Tolerance::default() };
    promises_kept(stage.bed.audit().events()?, repeats, false)
}

fn only_the_victims_went(stage: &Stage, since: AuditMark) -> Result<()> {
    let evicted = Newcomer::evicted(&stage.bed.audit().events_since(since)?);
    // An API server that is killed takes the last lines of its log along; that both are gone is seen by the pods.
    let mut missing = VICTIMS.to_vec();
    missing.retain(|victim| !evicted.iter().any(|evicted| evicted == victim));
    ensure!(evicted.len() + missing.len() == VICTIMS.len(), "evicted: {evicted:?}");
    Ok(())
}

/// One operator meets bad answers, an outage and restarts of the control plane, each in the middle of a reclaim.
#[tokio::test(flavor = "multi_thread")]
async fn whatever_the_api_server_does_the_right_pods_go() -> Result<()> {
    let stage = Stage::set(&Newcomer::NODES).await?;
    let mut proxy = proxy(&stage).await?;
    // The Lease must outlive each of them, or the leader has to go; that is another test.
    let long = ["--lease-duration-seconds=120", "--lease-renew-deadline-seconds=100"];
    let operator =
        Operator::start_as(&stage.bed, &stage.programs.operator, proxy.kubeconfig(), &long).await?;
    let story = Newcomer::prepare(&stage, false).await?;
    a_bad_line_delays_and_harms_no_queue(&stage, &proxy, &story).await?;
    an_api_server_that_refuses_everything_is_waited_for(&stage, &proxy, &story).await?;
    the_control_plane_restarts_in_the_middle(&stage, &mut proxy, &story).await?;
    operator.stop().await?;
    check(&stage)?;
    stage.bed.stop().await
}

/// Every kind of bad answer at once, again and again.
async fn a_bad_line_delays_and_harms_no_queue(
    stage: &Stage,
    proxy: &Proxy,
    story: &Newcomer<'_>,
) -> Result<()> {
    let refuse = |code, retry_after| Fault::Refuse { code, retry_after };
    let write = |call: &Call| call.is_write() && !call.names("leases");
    proxy.obey(vec![
        Rule::new(|call| call.names("eviction"), refuse(429, Some(1))).times(1),
        Rule::new(|call| call.names("eviction"), Fault::CutAfter).times(1),
        Rule::new(|call| call.names("resourcequotas") && call.is_write(), Fault::CutAfter).every(3),
        Rule::new(write, refuse(409, None)).every(5),
        Rule::new(write, refuse(500, None)).every(7),
        Rule::new(write, refuse(503, Some(1))).every(11),
        Rule::new(|call| call.is_watch, Fault::CutBefore).every(2),
        Rule::new(|_| true, Fault::Delay(Duration::from_millis(100))),
    ]);
    let mark = stage.bed.audit().mark()?;
    story.join("q3").await?;
    story.until_served("q3").await?;
    only_the_victims_went(stage, mark)?;
    proxy.obey(Vec::new());
    story.leave("q3").await
}

/// The API server refuses everything for a while, a minute if `QUOTIENT_OUTAGE_SECONDS=60`: nothing happens, nothing is
/// forgotten.
async fn an_api_server_that_refuses_everything_is_waited_for(
    stage: &Stage,
    proxy: &Proxy,
    story: &Newcomer<'_>,
) -> Result<()> {
    let outage = std::env::var("QUOTIENT_OUTAGE_SECONDS").ok().map_or(Ok(20), |text| text.parse())?;
    proxy.obey(vec![Rule::new(|_| true, Fault::Refuse { code: 503, retry_after: None })]);
    let mark = stage.bed.audit().mark()?;
    story.join("q3-late").await?;
    tokio::time::sleep(Duration::from_secs(outage)).await;
    ensure!(Newcomer::evicted(&stage.bed.audit().events_since(mark)?).is_empty());
    proxy.obey(Vec::new());
    let over = Instant::now();
    story.until_served("q3-late").await?;
    println!("served {:?} after an outage of {outage} s", over.elapsed());
    only_the_victims_went(stage, mark)?;
    story.leave("q3-late").await
}

/// The API server, then etcd, are killed and come back in the middle of a reclaim.
async fn the_control_plane_restarts_in_the_middle(
    stage: &Stage,
    proxy: &mut Proxy,
    story: &Newcomer<'_>,
) -> Result<()> {
    for (component, name) in [(Component::ApiServer, "q3-api"), (Component::Etcd, "q3-etcd")] {
        // At the first eviction: the quotas of the losers are lowered, no pod has ended yet.
        proxy.obey(vec![Rule::new(|call| call.names("eviction"), Fault::HoldAfter).times(1)]);
        let mark = stage.bed.audit().mark()?;
        story.join(name).await?;
        let call = proxy.held().await;
        proxy.obey(Vec::new());
        stage.bed.restart(component).await?;
        story.until_served(name).await.with_context(|| format!("{component} restarted at {call}"))?;
        only_the_victims_went(stage, mark)?;
        story.leave(name).await?;
    }
    Ok(())
}

/// `SIGKILL` at the nth write of the reclaim, just before or just after the API server has carried it out, and a new
/// process; for every n, before and after, if `QUOTIENT_KILLS=all`, else for a few in turns.
#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_write_it_goes_on_where_it_was() -> Result<()> {
    let all = std::env::var("QUOTIENT_KILLS").is_ok_and(|kills| kills == "all");
    let stage = Stage::set(&Newcomer::NODES).await?;
    let mut proxy = proxy(&stage).await?;
    let mut operator = Operator::start_behind(&proxy, &stage.bed, &stage.programs.operator).await?;
    let story = Newcomer::prepare(&stage, false).await?;

    let mut kills = 0;
    for (turn, nth) in (0..).step_by(if all { 1 } else { 4 }).enumerate() {
        let mut was_struck = false;
        let mut faults = vec![("before", Fault::HoldBefore), ("after", Fault::HoldAfter)];
        if !all {
            faults.remove((turn + 1) % 2);
        }
        for (when, fault) in faults {
            let name = format!("q3-{when}-{nth}");
            let write = |call: &Call| call.is_write() && !call.names("leases") && !call.names("events");
            proxy.obey(vec![Rule::new(write, fault).after(nth).times(1)]);
            let mark = stage.bed.audit().mark()?;
            story.join(&name).await?;
            let struck = tokio::select! {
                call = proxy.held() => Some(call),
                served = story.until_served(&name) => { served?; None }
            };
            if let Some(call) = struck {
                operator.process().kill()?;
                operator = Operator::start_behind(&proxy, &stage.bed, &stage.programs.operator).await?;
                story.until_served(&name).await.with_context(|| format!("killed {when} {call}"))?;
                println!("killed {when} write {nth}: {call}");
                was_struck = true;
                kills += 1;
            }
            only_the_victims_went(&stage, mark).with_context(|| format!("{when} write {nth}"))?;
            proxy.obey(Vec::new());
            story.leave(&name).await?;
        }
        if !was_struck {
            break;
        }
    }
    println!("{kills} kills");
    ensure!(kills >= if all { 20 } else { 4 }, "only {kills} kills");
    operator.stop().await?;
    check(&stage)?;
    stage.bed.stop().await
}

/// etcd is restored from a backup whose Lease is older than the one that the operator has written. The operator ends, as a
/// process that knows what never was. The next one finds the quotas, the ledger and the pods of the backup, and nothing has to
/// go.
#[tokio::test(flavor = "multi_thread")]
async fn a_restored_backup_is_a_world_of_its_own() -> Result<()> {
    let stage = Stage::set(&Newcomer::NODES).await?;
    let program = &stage.programs.operator;
    // etcd stops for the backup, for seconds on a busy machine: the Lease lasts as long as it does by default.
    let arguments = ["--resync-seconds=5", "--status-interval-seconds=1"];
    let operator = Operator::start_with(&stage.bed, program, &arguments).await?;
    let story = Newcomer::prepare(&stage, false).await?;
    story.join("q3").await?;
    story.until_served("q3").await?;
    let backup = stage.bed.back_up().await?;
    operator.process().must_run()?;
    story.until_served("q3").await?;
    story.leave("q3").await?;

    stage.bed.restore(&backup).await?;
    let mark = stage.bed.audit().mark()?;
    let ended = operator.process().wait(Duration::from_secs(60)).await?;
    ensure!(!ended.success(), "an operator whose Lease went back ends with an error");
    let operator = Operator::start_with(&stage.bed, program, &SHORT_LEASE).await?;
    story.until_served("q3").await?;
    tokio::time::sleep(Duration::from_secs(5)).await;
    story.until_served("q3").await?;
    let evicted = Newcomer::evicted(&stage.bed.audit().events_since(mark)?);
    ensure!(evicted.is_empty(), "{evicted:?}");
    // Shares move on.
    story.leave("q3").await?;
    story.join("q4").await?;
    story.until_served("q4").await?;
    operator.stop().await?;
    stage.bed.stop().await
}

/// Two replicas, of which the leader is frozen, and then another one killed.
#[tokio::test(flavor = "multi_thread")]
async fn another_replica_goes_on_where_the_leader_was() -> Result<()> {
    let stage = Stage::set(&Newcomer::NODES).await?;
    let mut proxy = proxy(&stage).await?;
    let first = Operator::start_behind(&proxy, &stage.bed, &stage.programs.operator).await?;
    let story = Newcomer::prepare(&stage, false).await?;
    a_frozen_leader_is_replaced_and_does_no_harm_when_it_wakes(&stage, &proxy, &story, first).await?;
    a_killed_leader_is_replaced_within_twenty_seconds(&stage, &mut proxy, &story).await?;
    check(&stage)?;
    stage.bed.stop().await
}

/// The leader is frozen in the middle of a reclaim for longer than its Lease, the other takes over, and the first does no harm
/// when it wakes.
async fn a_frozen_leader_is_replaced_and_does_no_harm_when_it_wakes(
    stage: &Stage,
    proxy: &Proxy,
    story: &Newcomer<'_>,
    first: Operator,
) -> Result<()> {
    let second = Operator::start_with(&stage.bed, &stage.programs.operator, &SHORT_LEASE).await?;
    proxy.obey(vec![
        Rule::new(|call| call.names("eviction"), Fault::Delay(Duration::from_secs(10))),
        Rule::new(
            |call| call.names("resourcequotas") && call.is_write(),
            Fault::Delay(Duration::from_millis(50)),
        ),
    ]);
    let mark = stage.bed.audit().mark()?;
    story.join("q3").await?;
    // Its evictions are on their way when it is frozen, and land after the other has taken over.
    eventually("the losers' quotas are lowered", Duration::from_secs(20), async || {
        let events = stage.bed.audit().events_since(mark)?;
        let lowered = events.iter().filter(|event| {
            event.is_about("resourcequotas") && event.is_write() && event.namespace.starts_with('q')
        });
        ensure!(lowered.count() >= 2, "not yet");
        Ok(())
    })
    .await?;
    first.process().pause()?;
    story.until_served("q3").await.context("served by the other replica")?;
    first.process().resume()?;
    // It finds its Lease lost and ends; Kubernetes would start it again.
    let ended = first.process().wait(Duration::from_secs(20)).await?;
    ensure!(!ended.success(), "a leader that lost its Lease ends with an error");
    tokio::time::sleep(Duration::from_secs(2)).await;
    story.until_served("q3").await?;
    only_the_victims_went(stage, mark)?;
    story.leave("q3").await?;
    second.stop().await
}

/// As they are installed: the leader is killed after its first eviction, and the other goes on with the second.
async fn a_killed_leader_is_replaced_within_twenty_seconds(
    stage: &Stage,
    proxy: &mut Proxy,
    story: &Newcomer<'_>,
) -> Result<()> {
    proxy.obey(vec![Rule::new(|call| call.names("eviction"), Fault::HoldAfter).times(1)]);
    let program = &stage.programs.operator;
    let one_at_a_time = ["--evictions-per-cycle=1"];
    let first = Operator::start_as(&stage.bed, program, proxy.kubeconfig(), &one_at_a_time).await?;
    first.until_it_leads().await?;
    let second = Operator::start_with(&stage.bed, program, &[]).await?;
    let mark = stage.bed.audit().mark()?;
    story.join("q4").await?;
    proxy.held().await;
    let killed = Instant::now();
    first.process().kill()?;
    second.until_it_leads().await?;
    let taken_over = killed.elapsed();
    story.until_served("q4").await?;
    println!("taken over after {taken_over:?}, served after {:?}", killed.elapsed());
    // A Lease of 15 s, looked at every 2 s, so less than 20 s; the rest is the machine's, which may be busy.
    ensure!(taken_over < Duration::from_secs(40), "taken over after {taken_over:?}");
    only_the_victims_went(stage, mark)?;
    second.stop().await
}
