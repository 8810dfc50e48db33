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
    let mut text = String::new();
    if reclaim.from != ReclaimFrom::Cluster {
        write!(text, "; reclaims from {:?}", reclaim.from).unwrap();
    }
    if reclaim.after_seconds > 0 {
        write!(text, "; waits {}s", reclaim.after_seconds).unwrap();
    }
    text + &memory(remembered)
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
    let mut text = String::new();
    if let Some(parent) = parent {
        write!(text, "; parent {parent}").unwrap();
    }
    if let Some(children) = children {
        write!(text, "; children {children:?}").unwrap();
    }
    if let Some(policy) = policy {
        write!(text, "; evictions {policy:?}").unwrap();
    }
    if let Some(last_replica) = last_replica {
        write!(text, "; last replica {last_replica:?}").unwrap();
    }
    if let Some(gangs) = gangs {
        write!(text, "; gangs {gangs:?}").unwrap();
    }
    if *mode != Mode::Full {
        write!(text, "; mode {mode}").unwrap();
    }
    if *admission != Admission::Quota {
        write!(text, "; admission {admission:?}").unwrap();
    }
    if let Some(until) = paused_until {
        write!(text, "; paused until {}", time(*until)).unwrap();
    }
    if *preemption != Preemption::Never {
        write!(text, "; preempts {preemption:?}").unwrap();
    }
    if let Some(seconds) = eviction.max_grace_seconds {
        write!(text, "; grace at most {seconds}s").unwrap();
    }
    if let Some(seconds) = eviction.force_after_seconds {
        write!(text, "; forced after {seconds}s").unwrap();
    }
    if let Some(min_runtime_seconds) = min_runtime_seconds {
        write!(text, "; left alone for {min_runtime_seconds}s").unwrap();
    }
    text
}

fn quota(quota: &Quota) -> String {
    let Quota { hard, enforced, ours, granted, owed, unconfirmed, unstamped, drifted, owner, charged } =
        quota;
    let whose = if *ours { "quota" } else { "foreign quota" };
    format!(
        "{whose}: hard {}; enforced {}{}{}{}{}{}{}{}",
        bounds(hard),
        bounds(enforced),
        granted.as_ref().map(|granted| format!("; granted {}", bounds(granted))).unwrap_or_default(),
        if owed.is_empty() { String::new() } else { format!("; owed {owed}") },
        if unconfirmed.is_empty() { String::new() } else { format!("; may become {}", bounds(unconfirmed)) },
        if charged.is_empty() { String::new() } else { format!("; charged already {}", bounds(charged)) },
        if *unstamped { "; not stamped" } else { "" },
        if *drifted { "; changed by others" } else { "" },
        owner.as_ref().map(|owner| format!("; owned by {owner}")).unwrap_or_default()
    )
}

fn owner(owner: &Owner) -> String {
    let Owner { uid, kind, name, generation, created, wanted, shape, gang, priority, size, .. } = owner;
    let Owner { rejected, unspecified, controller, succeeded, fails, .. } = owner;
    let mut line = format!(
        "{} {name} ({uid}), generation {generation}, created {}: wants {wanted} of {}",
        kind.name(),
        time(*created),
        shape.requests
    );
    if *succeeded > 0 || *fails {
        write!(line, ", {succeeded} succeeded{}", if *fails { ", only fails" } else { "" }).unwrap();
    }
    if *priority != 0 {
        write!(line, ", priority {priority}").unwrap();
    }
    if shape.left_out.resources > 0 {
        write!(line, ", and {} more", shape.left_out.resources).unwrap();
    }
    let mut refused = rejected.as_ref().map(|why| format!("; rejected: {why}")).unwrap_or_default();
    if !unspecified.is_nothing() {
        write!(refused, "; no request for {unspecified:?}").unwrap();
    }
    if let Some(controller) = controller {
        write!(refused, "; of {} {} ({})", controller.kind, controller.name, controller.api_version).unwrap();
    }
    line + &gang_of(gang.as_ref()) + &placement(&shape.placement) + &self::size(owner, size) + &refused
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
    let mut text = String::new();
    match scale_target {
        None => text.push_str("; cannot be scaled"),
        Some(scale_target) if scale_target.uid != owner.uid => {
            write!(text, "; sized by {scale_target} ({})", scale_target.uid).unwrap();
        }
        Some(_) => {}
    }
    if scale_target.is_some() && *written != owner.wanted {
        write!(text, "; {written} written").unwrap();
    }
    if let Some(former) = former {
        write!(text, "; {former} before, {withheld_replicas} held back").unwrap();
    }
    if let Some(reason) = left_alone {
        write!(text, "; left alone: {reason}").unwrap();
    }
    if *surges_first {
        text.push_str("; surges first");
    }
    text
}

fn budget(budget: &Budget) -> String {
    let Budget { name, selector, allowed, lets_unready_go } = budget;
    let unready = if *lets_unready_go { " and any that is not Ready" } else { "" };
    format!("budget {name}: {allowed}{unready} may go; {selector:?}")
}

fn gang_of(gang: Option<&Gang>) -> String {
    gang.map(|gang| format!(", gang {} of {}", gang.name, gang.min_available)).unwrap_or_default()
}

fn placement(placement: &Placement) -> String {
    let Placement { node_selector, required, preferred, tolerations } = placement;
    let mut text = String::new();
    if !node_selector.is_empty() {
        write!(text, ", only on {node_selector:?}").unwrap();
    }
    if !required.is_empty() {
        write!(text, ", requires {required:?}").unwrap();
    }
    if !preferred.is_empty() {
        write!(text, ", prefers {preferred:?}").unwrap();
    }
    if !tolerations.is_empty() {
        write!(text, ", tolerates {tolerations:?}").unwrap();
    }
    text
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
    let mut line = format!("pod {name} ({uid}): {requests}; {phase:?}, created {}", time(*created));
    if shape.left_out.resources > 0 {
        write!(line, ", and {} resources more", shape.left_out.resources).unwrap();
    }
    if let Some(node) = node {
        write!(line, ", on {node}").unwrap();
    }
    if *priority != 0 {
        write!(line, ", priority {priority}").unwrap();
    }
    if let Some(started) = started {
        write!(line, ", started {}", time(*started)).unwrap();
    }
    if let Some(deletion) = deletion {
        write!(line, ", gone by {}", time(*deletion)).unwrap();
    }
    if *deletion_seconds != 0 {
        write!(line, " given {deletion_seconds}s").unwrap();
    }
    if *evicted {
        write!(line, ", evicted").unwrap();
    }
    if *forced {
        write!(line, ", forced").unwrap();
    }
    if *deletion_cost != 0 {
        write!(line, ", deletion cost {deletion_cost}").unwrap();
    }
    if *grace_seconds != 30 {
        write!(line, ", grace {grace_seconds}s").unwrap();
    }
    if let Some(gate) = gate {
        write!(line, ", gated at {}", gate.number()).unwrap();
    }
    if let Some(stuck) = stuck {
        write!(line, ", stuck since {}", time(*stuck)).unwrap();
    }
    if *failing {
        write!(line, ", failing").unwrap();
    }
    if let Some(reason) = kept {
        write!(line, ", {reason:?}").unwrap();
    }
    if *do_not_disrupt {
        write!(line, ", goes last").unwrap();
    }
    if let Some(owner) = &metadata.owner {
        write!(line, ", of {}", owner.uid).unwrap();
    }
    line + &gang_of(metadata.gang.as_ref()) + &labels(&metadata.labels) + &placement(&shape.placement)
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
