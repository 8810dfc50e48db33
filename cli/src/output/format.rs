//! `-o`: how an answer is printed.

use std::io;

use anyhow::Context;
use clap::ValueEnum;
use serde::Serialize;

use super::print;

/// How to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people: amounts in short form, such as "3c 9Gi 2gpu".
    #[default]
    Table,
    /// The same with more columns.
    Wide,
    /// For programs: amounts as Kubernetes quantities, every resource named.
    Json,
    /// The same as json, in YAML.
    Yaml,
    /// The names of the objects alone, one a line.
    Name,
}

impl Format {
    /// Prints a line beside the answer; what reads another form than the table does not get it.
    pub(crate) fn say(self, line: &str) -> io::Result<()> {
        if self == Self::Table {
            return print(&format!("{line}\n"));
        }
        eprintln!("{line}");
        Ok(())
    }
}

/// The flag `-o`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct OutputArgs {
    /// How to print the answer.
    #[arg(short = 'o', long, value_name = "FORMAT", value_enum, default_value_t = Format::Table)]
    pub(crate) output: Format,
}

/// An answer in every form.
pub(crate) struct Answer<'a, D> {
    /// For people; says whether more columns are wanted.
    pub(crate) table: &'a dyn Fn(bool) -> String,
    /// For programs.
    pub(crate) document: &'a D,
    /// The objects that it is about.
    pub(crate) names: Vec<String>,
}

impl<D: Serialize> Answer<'_, D> {
    /// The text in this form.
    pub(crate) fn text(&self, format: Format) -> anyhow::Result<String> {
        Ok(match format {
            Format::Table => (self.table)(false),
            Format::Wide => (self.table)(true),
            Format::Json => {
                let text = serde_json::to_string_pretty(self.document).context("write the answer as JSON")?;
                format!("{text}\n")
            }
            Format::Yaml => serde_yaml_ng::to_string(self.document).context("write the answer as YAML")?,
            Format::Name => self.names.iter().flat_map(|name| [name.as_str(), "\n"]).collect(),
        })
    }

    /// Prints it in this form.
    pub(crate) fn print(&self, format: Format) -> anyhow::Result<()> {
        print(&self.text(format)?).context("print the answer")
    }
}
