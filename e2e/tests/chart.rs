//! What the chart renders for each set of values, against what is committed: `UPDATE_EXPECT=1` writes it anew, and the
//! difference is read before it is committed.

use std::path::Path;

use anyhow::Result;
use expect_test::expect_file;
use quotient_e2e::quotient::{GATE_MODE, helm_arguments, value_sets};
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

/// Where the API server serves no MutatingAdmissionPolicies, both policies and the operator's flag are left out, and the notes say so.
#[tokio::test(flavor = "multi_thread")]
async fn gate_mode_is_off_with_a_sentence_where_its_policies_are_not_served() -> Result<()> {
    let helm = Helm::find().await?;
    let values = [GATE_MODE, "config.mode=Full"];
    let rendered = async |command: &[&str]| helm.run(helm_arguments(command, &values)).await;
    let is_on = |rendered: &str| {
        let kinds =
            ["kind: MutatingAdmissionPolicy\n", "kind: MutatingAdmissionPolicyBinding\n", "--gate-mode=true"];
        let found = kinds.map(|text| rendered.contains(text));
        // The policy that reserves the removal is named like the other one.
        let reserved =
            rendered.contains("kind: ValidatingAdmissionPolicy\nmetadata:\n  name: quotient-gates");
        ([found[0], found[1], found[2], reserved] == [true; 4], found.contains(&true) || reserved)
    };
    let served = rendered(&[&["template"], &SERVED[..]].concat()).await?;
    assert_eq!(is_on(&served), (true, true));
    let not_served = rendered(&["template"]).await?;
    assert_eq!(is_on(&not_served), (false, false));
    let notes = rendered(&["install", "--dry-run=client"]).await?;
    let why = "gateMode.enabled has no effect, because this cluster has no MutatingAdmissionPolicy v1 (Kubernetes 1.36).";
    assert!(notes.contains(why), "{notes}");
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
