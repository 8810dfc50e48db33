//! `version`: of this command, and of the cluster and the operator.

use serde::Serialize;

use crate::exit::{CommandError, Outcome};
use crate::manifests::Cluster;
use crate::output::{Answer, OutputArgs, document, joined};
use crate::source::{ConnectionArgs, Live, Scope, now};

/// Which versions.
#[derive(Debug, clap::Args)]
pub(crate) struct VersionArgs {
    /// Ask the cluster, too.
    #[arg(long)]
    server: bool,

    #[command(flatten)]
    output: OutputArgs,
}

/// The versions.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Versions {
    client: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    kubernetes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operator: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
}

/// Prints the versions.
pub(crate) async fn run(args: &VersionArgs, connection: &ConnectionArgs) -> Result<Outcome, CommandError> {
    let client = env!("CARGO_PKG_VERSION").to_owned();
    let (versions, source) = if args.server {
        let live = Live::connect(connection).await?;
        (of_server(client, &live).await?, format!("cluster {}", live.name))
    } else {
        (Versions { client, ..Versions::default() }, "this command".to_owned())
    };
    let answer = Answer {
        table: &|_| text(&versions),
        document: || document("Version", now(), &source, &versions),
        names: vec![versions.client.clone()],
    };
    answer.print(args.output.output)?;
    Ok(Outcome::Fine)
}

async fn of_server(client: String, live: &Live) -> Result<Versions, CommandError> {
    let version = live.version().await?;
    let snapshot = live.snapshot(&Scope::of("", None)).await?;
    let cluster = Cluster::of(&snapshot, None)?;
    Ok(Versions {
        client,
        kubernetes: Some(version.git_version),
        mode: cluster.settings().map(|settings| settings.mode().to_string()),
        operator: cluster.operator.and_then(|operator| operator.version),
    })
}

fn text(versions: &Versions) -> String {
    let mut lines = vec![format!("kubectl-quotient {}", versions.client)];
    if let Some(kubernetes) = &versions.kubernetes {
        lines.push(format!("Kubernetes {kubernetes}"));
        let mode = versions.mode.as_deref().map(|mode| format!(", mode {mode}")).unwrap_or_default();
        lines.push(match &versions.operator {
            Some(operator) => format!("operator {operator}{mode}"),
            None => "operator: its Deployment is not visible".to_owned(),
        });
    }
    joined(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_said() {
        let some = |text: &str| Some(text.to_owned());
        let server = Versions {
            client: "1".to_owned(),
            kubernetes: some("v1.36.0"),
            operator: some("2"),
            mode: some("Full"),
        };
        assert_eq!(text(&server), "kubectl-quotient 1\nKubernetes v1.36.0\noperator 2, mode Full\n");
        let hidden = Versions { operator: None, ..server };
        assert!(text(&hidden).ends_with("operator: its Deployment is not visible\n"));
    }
}
