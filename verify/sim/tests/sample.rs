//! A small campaign in every test run: some of all perturbations, the same ones every time, and all that have names.

use quotient_sim::campaign::{Campaign, Family, Summary, named, workloads};

/// How many. All of them are played by `make faults`.
const SAMPLE: usize = 500;

fn assert_clean(summary: &Summary) {
    let failures: Vec<String> = summary.failures.iter().map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{summary}\n{}", failures.join("\n"));
}

#[test]
fn no_fault_breaks_a_promise() {
    let campaign = Campaign::new(workloads::all(), &Family::all(), 1, 60);
    let mut campaign = campaign.unwrap_or_else(|failure| panic!("{}: {:#?}", failure.id, failure.findings));
    campaign.sample(SAMPLE);
    let summary = campaign.run(2, &|_, _| {});
    assert_clean(&summary);
    assert_eq!(summary.played, SAMPLE);
}

#[test]
fn no_perturbation_that_has_a_name_breaks_a_promise() {
    let campaign = Campaign::new(Vec::new(), &[], 1, 0);
    let campaign = campaign.unwrap_or_else(|failure| panic!("{}", failure.id)).with_named(&named::all(), 1);
    let summary = campaign.run(2, &|_, _| {});
    assert_clean(&summary);
    assert_eq!(summary.played, campaign.len());
}

/// P01 to P81, each played here or by tests that are there.
#[test]
fn every_name_is_played() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let all = named::all();
    let names: Vec<&str> = all.iter().map(|named| named.name).collect();
    assert_eq!(names, (1..=81).map(|number| format!("P{number:02}")).collect::<Vec<_>>());
    for named in &all {
        assert!(!named.plays().is_empty() || !named.tests.is_empty(), "{} is played nowhere", named.name);
        for test in named.tests {
            let (file, function) = test.split_once(": ").unwrap_or((test, ""));
            let text = std::fs::read_to_string(format!("{root}/{file}"));
            let text = text.unwrap_or_else(|error| panic!("{}: {file}: {error}", named.name));
            assert!(text.contains(&format!("fn {function}(")), "{}: there is no {test}", named.name);
        }
    }
}

#[test]
fn the_page_shows_every_name() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/evidence/faults.md");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        page.contains(&named::markdown()),
        "`faults --named` prints the table for docs/evidence/faults.md"
    );
}
