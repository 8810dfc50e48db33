//! Pods and what they are charged.
//!
//! All of them were also put to `PodRequests` of component-helpers 0.36.3, and agreed.

use super::scenario::pod;

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(pod(text).effective().to_string(), expected);
}

#[test]
fn nothing_requests_nothing() {
    check("", "nothing");
    check("container", "nothing");
}

#[test]
fn containers_add_up() {
    check(
        "container cpu 1, memory 1Gi
         container cpu 500m, nvidia.com/gpu 1",
        "cpu 1500m, memory 1Gi, nvidia.com/gpu 1",
    );
}

#[test]
fn a_step_counts_when_it_needs_more_than_all_that_runs() {
    check("container cpu 1\n init cpu 2", "cpu 2");
    check("container cpu 3\n init cpu 2", "cpu 3");
    check("container cpu 1\n init cpu 2\n init cpu 3\n init cpu 1", "cpu 3");
    check("container cpu 1, memory 4Gi\n init cpu 2, memory 1Gi", "cpu 2, memory 4Gi");
    check("init cpu 2", "cpu 2");
}

#[test]
fn a_step_runs_beside_the_sidecars_before_it() {
    check("container cpu 1\n sidecar cpu 500m\n init cpu 2", "cpu 2500m");
    check("container cpu 1\n init cpu 2\n sidecar cpu 500m", "cpu 2");
    check("container cpu 1\n sidecar cpu 500m\n init cpu 2\n sidecar cpu 250m", "cpu 2500m");
    check("container cpu 1\n sidecar cpu 500m\n sidecar cpu 250m\n init cpu 2", "cpu 2750m");
    check("container cpu 2\n sidecar cpu 500m\n init cpu 2\n sidecar cpu 250m", "cpu 2750m");
}

#[test]
fn sidecars_run_beside_the_containers() {
    check("container cpu 1\n sidecar cpu 500m\n sidecar cpu 250m", "cpu 1750m");
    check("sidecar cpu 500m", "cpu 500m");
}

#[test]
fn extended_resources_take_the_larger_of_start_and_run() {
    check("container nvidia.com/gpu 1\n init nvidia.com/gpu 4", "nvidia.com/gpu 4");
    check(
        "container nvidia.com/gpu 1\n sidecar nvidia.com/gpu 1\n init nvidia.com/gpu 4",
        "nvidia.com/gpu 5",
    );
    check("container cpu 1\n init nvidia.com/gpu 4", "cpu 1, nvidia.com/gpu 4");
}

#[test]
fn the_pod_level_replaces_and_the_overhead_is_added() {
    check("container cpu 1\n container cpu 1\n pod-level cpu 3\n overhead cpu 250m", "cpu 3250m");
    check("container cpu 1\n overhead cpu 250m, memory 100Mi", "cpu 1250m, memory 100Mi");
    // Replaced, not the larger of both. Validation refuses such a pod, a resize can make one.
    check("container cpu 4, memory 1Gi\n pod-level cpu 3", "cpu 3, memory 1Gi");
    check("container cpu 4\n init cpu 9\n pod-level cpu 3", "cpu 3");
    check("container cpu 4\n pod-level cpu 0\n overhead memory 1Mi", "memory 1Mi");
    check("pod-level cpu 3, memory 2Gi", "cpu 3, memory 2Gi");
}

#[test]
fn the_pod_level_knows_cpu_memory_and_huge_pages_only() {
    check("container hugepages-2Mi 2Mi\n pod-level hugepages-2Mi 8Mi", "hugepages-2Mi 8388608");
    check("container nvidia.com/gpu 1\n pod-level nvidia.com/gpu 8, cpu 1", "cpu 1, nvidia.com/gpu 1");
    check("container ephemeral-storage 1\n pod-level ephemeral-storage 8", "ephemeral-storage 1");
}

#[test]
fn a_resize_down_counts_when_it_has_happened() {
    check("container cpu 1 has cpu 2 allocated cpu 2", "cpu 2");
    check("container cpu 1 has cpu 2 allocated cpu 1", "cpu 2");
    check("container cpu 1 has cpu 1 allocated cpu 1", "cpu 1");
    check("sidecar cpu 1 has cpu 2 allocated cpu 2\n init cpu 1", "cpu 3");
}

#[test]
fn a_resize_up_counts_when_it_is_asked_for() {
    check("container cpu 4 has cpu 1 allocated cpu 1", "cpu 4");
    check(
        "container cpu 1, memory 2Gi has cpu 2, memory 1Gi allocated cpu 1, memory 3Gi",
        "cpu 2, memory 3Gi",
    );
}

#[test]
fn a_resize_that_can_never_be_does_not_count() {
    check("infeasible\n container cpu 4 has cpu 1 allocated cpu 1", "cpu 1");
    check("infeasible\n container cpu 4 has cpu 1 allocated cpu 2", "cpu 2");
    check("infeasible\n container cpu 4 has cpu 1", "cpu 1");
    check("infeasible\n sidecar cpu 4 has cpu 1 allocated cpu 1\n container cpu 1", "cpu 2");
    // Of a container without a status, the spec is all there is; so it is of a step and of the pod level.
    check("infeasible\n container cpu 4", "cpu 4");
    check("infeasible\n init cpu 4\n container cpu 2 has cpu 1", "cpu 4");
    check("infeasible\n container cpu 4 has cpu 1\n pod-level cpu 5", "cpu 5");
}
