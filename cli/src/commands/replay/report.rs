//! What a replay shows.

use std::collections::{BTreeMap, BTreeSet};

use quotient_engine::plan::Plan;
use quotient_operator::decisions::Evicted;
use serde::Serialize;

use super::Replay;
use crate::output::{Cell, Screen, columns, counted, quantities, time_text, titles};

/// A replay for programs. A stable interface; fields are only added.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReplayText {
    number: u64,
    version: String,
    /// Whether the plan is the recorded one, byte for byte.
    identical: bool,
    evictions: Vec<EvictionText>,
    /// Candidates that a rule kept.
    kept: Vec<KeptText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alternative: Option<AlternativeText>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct EvictionText {
    pod: String,
    queue: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    beneficiary: Option<String>,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<u32>,
    /// What the API server said.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct KeptText {
    pod: String,
    queue: String,
    reason: String,
}

/// What had been decided.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct AlternativeText {
    with: Vec<String>,
    /// Pods that had not been evicted.
    spared: Vec<String>,
    /// Pods that had been evicted besides.
    added: Vec<String>,
    /// The deserved shares that differ.
    deserved: BTreeMap<String, BTreeMap<String, String>>,
}

impl Replay {
    pub(crate) fn report(&self) -> ReplayText {
        let evictions = self.decision.evictions.iter().cloned().map(|evicted| {
            let Evicted { pod, queue, beneficiary, reason, rank, answer, .. } = evicted;
            EvictionText { pod, queue, beneficiary, reason, rank, answer }
        });
        let kept = self.plan.passed_over.iter().map(|kept| KeptText {
            pod: format!("{}/{}", kept.pod.namespace, kept.pod.name),
            queue: kept.queue.to_string(),
            reason: kept.reason.to_string(),
        });
        ReplayText {
            number: self.decision.number,
            version: self.decision.version.clone(),
            identical: self.is_identical,
            evictions: evictions.collect(),
            kept: kept.collect(),
            alternative: self.alternative.as_ref().map(|(with, plan)| self.compared(with, plan)),
        }
    }

    fn compared(&self, with: &[String], plan: &Plan) -> AlternativeText {
        let (is, had_been) = (pods(&self.plan), pods(plan));
        let other = plan.queues.iter().filter(|(name, queue)| {
            self.plan.queues.get(name).is_none_or(|known| known.deserved != queue.deserved)
        });
        AlternativeText {
            with: with.to_vec(),
            spared: is.difference(&had_been).cloned().collect(),
            added: had_been.difference(&is).cloned().collect(),
            deserved: other
                .map(|(name, queue)| (name.to_string(), quantities(&queue.deserved, &plan.resources)))
                .collect(),
        }
    }

    /// The replay for people.
    pub(crate) fn table(&self, screen: Screen) -> String {
        let report = self.report();
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
        let mut rows = vec![titles(&["POD", "QUEUE", "FOR", "REASON", "RANK", "ANSWER"])];
        rows.extend(report.evictions.iter().map(|evicted| {
            vec![
                Cell::from(&evicted.pod),
                Cell::from(&evicted.queue),
                Cell::from(evicted.beneficiary.as_deref().unwrap_or("-")),
                Cell::from(&evicted.reason),
                Cell::from(evicted.rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string())).right(),
                Cell::from(evicted.answer.as_deref().unwrap_or("-")),
            ]
        }));
        lines.extend(columns(&rows, screen.style));
        if !report.kept.is_empty() {
            let mut rows = vec![titles(&["KEPT", "QUEUE", "REASON"])];
            rows.extend(
                report.kept.iter().map(|kept| {
                    vec![Cell::from(&kept.pod), Cell::from(&kept.queue), Cell::from(&kept.reason)]
                }),
            );
            lines.extend(columns(&rows, screen.style));
        }
        if let (Some(compared), Some((_, plan))) = (&report.alternative, &self.alternative) {
            lines.extend(self.had_we(compared, plan));
        }
        lines.push(String::new());
        lines.join("\n")
    }

    fn had_we(&self, compared: &AlternativeText, plan: &Plan) -> Vec<String> {
        let list = |pods: &[String]| if pods.is_empty() { "none".to_owned() } else { pods.join(", ") };
        let mut lines = vec![
            format!("With {}:", compared.with.join(", ")),
            format!("  not evicted: {}", list(&compared.spared)),
            format!("  evicted besides: {}", list(&compared.added)),
        ];
        for (name, queue) in &plan.queues {
            let known = self.plan.queues.get(name).map(|known| &known.deserved);
            if known != Some(&queue.deserved) {
                let before = known.map_or_else(|| "-".to_owned(), quotient_engine::amounts::Amounts::compact);
                lines.push(format!("  queue {name} deserves {}, not {before}", queue.deserved.compact()));
            }
        }
        lines
    }
}

fn pods(plan: &Plan) -> BTreeSet<String> {
    plan.evictions
        .iter()
        .map(|eviction| format!("{}/{}", eviction.pod.namespace, eviction.pod.name))
        .collect()
}
