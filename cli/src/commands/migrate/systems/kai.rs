//! Queues of KAI Scheduler.

use super::super::draft::Reading;
use super::super::fields::{Becomes, Delay, Part, Row, Unit};
use super::super::objects::Objects;
use super::super::tree::Drafts;
use super::{System, add_namespaces, entry};
use crate::source::ApiKind;

const GROUP: &str = "scheduling.run.ai";

const LABELS: [&str; 2] = ["kai.scheduler/queue", "runai/queue"];

const GPU: &str = "nvidia.com/gpu";

const LENT: Becomes = Becomes::Nothing("guaranteed amounts are always lent, and come back by eviction");

pub(super) const SYSTEM: System = System {
    name: "kai",
    signs: &LABELS,
    kinds: &[
        ApiKind::new("scheduling.run.ai/v2", "Queue", "queues").of_cluster().optional(),
        ApiKind::new("scheduling.run.ai/v2alpha2", "PodGroup", "podgroups").optional(),
        ApiKind::new("v1", "Pod", "pods"),
    ],
    rows: &[
        Row::new("Queue", "spec.resources.gpu.overQuotaWeight", Becomes::Weight),
        Row::new("Queue", "spec.resources.cpu.overQuotaWeight", Becomes::Weight),
        Row::new("Queue", "spec.resources.memory.overQuotaWeight", Becomes::Weight),
        Row::new("Queue", "spec.resources.gpu.quota", Becomes::Amount(Part::Guaranteed, GPU, Unit::Devices)),
        Row::new(
            "Queue",
            "spec.resources.cpu.quota",
            Becomes::Amount(Part::Guaranteed, "cpu", Unit::Millicpu),
        ),
        Row::new(
            "Queue",
            "spec.resources.memory.quota",
            Becomes::Amount(Part::Guaranteed, "memory", Unit::Megabytes),
        ),
        Row::new("Queue", "spec.resources.gpu.limit", Becomes::Amount(Part::Limit, GPU, Unit::Devices)),
        Row::new("Queue", "spec.resources.cpu.limit", Becomes::Amount(Part::Limit, "cpu", Unit::Millicpu)),
        Row::new(
            "Queue",
            "spec.resources.memory.limit",
            Becomes::Amount(Part::Limit, "memory", Unit::Megabytes),
        ),
        Row::new("Queue", "spec.resources.*.lendingLimit", LENT),
        Row::new("Queue", "spec.parentQueue", Becomes::Parent),
        Row::new("Queue", "spec.displayName", Becomes::Known),
        Row::new("Queue", "spec.reclaimMinRuntime", Becomes::Duration(Delay::MinRuntime)),
        Row::new(
            "Queue",
            "spec.preemptMinRuntime",
            Becomes::Nothing("no minimum time protects from preemption inside a queue"),
        ),
        Row::new("Queue", "spec.priority", Becomes::Nothing("only weights count between queues")),
    ],
    draft,
};

fn draft(objects: &Objects<'_>, reading: Reading<'_>) -> Result<Drafts, String> {
    let mut drafts = Drafts::new();
    for queue in objects.of_kind(GROUP, "Queue") {
        entry(&mut drafts, queue.name, || queue.origin()).read(reading, "Queue", queue.value, &["spec"]);
    }
    let groups = objects.of_kind(GROUP, "PodGroup").map(|group| (group.text("/spec/queue"), group.namespace));
    let pods = objects.of_kind("", "Pod").filter_map(|pod| {
        let queue = LABELS.iter().find_map(|name| pod.metadata("labels", name))?;
        Some((queue, pod.namespace))
    });
    add_namespaces(&mut drafts, groups.chain(pods));
    Ok(drafts)
}
