//! How many random cases a law is tried on: few in every test run, many with `make laws`.
//!
//! A test run is the same every time: `.cargo/config.toml` says where chance begins. What chance alone finds is looked for
//! by `make laws` and `make histories`, which begin anywhere.

use proptest::test_runner::Config;

/// As many cases as `PROPTEST_CASES` says, else `usual`.
pub(crate) fn cases(usual: u32) -> Config {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    let cases = asked.unwrap_or(usual);
    // Some laws are about clusters that have to be looked for.
    Config { cases, max_global_rejects: cases.saturating_mul(40), ..Config::default() }
}
