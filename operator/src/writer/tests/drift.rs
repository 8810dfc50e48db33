//! Quotas that others change.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use k8s_openapi::api::core::v1::ResourceQuota;
use quotient_engine::ledger::Generation;
use serde_json::json;
use tokio::time::Instant;

use super::{World, node, put, queue, quota, view};
use crate::executor::Class;
use crate::tests::api::{Asked, Reply};

/// A writer for the quota of `a`, which a server stores that never refuses.
fn world() -> World {
    let version = AtomicU32::new(1000);
    World::of(view(&[node(4), queue("a"), quota("a", 5, Some(7), 9, 9)]), move |asked| {
        // Every write is newer than what people do in between.
        let version = version.fetch_add(1000, Ordering::Relaxed);
        Reply::Json(200, quota("a", version, Some(stamp(asked)), 4, 4))
    })
}

impl World {
    async fn write_quota(&mut self) {
        self.cycle(Class::Quota).await;
    }

    /// Another writer sets the quota to 9 cpu; its annotations stay.
    fn edit_quota(&self) {
        let observed = self.view.read(|index| index.observed_quota(&"a".into()).cloned()).unwrap();
        let version: u32 = observed.resource_version.as_ref().unwrap().as_str().parse().unwrap();
        let generation = observed.generation.map(Generation::number);
        let mut edited = quota("a", version + 1, generation, 9, 9);
        edited["metadata"]["managedFields"] = json!([
            {"manager": "quotient-operator", "operation": "Update", "fieldsV1": {"f:spec": {}}},
            {
                "manager": "kubectl-edit", "operation": "Update", "time": "2026-01-01T00:00:00Z",
                "fieldsV1": {"f:spec": {"f:hard": {"f:requests.cpu": {}}}},
            },
            {
                "manager": "kube-controller-manager", "operation": "Update", "time": "2026-01-02T00:00:00Z",
                "subresource": "status", "fieldsV1": {"f:spec": {}},
            },
        ]);
        put(&self.view, &edited);
    }

    fn delete_quota(&self) {
        self.view.update(|index| index.delete::<ResourceQuota>(&(), "a", "quotient", "quota-a"));
    }

    fn repairs(&self, change: &str) -> u64 {
        self.context.metrics.writes.quota_repairs.with_label_values(&[change]).get()
    }

    /// The repairs that were reported.
    fn reported_repairs(&mut self) -> Vec<String> {
        let repaired = |told: &String| told.starts_with("QuotaRepaired");
        self.told().into_iter().filter(repaired).collect()
    }
}

/// The generation that a write of a quota leaves behind.
fn stamp(asked: &Asked) -> u64 {
    let annotation = "quotient.dev/generation";
    let created = asked.body.pointer("/metadata/annotations").and_then(|all| all[annotation].as_str());
    let operations = asked.body.as_array().map(Vec::as_slice).unwrap_or_default();
    let last =
        operations.iter().rev().find(|operation| operation["path"].as_str().unwrap().ends_with("generation"));
    created.or(last.and_then(|operation| operation["value"].as_str())).unwrap().parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_is_edited_every_ten_seconds_is_put_right_every_thirty() {
    let mut world = world();
    let start = Instant::now();
    let mut written = Vec::new();
    for second in 0..120 {
        if second % 10 == 5 {
            world.edit_quota();
        }
        let before = world.asked();
        world.write_quota().await;
        if world.asked() > before {
            written.push(second);
        }
        if second == 20 {
            let contested = world.writer.contested_quotas();
            let message = &contested[&quotient_engine::names::QueueName::new("a", "team")];
            assert!(message.contains("edited by kubectl-edit") && message.contains("30 s"), "{message}");
            assert_eq!(world.writer.next_retry().unwrap().duration_since(start).as_secs(), 35);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    // The first write is ours alone, and the first edit is restored at once.
    assert_eq!(written, [0, 5, 35, 65, 95]);
    assert_eq!(world.repairs("Edited"), 4);
    let told = "QuotaRepaired on Queue team: Restored the quota because it was edited by kubectl-edit: cpu from 9 to 4. \
                Change limit or weight of the Queue instead.";
    assert_eq!(world.reported_repairs(), [told; 4]);
}

#[tokio::test(start_paused = true)]
async fn what_is_deleted_is_there_again_within_the_cycle() {
    let mut world = world();
    world.write_quota().await;
    world.delete_quota();
    world.write_quota().await;
    let lines = world.log.lines();
    assert_eq!(lines.last().unwrap(), "POST /api/v1/namespaces/a/resourcequotas");
    assert_eq!((world.repairs("Deleted"), world.reported_repairs().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn what_we_change_ourselves_is_no_repair() {
    let mut world = world();
    world.write_quota().await;
    put(&world.view, &queue("b"));
    world.write_quota().await;
    assert!(world.asked() > 1);
    assert_eq!(world.reported_repairs(), [""; 0]);
}
