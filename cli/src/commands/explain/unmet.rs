//! What the Queue reports of pods that cannot start, and what ends that.

use quotient_crds::Unmet;
use quotient_engine::reasons::ShortReason;

use super::context::Context;
use crate::output::{Explanation, counted, duration, only, spaced};
use crate::queues::{Leaving, QueueView, Remedy, leaving};

/// What comes next where only a person helps.
pub(super) const CHANGE_SOMETHING: &str = "The pods do not start until you change something.";

/// What comes next where time alone helps.
pub(super) const NOTHING_TO_DO: &str = "Nothing to do: the pods start by themselves.";

/// Between the end of the pods and the start of new ones, in seconds: a quota rises, and a controller tries again.
const OVERHEAD: i64 = 3;

/// Adds a line for each of `unmet`, and what comes next.
pub(super) fn add(explanation: &mut Explanation, context: &Context<'_>, unmet: &[&Unmet]) {
    let (Some(first), Some(view)) = (unmet.first(), context.queue()) else { return };
    let leaving = leaving(view, &context.views, context.cluster);
    let leaving_for =
        |one: &Unmet| leaving.as_ref().filter(|_| one.reason == ShortReason::WaitingForPreemption.name());
    for one in unmet {
        explanation.step(if let Some(leaving) = leaving_for(one) {
            reclaimed(view, leaving)
        } else {
            let pods = counted(one.pods, "pod", "pods");
            format!("{pods} of {} {}: {}", one.kind, one.name, one.message)
        });
    }
    explanation.reason.get_or_insert_with(|| first.reason.clone());
    let remedy = unmet.iter().map(|one| Remedy::of(&one.reason)).max().unwrap_or(Remedy::Time);
    explanation.needs_a_person |= remedy == Remedy::Person;
    explanation.next = Some(match (remedy, leaving_for(first).and_then(Leaving::seconds_left)) {
        (Remedy::Person, _) => CHANGE_SOMETHING.to_owned(),
        (Remedy::PerhapsAPerson, _) => "Time alone may not be enough: see above what helps.".to_owned(),
        (Remedy::Time, Some(seconds)) => {
            let seconds = duration(seconds.saturating_add(OVERHEAD));
            format!("Expected to start within {seconds}. Nothing to do.")
        }
        (Remedy::Time, None) => NOTHING_TO_DO.to_owned(),
    });
}

/// `deserves 10 cpu: 2 cpu are being reclaimed from batch (2 pods terminating, 18 s of 30 s)`.
fn reclaimed(view: &QueueView, leaving: &Leaving) -> String {
    let lacking = view.deserved().less(&view.allocated());
    if lacking.is_empty() {
        // It has its share, but not where its pods can use it.
        return leaving.sentence();
    }
    let (deserved, lacking) = (spaced(&only(&view.deserved(), &lacking)), spaced(&lacking));
    let (from, pods) = (leaving.from(), leaving.short());
    format!("deserves {deserved}: {lacking} are being reclaimed from {from} ({pods})")
}
