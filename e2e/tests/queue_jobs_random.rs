//! Twenty QueueJobs of random sizes in one queue on a real control plane, as they come, stop and go on: what runs is exactly
//! what the engine's division says.

use anyhow::Context as _;
use kube::Api;
use kube::api::{Patch, PatchParams};
use quotient_crds::QueueJob;
use quotient_e2e::quotient::{Stage, queue_job};
use quotient_engine::amounts::{Amount, Amounts, Resource};
use quotient_engine::slots::{GangClaim, TaskClaim, divide};
use quotient_engine::time::Timestamp;
use serde_json::json;

const GIB: i128 = 1 << 30;

/// What the queue may have, of a cluster of 64 cpu and 256Gi.
const ROOM: (i128, i128) = (30, 72);
const WHOLE: (i128, i128) = (64, 256);

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((self.0 >> 33) % u64::from(sides)).unwrap_or_default()
    }
}

/// A QueueJob, and how the engine sees it.
struct Kept {
    claim: GangClaim,
    min: u32,
    cpu: u32,
    memory: u32,
    suspended: bool,
}

impl Kept {
    fn rolled(name: &str, dice: &mut Dice) -> Self {
        let most = 1 + dice.roll(8);
        let (min, cpu, memory) = (1 + dice.roll(most), 1 + dice.roll(2), 1 + dice.roll(4));
        let claim = GangClaim {
            name: name.into(),
            floor: min,
            intact: true,
            tasks: vec![TaskClaim {
                requests: amounts((cpu.into(), memory.into())),
                most,
                ..TaskClaim::default()
            }],
            ..GangClaim::default()
        };
        Self { claim, min, cpu, memory, suspended: false }
    }

    async fn submit(&mut self, stage: &Stage) -> anyhow::Result<()> {
        let name = self.claim.name.to_string();
        let most = self.claim.tasks[0].most;
        stage.submit("a", queue_job(&name, self.min, most, self.cpu, self.memory)).await?;
        let jobs: Api<QueueJob> = Api::namespaced(stage.bed.client(), "a");
        let created = jobs.get(&name).await?.metadata.creation_timestamp.context("no age")?.0;
        self.claim.created = Timestamp::from_seconds(created.as_second());
        Ok(())
    }
}

/// The QueueJobs in the order of their names, and what the engine says of them.
#[derive(Default)]
struct Model(Vec<Kept>);

impl Model {
    fn add(&mut self, kept: Kept) {
        self.0.push(kept);
        self.0.sort_by(|a, b| a.claim.name.cmp(&b.claim.name));
    }

    /// Divides, makes it what runs, and tells it as the stage does.
    fn divided(&mut self) -> String {
        let resources = [Resource::Cpu, Resource::Memory];
        let claims: Vec<GangClaim> =
            self.0.iter().filter(|kept| !kept.suspended).map(|kept| kept.claim.clone()).collect();
        let mut slots = divide(&amounts(ROOM), &claims, &[], &amounts(WHOLE), &resources).into_iter();
        let mut printed = Vec::new();
        for kept in &mut self.0 {
            let slots = if kept.suspended { None } else { slots.next() };
            let count = slots.map_or(0, |slots| slots.total());
            kept.claim.admitted = count > 0;
            kept.claim.tasks[0].running = count;
            printed.push(format!("{} {count}/{count}", kept.claim.name));
        }
        printed.join(", ")
    }
}

fn amounts((cpu, gibibytes): (i128, i128)) -> Amounts {
    let all = [(Resource::Cpu, Amount::new(cpu * 1000)), (Resource::Memory, Amount::new(gibibytes * GIB))];
    all.into_iter().collect()
}

/// The numbers 0 to 19 in an order that has nothing to do with names.
fn shuffled(dice: &mut Dice) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..20).collect();
    for at in (1..20u32).rev() {
        numbers.swap(at as usize, dice.roll(at + 1) as usize);
    }
    numbers
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_queue_jobs_run_as_the_engine_says() -> anyhow::Result<()> {
    let stage = Stage::set(&[("node-1", "64", "256Gi")]).await?;
    stage.claim("a", json!({"limit": {"cpu": "30", "memory": "72Gi"}})).await?;
    let mut dice = Dice(20);
    let mut model = Model::default();
    let numbers = shuffled(&mut dice);
    let (first, later) = numbers.split_at(10);
    for number in first {
        let mut kept = Kept::rolled(&format!("job-{number:02}"), &mut dice);
        kept.submit(&stage).await?;
        model.add(kept);
    }
    let operator = stage.start_operator().await?;
    stage.until_jobs("a", &model.divided()).await.context("ten at once")?;
    for number in later {
        let mut kept = Kept::rolled(&format!("job-{number:02}"), &mut dice);
        kept.submit(&stage).await?;
        model.add(kept);
        stage.until_jobs("a", &model.divided()).await.with_context(|| format!("after job-{number:02}"))?;
    }
    stage.nothing_moves("a").await?;
    // Some stop and go on again: a QueueJob that goes on has to wait like all others.
    let jobs: Api<QueueJob> = Api::namespaced(stage.bed.client(), "a");
    for turn in 0..10 {
        let at = dice.roll(20) as usize;
        let kept = &mut model.0[at];
        kept.suspended = !kept.suspended;
        let patch = Patch::Merge(json!({"spec": {"suspend": kept.suspended}}));
        let name = kept.claim.name.to_string();
        jobs.patch(&name, &PatchParams::default(), &patch).await?;
        let what = format!("turn {turn}: {name} suspended: {}", kept.suspended);
        stage.until_jobs("a", &model.divided()).await.context(what)?;
    }
    stage.nothing_moves("a").await?;
    let log = operator.process().log();
    assert!(!log.contains("panicked"), "{log}");
    operator.stop().await?;
    stage.bed.stop().await
}
