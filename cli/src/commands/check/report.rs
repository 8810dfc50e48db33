//! The results of all checks.

use std::time::Duration;

use serde::Serialize;

use super::Look;
use super::registry::{Check, Found, Group, Severity};
use crate::manifests::Cluster;
use crate::output::{Colour, Screen, counted, hanging, wrap};

/// The page that explains every check.
const PAGE: &str = "docs/reference/checks.md";

/// The width of the column of groups.
const GROUP_WIDTH: usize = 13;

/// The most findings of one check that are told in words.
const MOST_TOLD: usize = 3;

/// The result of one check.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Result {
    pub(crate) id: &'static str,
    group: Group,
    severity: Severity,
    /// Whether it could look.
    looked: bool,
    /// Absent if all is well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) found: Option<Found>,
    fix: &'static str,
    docs: String,
}

/// All results.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Report {
    pub(crate) results: Vec<Result>,
    ok: usize,
    errors: usize,
    warnings: usize,
    infos: usize,
    #[serde(rename = "notLookedAt")]
    not_looked_at: usize,
    /// How long the quota controller took to enforce a new quota, if that was asked for.
    #[serde(rename = "quotaLatencyMillis", skip_serializing_if = "Option::is_none")]
    quota_latency_millis: Option<u128>,
    #[serde(skip)]
    missing: Vec<String>,
}

impl Result {
    pub(super) fn of(check: &Check, look: &Look<'_>) -> Self {
        let seen = (check.look)(look);
        let found = seen.as_ref().filter(|found| !found.is_empty()).map(|found| {
            let told: Vec<&str> = found.iter().take(MOST_TOLD).map(String::as_str).collect();
            let more = found.len().saturating_sub(told.len());
            let more = if more > 0 { format!("; {more} more") } else { String::new() };
            Found { text: format!("{}{more}", told.join("; ")), count: found.len() }
        });
        Self {
            id: check.id,
            group: check.group,
            severity: check.severity,
            looked: seen.is_some(),
            found,
            fix: check.fix,
            docs: format!("{PAGE}#{}", check.id),
        }
    }
}

impl Report {
    pub(super) fn new(results: Vec<Result>, cluster: &Cluster, quota_latency: Option<Duration>) -> Self {
        let of =
            |severity| results.iter().filter(|one| one.found.is_some() && one.severity == severity).count();
        Self {
            ok: results.iter().filter(|one| one.looked && one.found.is_none()).count(),
            errors: of(Severity::Error),
            warnings: of(Severity::Warning),
            infos: of(Severity::Info),
            not_looked_at: results.iter().filter(|one| !one.looked).count(),
            quota_latency_millis: quota_latency.map(|latency| latency.as_millis()),
            missing: cluster.missing.iter().map(|missing| missing.resource.clone()).collect(),
            results,
        }
    }

    pub(super) const fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// The report for people; with every check if `is_wide`.
    pub(crate) fn text(&self, is_wide: bool, screen: Screen) -> String {
        let mut lines = Vec::new();
        for group in Group::ALL {
            lines.extend(self.of_group(group, is_wide, screen));
        }
        if !self.missing.is_empty() {
            let text = format!(
                "You may not list {}: some checks do not look, or see less.",
                self.missing.join(", ")
            );
            lines.extend(wrap(&text, screen.width));
        }
        if let Some(millis) = self.quota_latency_millis {
            lines.push(format!("The quota controller answers in {millis} ms."));
        }
        lines.push(self.summary());
        lines.push(String::new());
        lines.join("\n")
    }

    fn of_group(&self, group: Group, is_wide: bool, screen: Screen) -> Vec<String> {
        let results: Vec<&Result> = self.results.iter().filter(|one| one.group == group).collect();
        if results.is_empty() {
            return Vec::new();
        }
        let ok: Vec<&str> =
            results.iter().filter(|one| one.looked && one.found.is_none()).map(|one| one.id).collect();
        let good = screen.style.paint(screen.glyphs.good, Colour::Good);
        let mut lines = Vec::new();
        if !ok.is_empty() {
            let names = if is_wide { ok.join(", ") } else { counted(ok.len(), "check", "checks") };
            lines.extend(hanging(&format!("{good} "), 2, &names, text_width(screen)));
        }
        for result in results {
            lines.extend(result.lines(screen));
        }
        let mut title = format!("{:GROUP_WIDTH$}", group.name());
        for line in &mut lines {
            *line = format!("{title}{line}");
            title = " ".repeat(GROUP_WIDTH);
        }
        lines
    }

    fn summary(&self) -> String {
        let mut parts = vec![
            format!("{} ok", self.ok),
            counted(self.warnings, "warning", "warnings"),
            counted(self.errors, "error", "errors"),
        ];
        if self.infos > 0 {
            parts.push(counted(self.infos, "remark", "remarks"));
        }
        if self.not_looked_at > 0 {
            parts.push(format!("{} not looked at", self.not_looked_at));
        }
        parts.join(", ")
    }
}

impl Result {
    fn lines(&self, screen: Screen) -> Vec<String> {
        let Some(found) = &self.found else { return Vec::new() };
        let (glyph, colour) = match self.severity {
            Severity::Error => (screen.glyphs.bad, Colour::Alarm),
            Severity::Warning => (screen.glyphs.warning, Colour::Notice),
            Severity::Info => (screen.glyphs.dot, Colour::Faint),
        };
        let mark = screen.style.paint(glyph, colour);
        let indent = glyph.chars().count().saturating_add(1);
        let mut lines = hanging(&format!("{mark} "), indent, &found.text, text_width(screen));
        let fix = format!("fix: {} ({})", self.fix, self.docs);
        lines.extend(hanging("  ", 2, &fix, text_width(screen)));
        lines
    }
}

/// The width beside the column of groups.
const fn text_width(screen: Screen) -> usize {
    screen.width.saturating_sub(GROUP_WIDTH)
}
