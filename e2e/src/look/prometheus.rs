//! Prometheus as a process under the test bed.

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Panel, Target};
use crate::quotient::{PATIENCE, workspace_root};
use crate::testbed::{ManagedProcess, ProcessSpec, TestBed, eventually, ports};

/// A running Prometheus that scrapes one operator every second.
#[derive(Debug)]
pub struct Prometheus {
    process: ManagedProcess,
    address: SocketAddr,
}

/// A stretch of time, in seconds since 1970.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Its first second.
    pub from: i64,
    /// Its last.
    pub to: i64,
}

/// One series with its values over time.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// What it is called by the panel's legend.
    pub name: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Seconds since 1970, and what it was then.
    pub values: Vec<(f64, f64)>,
}

impl Prometheus {
    /// Starts it with the chart's rules, to scrape `target` over TLS with this token.
    pub async fn start(bed: &TestBed, target: SocketAddr, token: &str) -> anyhow::Result<Self> {
        let directory = bed.directory().join("prometheus");
        fs::create_dir_all(&directory)?;
        let rules = workspace_root().join("charts/quotient/files/rules/*.yaml");
        let configuration = format!(
            "global: {{scrape_interval: 1s, evaluation_interval: 1s}}\n\
             rule_files: ['{rules}']\n\
             scrape_configs:\n\
             - job_name: quotient\n\
             \x20 honor_labels: true\n\
             \x20 scheme: https\n\
             \x20 authorization: {{credentials: {token}}}\n\
             \x20 tls_config: {{insecure_skip_verify: true}}\n\
             \x20 static_configs: [{{targets: ['{target}']}}]\n",
            rules = rules.display(),
        );
        let file = directory.join("prometheus.yaml");
        fs::write(&file, configuration)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free()?));
        let spec = ProcessSpec::new("prometheus", "prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", directory.join("data").display()))
            .arg(format!("--web.listen-address={address}"));
        let process = bed
            .spawn(&spec)
            .context("starting Prometheus: install it, such as Debian's package `prometheus`")?;
        let prometheus = Self { process, address };
        eventually("Prometheus scrapes the operator", PATIENCE, async || {
            prometheus.process.must_run()?;
            let up = prometheus.ask("/api/v1/query", &[("query", "up == 1")]).await?;
            ensure!(!results(&up).is_empty(), "{}", prometheus.targets().await?);
            Ok(())
        })
        .await?;
        Ok(prometheus)
    }

    /// What `target` of `panel` finds in `span`, second by second.
    pub async fn find(&self, panel: &Panel, target: &Target, span: Span) -> anyhow::Result<Vec<Sample>> {
        let (from, to) = (span.from.to_string(), span.to.to_string());
        let query = [("query", target.expression.as_str()), ("start", &from), ("end", &to), ("step", "1")];
        let answer = self.ask("/api/v1/query_range", &query).await;
        let answer = answer.with_context(|| format!("panel {}: {}", panel.title, target.expression))?;
        Ok(results(&answer).iter().map(|result| sample(result, &target.legend)).collect())
    }

    /// The alerts that fire or are about to.
    pub async fn alerts(&self) -> anyhow::Result<Vec<String>> {
        let answer = self.ask("/api/v1/query", &[("query", "ALERTS")]).await?;
        let name = |result: &Value| result["metric"]["alertname"].as_str().unwrap_or_default().to_owned();
        Ok(results(&answer).iter().map(name).collect())
    }

    /// What a scrape was answered, such as a refusal.
    async fn targets(&self) -> anyhow::Result<String> {
        let targets = self.ask("/api/v1/targets", &[]).await?;
        Ok(targets["data"]["activeTargets"][0]["lastError"].as_str().unwrap_or_default().to_owned())
    }

    /// Ends it.
    pub async fn stop(self) -> anyhow::Result<()> {
        self.process.terminate(PATIENCE).await?;
        Ok(())
    }

    /// What the HTTP API answers. HTTP/1.0, so that it comes in one piece.
    async fn ask(&self, path: &str, query: &[(&str, &str)]) -> anyhow::Result<Value> {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
        let mut stream = TcpStream::connect(self.address).await.context("connecting to Prometheus")?;
        stream.write_all(format!("GET {path}?{query} HTTP/1.0\r\n\r\n").as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        let (_, body) = answer.split_once("\r\n\r\n").context("Prometheus' answer is no HTTP")?;
        let value: Value = serde_json::from_str(body).with_context(|| format!("Prometheus says {body}"))?;
        if value["status"] != "success" {
            bail!("Prometheus says {}", value["error"]);
        }
        Ok(value)
    }
}

fn results(answer: &Value) -> &[Value] {
    answer["data"]["result"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn sample(result: &Value, legend: &str) -> Sample {
    let labels: BTreeMap<String, String> = result["metric"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect();
    let mut name = legend.to_owned();
    for (label, value) in &labels {
        name = name.replace(&format!("{{{{{label}}}}}"), value);
    }
    let value = |pair: &Value| Some((pair[0].as_f64()?, pair[1].as_str()?.parse().ok()?));
    let values = result["values"].as_array().into_iter().flatten().filter_map(value).collect();
    Sample { name, labels, values }
}
