//! What `make bench-e2e` measures, small and with generous ratios: a regression fails here, a busy machine does not.
//!
//! Evictions and writes are counted exactly. Times are compared with what the same control plane takes, in the same run
//! and on the same machine, to start as many pods where room is free.

use std::time::Duration;

use quotient_e2e::bench::speed::{Kind, Measures, churn, free_room, play, reclaim_half};
use quotient_e2e::quotient::Programs;

/// For how long the test watches for evictions in vain.
const AFTERMATH: Duration = Duration::from_secs(5);
/// A share that has to be reclaimed may take so many times as long as free room. (4 were seen on a machine with
/// two cores; the peers need 10 and more.)
const RATIO: u64 = 10;
/// What timers of the control plane may add: a Job that was refused asks again after a second.
const BACKOFF: u64 = 1500;
/// Cpus of a queue in which a Job of a second starts every second: as many of them overlap on a machine that stands still
/// for so many seconds, and only then is the cluster full. (With two, a stall of a second and a half filled it, and what
/// admission let in beyond a quota by mistake had to go again.)
const ROOM: u32 = 8;

#[tokio::test(flavor = "multi_thread")]
async fn a_share_moves_about_as_fast_as_pods_start() -> anyhow::Result<()> {
    let programs = Programs::build().await?;
    let (free, _) = play(&free_room(Kind::Deployment, 60), &programs, &[], Duration::ZERO).await?;
    let (moved, _) =
        play(&reclaim_half(Kind::Deployment, 60, Duration::ZERO), &programs, &[], AFTERMATH).await?;
    println!("free room: {free:#?}\nreclaimed: {moved:#?}");

    assert_eq!((moved.victims, moved.later_evictions), (30, 0), "evictions: as few as possible, once");
    assert_eq!(written(&moved, "create pods/eviction"), 30, "one write an eviction");
    let writes = moved.all_writes();
    assert!(writes <= 30 * 3, "{writes} writes for 30 pods: {:?}", moved.writes);

    let (free, moved) = (free.last_running.unwrap_or_default(), moved.last_running.unwrap_or_default());
    assert!(moved > 0 && free > 0, "both ran: {free} ms, {moved} ms");
    let most = free.saturating_mul(RATIO).saturating_add(BACKOFF);
    assert!(moved <= most, "{moved} ms, where free room takes {free} ms");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_that_come_and_go_cost_few_writes_and_no_eviction() -> anyhow::Result<()> {
    let programs = Programs::build().await?;
    let (measures, _) =
        play(&churn(10, ROOM, 10, Duration::from_secs(20)), &programs, &[], AFTERMATH).await?;
    println!("{measures:#?}");
    assert_eq!((measures.victims, measures.later_evictions), (0, 0), "there is room for all pods");
    // Two hundred Jobs, and as many pods: once every queue has had as many pods as ever, room stays where it is. What pods
    // use is told every 15 s at most, and a share that moves at once: on a busy machine Jobs overlap, and more of them do.
    let (statuses, quotas) =
        (written(&measures, "patch queues/status"), written(&measures, "patch resourcequotas"));
    assert!(quotas <= 100, "{quotas} quotas for 10 queues in 25 s: {:?}", measures.writes);
    assert!(statuses <= quotas + 60, "{statuses} statuses for 10 queues in 25 s: {:?}", measures.writes);
    let (early, late) = measures.memory_early_and_late();
    assert!(early > 0 && late <= early + early / 4, "memory grows: {:?} KiB", measures.memory);
    Ok(())
}

fn written(measures: &Measures, kind: &str) -> u32 {
    measures.writes.get(kind).copied().unwrap_or_default()
}
