//! What a replay shows.

use std::collections::{BTreeMap, BTreeSet};

use quotient_engine::amounts::Amounts;
use quotient_engine::names::QueueName;
use quotient_engine::plan::{PassedOver, Plan};
use quotient_operator::decisions::Evicted;

use super::Replay;
use crate::commands::simulate::{PassedOverReport, pod_name, stalled_only_in};
use crate::output::{Cell, Screen, counted, joined, list, listing, quantities, report, time_text};

report! {
    /// A replay for programs. A stable interface; fields are only added.
    pub(crate) struct ReplayText(replay: &Replay) {
        number: u64 = replay.decision.number,
        version: String = replay.decision.version.clone(),
        /// Whether the plan is the recorded one, byte for byte.
        identical: bool = replay.is_identical,
        evictions: Vec<EvictionText> = replay.decision.evictions.iter().map(EvictionText::of).collect(),
        /// Candidates that a rule kept.
        kept: Vec<PassedOverReport> = replay.plan.passed_over.iter().map(PassedOverReport::of).collect(),
        #[serde(skip_serializing_if = "Option::is_none")]
        alternative: Option<AlternativeText> =
            replay.alternative.as_ref().map(|(with, plan)| AlternativeText::of(with, &replay.plan, plan)),
    }

    struct EvictionText(evicted: &Evicted) {
        pod: String = evicted.pod.clone(),
        queue: String = evicted.queue.clone(),
        #[serde(skip_serializing_if = "Option::is_none")]
        beneficiary: Option<String> = evicted.beneficiary.clone(),
        reason: String = evicted.reason.clone(),
        #[serde(skip_serializing_if = "Option::is_none")]
        rank: Option<u32> = evicted.rank,
        /// What the API server said.
        #[serde(skip_serializing_if = "Option::is_none")]
        answer: Option<String> = evicted.answer.clone(),
    }

    /// What had been decided.
    struct AlternativeText(with: &[String], plan: &Plan, other: &Plan) {
        with: Vec<String> = with.to_vec(),
        /// Pods that had not been evicted.
        spared: Vec<String> = pods(plan).difference(&pods(other)).cloned().collect(),
        /// Pods that had been evicted besides.
        added: Vec<String> = pods(other).difference(&pods(plan)).cloned().collect(),
        /// The deserved shares that differ.
        deserved: BTreeMap<String, BTreeMap<String, String>> = {
            let shares = other_shares(plan, other);
            shares.map(|(name, _, deserved)| (name.to_string(), quantities(deserved, &other.resources))).collect()
        },
        /// The Queues that had had no share, and why.
        stalled: Vec<String> = stalled_only_in(plan, other),
    }
}

/// The deserved shares that differ in `other`: before, none for a new queue, and there.
fn other_shares<'p>(
    plan: &'p Plan,
    other: &'p Plan,
) -> impl Iterator<Item = (&'p QueueName, Option<&'p Amounts>, &'p Amounts)> {
    let both = other
        .queues
        .iter()
        .map(|(name, queue)| (name, plan.queues.get(name).map(|queue| &queue.deserved), &queue.deserved));
    both.filter(|(_, before, deserved)| *before != Some(*deserved))
}

impl Replay {
    /// The replay for people.
    pub(crate) fn table(&self, screen: Screen) -> String {
        let report = ReplayText::of(self);
        let mut lines = vec![format!(
            "Decision {} of {} by Quotient {}: {}. {}",
            report.number,
            time_text(self.decision.as_of()),
            report.version,
            counted(report.evictions.len(), "pod to evict", "pods to evict"),
            if report.identical {
                "Computed again, it is the same plan, byte for byte."
            } else {
                "Computed again, it is another plan."
            }
        )];
        let rows = report.evictions.iter().map(|evicted| {
            vec![
                Cell::from(&evicted.pod),
                Cell::from(&evicted.queue),
                Cell::from(evicted.beneficiary.as_deref().unwrap_or("-")),
                Cell::from(&evicted.reason),
                Cell::from(evicted.rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string())).right(),
                Cell::from(evicted.answer.as_deref().unwrap_or("-")),
            ]
        });
        let names = ["POD", "QUEUE", "FOR", "REASON", "RANK", "ANSWER"];
        lines.extend(listing(&names, rows, screen.style));
        let kept = &self.plan.passed_over;
        if !kept.is_empty() {
            let cells =
                |kept: &PassedOver| [pod_name(&kept.pod), kept.queue.to_string(), kept.reason.to_string()];
            let rows = kept.iter().map(|kept| cells(kept).map(Cell::from).to_vec());
            lines.extend(listing(&["KEPT", "QUEUE", "REASON"], rows, screen.style));
        }
        if let (Some(compared), Some((_, plan))) = (&report.alternative, &self.alternative) {
            lines.extend(self.had_we(compared, plan));
        }
        joined(lines)
    }

    fn had_we(&self, compared: &AlternativeText, plan: &Plan) -> Vec<String> {
        let named = |pods: &[String]| if pods.is_empty() { "none".to_owned() } else { list(pods) };
        let mut lines = vec![
            format!("With {}:", list(&compared.with)),
            format!("  not evicted: {}", named(&compared.spared)),
            format!("  evicted besides: {}", named(&compared.added)),
        ];
        lines.extend(other_shares(&self.plan, plan).map(|(name, before, deserved)| {
            let before = before.map_or_else(|| "-".to_owned(), Amounts::compact);
            format!("  queue {name} deserves {}, not {before}", deserved.compact())
        }));
        lines.extend(compared.stalled.iter().map(|queue| format!("  queue without a share: {queue}")));
        lines
    }
}

fn pods(plan: &Plan) -> BTreeSet<String> {
    plan.evictions.iter().map(|eviction| pod_name(&eviction.pod)).collect()
}
