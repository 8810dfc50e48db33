//! Queues of KAI Scheduler.

use super::{Drafts, Objects, Reading, System, add_namespaces, entry};
use crate::objects::ApiKind;

const GROUP: &str = "scheduling.run.ai";

const LABELS: [&str; 2] = ["kai.scheduler/queue", "runai/queue"];

pub(super) const SYSTEM: System = System {
    name: "kai",
    signs: &LABELS,
    kinds: &[
        ApiKind::new("scheduling.run.ai/v2", "Queue", "queues").of_cluster().optional(),
        ApiKind::new("scheduling.run.ai/v2alpha2", "PodGroup", "podgroups").optional(),
        ApiKind::new("v1", "Pod", "pods"),
    ],
    fields: include_str!("kai.yaml"),
    draft,
};

fn draft(drafts: &mut Drafts, objects: &Objects<'_>, reading: &Reading) -> Result<(), String> {
    for queue in objects.of_kind(GROUP, "Queue") {
        entry(drafts, queue.name, || queue.origin()).read(reading, queue);
    }
    let groups = objects.of_kind(GROUP, "PodGroup").map(|group| (group.text("/spec/queue"), group.namespace));
    let pods = objects.of_kind("", "Pod").filter_map(|pod| {
        let queue = LABELS.iter().find_map(|name| pod.metadata("labels", name))?;
        Some((queue, pod.namespace))
    });
    add_namespaces(drafts, groups.chain(pods));
    Ok(())
}
