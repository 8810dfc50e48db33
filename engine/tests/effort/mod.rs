//! How many random cases a law is tried on: few in every test run, many with `make laws`.

use proptest::test_runner::Config;

/// As many cases as `PROPTEST_CASES` says, else `usual`.
pub(crate) fn cases(usual: u32) -> Config {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    let cases = asked.unwrap_or(usual);
    // Some laws are about clusters that have to be looked for.
    Config { cases, max_global_rejects: cases.saturating_mul(20), ..Config::default() }
}
