//! A run as a picture: how many pods have come to each step, over time.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use plotters::prelude::*;

use super::{Series, Step, Timeline};

/// The steps that are drawn, each in its color.
const LINES: [(Step, RGBColor, &str); 6] = [
    (Step::Evicted, RGBColor(204, 51, 17), "evicted"),
    (Step::Gone, RGBColor(238, 119, 51), "gone"),
    (Step::Created, RGBColor(51, 187, 238), "created"),
    (Step::Ungated, RGBColor(170, 51, 119), "ungated"),
    (Step::Bound, RGBColor(0, 119, 187), "bound"),
    (Step::Running, RGBColor(0, 153, 136), "running"),
];
const SIZE: (u32, u32) = (900, 360);

/// Draws the run at the median into an SVG file; draws nothing where nothing ran.
pub fn timeline_plot(series: &Series, file: &Path) -> anyhow::Result<()> {
    let Some(timeline) = series.typical() else { return Ok(()) };
    draw(&series.says, timeline, file)
        .map_err(|error| anyhow!("{error}"))
        .with_context(|| format!("drawing {}", file.display()))
}

fn draw(title: &str, timeline: &Timeline, file: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let times = |step: Step| timeline.0.get(&step).map(Vec::as_slice).unwrap_or_default();
    let last = LINES.iter().filter_map(|(step, ..)| times(*step).last()).max().copied().unwrap_or(1000);
    let most = LINES.iter().map(|(step, ..)| times(*step).len()).max().unwrap_or(1);
    let most = u32::try_from(most)?.max(1);

    let root = SVGBackend::new(file, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 15))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(44)
        .build_cartesian_2d(0.0..seconds(last), 0..most)?;
    chart
        .configure_mesh()
        .x_desc("seconds since the demand")
        .y_desc("pods")
        .x_label_formatter(&|x| format!("{x:.1}"))
        .light_line_style(WHITE)
        .draw()?;
    for (step, color, name) in LINES {
        let steps = times(step).iter().zip(1_u32..).flat_map(|(time, count)| {
            let before = count.saturating_sub(1);
            [(seconds(*time), before), (seconds(*time), count)]
        });
        let line = std::iter::once((0.0, 0)).chain(steps);
        chart.draw_series(LineSeries::new(line, color.stroke_width(2)))?.label(name).legend(move |(x, y)| {
            PathElement::new(vec![(x, y), (x.saturating_add(16), y)], color.stroke_width(2))
        });
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    root.present()?;
    Ok(())
}

#[expect(clippy::float_arithmetic, clippy::cast_precision_loss, reason = "pixels of a picture, no figure")]
fn seconds(millis: u64) -> f64 {
    millis as f64 / 1000.0
}
