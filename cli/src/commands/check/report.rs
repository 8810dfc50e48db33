//! The results of all checks.

use serde::Serialize;

use super::CheckContext;
use super::finding::{Check, Found, Group, Severity};
use crate::output::{Cell, Color, Screen, columns, counted, hanging, joined, length, list, wrap};

/// The page that explains every check.
const PAGE: &str = "docs/reference/checks.md";

/// The width of the column of groups.
const GROUP_WIDTH: usize = 13;

/// How many of the checks that find nothing stand side by side.
const SIDE_BY_SIDE: usize = 3;

/// The result of one check.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Result {
    pub(crate) id: &'static str,
    group: Group,
    pub(crate) severity: Severity,
    /// Whether the check could be made.
    looked: bool,
    /// What it tells if all is well, for some checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    passed: Option<String>,
    /// Absent if all is well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) found: Option<Found>,
    fix: &'static str,
    docs: String,
}

/// All results.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    pub(crate) results: Vec<Result>,
    ok: usize,
    errors: usize,
    warnings: usize,
    infos: usize,
    not_looked_at: usize,
    /// The resources that you may not list.
    missing: Vec<String>,
}

impl Result {
    pub(super) fn of(check: &Check, context: &CheckContext<'_>) -> Self {
        let is_possible = check.needs.iter().all(|need| context.has(*need));
        let seen = is_possible.then(|| (check.run)(context)).flatten();
        let looked = seen.is_some();
        let (passed, found) = match seen {
            Some(nothing) if nothing.count == 0 => (nothing.fine, None),
            found => (None, found),
        };
        Self {
            id: check.id,
            group: check.group,
            severity: check.severity,
            looked,
            passed,
            found,
            fix: check.fix,
            docs: format!("{PAGE}#{}", check.id),
        }
    }

    const fn is_fine(&self) -> bool {
        self.looked && self.found.is_none()
    }

    fn lines(&self, screen: Screen) -> Vec<String> {
        let Some(found) = &self.found else { return Vec::new() };
        let (glyph, color) = match self.severity {
            Severity::Error => (screen.glyphs.bad, Color::Alarm),
            Severity::Warning => (screen.glyphs.warning, Color::Notice),
            Severity::Info => (screen.glyphs.dot, Color::Faint),
        };
        let width = screen.width.saturating_sub(GROUP_WIDTH);
        let mark = screen.style.paint(glyph, color);
        let indent = length(glyph).saturating_add(1);
        let texts = found.texts.iter().flat_map(|text| hanging(&format!("{mark} "), indent, text, width));
        let mut lines: Vec<String> = texts.collect();
        let fix = format!("  fix: {}", self.fix);
        let room = width.saturating_sub(length(&fix).saturating_add(2));
        if self.docs.len() <= room {
            let room = room.saturating_add(2);
            lines.push(format!("{fix}{:>room$}", self.docs));
        } else {
            lines.extend(hanging("  ", 2, &format!("fix: {} ({})", self.fix, self.docs), width));
        }
        lines
    }
}

impl Report {
    pub(super) fn new(results: Vec<Result>, context: &CheckContext<'_>) -> Self {
        let of =
            |severity| results.iter().filter(|one| one.found.is_some() && one.severity == severity).count();
        Self {
            ok: results.iter().filter(|one| one.is_fine()).count(),
            errors: of(Severity::Error),
            warnings: of(Severity::Warning),
            infos: of(Severity::Info),
            not_looked_at: results.iter().filter(|one| !one.looked).count(),
            missing: context.cluster.missing.iter().map(|missing| missing.resource.clone()).collect(),
            results,
        }
    }

    pub(super) const fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// The report for people; with every check if `is_wide`.
    pub(crate) fn text(&self, is_wide: bool, screen: Screen) -> String {
        let fine: Vec<Vec<Vec<Cell>>> =
            Group::ALL.iter().map(|group| self.fine(*group, is_wide, screen)).collect();
        // The columns of all groups stand below each other.
        let mut aligned = columns(&fine.concat(), screen.style).into_iter();
        let mut lines = Vec::new();
        for (group, fine) in Group::ALL.iter().zip(&fine) {
            let fine = aligned.by_ref().take(fine.len());
            let found = self.results.iter().filter(|one| one.group == *group);
            let of_group: Vec<String> = fine.chain(found.flat_map(|one| one.lines(screen))).collect();
            let titles = std::iter::once(format!("{group:?}").to_lowercase());
            let titles = titles.chain(std::iter::repeat(String::new()));
            lines.extend(titles.zip(of_group).map(|(title, line)| format!("{title:GROUP_WIDTH$}{line}")));
        }
        if !self.missing.is_empty() {
            let missing = list(&self.missing);
            let text = format!("You may not list {missing}: some checks are left out, or see less.");
            lines.extend(wrap(&text, screen.width));
        }
        lines.push(self.summary());
        joined(lines)
    }

    /// The checks that find nothing: those that tell something, and how many others; all by their ids if `is_wide`.
    fn fine(&self, group: Group, is_wide: bool, screen: Screen) -> Vec<Vec<Cell>> {
        let fine: Vec<&Result> =
            self.results.iter().filter(|one| one.group == group && one.is_fine()).collect();
        let mut passed: Vec<String> = fine.iter().filter_map(|one| one.passed.clone()).collect();
        let others = fine.iter().filter(|one| one.passed.is_none());
        if is_wide {
            passed.extend(others.map(|one| one.id.to_owned()));
        } else {
            let (one, several) =
                if passed.is_empty() { ("check", "checks") } else { ("more check", "more checks") };
            let count = others.count();
            passed.extend((count > 0).then(|| counted(count, one, several)));
        }
        let good = screen.style.paint(screen.glyphs.good, Color::Good);
        let cells: Vec<Cell> = passed.iter().map(|text| format!("{good} {text}").into()).collect();
        cells.chunks(SIDE_BY_SIDE).map(<[Cell]>::to_vec).collect()
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
        list(parts)
    }
}
