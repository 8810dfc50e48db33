//! The pods of the cluster: small in what they request, of ordinary size as objects.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{EnvVar, Pod};

use super::ClusterSize;
use crate::bench::speed::NodeGroup;
use crate::testbed::objects;

/// Variables of the environment, about 1 kB of them: what a pod of a real service has.
const VARIABLES: usize = 12;
/// Annotations, about 1 kB of them.
const ANNOTATIONS: usize = 6;

/// The namespace of a team.
pub(super) fn namespace_of(team: u32) -> String {
    format!("team-{team:04}")
}

/// Pod `number`: already bound, so that filling the cluster takes no scheduler. Neighbors in number are of different
/// teams and on different nodes.
///
/// It has no owner: the garbage collector would remove a pod whose owner is not there.
pub(super) fn pod(size: ClusterSize, number: u32) -> Pod {
    let namespace = namespace_of(number.checked_rem(size.queues).unwrap_or_default());
    let name = format!("recommender-7d9c6b5f8d-{number:06}");
    let mut pod = objects::pod(&namespace, &name, &[("cpu", "1"), ("memory", "4Gi")]);
    // Differs from pod to pod, as addresses and hashes do.
    let text = format!("{number:08x}");
    pod.metadata.labels = Some(labels(&text));
    pod.metadata.annotations = Some(
        (0..ANNOTATIONS).map(|index| (format!("example.com/annotation-{index}"), text.repeat(18))).collect(),
    );
    if let Some(spec) = &mut pod.spec {
        spec.node_name = Some(NodeGroup::name(number.checked_rem(size.nodes).unwrap_or_default()));
        for container in &mut spec.containers {
            let variables = (0..VARIABLES).map(|index| EnvVar {
                name: format!("SERVICE_SETTING_{index}"),
                value: Some(text.repeat(6)),
                ..EnvVar::default()
            });
            container.env = Some(variables.collect());
        }
    }
    pod
}

fn labels(hash: &str) -> BTreeMap<String, String> {
    let labels =
        [("app.kubernetes.io/name", "recommender"), ("app.kubernetes.io/part-of", "shop"), ("hash", hash)];
    labels.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn teams_and_nodes_get_as_many_each() {
        let size = ClusterSize { nodes: 4, queues: 2, pods: 8 };
        let pods: Vec<Pod> = (0..size.pods).map(|number| pod(size, number)).collect();
        let of_team =
            |team| pods.iter().filter(|pod| pod.metadata.namespace == Some(namespace_of(team))).count();
        let on_node = |number| {
            let name = Some(NodeGroup::name(number));
            pods.iter().filter(|pod| pod.spec.as_ref().unwrap().node_name == name).count()
        };
        assert_eq!([of_team(0), of_team(1)], [4, 4]);
        assert_eq!([0, 1, 2, 3].map(on_node), [2, 2, 2, 2]);
    }

    #[test]
    fn environment_and_annotations_make_two_kilobytes() {
        let size = ClusterSize { nodes: 4, queues: 2, pods: 8 };
        let with = pod(size, 7);
        let without =
            objects::pod("team-0001", "recommender-7d9c6b5f8d-000007", &[("cpu", "1"), ("memory", "4Gi")]);
        let bytes = |pod: &Pod| serde_json::to_vec(pod).unwrap().len();
        let added = bytes(&with) - bytes(&without);
        assert!((2000..2500).contains(&added), "{added}");
    }
}
