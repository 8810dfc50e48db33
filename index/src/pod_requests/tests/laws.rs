//! What holds for every pod.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::pod_requests::{Container, InitContainer, Observed, PodRequests};
use quotient_snapshot::amounts::{Amount, Amounts, Bounds, Resource};

fn resources() -> impl Strategy<Value = Resource> {
    prop::sample::select(vec!["cpu", "memory", "hugepages-2Mi", "nvidia.com/gpu"])
        .prop_map(Resource::from_name)
}

fn pairs() -> impl Strategy<Value = Vec<(Resource, Amount)>> {
    vec((resources(), (0..20_i128).prop_map(Amount::new)), 0..4)
}

fn amounts() -> impl Strategy<Value = Amounts> {
    pairs().prop_map(Amounts::from_iter)
}

fn containers() -> impl Strategy<Value = Container> {
    let observed = (amounts(), amounts()).prop_map(|(actual, allocated)| Observed { actual, allocated });
    (amounts(), option::of(observed)).prop_map(|(requests, observed)| Container { requests, observed })
}

fn init_containers() -> impl Strategy<Value = InitContainer> {
    prop_oneof![amounts().prop_map(InitContainer::Step), containers().prop_map(InitContainer::Sidecar)]
}

/// Pods that request nothing as a whole.
fn pods() -> impl Strategy<Value = PodRequests> {
    (vec(containers(), 0..4), vec(init_containers(), 0..4), amounts(), any::<bool>()).prop_map(
        |(containers, init_containers, overhead, resize_infeasible)| PodRequests {
            containers,
            init_containers,
            pod_level: Bounds::new(),
            overhead,
            resize_infeasible,
        },
    )
}

/// What each container counts on its own.
fn single(pod: &PodRequests) -> impl Iterator<Item = Amounts> {
    let alone = |containers, init_containers| {
        PodRequests {
            containers,
            init_containers,
            resize_infeasible: pod.resize_infeasible,
            ..Default::default()
        }
        .effective()
    };
    let ordinary = pod.containers.iter().map(move |container| alone(vec![container.clone()], vec![]));
    ordinary.chain(pod.init_containers.iter().map(move |init| alone(vec![], vec![init.clone()])))
}

/// Per resource, the largest sum over the phases of the pod's life: each start, then the run.
fn by_phases(pod: &PodRequests) -> Amounts {
    let own: Vec<Amounts> = single(pod).collect();
    let (ordinary, init) = own.split_at(pod.containers.len());
    let stays = |at: usize| matches!(pod.init_containers[at], InitContainer::Sidecar(_));
    let phase = |end: usize, rest: &[Amounts]| {
        let sidecars = (0..end).filter(|at| stays(*at)).map(|at| &init[at]);
        sidecars.chain(rest).fold(Amounts::new(), |mut sum, amounts| {
            sum.add_all(amounts);
            sum
        })
    };
    let starts = (0..init.len()).map(|at| phase(at, &init[at..=at]));
    let mut most = starts.fold(phase(init.len(), ordinary), |most, start| most.max(&start));
    most.add_all(&pod.overhead);
    most
}

proptest! {
    #[test]
    fn a_pod_is_charged_its_most_demanding_phase(pod in pods()) {
        prop_assert_eq!(pod.effective(), by_phases(&pod));
    }

    #[test]
    fn the_pod_level_is_all_that_counts_for_what_it_names(pod in pods(), level in pairs()) {
        let level: Bounds = level.into_iter().collect();
        let plain = pod.effective();
        let overhead = pod.overhead.clone();
        let effective = PodRequests { pod_level: level.clone(), ..pod }.effective();
        for name in ["cpu", "memory", "hugepages-2Mi", "nvidia.com/gpu"] {
            let resource = Resource::from_name(name);
            let expected = match level.get(&resource) {
                Some(amount) if name != "nvidia.com/gpu" => amount + overhead.get(&resource),
                _ => plain.get(&resource),
            };
            prop_assert_eq!(effective.get(&resource), expected, "{}", name);
        }
    }
}
