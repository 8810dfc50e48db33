//! `-o`: how an answer is printed, and what every answer for programs has in common.

use std::collections::BTreeMap;
use std::io;

use anyhow::Context;
use clap::ValueEnum;
use jiff::Timestamp as Time;
use quotient_engine::amounts::{Amounts, Resource};
use quotient_engine::time::Timestamp;
use serde::Serialize;

use super::{note, print};

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
    /// Prints a line beside the answer; what reads another form than a table does not get it.
    pub(crate) fn say(self, line: &str) -> io::Result<()> {
        match self {
            Self::Table | Self::Wide => print(&format!("{line}\n")).map(drop),
            Self::Json | Self::Yaml | Self::Name => {
                note(line);
                Ok(())
            }
        }
    }
}

/// The flag `-o`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct OutputArgs {
    /// How to print the answer.
    #[arg(short = 'o', long, value_name = "FORMAT", value_enum, default_value_t = Format::Table)]
    pub(crate) output: Format,
}

/// An answer in every form. The one that is wanted is made.
pub(crate) struct Answer<'a, F> {
    /// For people; says whether more columns are wanted.
    pub(crate) table: &'a dyn Fn(bool) -> String,
    /// For programs.
    pub(crate) document: F,
    /// The objects that it is about.
    pub(crate) names: Vec<String>,
}

impl<D: Serialize, F: FnOnce() -> D> Answer<'_, F> {
    /// The text in this form.
    pub(crate) fn text(self, format: Format) -> anyhow::Result<String> {
        Ok(match format {
            Format::Table => (self.table)(false),
            Format::Wide => (self.table)(true),
            Format::Json => {
                let text =
                    serde_json::to_string_pretty(&(self.document)()).context("write the answer as JSON")?;
                format!("{text}\n")
            }
            Format::Yaml => {
                serde_yaml_ng::to_string(&(self.document)()).context("write the answer as YAML")?
            }
            Format::Name => self.names.iter().flat_map(|name| [name.as_str(), "\n"]).collect(),
        })
    }

    /// Prints it in this form.
    pub(crate) fn print(self, format: Format) -> anyhow::Result<()> {
        print(&self.text(format)?).context("print the answer").map(drop)
    }
}

/// The version of all answers.
const API_VERSION: &str = "cli.quotient.dev/v1";

/// An answer for programs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Document<T> {
    api_version: &'static str,
    kind: &'static str,
    /// The time that the answer is about.
    as_of: String,
    /// Where the objects come from.
    source: String,
    #[serde(flatten)]
    answer: T,
}

/// `answer` as a document of this kind.
pub(crate) fn document<T>(kind: &'static str, as_of: Timestamp, source: &str, answer: T) -> Document<T> {
    Document { api_version: API_VERSION, kind, as_of: time_text(as_of), source: source.to_owned(), answer }
}

/// The time in whole seconds, as Kubernetes writes it.
pub(crate) fn time_text(time: Timestamp) -> String {
    Time::from_second(time.millis().div_euclid(1000)).unwrap_or_default().to_string()
}

/// Each resource that `amounts` name with its amount as a Kubernetes quantity.
pub(crate) fn all_quantities(amounts: &Amounts) -> BTreeMap<String, String> {
    amounts.iter().map(|(resource, amount)| (resource.name().to_owned(), resource.format(amount))).collect()
}

/// Each of `resources` with its amount as a Kubernetes quantity, zeros included.
pub(crate) fn quantities(amounts: &Amounts, resources: &[Resource]) -> BTreeMap<String, String> {
    resources
        .iter()
        .map(|resource| (resource.name().to_owned(), resource.format(amounts.get(resource))))
        .collect()
}
