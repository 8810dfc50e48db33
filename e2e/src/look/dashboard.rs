//! A dashboard as Grafana reads it, as far as it is drawn here.

use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::Value;

/// One dashboard.
#[derive(Clone, Debug)]
pub struct Dashboard {
    /// What it is called.
    pub title: String,
    /// Its panels, from top to bottom.
    pub panels: Vec<Panel>,
}

/// One panel.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What it is called.
    pub title: String,
    /// How it shows what it finds.
    pub kind: PanelKind,
    /// Grafana's name of the unit.
    pub unit: String,
    /// Columns from the left, of 24.
    pub x: u32,
    /// Rows from the top.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// What it asks for.
    pub targets: Vec<Target>,
}

/// How a panel shows what it finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelKind {
    /// Only a heading.
    Row,
    /// One number, or one name.
    Stat {
        /// Whether the name is shown.
        name: bool,
    },
    /// Lines over time.
    Lines {
        /// One upon the other.
        stacked: bool,
    },
    /// A table of the latest values, one column a target.
    Table,
    /// How many in which bucket, over time.
    Heatmap,
}

/// One query.
#[derive(Clone, Debug)]
pub struct Target {
    /// What is asked, with every variable set to everything.
    pub expression: String,
    /// How a series is called; `{{label}}` stands for a label.
    pub legend: String,
}

impl Dashboard {
    /// Reads the file. Variables of which one value is to be chosen are `one`, all others everything.
    ///
    /// # Errors
    ///
    /// When it is no dashboard, or has a panel of a kind that cannot be drawn.
    pub fn read(file: &Path, one: &str) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
        let value: Value =
            serde_json::from_str(&text).with_context(|| format!("reading {}", file.display()))?;
        let panels = value["panels"].as_array().context("there are no panels")?;
        let variables = variables(&value, one);
        let panels = panels.iter().map(|value| panel(value, &variables)).collect::<anyhow::Result<_>>();
        Ok(Self {
            title: text_of(&value["title"]),
            panels: panels.with_context(|| file.display().to_string())?,
        })
    }

    /// How many rows it has.
    pub fn rows(&self) -> u32 {
        self.panels.iter().map(|panel| panel.y.saturating_add(panel.height)).max().unwrap_or_default()
    }
}

fn panel(value: &Value, variables: &[(String, String)]) -> anyhow::Result<Panel> {
    let title = text_of(&value["title"]);
    let kind = match value["type"].as_str() {
        Some("row") => PanelKind::Row,
        Some("stat") => PanelKind::Stat { name: value["options"]["textMode"] == "name" },
        Some("timeseries") => {
            let stacking = &value["fieldConfig"]["defaults"]["custom"]["stacking"]["mode"];
            PanelKind::Lines { stacked: stacking == "normal" }
        }
        Some("table") => PanelKind::Table,
        Some("heatmap") => PanelKind::Heatmap,
        other => bail!("panel {title}: {other:?} cannot be drawn"),
    };
    let number = |name: &str| {
        let number = value["gridPos"][name].as_u64().and_then(|number| u32::try_from(number).ok());
        number.with_context(|| format!("panel {title}: gridPos.{name}"))
    };
    let targets = value["targets"].as_array().into_iter().flatten().map(|target| Target {
        expression: chosen(&text_of(&target["expr"]), variables),
        legend: text_of(&target["legendFormat"]),
    });
    Ok(Panel {
        kind,
        unit: text_of(&value["fieldConfig"]["defaults"]["unit"]),
        x: number("x")?,
        y: number("y")?,
        width: number("w")?,
        height: number("h")?,
        targets: targets.collect(),
        title,
    })
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// What each variable of the dashboard stands for.
fn variables(dashboard: &Value, one: &str) -> Vec<(String, String)> {
    let all = dashboard["templating"]["list"].as_array().into_iter().flatten();
    let value = |variable: &Value| if variable["includeAll"] == true { ".*" } else { one }.to_owned();
    all.map(|variable| (format!("${}", text_of(&variable["name"])), value(variable))).collect()
}

/// With every variable chosen, and rates over what a scrape a second allows.
fn chosen(expression: &str, variables: &[(String, String)]) -> String {
    let text = expression.replace("$__rate_interval", "15s");
    variables.iter().fold(text, |text, (name, value)| text.replace(name, value))
}
