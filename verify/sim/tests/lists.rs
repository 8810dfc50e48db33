//! Lists that lie, in the middle of a run, until the next one says how things are.

use std::time::Duration;

use quotient_sim::faults::OperatorOptions;
use quotient_sim::faults::{Act, Fault, Match, WatchWhat, What};
use quotient_sim::objects::Kind;
use quotient_sim::scenario::workload;
use quotient_sim::trace::Verb;

use super::{differences, settle, world_of};

/// When the list lies, and when the next one does not.
const LIE: Duration = Duration::from_secs(45);
const TRUTH: Duration = Duration::from_secs(130);

/// The newcomer's scenario, in which one list of `kind` lies. What is wrong in the end.
fn execution(kind: Kind, what: &What) -> Vec<String> {
    let list = Match { from: LIE, ..Match::requests(Verb::List, kind) };
    let workload = workload::newcomer();
    let mut world =
        world_of(&workload, 11, [OperatorOptions::default().fault(Fault::on(list, what.clone()))]);
    for time in [LIE, TRUTH] {
        world.at(time, Act::Watch { operator: 0, kind, what: WatchWhat::Gone });
    }
    world.run_for(TRUTH + Duration::from_secs(1));
    let mut wrong = settle(&workload, &mut world);
    // While nodes are not seen nothing guards the shares: it settles, and not always in the same state.
    if kind != Kind::Node {
        wrong.extend(differences(&workload, &world));
    }
    wrong.iter().map(|wrong| format!("{kind:?} {what}: {wrong}")).collect()
}

#[test]
fn one_list_that_lies_is_forgotten_with_the_next() {
    let mut wrong = Vec::new();
    for kind in [Kind::Pod, Kind::Node, Kind::ResourceQuota, Kind::Queue, Kind::Job] {
        for what in [What::EmptyList, What::PartialList, What::StaleList(30)] {
            wrong.extend(execution(kind, &what));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
