//! Grafana's dashboards.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::alerts::{exported, files, repository};

fn dashboards() -> Vec<(String, Value)> {
    let files = files(&repository().join("charts/quotient/files/dashboards"), ".json");
    let read = |file: &std::path::PathBuf| serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    files.iter().map(|file| (file.file_stem().unwrap().to_string_lossy().into_owned(), read(file))).collect()
}

/// What every panel asks for: the dashboard, the panel and the expression.
fn expressions() -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    for (name, dashboard) in dashboards() {
        for panel in dashboard["panels"].as_array().unwrap() {
            for target in panel["targets"].as_array().into_iter().flatten() {
                let expression = target["expr"].as_str().unwrap().to_owned();
                all.push((name.clone(), panel["title"].to_string(), expression));
            }
        }
    }
    all
}

#[test]
fn every_series_in_dashboards_is_exported() {
    let exported = exported();
    for (name, panel, expression) in expressions() {
        exported.check(&format!("{name}: {panel}"), &expression);
    }
    for (name, dashboard) in dashboards() {
        for annotation in dashboard["annotations"]["list"].as_array().unwrap() {
            exported.check(&name, annotation["expr"].as_str().unwrap());
        }
        for variable in dashboard["templating"]["list"].as_array().unwrap() {
            let Some(values) = variable["definition"].as_str() else { continue };
            let (series, label) = values.trim_start_matches("label_values(").rsplit_once(", ").unwrap();
            let label = label.trim_end_matches(')');
            exported.check(&name, &format!("sum by ({label}) ({series})"));
        }
    }
}

/// A panel that names a resource is empty in a cluster that shares another one.
#[test]
fn no_panel_names_a_resource() {
    for (name, panel, expression) in expressions() {
        assert!(!expression.contains("resource=\""), "{name}: {panel}: {expression}");
    }
}

/// A range of a minute has two samples at the usual interval of scrapes, and what happens between two ranges is lost.
#[test]
fn annotations_lose_no_eviction() {
    for (name, dashboard) in dashboards() {
        for annotation in dashboard["annotations"]["list"].as_array().unwrap() {
            let expression = annotation["expr"].as_str().unwrap();
            assert!(expression.contains("[5m]") && annotation["step"] == "60s", "{name}: {expression}");
        }
    }
}

/// A replica that does not lead has a view of its own, and decides nothing by it.
#[test]
fn panels_about_the_view_show_that_of_the_leader() {
    let mut panels = 0;
    for (name, panel, expression) in expressions() {
        for series in ["quotient_reclaims_held", "quotient_watch_heard_timestamp_seconds"] {
            if let Some((_, after)) = expression.split_once(series) {
                let leader = " and on (instance, pod) quotient_leader == 1";
                assert!(after.starts_with(leader), "{name}: {panel}: {expression}");
                panels += 1;
            }
        }
    }
    assert_eq!(panels, 2);
}

/// What a tenant sees names no other namespace.
#[test]
fn the_dashboard_of_a_tenant_shows_one_namespace() {
    let of_tenant = expressions().into_iter().filter(|(name, ..)| name == "tenant");
    for (_, panel, expression) in of_tenant {
        assert!(expression.contains("namespace=~\"$namespace\""), "{panel}: {expression}");
    }
}

#[test]
fn dashboards_are_complete_and_do_not_overlap() {
    let mut uids = BTreeSet::new();
    for (name, dashboard) in dashboards() {
        assert!(uids.insert(dashboard["uid"].as_str().unwrap().to_owned()), "{name}");
        let mut taken = BTreeSet::new();
        for panel in dashboard["panels"].as_array().unwrap() {
            let title = panel["title"].as_str().unwrap();
            if panel["type"] != "row" {
                assert!(!panel["description"].as_str().unwrap().is_empty(), "{name}: {title}");
                assert_eq!(panel["datasource"]["uid"], "${datasource}", "{name}: {title}");
            }
            let at = |field: &str| panel["gridPos"][field].as_u64().unwrap();
            for x in at("x")..at("x") + at("w") {
                for y in at("y")..at("y") + at("h") {
                    assert!(x < 24 && taken.insert((x, y)), "{name}: {title} overlaps another panel");
                }
            }
        }
    }
}
