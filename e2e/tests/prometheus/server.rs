//! Prometheus as a process under the test bed.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;

use anyhow::{Context as _, ensure};
use http::Request;
use kube::Client;
use quotient_e2e::quotient::{PATIENCE, workspace_root};
use quotient_e2e::testbed::binaries::{Binaries, Module, Program};
use quotient_e2e::testbed::{ManagedProcess, TestBed, client_of, eventually, ports};
use serde_json::Value;

/// A running Prometheus that scrapes one operator every second.
pub(super) struct Prometheus {
    process: ManagedProcess,
    client: Client,
}

/// A stretch of time, in seconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// Its first second.
    pub(super) from: i64,
    /// Its last.
    pub(super) to: i64,
}

impl Prometheus {
    /// Starts it with the chart's rules, to scrape `target` over TLS with this token.
    pub(super) async fn start(bed: &TestBed, target: SocketAddr, token: &str) -> anyhow::Result<Self> {
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
        let programs = Binaries::find(Module::Prometheus).await?;
        let mut command = Command::new(programs.path(Program::Prometheus));
        command
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", directory.join("data").display()))
            .arg(format!("--web.listen-address={address}"));
        let process = bed.spawn("prometheus", command).context("starting Prometheus")?;
        let prometheus = Self { process, client: client_of(&format!("http://{address}"))? };
        eventually("Prometheus scrapes the operator", PATIENCE, async || {
            prometheus.process.must_run()?;
            let up = prometheus.ask("/api/v1/query", &[("query", "up == 1")]).await?;
            ensure!(!results(&up).is_empty(), "{}", prometheus.targets().await?);
            Ok(())
        })
        .await?;
        Ok(prometheus)
    }

    /// The series that `expression` finds in `span`, second by second.
    pub(super) async fn series(&self, expression: &str, span: Span) -> anyhow::Result<Vec<Value>> {
        let (from, to) = (span.from.to_string(), span.to.to_string());
        let query = [("query", expression), ("start", &from), ("end", &to), ("step", "1")];
        let answer = self.ask("/api/v1/query_range", &query).await;
        Ok(results(&answer.with_context(|| expression.to_owned())?).to_vec())
    }

    /// What a scrape was answered, such as a refusal.
    async fn targets(&self) -> anyhow::Result<String> {
        let targets = self.ask("/api/v1/targets", &[]).await?;
        Ok(targets["data"]["activeTargets"][0]["lastError"].as_str().unwrap_or_default().to_owned())
    }

    /// Ends it.
    pub(super) async fn stop(self) -> anyhow::Result<()> {
        self.process.terminate(PATIENCE).await?;
        Ok(())
    }

    /// What the HTTP API answers.
    async fn ask(&self, path: &str, query: &[(&str, &str)]) -> anyhow::Result<Value> {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
        let request = Request::get(format!("{path}?{query}")).body(Vec::new())?;
        let value: Value = self.client.request(request).await.context("asking Prometheus")?;
        ensure!(value["status"] == "success", "Prometheus says {}", value["error"]);
        Ok(value)
    }
}

fn results(answer: &Value) -> &[Value] {
    answer["data"]["result"].as_array().map(Vec::as_slice).unwrap_or_default()
}
