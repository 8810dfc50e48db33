//! A small campaign in every test run: some of all perturbations, the same ones every time, and all that have names.

use quotient_sim::campaign::{Campaign, Case, Family, named, workloads};

/// How many. All of them are played by `make faults`.
const SAMPLE: usize = 500;

/// Plays the campaign that `change` makes of one of these workloads and families; none of it may do harm.
fn play(cases: Vec<Case>, families: &[Family], change: impl FnOnce(Campaign) -> Campaign) {
    let campaign = Campaign::new(cases, families, 1, 60).unwrap_or_else(|failure| panic!("{failure}"));
    let campaign = change(campaign);
    let summary = campaign.run(2, &|_, _| {});
    let failures: Vec<String> = summary.failures.iter().map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{summary}\n{}", failures.join("\n"));
    assert_eq!(summary.played, campaign.len());
}

#[test]
fn no_fault_breaks_a_promise() {
    play(workloads::all(), &Family::all(), |mut campaign| {
        campaign.sample(SAMPLE);
        campaign
    });
}

/// Of the newcomer's scenario every write meets the faults after which it is not known what became of it.
#[test]
fn no_write_of_the_newcomer_is_lost_or_done_twice() {
    use Family::{Code, CrashAfter, CrashBefore, Late, ReplyError, ReplyLost, Reset};
    let families = [CrashBefore, CrashAfter, ReplyLost, ReplyError, Reset, Code(503), Late];
    play(vec![workloads::named("newcomer").unwrap()], &families, |campaign| campaign);
}

#[test]
fn no_perturbation_that_has_a_name_breaks_a_promise() {
    play(Vec::new(), &[], |campaign| campaign.with_named(&named::all(), 1));
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
