//! Queues of Volcano.

use super::{Drafts, Objects, Reading, System, add_namespaces, entry};
use crate::objects::ApiKind;

const GROUP: &str = "scheduling.volcano.sh";

/// The queue above all others.
const ROOT: &str = "root";

/// The queue of what names none.
const DEFAULT: &str = "default";

const QUEUE_NAME: &str = "scheduling.volcano.sh/queue-name";

const ANNOTATIONS: [&str; 2] = [QUEUE_NAME, "volcano.sh/queue-name"];

pub(super) const SYSTEM: System = System {
    name: "volcano",
    signs: &[QUEUE_NAME],
    kinds: &[
        ApiKind::new("scheduling.volcano.sh/v1beta1", "Queue", "queues").of_cluster().optional(),
        ApiKind::new("scheduling.volcano.sh/v1beta1", "PodGroup", "podgroups").optional(),
        ApiKind::new("batch.volcano.sh/v1alpha1", "Job", "jobs").optional(),
        ApiKind::new("v1", "Pod", "pods"),
    ],
    fields: include_str!("volcano.yaml"),
    draft,
};

fn draft(drafts: &mut Drafts, objects: &Objects<'_>, reading: &Reading) -> Result<(), String> {
    let (roots, queues): (Vec<_>, Vec<_>) =
        objects.of_kind(GROUP, "Queue").partition(|queue| queue.name == ROOT);
    for queue in queues {
        let draft = entry(drafts, queue.name, || queue.origin());
        draft.read(reading, queue);
        draft.parent.take_if(|parent| parent == ROOT);
    }
    let groups = objects.of_kind(GROUP, "PodGroup").chain(objects.of_kind("batch.volcano.sh", "Job"));
    let users = groups.map(|group| (or_default(group.text("/spec/queue")), group.namespace));
    let pods = objects.of_kind("", "Pod").filter_map(|pod| {
        let queue = ANNOTATIONS.iter().find_map(|name| pod.metadata("annotations", name))?;
        Some((queue, pod.namespace))
    });
    add_namespaces(drafts, users.chain(pods));
    // Volcano creates it everywhere, and often nothing uses it.
    if drafts.get(DEFAULT).is_some_and(|draft| draft.namespaces.is_empty()) && drafts.len() > 1 {
        drafts.remove(DEFAULT);
    }
    // It is the whole cluster, so what it says is reported with the first queue.
    if let Some(first) = drafts.values_mut().next() {
        for root in roots {
            first.read_as(reading, ROOT, &root.origin(), root.value, &["spec"]);
        }
    }
    Ok(())
}

const fn or_default(queue: &str) -> &str {
    if queue.is_empty() { DEFAULT } else { queue }
}
