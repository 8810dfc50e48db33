//! PodDisruptionBudgets without a status are counted as the disruption controller would.

use expect_test::{Expect, expect};

use super::{check, read};

/// Pods of namespace a: four of a Deployment of six, of which one does not run; two of a StatefulSet of two; one of a
/// Job; a bare one. All carry `all: x`.
const PODS: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: a}
spec:
  replicas: 6
  selector: {}
  template: {metadata: {labels: {all: x, app: web}}, spec: {containers: []}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: a}
spec:
  replicas: 2
  selector: {}
  template: {metadata: {labels: {all: x, app: db}}, spec: {containers: []}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: job, namespace: a}
spec: {template: {metadata: {labels: {all: x, app: job}}, spec: {containers: []}}}
";

fn pod(name: &str, app: &str, owner: Option<(&str, &str)>, node: &str) -> String {
    let owner = owner.map_or_else(String::new, |(kind, name)| {
        format!(", ownerReferences: [{{apiVersion: x/v1, kind: {kind}, name: {name}, controller: true}}]")
    });
    format!(
        "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: a, labels: {{all: x, app: {app}}}{owner}}}, \
         spec: {{containers: []{node}}}}}\n"
    )
}

fn budget(name: &str, spec: &str, status: &str) -> String {
    format!(
        "---\n{{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {{name: {name}, namespace: a}}, \
         spec: {spec}{status}}}\n"
    )
}

fn check_allowed(budgets: &[(&str, &str)], expected: &Expect) {
    let node = ", nodeName: n";
    let web = Some(("ReplicaSet", "web"));
    let mut documents = vec![
        PODS.to_owned(),
        pod("web-1", "web", web, node),
        pod("web-2", "web", web, node),
        pod("web-3", "web", web, node),
        pod("web-4", "web", web, ""),
        pod("db-0", "db", Some(("StatefulSet", "db")), node),
        pod("db-1", "db", Some(("StatefulSet", "db")), node),
        pod("job-1", "job", Some(("Job", "job")), node),
        pod("bare", "bare", None, node),
        pod("undescribed", "raft", Some(("Raft", "raft")), node),
    ];
    let named: Vec<(String, &str, &str)> = (1..)
        .zip(budgets)
        .map(|(number, (spec, status))| (format!("b{number:02}"), *spec, *status))
        .collect();
    documents.extend(named.iter().map(|(name, spec, status)| budget(name, spec, status)));
    let cluster = read(&[("a.yaml", &documents.concat())]).unwrap();
    let kept = &cluster.snapshot.namespaces[&"a".into()].budgets;
    let lines: Vec<String> = named
        .iter()
        .map(|(name, spec, status)| {
            let found = kept.iter().find(|budget| *budget.name == **name);
            let allowed = found.map_or_else(|| "-".to_owned(), |budget| budget.allowed.to_string());
            format!("{allowed}: {spec}{status}\n")
        })
        .collect();
    expected.assert_eq(&lines.concat());
}

#[test]
fn what_budgets_allow() {
    let web = "selector: {matchLabels: {app: web}}";
    let specs = [
        format!("{{minAvailable: 2, {web}}}"),
        format!("{{minAvailable: 3, {web}}}"),
        format!("{{minAvailable: 30%, {web}}}"),
        format!("{{minAvailable: 50%, {web}}}"),
        format!("{{maxUnavailable: 1, {web}}}"),
        format!("{{maxUnavailable: 4, {web}}}"),
        format!("{{maxUnavailable: 60%, {web}}}"),
        format!("{{{web}}}"),
        "{maxUnavailable: 1, selector: {matchLabels: {app: db}}}".to_owned(),
        "{maxUnavailable: 5, selector: {matchExpressions: [{key: app, operator: In, values: [db, web]}]}}"
            .to_owned(),
        // No object says how many pods of a Job there should be; a plain number needs none.
        "{maxUnavailable: 1, selector: {matchLabels: {app: job}}}".to_owned(),
        "{minAvailable: 0, selector: {matchLabels: {app: job}}}".to_owned(),
        // Bare pods are not expected.
        "{maxUnavailable: 1, selector: {matchLabels: {app: bare}}}".to_owned(),
        "{minAvailable: 0, selector: {matchLabels: {app: bare}}}".to_owned(),
        // An owner without a manifest has what it wants.
        "{maxUnavailable: 1, selector: {matchLabels: {app: raft}}}".to_owned(),
        // Every pod, no pod, and no selector.
        "{minAvailable: 5, selector: {}}".to_owned(),
        "{minAvailable: 0, selector: {matchLabels: {app: none}}}".to_owned(),
        "{minAvailable: 0}".to_owned(),
    ];
    let with_status = (format!("{{minAvailable: 0, {web}}}"), ", status: {disruptionsAllowed: 1}");
    let mut budgets: Vec<(&str, &str)> = specs.iter().map(|spec| (spec.as_str(), "")).collect();
    budgets.push((&with_status.0, with_status.1));
    check_allowed(
        &budgets,
        &expect![[r#"
        1: {minAvailable: 2, selector: {matchLabels: {app: web}}}
        0: {minAvailable: 3, selector: {matchLabels: {app: web}}}
        1: {minAvailable: 30%, selector: {matchLabels: {app: web}}}
        0: {minAvailable: 50%, selector: {matchLabels: {app: web}}}
        0: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
        1: {maxUnavailable: 4, selector: {matchLabels: {app: web}}}
        1: {maxUnavailable: 60%, selector: {matchLabels: {app: web}}}
        0: {selector: {matchLabels: {app: web}}}
        1: {maxUnavailable: 1, selector: {matchLabels: {app: db}}}
        2: {maxUnavailable: 5, selector: {matchExpressions: [{key: app, operator: In, values: [db, web]}]}}
        0: {maxUnavailable: 1, selector: {matchLabels: {app: job}}}
        1: {minAvailable: 0, selector: {matchLabels: {app: job}}}
        0: {maxUnavailable: 1, selector: {matchLabels: {app: bare}}}
        1: {minAvailable: 0, selector: {matchLabels: {app: bare}}}
        1: {maxUnavailable: 1, selector: {matchLabels: {app: raft}}}
        3: {minAvailable: 5, selector: {}}
        0: {minAvailable: 0, selector: {matchLabels: {app: none}}}
        -: {minAvailable: 0}
        1: {minAvailable: 0, selector: {matchLabels: {app: web}}}, status: {disruptionsAllowed: 1}
    "#]],
    );
}

#[test]
fn budgets_are_counted_anew_when_pods_come_and_go() {
    // Nothing runs at first; of four pods one may go at a time, and the next when its successor runs.
    check(
        "
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 4, memory: 4Gi}}
---
{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: q, namespace: a}, spec: {request: {cpu: 1k, memory: 1Ti}}}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: quotient, namespace: a}, spec: {hard: {requests.cpu: 4}}}
---
{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: q, namespace: b}, spec: {request: {cpu: 2, memory: 0}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: a}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: a}
spec: {minAvailable: 3, selector: {matchLabels: {app: web}}}
",
        &expect![[r#"
            Before  as far as quotas admit
              start  a/web-r1-0
              start  a/web-r1-1
              start  a/web-r1-2
              start  a/web-r1-3

            Step 1  capacity 4c 4Gi
              QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED      PREEMPTING
              a/q    1       4c 4Gi  2c 4Gi    2c 4Gi     4c 512Mi  0
              b/q    1       2c      2c        0          0         1c
              evict  a/web-r1-3  b/q is short of 2c; a/q uses 4c 512Mi and deserves 2c 4Gi
              short  b/q  lacks 1c of the deserved 2c because the pods that use the room may not be evicted now

            Step 2  capacity 4c 4Gi
              QUEUE  WEIGHT  DEMAND  DESERVED  ALLOCATED  USED      PREEMPTING
              a/q    1       4c 4Gi  2c 4Gi    2c 4Gi     3c 384Mi  0
              b/q    1       2c      2c        1c         0         0
              short  b/q  lacks 1c of the deserved 2c because the pods that use the room may not be evicted now
              unmet  a/web  1 pod of 1c 128Mi cannot start: ShareInUse (other pods of the queue use all of the share)

            Stable: nothing more would happen.
        "#]],
    );
}

#[test]
fn mistakes_of_budgets_are_named() {
    let text = [
        budget("both", "{minAvailable: 1, maxUnavailable: 1}", ""),
        budget("text", "{minAvailable: half, selector: {}}", ""),
        budget("much", "{minAvailable: 101%, selector: {}}", ""),
        budget("less", "{maxUnavailable: -1, selector: {}}", ""),
    ];
    expect![[r#"
        error: DIR/a.yaml (document 1): PodDisruptionBudget a/both: spec.minAvailable and spec.maxUnavailable: give one of them
        error: DIR/a.yaml (document 2): PodDisruptionBudget a/text: spec.minAvailable is "half": write a number of pods, or a percentage such as "50%"
        error: DIR/a.yaml (document 3): PodDisruptionBudget a/much: spec.minAvailable is "101%": write a number of pods, or a percentage such as "50%"
        error: DIR/a.yaml (document 4): PodDisruptionBudget a/less: spec.maxUnavailable is -1: write a number of pods, or a percentage such as "50%""#]].assert_eq(&read(&[("a.yaml", &text.concat())]).unwrap_err());
}
