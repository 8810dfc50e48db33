//! How many random cases a law is tried on: few in every test run, many with `make laws`.

use proptest::test_runner::{Config, RngSeed};

/// Where every test run begins.
const SEED: u64 = 2026;

/// As many cases as `PROPTEST_CASES` says, else `usual`.
pub(crate) fn cases(usual: u32) -> Config {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    let cases = asked.unwrap_or(usual);
    // A test run is the same every time; what chance alone finds is looked for by `make laws` and `make histories`.
    let rng_seed = if asked.is_some() { RngSeed::Random } else { RngSeed::Fixed(SEED) };
    // Some laws are about clusters that have to be looked for.
    Config { cases, rng_seed, max_global_rejects: cases.saturating_mul(20), ..Config::default() }
}
