//! The verb `share`: which users decide over shares, and what tenants change of their own Queue.

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::{ConfigMap, ResourceQuota};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use quotient_crds::{Queue, QueueJob};
use quotient_e2e::quotient::{PATIENCE, SYSTEM_NAMESPACE, Stage, nothing_forbidden, queue_job};
use quotient_e2e::testbed::{TestBed, eventually, objects};
use serde_json::{Value, json};

/// Tenants by their built-in role in the namespace `team`. `cluster-admin` there is every verb on every namespaced resource.
const TENANTS: [&str; 3] = ["edit", "admin", "cluster-admin"];

/// Changes of every field that decides over shares.
fn guarded() -> [Value; 15] {
    [
        json!({"weight": 9}),
        json!({"guaranteed": {"cpu": "1"}}),
        json!({"limit": {"cpu": "9"}}),
        json!({"limit": null}),
        json!({"request": {"cpu": "9"}}),
        json!({"parentRef": {"name": "other"}}),
        json!({"children": {}}),
        json!({"mode": "Observe"}),
        json!({"pausedUntil": "2100-01-01T00:00:00Z"}),
        json!({"reclaim": {"from": "Subtree"}}),
        json!({"eviction": {"policy": "Never"}}),
        json!({"eviction": {"maxGraceSeconds": 9000}}),
        json!({"eviction": {"forceAfterSeconds": null}}),
        json!({"eviction": {"lastReplica": "Never"}}),
        json!({"eviction": {"gangs": "Never"}}),
    ]
}

/// Changes of the other fields.
fn open() -> [Value; 4] {
    [
        json!({"preemption": "LowerPriority"}),
        json!({"defaultRequests": {"cpu": "50m"}}),
        json!({"eviction": {"minRuntimeSeconds": 60, "lastReplica": "LastResort", "gangs": "WholeLast"}}),
        json!({"preemption": "Never", "defaultRequests": null,
            "eviction": {"minRuntimeSeconds": null, "lastReplica": null, "gangs": null}}),
    ]
}

/// A user with this `ClusterRole` in the namespace `team`, or in the whole cluster.
async fn user(bed: &TestBed, role: &str, namespaced: bool) -> Result<Client> {
    let place = namespaced.then_some("team");
    bed.client_for(&bed.user_with_role(&format!("has-{role}"), role, place).await?).await
}

fn queues(client: &Client) -> Api<Queue> {
    Api::namespaced(client.clone(), "team")
}

fn quotas(client: &Client) -> Api<ResourceQuota> {
    Api::namespaced(client.clone(), "team")
}

async fn patch_queue(client: &Client, spec: &Value) -> kube::Result<Queue> {
    queues(client).patch("team", &PatchParams::default(), &Patch::Merge(json!({"spec": spec}))).await
}

async fn patch_quota(client: &Client, cpu: &str) -> kube::Result<ResourceQuota> {
    let hard = json!({"spec": {"hard": {"requests.cpu": cpu}}});
    quotas(client).patch("quotient", &PatchParams::default(), &Patch::Merge(hard)).await
}

/// Asserts that the API server forbids it.
fn forbidden<T>(what: impl std::fmt::Debug, outcome: kube::Result<T>) -> Result<()> {
    let Err(kube::Error::Api(status)) = outcome.map(drop) else {
        anyhow::bail!("{what:?} is not refused");
    };
    ensure!(status.code == 403, "{what:?}: {}", status.message);
    Ok(())
}

fn queue_named(name: &str, weight: i32) -> Result<Queue> {
    Ok(serde_json::from_value(json!({
        "apiVersion": "quotient.dev/v1alpha1", "kind": "Queue",
        "metadata": {"name": name, "namespace": "team"}, "spec": {"weight": weight},
    }))?)
}

/// A tenant changes what decides over no share, and nothing else of its Queue or its quota.
async fn a_tenant_changes_no_share(bed: &TestBed, role: &str, tenant: &Client) -> Result<()> {
    let share = async || -> Result<(Queue, Option<ResourceQuota>)> {
        let mut queue = queues(&bed.client()).get("team").await?;
        (queue.metadata, queue.status) = (kube::core::ObjectMeta::default(), None);
        let mut quota = quotas(&bed.client()).get_opt("quotient").await?;
        if let Some(quota) = &mut quota {
            (quota.metadata, quota.status) = (kube::core::ObjectMeta::default(), None);
        }
        Ok((queue, quota))
    };
    let before = share().await?;
    for spec in guarded() {
        forbidden((role, &spec), patch_queue(tenant, &spec).await)?;
    }
    let merge = PatchParams::default();
    let owned = json!({"metadata": {"ownerReferences": [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "any", "uid": "any"},
    ]}});
    forbidden((role, &owned), queues(tenant).patch("team", &merge, &Patch::Merge(&owned)).await)?;
    let status = Patch::Merge(json!({"status": {"deserved": {"cpu": "9"}}}));
    forbidden((role, "status"), queues(tenant).patch_status("team", &merge, &status).await)?;
    let post = PostParams::default();
    forbidden((role, "create"), queues(tenant).create(&post, &queue_named("second", 1)?).await)?;
    eventually("a replacement is refused", PATIENCE, async || {
        // The operator may have written a status meanwhile, which is a conflict.
        let mut replaced = queues(&bed.client()).get("team").await?;
        replaced.spec.weight = 9;
        forbidden((role, "replace"), queues(tenant).replace("team", &post, &replaced).await)
    })
    .await?;
    let (now, all) = (DeleteParams::default(), ListParams::default());
    forbidden((role, "delete"), queues(tenant).delete("team", &now).await)?;
    forbidden((role, "delete all"), queues(tenant).delete_collection(&now, &all).await)?;

    forbidden((role, "quota"), patch_quota(tenant, "99").await)?;
    let status = Patch::Merge(json!({"status": {"hard": {"requests.cpu": "99"}}}));
    forbidden((role, "quota status"), quotas(tenant).patch_status("quotient", &merge, &status).await)?;
    forbidden((role, "quota deletion"), quotas(tenant).delete("quotient", &now).await)?;
    for collection in [all, ListParams::default().fields("metadata.name=quotient")] {
        forbidden((role, &collection), quotas(tenant).delete_collection(&now, &collection).await)?;
    }

    for spec in open() {
        patch_queue(tenant, &spec).await.with_context(|| format!("{role}: {spec}"))?;
    }
    let after = share().await?;
    ensure!(before == after, "{role}: {before:?} became {after:?}");
    Ok(())
}

/// A user that may edit a namespace runs QueueJobs there and nowhere else, and does not see the ledger.
async fn a_tenant_runs_queue_jobs_in_its_namespace(tenant: &Client) -> Result<()> {
    let only_asked = PostParams { dry_run: true, ..PostParams::default() };
    let job: QueueJob = serde_json::from_value(queue_job("train", 2, 2, 1, 1))?;
    let jobs = |namespace: &str| -> Api<QueueJob> { Api::namespaced(tenant.clone(), namespace) };
    jobs("team").create(&only_asked, &job).await?;
    forbidden("a QueueJob elsewhere", jobs("default").create(&only_asked, &job).await)?;
    let maps: Api<ConfigMap> = Api::namespaced(tenant.clone(), SYSTEM_NAMESPACE);
    forbidden("the ledger", maps.get("quotient-ledger").await)
}

/// A right to write all quotas of a namespace is no right to write that one, also while there is none.
async fn the_owner_of_a_namespace_cannot_write_its_share(owner: &Client) -> Result<()> {
    let create = async |name: &str| {
        let quota = objects::resource_quota("team", name, &[("requests.cpu", "9")]);
        quotas(owner).create(&PostParams::default(), &quota).await
    };
    forbidden("the quota", create("quotient").await)?;
    create("own").await?;
    quotas(owner).delete("own", &DeleteParams::default()).await?;
    Ok(())
}

/// An administrator changes each guarded field, the quota, and whether there is a Queue at all.
async fn an_administrator_changes_shares(administrator: &Client) -> Result<()> {
    for spec in guarded() {
        // A parent is another kind of queue; it has a test of its own below.
        if spec.get("children").is_none() {
            patch_queue(administrator, &spec).await.with_context(|| spec.to_string())?;
        }
    }
    for spec in [json!({"children": {}}), team_spec()] {
        let reset = json!({"guaranteed": null, "request": null, "parentRef": null, "reclaim": null, "children": null,
            "mode": "Full", "pausedUntil": null,
            "eviction": {"policy": null, "lastReplica": null, "gangs": null}});
        patch_queue(administrator, &reset).await?;
        patch_queue(administrator, &spec).await.with_context(|| spec.to_string())?;
    }
    eventually("the quota can be edited", PATIENCE, async || patch_quota(administrator, "99").await).await?;
    quotas(administrator).delete("quotient", &DeleteParams::default()).await?;
    let post = PostParams::default();
    queues(administrator).create(&post, &queue_named("second", 1)?).await?;
    queues(administrator).delete("second", &DeleteParams::default()).await?;
    Ok(())
}

/// What kubectl says, asked as in docs/how-to/install.md.
async fn may_share(bed: &TestBed, role: &str) -> bool {
    let user = format!("--as=has-{role}");
    let ask = ["auth", "can-i", "share", "queues.quotient.dev", "--all-namespaces", &user];
    // It fails where the answer is no.
    bed.kubectl(ask).await.is_ok_and(|said| said.trim() == "yes")
}

fn team_spec() -> Value {
    json!({"weight": 1, "request": {"cpu": "1k", "memory": "1Ti"}, "limit": {"cpu": "6"}, "eviction": {"maxGraceSeconds": 30, "forceAfterSeconds": 60}})
}

/// With the operator up and down.
#[tokio::test(flavor = "multi_thread")]
async fn only_an_administrator_changes_shares() -> Result<()> {
    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    let bed = &stage.bed;
    let operator = stage.start_operator().await?;
    stage.queue("team", team_spec()).await?;
    let mut tenants = Vec::new();
    for role in TENANTS {
        tenants.push((role, user(bed, role, true).await?));
    }
    let administrator = user(bed, "quotient-admin", false).await?;
    for (role, client) in &tenants {
        eventually(format!("{role} is aggregated"), PATIENCE, async || {
            patch_queue(client, &json!({"preemption": "Never"})).await
        })
        .await?;
    }
    let has_quota = async || -> Result<()> { stage.until_allowed("team", "cpu 6, memory 16Gi").await };
    has_quota().await?;
    for (role, client) in &tenants {
        a_tenant_changes_no_share(bed, role, client).await?;
        ensure!(!may_share(bed, role).await, "{role}");
    }
    ensure!(may_share(bed, "quotient-admin").await);
    let [(_, editor), _, (_, owner)] = tenants.as_slice() else { anyhow::bail!("no three tenants") };
    a_tenant_runs_queue_jobs_in_its_namespace(editor).await?;
    let status = Patch::Merge(json!({"status": {"hard": {"requests.cpu": "99"}}}));
    let written = quotas(&bed.client()).patch_status("quotient", &PatchParams::default(), &status).await;
    forbidden("the status of the quota, as an administrator", written)?;
    an_administrator_changes_shares(&administrator).await?;
    // The operator restores what was edited and deleted.
    has_quota().await?;
    operator.stop().await?;
    for (role, client) in &tenants {
        a_tenant_changes_no_share(bed, role, client).await?;
    }
    an_administrator_changes_shares(&administrator).await?;
    ensure!(quotas(&bed.client()).get_opt("quotient").await?.is_none(), "no operator restores it");
    the_owner_of_a_namespace_cannot_write_its_share(owner).await?;
    queues(&administrator).delete("team", &DeleteParams::default()).await?;
    nothing_forbidden(bed)?;
    a_queue_goes_with_its_namespace_and_with_its_owner(&stage).await?;
    stage.bed.stop().await
}

/// The controllers of Kubernetes delete a Queue with its namespace and with its owner. They change no share.
async fn a_queue_goes_with_its_namespace_and_with_its_owner(stage: &Stage) -> Result<()> {
    let bed = &stage.bed;
    stage.queue_object("team", "team", team_spec()).await?;
    let namespaces = "--as=system:serviceaccount:kube-system:namespace-controller";
    let collector = "--as=system:serviceaccount:kube-system:generic-garbage-collector";
    let patch = async |body: &str, user: Option<&str>| {
        let body = format!("--patch={body}");
        let command = ["patch", "queues.quotient.dev/team", "--namespace=team", "--type=merge", &body];
        bed.kubectl(command.into_iter().chain(user)).await
    };
    let delete = ["delete", "queues.quotient.dev/team", "--namespace=team", "--wait=false", namespaces];
    eventually("the policies are in force", PATIENCE, async || {
        let refused = bed.kubectl(delete.into_iter().chain(["--dry-run=server"])).await;
        let refused = refused.err().map(|error| error.to_string()).unwrap_or_default();
        ensure!(refused.contains("you cannot delete a Queue"), "{refused}");
        Ok(())
    })
    .await?;
    let unowned = r#"{"metadata":{"ownerReferences":null}}"#;
    // An owner that exists, or the garbage collector deletes the Queue.
    let uid = bed.kubectl(["get", "namespace", "team", "--output=jsonpath={.metadata.uid}"]).await?;
    let owner = json!([{"apiVersion": "v1", "kind": "Namespace", "name": "team", "uid": uid.trim()}]);
    patch(&unowned.replace("null", &owner.to_string()), None).await?;
    patch(unowned, Some(collector)).await?;
    let refused = patch(r#"{"spec":{"weight":9}}"#, Some(collector)).await.err().context("not refused")?;
    ensure!(refused.to_string().contains("you cannot change weight of a Queue"), "{refused}");

    // A namespace that ends waits for its Queue.
    patch(r#"{"metadata":{"finalizers":["example.org/held"]}}"#, None).await?;
    bed.kubectl(["delete", "namespace", "team", "--wait=false"]).await?;
    eventually("its controller may delete the Queue", PATIENCE, async || bed.kubectl(delete).await).await?;
    patch(r#"{"metadata":{"finalizers":null}}"#, None).await?;
    bed.kubectl(["wait", "--for=delete", "namespace/team", "--timeout=2m"]).await?;

    stage.queue("owned", json!({})).await?;
    bed.kubectl(["delete", "queues.quotient.dev/owned", "--namespace=owned", collector]).await?;
    Ok(())
}
