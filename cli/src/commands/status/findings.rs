//! What is wrong with queues, most severe first.

use quotient_crds::{ConditionType, Unmet};
use quotient_engine::amounts::Amounts;
use quotient_engine::reasons::ShortReason;

use super::Status;
use crate::commands::explain::Target;
use crate::objects::{Kind, Object};
use crate::output::{Color, Screen, UNBROKEN, cause, counted, hanging, length, spaced};
use crate::queues::{QueueView, Remedy, Starvation, leaving};

/// How long a queue may be starved before that is a finding, in seconds: a reclaim takes a grace period.
const PATIENCE_SECONDS: i64 = 300;

/// The most findings that are listed.
const MOST_LISTED: usize = 20;

/// Something about a queue that a person should read.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// The queue in words.
    pub(super) queue: String,
    pub(super) reason: String,
    /// What is wrong, in a few words.
    text: String,
    /// The same as the operator says it.
    pub(super) message: String,
    /// The command that says more.
    pub(super) command: String,
    /// Whether it makes the exit code 1.
    pub(crate) is_serious: bool,
    /// Whether `--wait` waits for its end.
    pub(super) is_waited_for: bool,
}

/// The findings of all queues that are shown. A parent queue only repeats what its children have.
pub(crate) fn findings(status: &Status) -> Vec<Finding> {
    let mut found: Vec<Finding> = status.views.iter().flat_map(|view| of_queue(view, status)).collect();
    found.sort_by_key(|finding| !finding.is_serious);
    found
}

fn of_queue(view: &QueueView, status: &Status) -> Vec<Finding> {
    let namespace = &view.name.namespace;
    // The plugin finds a Queue by its name where it is the only one.
    let of = |name: &str| if name == namespace.as_str() { String::new() } else { format!(" -n {namespace}") };
    let finding = |reason: &str, text: String, message: &str| Finding {
        queue: view.name.in_words(),
        reason: reason.to_owned(),
        text,
        message: message.to_owned(),
        command: format!("explain queue/{}{}", view.name.name, of(&view.name.name)),
        is_serious: false,
        is_waited_for: false,
    };
    if view.is_unknown() {
        let text = "Quotient has not reported on it yet".to_owned();
        return vec![finding("Unknown", text.clone(), &text)];
    }
    if let Some((reason, message)) = view.stalled() {
        let one = finding(reason, format!("has no share: {message}"), message);
        return vec![Finding { is_serious: true, is_waited_for: true, ..one }];
    }
    let mut found = Vec::new();
    if let Some(starved) = view.starved(status.cluster.snapshot.now).filter(|_| !view.is_parent()) {
        let is_serious = starved.seconds.is_some_and(|seconds| seconds >= PATIENCE_SECONDS);
        let one = finding(starved.reason, needs(view, &starved, status), starved.message);
        found.push(Finding { is_serious, is_waited_for: true, ..one });
    }
    let unusual = [(ConditionType::GuaranteeUnmeetable, "True"), (ConditionType::Ready, "False")];
    for (condition, bad) in unusual {
        let problem = view.condition(condition, bad);
        found.extend(problem.map(|(reason, message)| finding(reason, message.to_owned(), message)));
    }
    let is_reported = !found.is_empty();
    let is_shown = |unmet: &&Unmet| !is_reported || Remedy::of(&unmet.reason) == Remedy::Person;
    let unmet = view.status.unmet.iter().filter(is_shown).take(2);
    found.extend(unmet.map(|unmet| {
        let (kind, name) = workload(unmet, namespace.as_str(), status);
        let pods = counted(unmet.pods, "pod", "pods");
        let text = format!("{kind} {name}: {pods} {}", how_they_stand(unmet));
        let of_queue = finding(&unmet.reason, text, &unmet.message);
        let target = format!("{}/{name}", short_kind(&kind));
        match Target::parse(&target) {
            Ok(_) => Finding { command: format!("explain {target} -n {namespace}"), ..of_queue },
            // A kind of another operator.
            Err(_) => of_queue,
        }
    }));
    found
}

/// `needs 3 gpu; 3 pods of ml-train are terminating (22 s of 30 s grace)`.
fn needs(view: &QueueView, starved: &Starvation<'_>, status: &Status) -> String {
    let lacking = view.deserved().less(&view.allocated());
    let lacking = match &status.selected {
        Some(selected) if lacking.get(selected).is_positive() => {
            Amounts::from_iter([(selected.clone(), lacking.get(selected))])
        }
        _ => lacking,
    };
    let leaving = match starved.reason {
        "WaitingForPreemption" => leaving(view, &status.all, &status.cluster),
        _ => None,
    };
    let why = leaving.map_or_else(|| cause(starved.message).to_owned(), |leaving| leaving.sentence());
    if lacking.is_empty() { why } else { format!("needs {}; {why}", spaced(&lacking)) }
}

/// Kind and name of the workload that people know: the Deployment rather than its ReplicaSet, if that was read.
fn workload(unmet: &Unmet, namespace: &str, status: &Status) -> (String, String) {
    let name = unmet.name.split('/').next().unwrap_or_default();
    let is_it = |object: &&Object| {
        object.kind() == Kind::ReplicaSet && object.namespace() == namespace && object.name() == name
    };
    let set = status.cluster.objects.iter().find(is_it).filter(|_| unmet.kind == "ReplicaSet");
    match set.and_then(Object::controller) {
        Some(owner) => (owner.kind.clone(), owner.name.clone()),
        None => (unmet.kind.clone(), name.to_owned()),
    }
}

/// As kubectl takes it.
fn short_kind(kind: &str) -> String {
    if kind == "Deployment" { "deploy".to_owned() } else { kind.to_lowercase() }
}

/// `rejected by the quota`; else what the message says behind "because". Pods that have room can start.
fn how_they_stand(unmet: &Unmet) -> String {
    if unmet.reason == ShortReason::PodsRejected.name() {
        let by = if unmet.message.contains("quota") { "quota" } else { "API server" };
        return format!("rejected by the {by}");
    }
    let state = if unmet.reason == ShortReason::RoomAvailable.name() { "can start" } else { "cannot start" };
    format!("{state}: {}", cause(&unmet.message))
}

/// A line for each where it fits, else a paragraph; the command that says more stands at the end.
pub(super) fn lines(found: &[Finding], screen: Screen) -> Vec<String> {
    let listed = || found.iter().take(MOST_LISTED);
    let name_width = listed().map(|finding| length(&finding.queue)).max().unwrap_or_default();
    let indent = name_width.saturating_add(4);
    let room = |finding: &Finding| {
        screen.width.saturating_sub(indent.saturating_add(length(&finding.command)).saturating_add(3))
    };
    let short = listed().filter(|finding| length(&finding.text) <= room(finding));
    let text_width = short.map(|finding| length(&finding.text)).max().unwrap_or_default();
    let mut lines: Vec<String> = Vec::new();
    for finding in listed() {
        let color = if finding.is_serious { Color::Alarm } else { Color::Notice };
        let first = format!("{} {:name_width$}  ", screen.style.paint("!", color), finding.queue);
        if length(&finding.text) <= room(finding) {
            let width = text_width.min(room(finding));
            lines.push(format!("{first}{:width$}   {}", finding.text, finding.command));
        } else {
            let command = finding.command.replace(' ', UNBROKEN);
            let text = format!("{} · {command}", finding.text);
            lines.extend(hanging(&first, indent, &text.replace('·', screen.glyphs.dot), screen.width));
        }
    }
    let more = found.len().saturating_sub(MOST_LISTED);
    if more > 0 {
        lines.push(format!("{more} more findings: -o json has all of them, and so has one QUEUE at a time"));
    }
    lines
}
