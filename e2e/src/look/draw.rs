//! One dashboard as one picture.

#![expect(clippy::float_arithmetic, reason = "pixels of a picture, no figure")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

use super::{Dashboard, Panel, PanelKind, Sample, Span};

/// Pixels of one of the 24 columns.
const COLUMN: u32 = 60;
/// Pixels of one row.
const ROW: u32 = 38;
/// Pixels under a chart for the names of its lines.
const LEGEND: u32 = 36;
/// Pixels between panels.
const GAP: u32 = 4;

const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 119, 187),
    RGBColor(238, 119, 51),
    RGBColor(0, 153, 136),
    RGBColor(204, 51, 17),
    RGBColor(51, 187, 238),
    RGBColor(238, 51, 119),
    RGBColor(120, 120, 120),
    RGBColor(170, 140, 0),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Draws `dashboard` into an SVG file: `found` has, for each panel, what each of its targets found in `span`.
///
/// # Errors
///
/// When the file cannot be written.
pub fn draw(
    dashboard: &Dashboard,
    found: &[Vec<Vec<Sample>>],
    span: Span,
    file: &Path,
) -> anyhow::Result<()> {
    let size = (COLUMN.saturating_mul(24), dashboard.rows().saturating_mul(ROW).saturating_add(ROW));
    let root = SVGBackend::new(file, size).into_drawing_area();
    draw_all(dashboard, found, span, &root)
        .map_err(|error| anyhow!("{error}"))
        .with_context(|| format!("drawing {}", file.display()))
}

fn draw_all(dashboard: &Dashboard, found: &[Vec<Vec<Sample>>], span: Span, root: &Area<'_>) -> Drawn {
    root.fill(&RGBColor(244, 245, 247))?;
    text(root, &dashboard.title, (12, 8), 20, BLACK)?;
    for (panel, found) in dashboard.panels.iter().zip(found) {
        let left = panel.x.saturating_mul(COLUMN).saturating_add(GAP);
        let top = panel.y.saturating_add(1).saturating_mul(ROW).saturating_add(GAP);
        let width = panel.width.saturating_mul(COLUMN).saturating_sub(GAP.saturating_mul(2));
        let height = panel.height.saturating_mul(ROW).saturating_sub(GAP.saturating_mul(2));
        let area = root.clone().shrink((left, top), (width, height));
        if panel.kind != PanelKind::Row {
            area.fill(&WHITE)?;
        }
        text(&area, &panel.title, (8, 6), 14, BLACK)?;
        match panel.kind {
            PanelKind::Row => {}
            PanelKind::Stat { name } => stat(&area, panel, found, name)?,
            PanelKind::Lines { stacked } => lines(&area, panel, found, span, stacked)?,
            PanelKind::Table => table(&area, panel, found)?,
            PanelKind::Heatmap => heatmap(&area, found, span)?,
        }
    }
    root.present()?;
    Ok(())
}

fn text(area: &Area<'_>, words: &str, at: (i32, i32), size: u32, colour: RGBColor) -> Drawn {
    area.draw_text(words, &("sans-serif", size).into_text_style(area).color(&colour), at)?;
    Ok(())
}

fn nothing(area: &Area<'_>) -> Drawn {
    text(area, "No data", (8, 34), 14, RGBColor(204, 51, 17))
}

fn stat(area: &Area<'_>, panel: &Panel, found: &[Vec<Sample>], name: bool) -> Drawn {
    let Some(sample) = found.iter().flatten().next() else { return nothing(area) };
    let last = sample.values.last().map(|(_, value)| *value).unwrap_or_default();
    let words = if name { sample.name.clone() } else { shown(last, &panel.unit) };
    text(area, &words, (12, 56), 36, RGBColor(0, 119, 187))
}

fn lines(area: &Area<'_>, panel: &Panel, found: &[Vec<Sample>], span: Span, stacked: bool) -> Drawn {
    let samples: Vec<&Sample> = found.iter().flatten().collect();
    if samples.is_empty() {
        return nothing(area);
    }
    let mut beneath: BTreeMap<i64, f64> = BTreeMap::new();
    let mut drawn: Vec<(&str, Vec<(f64, f64)>)> = Vec::new();
    for (at, sample) in
        found.iter().enumerate().flat_map(|(at, found)| found.iter().map(move |one| (at, one)))
    {
        let points = sample.values.iter().filter(|(_, value)| value.is_finite());
        let points = points.map(|(time, value)| {
            // The first target of a stacked panel is what is stacked; others are lines of their own.
            let height = if stacked && at == 0 {
                let height = beneath.entry(whole(*time)).or_default();
                *height += *value;
                *height
            } else {
                *value
            };
            (since(*time, span), height)
        });
        drawn.push((&sample.name, points.collect()));
    }
    let highest = drawn.iter().flat_map(|(_, points)| points).map(|(_, value)| *value).fold(0.0, f64::max);
    let highest = if highest > 0.0 { highest * 13.0 / 12.0 } else { 1.0 };
    let length = since(seconds(span.to), span);
    let mut chart = ChartBuilder::on(area)
        .margin_top(30)
        .margin_right(12)
        .margin_bottom(LEGEND)
        .x_label_area_size(20)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..length, 0.0..highest)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(BLACK.mix(0.08))
        .axis_style(BLACK.mix(0.3))
        .x_labels(6)
        .y_labels(5)
        .label_style(("sans-serif", 11))
        .x_label_formatter(&|x| format!("{x:.0} s"))
        .y_label_formatter(&|y| shown(*y, &panel.unit))
        .draw()?;
    for ((_, points), colour) in drawn.iter().zip(COLOURS.iter().cycle()) {
        chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?;
    }
    let (width, height) = area.dim_in_pixel();
    let (mut left, mut top) = (60_i32, i32::try_from(height.saturating_sub(LEGEND))?);
    for ((name, _), colour) in drawn.iter().zip(COLOURS.iter().cycle()) {
        let name = if name.is_empty() { "value" } else { name };
        let room = i32::try_from(name.len())?.saturating_mul(7).saturating_add(14);
        if left.saturating_add(room) > i32::try_from(width)? {
            (left, top) = (60, top.saturating_add(15));
        }
        text(area, name, (left, top), 12, *colour)?;
        left = left.saturating_add(room);
    }
    Ok(())
}

fn table(area: &Area<'_>, panel: &Panel, found: &[Vec<Sample>]) -> Drawn {
    let mut rows: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for sample in found.iter().flatten() {
        names.extend(sample.labels.keys().map(String::as_str));
    }
    for (column, samples) in found.iter().enumerate() {
        for sample in samples {
            let key =
                names.iter().map(|name| sample.labels.get(*name).cloned().unwrap_or_default()).collect();
            let cells = rows.entry(key).or_insert_with(|| vec![String::new(); found.len()]);
            let last = sample.values.last().map(|(_, value)| *value).unwrap_or_default();
            if let Some(cell) = cells.get_mut(column) {
                *cell = shown(last, &panel.unit);
            }
        }
    }
    if rows.is_empty() {
        return nothing(area);
    }
    let heading: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let columns = panel.targets.iter().map(|target| target.legend.clone());
    let mut top = 32;
    let all = std::iter::once((heading, columns.collect())).chain(rows);
    for (labels, cells) in all {
        let mut left = 10;
        for cell in labels.iter().chain(&cells) {
            text(area, cell, (left, top), 12, BLACK)?;
            left = left.saturating_add(160);
        }
        top = top.saturating_add(19);
    }
    Ok(())
}

fn heatmap(area: &Area<'_>, found: &[Vec<Sample>], span: Span) -> Drawn {
    let bound = |sample: &Sample| sample.labels.get("le").and_then(|le| le.parse::<f64>().ok());
    let mut buckets: Vec<(f64, &Sample)> =
        found.iter().flatten().filter_map(|sample| Some((bound(sample)?, sample))).collect();
    buckets.sort_by(|left, right| left.0.total_cmp(&right.0));
    if buckets.is_empty() {
        return nothing(area);
    }
    let mut chart = ChartBuilder::on(area)
        .margin_top(30)
        .margin_right(12)
        .x_label_area_size(24)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..since(seconds(span.to), span), 0..buckets.len())?;
    let bounds: Vec<f64> = buckets.iter().map(|(bound, _)| *bound).collect();
    chart
        .configure_mesh()
        .disable_mesh()
        .y_labels(buckets.len())
        .label_style(("sans-serif", 11))
        .x_label_formatter(&|x| format!("{x:.0} s"))
        .y_label_formatter(&|row| bounds.get(*row).map_or_else(String::new, |bound| shown(*bound, "s")))
        .draw()?;
    let mut below: BTreeMap<i64, f64> = BTreeMap::new();
    for (row, (_, sample)) in buckets.iter().enumerate() {
        for (time, value) in sample.values.iter().filter(|(_, value)| value.is_finite()) {
            let former = below.insert(whole(*time), *value).unwrap_or_default();
            let here = (*value - former).clamp(0.0, 1.0);
            if here > 0.0 {
                let left = since(*time, span);
                let corners = [(left, row), (left + 1.0, row.saturating_add(1))];
                let colour = RGBColor(0, 119, 187).mix(0.2 + here * 0.8);
                chart.draw_series(std::iter::once(Rectangle::new(corners, colour.filled())))?;
            }
        }
    }
    Ok(())
}

/// A value as Grafana would show it.
fn shown(value: f64, unit: &str) -> String {
    let scaled = |value: f64, steps: &[(f64, &str)]| {
        let step = steps.iter().find(|(size, _)| value.abs() >= *size).or(steps.last());
        let (size, name) = step.copied().unwrap_or((1.0, ""));
        format!("{}{name}", plain(value / size))
    };
    match unit {
        _ if !value.is_finite() => "∞".to_owned(),
        "percentunit" => format!("{}%", plain(value * 100.0)),
        "bytes" => scaled(value, &[(1_073_741_824.0, "Gi"), (1_048_576.0, "Mi"), (1024.0, "Ki"), (1.0, "")]),
        "s" if value == 0.0 => "0s".to_owned(),
        "s" => scaled(value, &[(3600.0, "h"), (60.0, "m"), (1.0, "s"), (0.001, "ms"), (0.000_001, "µs")]),
        _ => scaled(value, &[(1_000_000_000.0, "G"), (1_000_000.0, "M"), (10_000.0, "k"), (1.0, "")]),
    }
}

fn plain(value: f64) -> String {
    let text = format!("{value:.2}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn since(time: f64, span: Span) -> f64 {
    time - seconds(span.from)
}

#[expect(clippy::cast_precision_loss, reason = "seconds of this century fit")]
fn seconds(time: i64) -> f64 {
    time as f64
}

#[expect(clippy::cast_possible_truncation, reason = "seconds of this century fit")]
fn whole(time: f64) -> i64 {
    time.round() as i64
}
