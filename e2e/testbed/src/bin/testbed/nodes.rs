//! The nodes that a test bed starts with.

use std::time::Duration;

use anyhow::Context as _;
use quotient_testbed::TestBed;

/// Nodes to start with.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Nodes {
    /// How many nodes it starts with (node-1, node-2, …); pods run on nodes only.
    #[arg(long = "nodes", default_value_t = 0, value_name = "COUNT")]
    pub(crate) count: u32,
    /// What each of these nodes has.
    #[arg(long, default_value = "cpu=8,memory=32Gi", value_name = "AMOUNTS")]
    pub(crate) node_size: String,
    /// For how many milliseconds a deleted pod keeps running.
    #[arg(long, default_value_t = 0, value_name = "MILLISECONDS")]
    pub(crate) termination_delay: u64,
}

impl Nodes {
    /// How long a deleted pod keeps running on them.
    pub(crate) fn termination_delay(&self) -> Duration {
        Duration::from_millis(self.termination_delay)
    }

    /// Adds them.
    pub(crate) async fn add_to(&self, bed: &TestBed) -> anyhow::Result<()> {
        let amounts = parse(&self.node_size)?;
        for number in 1..=self.count {
            bed.add_node(&format!("node-{number}"), &amounts).await?;
        }
        Ok(())
    }
}

fn parse(text: &str) -> anyhow::Result<Vec<(&str, &str)>> {
    let amounts = text
        .split(',')
        .map(|amount| amount.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty()));
    amounts.collect::<Option<_>>().with_context(|| {
        format!("reading --node-size {text:?}: it should look like cpu=8,memory=32Gi,nvidia.com/gpu=4")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_lists_of_amounts() {
        let parsed = parse("cpu=8,nvidia.com/gpu=4").unwrap();
        assert_eq!(parsed, [("cpu", "8"), ("nvidia.com/gpu", "4")]);
        for wrong in ["", "cpu", "cpu=", "=8", "cpu=8,"] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
