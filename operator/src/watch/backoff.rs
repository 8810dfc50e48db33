//! How long a failing watch waits before it is tried again.

use std::time::Duration;

use backon::ExponentialBuilder;
use quotient_engine::stable_hash;

/// The wait after the first failure.
const FIRST: Duration = Duration::from_millis(800);

/// The longest wait, before what spreads replicas and kinds.
const LONGEST: Duration = Duration::from_secs(30);

/// Doubling waits of the watch of `kind` of the replica `identity`, each up to twice as long so that not all watches of all
/// replicas come back at once.
///
/// What kube's default draws by chance comes from both names: the same failures give the same waits.
pub(super) fn watch_backoff(identity: &str, kind: &str) -> ExponentialBuilder {
    let seed = stable_hash(identity.bytes().chain([0]).chain(kind.bytes()));
    let waits = ExponentialBuilder::default().with_min_delay(FIRST).with_max_delay(LONGEST).with_factor(2.0);
    waits.without_max_times().with_jitter().with_jitter_seed(seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use backon::BackoffBuilder as _;

    #[test]
    fn waits_double_within_bounds_and_are_those_of_the_names() {
        let waits = |identity, kind| -> Vec<f64> {
            let waits = watch_backoff(identity, kind).build().take(9);
            waits.map(|wait| wait.as_secs_f64()).collect()
        };
        let of_pods = waits("a", "pods");
        for (number, wait) in of_pods.iter().enumerate() {
            let least = (0.8 * f64::from(1 << number)).min(30.0);
            assert!((least..2.0 * least).contains(wait), "{of_pods:?}");
        }
        assert_eq!(of_pods, waits("a", "pods"));
        assert_ne!(of_pods, waits("b", "pods"));
        assert_ne!(of_pods, waits("a", "nodes"));
    }
}
