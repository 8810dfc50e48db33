//! What is wrong with queues, most severe first.

use quotient_crds::ConditionType;

use super::Status;
use crate::output::{Colour, Screen, hanging};
use crate::queues::QueueView;

/// How long a queue may be starved before that is a finding, in seconds: a reclaim takes a grace period.
const PATIENCE_SECONDS: i64 = 300;

/// The most findings that are told to people.
const MOST_TOLD: usize = 20;

/// Something about a queue that a person should read.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// The queue in words.
    pub(super) queue: String,
    pub(super) reason: String,
    pub(super) message: String,
    /// The command that says more.
    pub(super) command: String,
    /// Whether it makes the exit code 1.
    pub(super) is_serious: bool,
    /// Whether `--wait` waits for its end.
    pub(super) is_waited_for: bool,
}

impl Finding {
    pub(crate) const fn is_serious(&self) -> bool {
        self.is_serious
    }
}

/// The findings of all queues that are shown. A parent queue only repeats what its children have.
pub(crate) fn findings(status: &Status) -> Vec<Finding> {
    let mut found: Vec<Finding> = status.views.iter().flat_map(|view| of_queue(view, status)).collect();
    found.sort_by_key(|finding| !finding.is_serious);
    found
}

fn of_queue(view: &QueueView, status: &Status) -> Vec<Finding> {
    let finding = |reason: &str, message: &str| Finding {
        queue: view.name.in_words(),
        reason: reason.to_owned(),
        message: message.to_owned(),
        command: format!("explain queue/{} -n {}", view.name.name, view.name.namespace),
        is_serious: false,
        is_waited_for: false,
    };
    if let Some((reason, message)) = view.stalled() {
        let message = format!("has no share: {message}");
        return vec![Finding { is_serious: true, is_waited_for: true, ..finding(reason, &message) }];
    }
    let mut found = Vec::new();
    if let Some(starved) = view.starved(status.cluster.snapshot.now).filter(|_| !view.is_parent()) {
        let is_serious = starved.seconds.is_some_and(|seconds| seconds >= PATIENCE_SECONDS);
        let one = finding(starved.reason, starved.message);
        found.push(Finding { is_serious, is_waited_for: true, ..one });
    }
    let unusual = [(ConditionType::GuaranteeUnmeetable, "True"), (ConditionType::Ready, "False")];
    for (condition, bad) in unusual {
        found.extend(view.told(condition, bad).map(|(reason, message)| finding(reason, message)));
    }
    let is_told = !found.is_empty();
    let unmet = view.status.unmet.iter().filter(|unmet| !is_told || needs_a_person(&unmet.reason)).take(2);
    found.extend(unmet.map(|unmet| {
        let noun = if unmet.pods == 1 { "pod" } else { "pods" };
        let message = format!("{} {}: {} {noun}: {}", unmet.kind, unmet.name, unmet.pods, unmet.message);
        let command = format!(
            "explain {}/{} -n {}",
            unmet.kind.to_lowercase(),
            unmet.name.split('/').next().unwrap_or_default(),
            view.name.namespace
        );
        Finding { command, ..finding(&unmet.reason, &message) }
    }));
    found
}

/// Whether time alone does not help.
pub(crate) fn needs_a_person(reason: &str) -> bool {
    matches!(
        reason,
        "PodsRejected"
            | "UnitAboveShare"
            | "NoNodeFits"
            | "AboveLimit"
            | "RolloutNeedsRoom"
            | "ForeignQuota"
            | "GangIncomplete"
    )
}

/// A paragraph for each.
pub(super) fn lines(found: &[Finding], screen: Screen) -> Vec<String> {
    let name_width = found.iter().map(|finding| finding.queue.chars().count()).max().unwrap_or_default();
    let indent = name_width.saturating_add(4);
    let paragraph = |finding: &Finding| {
        let colour = if finding.is_serious { Colour::Alarm } else { Colour::Notice };
        let text = format!("{} See: kubectl quotient {}", ended(&finding.message), finding.command);
        let first = format!("{} {:name_width$}  ", screen.style.paint("!", colour), finding.queue);
        hanging(&first, indent, &text, screen.width)
    };
    let mut lines: Vec<String> = found.iter().take(MOST_TOLD).flat_map(paragraph).collect();
    let more = found.len().saturating_sub(MOST_TOLD);
    if more > 0 {
        lines.push(format!("{more} more findings: -o json has all of them, and so has one QUEUE at a time"));
    }
    lines
}

/// With a full stop.
fn ended(text: &str) -> String {
    if text.ends_with('.') { text.to_owned() } else { format!("{text}.") }
}
