//! The laws of histories in which nodes shrink and are drained, users end pods, and specs change in every way: modes, pauses,
//! parents, rules of eviction.

use proptest::prelude::*;

use crate::effort;
use crate::histories::play;
use crate::history::history_with_interventions;

proptest! {
    #![proptest_config(effort::cases(200))]

    #[test]
    fn every_history_with_interventions_keeps_the_laws_and_comes_to_rest(history in history_with_interventions()) {
        play(history)?;
    }
}
