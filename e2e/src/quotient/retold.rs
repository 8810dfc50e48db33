//! Evictions told again by the command line: computed from the record of the decision, and explained.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::Value;

use super::{Operator, Stage};

/// How many commands run at once.
const AT_ONCE: usize = 2;

impl Stage {
    /// The queue for which each pod was evicted, as `explain` names it. Replays the decisions that the operator has kept.
    ///
    /// # Errors
    ///
    /// When a decision computes another plan, or `explain` tells another beneficiary or rank than the plan.
    pub async fn retold_evictions(
        &self,
        operator: &Operator,
    ) -> anyhow::Result<BTreeMap<String, Option<String>>> {
        let (code, list) = operator.get("/decisions").await?;
        ensure!(code == 200, "{code}: {list}");
        let list: Value = serde_json::from_str(&list)?;
        let mut beneficiaries = BTreeMap::new();
        for number in list
            .as_array()
            .into_iter()
            .flatten()
            .map(|decision| decision.get("number").and_then(Value::as_u64).unwrap_or_default())
        {
            let (code, record) = operator.get_bytes(&format!("/decisions/{number}")).await?;
            ensure!(code == 200, "decision {number}: {code}");
            let file = self.bed.directory().join(format!("decision-{number}"));
            tokio::fs::write(&file, record).await?;
            let file = file.to_str().context("a path of characters")?;
            let replay = self.answer(&["replay", file]).await?;
            ensure!(
                replay.get("identical") == Some(&Value::Bool(true)),
                "decision {number} computes another plan"
            );
            let evictions = replay.get("evictions").and_then(Value::as_array).cloned().unwrap_or_default();
            let carried_out =
                evictions.into_iter().filter(|eviction| field(eviction, "answer") == Some("evicted"));
            let explained: Vec<_> = stream::iter(carried_out)
                .map(|eviction| async move { self.explained(&eviction, file).await })
                .buffer_unordered(AT_ONCE)
                .try_collect()
                .await?;
            beneficiaries.extend(explained);
        }
        Ok(beneficiaries)
    }

    /// The pod, and the queue for which it was evicted.
    async fn explained(&self, eviction: &Value, record: &str) -> anyhow::Result<(String, Option<String>)> {
        let pod = field(eviction, "pod").context("a pod")?.to_owned();
        let beneficiary = field(eviction, "beneficiary").map(str::to_owned);
        let (namespace, name) = pod.split_once('/').context("a namespace")?;
        let target = format!("pod/{name}");
        let explanation = self.answer(&["explain", &target, "-n", namespace, "--record", record]).await?;
        let headline = field(&explanation, "headline").unwrap_or_default();
        if let Some(queue) = &beneficiary {
            let word = match queue.split_once('/') {
                Some((namespace, name)) if namespace == name => name,
                _ => queue,
            };
            let names =
                headline.split(|character: char| character.is_whitespace() || "().,".contains(character));
            ensure!(names.into_iter().any(|name| name == word), "{pod}, evicted for {queue}: {headline}");
        }
        let facts = explanation.get("facts").context("facts")?.to_string();
        if let Some(rank) = eviction.get("rank").and_then(Value::as_u64) {
            ensure!(facts.contains(&format!("rank {rank} of ")), "{pod} has rank {rank}: {facts}");
        }
        Ok((pod, beneficiary))
    }

    /// What a command answers, as JSON.
    async fn answer(&self, arguments: &[&str]) -> anyhow::Result<Value> {
        let output = self.command_line(&[arguments, &["-o", "json"]].concat()).await?;
        serde_json::from_slice(&output.stdout)
            .with_context(|| format!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr)))
    }
}

fn field<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}
