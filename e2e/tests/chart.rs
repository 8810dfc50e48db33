//! What the chart renders for each set of values, against what is committed: `UPDATE_EXPECT=1` writes it anew, and the
//! difference is read before it is committed.

use std::path::Path;

use anyhow::Result;
use expect_test::expect_file;
use quotient_e2e::quotient::{helm_arguments, value_sets};
use quotient_e2e::testbed::Helm;

/// What a cluster with all optional kinds serves.
const SERVED: [&str; 6] = [
    "--api-versions",
    "monitoring.coreos.com/v1",
    "--api-versions",
    "quotient.dev/v1alpha1/Queue",
    "--api-versions",
    "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy",
];

/// Kinds whose content has its own tests and would only fill the page.
const ELSEWHERE: [&str; 2] = ["CustomResourceDefinition", "PrometheusRule"];

#[tokio::test(flavor = "multi_thread")]
async fn every_set_of_values_renders_what_is_committed() -> Result<()> {
    let helm = Helm::find().await?;
    let values = value_sets()?;
    assert!(values.len() >= 5, "{values:?}");
    for (name, file) in values {
        let file = file.to_string_lossy().into_owned();
        let command: Vec<&str> = ["template", "--values", &file].into_iter().chain(SERVED).collect();
        let rendered = helm.run(helm_arguments(&command, &[])).await?;
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/chart/{name}.yaml"));
        expect_file![golden].assert_eq(&shortened(&rendered));
    }
    Ok(())
}

/// Without what has its own tests: schemas, alerts and dashboards.
fn shortened(rendered: &str) -> String {
    let documents = rendered.split("\n---\n").map(|document| {
        let lines = document.trim_start_matches("---\n").lines();
        let kind = document.lines().find_map(|line| line.strip_prefix("kind: ")).unwrap_or_default();
        let is_elsewhere = ELSEWHERE.contains(&kind) || document.contains("grafana_dashboard");
        let shown = lines.take_while(|line| !is_elsewhere || !["spec:", "data:"].contains(line));
        shown.flat_map(|line| [line.trim_end(), "\n"]).collect::<String>()
    });
    documents.collect::<Vec<_>>().join("---\n")
}
