//! A snapshot as text.

use std::fmt::Write;

use quotient_snapshot::amounts::Bounds;
use quotient_snapshot::labels::Labels;
use quotient_snapshot::time::Timestamp;
use quotient_snapshot::{
    Admission, Budget, EvictionRules, Gang, Mode, NamespaceState, Node, Owner, Placement, Pod, Preemption,
    Queue, Quota, ReclaimFrom, Remembered, SetAside, Size, Snapshot, Window,
};

/// Everything in the snapshot, a line for each entry.
pub(super) fn describe(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    for (name, node) in &snapshot.nodes {
        let Node { allocatable, counts, labels: written, taints } = &**node;
        let counts = if *counts { "counts" } else { "does not count" };
        write!(text, "node {name}: {allocatable}; {counts}{}", labels(written)).unwrap();
        for taint in &**taints {
            write!(text, ", {}={}:{:?}", taint.key, taint.value, taint.effect).unwrap();
        }
        writeln!(text).unwrap();
    }
    for (name, state) in &snapshot.namespaces {
        writeln!(text, "namespace {name}{}", labels(&state.labels)).unwrap();
        for line in contents(state) {
            writeln!(text, "  {line}").unwrap();
        }
    }
    text
}

fn contents(state: &NamespaceState) -> Vec<String> {
    let queues = state.queues.iter().map(queue);
    let quota = state.quota.iter().map(quota);
    let others = Some(&state.foreign_quotas).filter(|others| !others.is_empty());
    let others = others.map(|others| format!("others allow {}", bounds(others)));
    let owners = state.owners.iter().map(owner);
    let budgets = state.budgets.iter().map(budget);
    let pods = state.pods.iter().map(|one| {
        let refused = if state.refused.contains(&one.uid) { ", refused" } else { "" };
        pod(one) + refused
    });
    queues.chain(quota).chain(others).chain(owners).chain(budgets).chain(pods).collect()
}

fn queue(queue: &Queue) -> String {
    let Queue { name, uid, created, weight, request, guaranteed, limit, invalid, .. } = queue;
    let start = format!("queue {name} ({uid}), created {}", time(*created));
    if let Some(problem) = invalid {
        let kind = if queue.children.is_some() { "invalid parent" } else { "invalid" };
        return format!("{start}, {kind}: {problem}");
    }
    format!(
        "{start}: weight {weight}; request {}; guaranteed {}; limit {}{}{}",
        bounds(request),
        bounds(guaranteed),
        bounds(limit),
        place(queue),
        demand(queue)
    )
}

/// What a Queue says of its demand beyond the defaults, and what is remembered of it.
fn demand(queue: &Queue) -> String {
    let Queue { reclaim, remembered, .. } = queue;
    all([
        (reclaim.from != ReclaimFrom::Cluster).then(|| format!("; reclaims from {:?}", reclaim.from)),
        (reclaim.after_seconds > 0).then(|| format!("; waits {}s", reclaim.after_seconds)),
        Some(memory(remembered)),
    ])
}

fn memory(remembered: &Remembered) -> String {
    if *remembered == Remembered::default() {
        return String::new();
    }
    let Remembered { demand, falling, set_aside, not_created, short_since, windows, .. } = remembered;
    let falling =
        falling.iter().map(|(resource, since)| format!(", {resource} falling since {}", time(*since)));
    let ignored = set_aside.iter().map(|(uid, one)| {
        let SetAside { kind, name, revision, since, times, nodes, lacked_room } = one;
        let of = format!(", {kind} {name} ({uid}) revision {revision} set aside since {}", time(*since));
        let room = if *lacked_room { " for lack of room" } else { "" };
        format!("{of}{room}, {times} times, {nodes} nodes")
    });
    let late = not_created.iter();
    let late = late.map(|(uid, since)| format!(", {uid} not created since {}", time(*since)));
    let short = short_since.iter().map(|since| format!(", short since {}", time(*since)));
    let windows = windows.iter().map(|(resource, window)| {
        let Window { size, target, used, lost } = window;
        let (size, target) = (resource.format(*size), resource.format(*target));
        let lost = lost.map(|lost| format!(", lost {}", time(lost))).unwrap_or_default();
        format!(", {resource} lent up to {size} above {target}, used {}{lost}", time(*used))
    });
    let all: String = falling.chain(ignored).chain(late).chain(short).chain(windows).collect();
    format!("; remembers {demand}{all}")
}

/// What a Queue says of the tree and of how its pods are taken beyond the defaults.
fn place(queue: &Queue) -> String {
    let Queue { parent, children, eviction, preemption, mode, admission, paused_until, .. } = queue;
    let EvictionRules { policy, min_runtime_seconds, last_replica, gangs, .. } = eviction;
    let EvictionRules { max_grace_seconds, force_after_seconds, .. } = eviction;
    all([
        parent.as_ref().map(|parent| format!("; parent {parent}")),
        children.as_ref().map(|children| format!("; children {children:?}")),
        policy.as_ref().map(|policy| format!("; evictions {policy:?}")),
        last_replica.as_ref().map(|last_replica| format!("; last replica {last_replica:?}")),
        gangs.as_ref().map(|gangs| format!("; gangs {gangs:?}")),
        (*mode != Mode::Full).then(|| format!("; mode {mode}")),
        (*admission != Admission::Quota).then(|| format!("; admission {admission:?}")),
        paused_until.map(|until| format!("; paused until {}", time(until))),
        (*preemption != Preemption::Never).then(|| format!("; preempts {preemption:?}")),
        max_grace_seconds.map(|seconds| format!("; grace at most {seconds}s")),
        force_after_seconds.map(|seconds| format!("; forced after {seconds}s")),
        min_runtime_seconds.map(|seconds| format!("; left alone for {seconds}s")),
    ])
}

/// The parts that there are.
fn all<const N: usize>(parts: [Option<String>; N]) -> String {
    parts.into_iter().flatten().collect()
}

fn quota(quota: &Quota) -> String {
    let Quota { hard, enforced, ours, granted, owed, unconfirmed, unstamped, drifted, owner, charged } =
        quota;
    let whose = if *ours { "quota" } else { "foreign quota" };
    all([
        Some(format!("{whose}: hard {}; enforced {}", bounds(hard), bounds(enforced))),
        granted.as_ref().map(|granted| format!("; granted {}", bounds(granted))),
        (!owed.is_empty()).then(|| format!("; owed {owed}")),
        (!unconfirmed.is_empty()).then(|| format!("; may become {}", bounds(unconfirmed))),
        (!charged.is_empty()).then(|| format!("; charged already {}", bounds(charged))),
        unstamped.then(|| "; not stamped".into()),
        drifted.then(|| "; changed by others".into()),
        owner.as_ref().map(|owner| format!("; owned by {owner}")),
    ])
}

fn owner(owner: &Owner) -> String {
    let Owner { uid, kind, name, generation, created, wanted, shape, gang, priority, size, .. } = owner;
    let Owner { rejected, unspecified, controller, succeeded, fails, .. } = owner;
    let wants = format!(
        "{} {name} ({uid}), generation {generation}, created {}: wants {wanted} of {}",
        kind.name(),
        time(*created),
        shape.requests
    );
    let ends = if *fails { ", only fails" } else { "" };
    all([
        Some(wants),
        (*succeeded > 0 || *fails).then(|| format!(", {succeeded} succeeded{ends}")),
        (*priority != 0).then(|| format!(", priority {priority}")),
        (shape.left_out.resources > 0).then(|| format!(", and {} more", shape.left_out.resources)),
        gang.as_ref().map(gang_of),
        Some(placement(&shape.placement)),
        Some(self::size(owner, size)),
        rejected.as_ref().map(|why| format!("; rejected: {why}")),
        (!unspecified.is_nothing()).then(|| format!("; no request for {unspecified:?}")),
        controller.as_ref().map(|one| format!("; of {} {} ({})", one.kind, one.name, one.api_version)),
    ])
}

/// What is unusual about the size of `owner`: what says it, what it was, why it stays.
fn size(owner: &Owner, size: &Size) -> String {
    let Size {
        scale_target,
        written,
        original_replicas: former,
        withheld_replicas,
        left_alone,
        surges_first,
    } = size;
    let others = scale_target.as_ref().filter(|scale_target| scale_target.uid != owner.uid);
    all([
        scale_target.is_none().then(|| "; cannot be scaled".into()),
        others.map(|scale_target| format!("; sized by {scale_target} ({})", scale_target.uid)),
        (scale_target.is_some() && *written != owner.wanted).then(|| format!("; {written} written")),
        former.map(|former| format!("; {former} before, {withheld_replicas} held back")),
        left_alone.as_ref().map(|reason| format!("; left alone: {reason}")),
        surges_first.then(|| "; surges first".into()),
    ])
}

fn budget(budget: &Budget) -> String {
    let Budget { name, selector, allowed, lets_unready_go } = budget;
    let unready = if *lets_unready_go { " and any that is not Ready" } else { "" };
    format!("budget {name}: {allowed}{unready} may go; {selector:?}")
}

fn gang_of(gang: &Gang) -> String {
    format!(", gang {} of {}", gang.name, gang.min_available)
}

fn placement(placement: &Placement) -> String {
    let Placement { node_selector, required, preferred, tolerations } = placement;
    all([
        (!node_selector.is_empty()).then(|| format!(", only on {node_selector:?}")),
        (!required.is_empty()).then(|| format!(", requires {required:?}")),
        (!preferred.is_empty()).then(|| format!(", prefers {preferred:?}")),
        (!tolerations.is_empty()).then(|| format!(", tolerates {tolerations:?}")),
    ])
}

fn labels(labels: &Labels) -> String {
    let all: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if all.is_empty() { String::new() } else { format!(", {}", all.join(",")) }
}

fn pod(pod: &Pod) -> String {
    let Pod {
        uid,
        name,
        shape,
        metadata,
        node,
        phase,
        priority,
        created,
        started,
        deletion,
        deletion_seconds,
        evicted,
        stuck,
        gate,
        failing,
        kept,
        do_not_disrupt,
        forced,
        deletion_cost,
        grace_seconds,
    } = pod;
    let requests = &shape.requests;
    let left_out = shape.left_out.resources;
    all([
        Some(format!("pod {name} ({uid}): {requests}; {phase:?}, created {}", time(*created))),
        (left_out > 0).then(|| format!(", and {left_out} resources more")),
        node.as_ref().map(|node| format!(", on {node}")),
        (*priority != 0).then(|| format!(", priority {priority}")),
        started.map(|started| format!(", started {}", time(started))),
        deletion.map(|deletion| format!(", gone by {}", time(deletion))),
        (*deletion_seconds != 0).then(|| format!(" given {deletion_seconds}s")),
        evicted.then(|| ", evicted".into()),
        forced.then(|| ", forced".into()),
        (*deletion_cost != 0).then(|| format!(", deletion cost {deletion_cost}")),
        (*grace_seconds != 30).then(|| format!(", grace {grace_seconds}s")),
        gate.as_ref().map(|gate| format!(", gated at {}", gate.number())),
        stuck.map(|stuck| format!(", stuck since {}", time(stuck))),
        failing.then(|| ", failing".into()),
        kept.as_ref().map(|reason| format!(", {reason:?}")),
        do_not_disrupt.then(|| ", goes last".into()),
        metadata.owner.as_ref().map(|owner| format!(", of {}", owner.uid)),
        metadata.gang.as_ref().map(gang_of),
        Some(labels(&metadata.labels)),
        Some(placement(&shape.placement)),
    ])
}

fn bounds(bounds: &Bounds) -> String {
    let parts: Vec<String> =
        bounds.iter().map(|(resource, amount)| format!("{resource} {}", resource.format(amount))).collect();
    if parts.is_empty() { "-".to_owned() } else { parts.join(", ") }
}

/// The time of day, or `-` for the epoch, which stands for "not known".
fn time(timestamp: Timestamp) -> String {
    if timestamp == Timestamp::default() {
        return "-".to_owned();
    }
    jiff::Timestamp::from_millisecond(timestamp.millis()).unwrap().strftime("%T").to_string()
}
