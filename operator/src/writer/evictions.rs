//! Evicting pods: many at once, each once, none without need.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::jiff::Timestamp as Clock;
use kube::Api;
use kube::api::PostParams;
use kube::core::Status;
use quotient_engine::names::{PodUid, QueueName};
use quotient_engine::plan::{Eviction, Plan, PodId};
use quotient_engine::time::Timestamp;
use tokio::time::Instant;
use tracing::{debug, info, warn};

use super::Tools;
use super::backoff::Backoff;
use super::eviction_body::eviction;
use super::rate::Rate;
use super::verdict::{Verdict, verdict};
use crate::announce::Happening;
use crate::answer::ask;
use crate::settings::WriteSettings;

/// How long one eviction may take. The API server repeats conflicts on a budget for about ten seconds itself.
const CALL: Duration = Duration::from_secs(12);

/// How long a pod counts as leaving when that is only assumed.
const ASSUMED: Duration = Duration::from_secs(10);

/// For how long one cycle asks for evictions. Then the next cycle comes: it gives what became free to those who wait
/// for it, and goes on.
const CYCLE: Duration = Duration::from_millis(100);

/// How long an evicted pod is taken to need until the watch shows its real deadline.
const GRACE_SECONDS: i64 = 30;

/// What metrics call an eviction.
const KIND: &str = "eviction";

/// Evicts pods.
pub(super) struct Evictor {
    tools: Tools,
    parallel: usize,
    per_cycle: usize,
    rate: Rate,
    backoff: Backoff,
    /// Pods that count as leaving although nobody has confirmed it, and until when.
    assumed: Vec<(Instant, PodId)>,
    blocked: BTreeMap<QueueName, String>,
    /// Whether the last plan had more evictions than one cycle asks for.
    unfinished: bool,
}

impl Evictor {
    pub(super) fn new(tools: Tools, settings: WriteSettings) -> Self {
        Self {
            tools,
            parallel: settings.evictions_in_parallel,
            per_cycle: settings.evictions_per_cycle,
            rate: Rate::per_second(settings.evictions_per_second),
            backoff: Backoff::default(),
            assumed: Vec::new(),
            blocked: BTreeMap::new(),
            unfinished: false,
        }
    }

    pub(super) fn blocked_queues(&self) -> BTreeMap<QueueName, String> {
        self.blocked.clone()
    }

    pub(super) fn next_retry(&self) -> Option<Instant> {
        let assumed = self.assumed.iter().map(|(until, _)| *until).min();
        let now = Instant::now();
        let unfinished = self.unfinished.then_some(now);
        [assumed, self.backoff.next(now), unfinished].into_iter().flatten().min()
    }

    /// Pods that were only assumed to leave and are still there count as staying again.
    pub(super) fn forget_assumed(&mut self) {
        let now = Instant::now();
        let view = &self.tools.view;
        self.assumed.retain(|(until, pod)| {
            let keep = now < *until;
            if !keep {
                view.update(|index| index.pod_eviction_forgotten(pod));
            }
            keep
        });
    }

    pub(super) async fn evict(&mut self, plan: &Plan) {
        let wanted: BTreeSet<&PodUid> =
            plan.evictions.iter().chain(&plan.waiting).map(|eviction| &eviction.pod.uid).collect();
        self.backoff.retain(|uid| wanted.contains(uid));

        let now = Instant::now();
        let allowed =
            plan.evictions.iter().filter(|eviction| self.backoff.refusal(&eviction.pod, now).is_none());
        let allowed: Vec<&Eviction> = allowed.collect();
        let due: Vec<(Instant, &Eviction)> = allowed
            .iter()
            .take(self.per_cycle)
            .map(|eviction| (self.rate.reserve(now), *eviction))
            .take_while(|(at, _)| at.duration_since(now) < CYCLE)
            .collect();
        self.unfinished = due.len() < allowed.len();
        let tools = self.tools.clone();
        let tools = &tools;
        let calls: Vec<_> = due
            .into_iter()
            .map(|(at, eviction)| async move { (eviction, evict_one(tools, at, &eviction.pod).await) })
            .collect();
        let mut verdicts = stream::iter(calls).buffer_unordered(self.parallel);
        let mut evicted = 0_usize;
        while let Some((eviction, verdict)) = verdicts.next().await {
            tools.beat.now();
            if let Some(verdict) = verdict {
                evicted = evicted.saturating_add(usize::from(verdict == Verdict::Evicted));
                self.note(plan, eviction, verdict);
            }
        }
        if evicted > 0 {
            info!(pods = evicted, "evicted pods");
        }
        self.blocked = self.blocked_beneficiaries(plan);
    }

    fn note(&mut self, plan: &Plan, eviction: &Eviction, verdict: Verdict) {
        let pod = &eviction.pod;
        let named = format!("{}/{}", pod.namespace, pod.name);
        match verdict {
            Verdict::Evicted => {
                debug!(pod = named, queue = %eviction.queue, reason = %eviction.reason, "evicted");
                self.backoff.granted(pod);
                self.tools.view.update(|index| index.pod_evicted(pod, deadline()));
                self.tools.metrics.evictions.with_label_values(&[eviction.reason.name()]).inc();
                self.tools.announcer.announce(Happening::evicted(plan, eviction));
            }
            Verdict::Gone => {
                debug!(pod = named, "to be evicted, but gone already");
                self.backoff.granted(pod);
                self.assume_leaving(pod);
            }
            Verdict::Blocked(why) => {
                debug!(pod = named, why, "the eviction is blocked");
                self.tools.metrics.evictions_blocked.inc();
                self.backoff.refused(pod, why, Instant::now());
            }
            Verdict::Refused(why) => {
                warn!(pod = named, error = why, "the eviction was refused");
                self.backoff.refused(pod, why, Instant::now());
            }
            Verdict::Unknown(why) => {
                warn!(pod = named, error = why, "whether the pod was evicted is not known");
                self.assume_leaving(pod);
            }
        }
    }

    fn assume_leaving(&mut self, pod: &PodId) {
        self.tools.view.update(|index| index.pod_evicted(pod, deadline()));
        let now = Instant::now();
        self.assumed.push((now.checked_add(ASSUMED).unwrap_or(now), pod.clone()));
    }

    /// Every queue for which a pod should leave and may not, with a sentence about the first one.
    fn blocked_beneficiaries(&self, plan: &Plan) -> BTreeMap<QueueName, String> {
        let now = Instant::now();
        let mut blocked: BTreeMap<QueueName, (String, u32)> = BTreeMap::new();
        for eviction in &plan.evictions {
            let Some(beneficiary) = &eviction.beneficiary else { continue };
            let Some(why) = self.backoff.refusal(&eviction.pod, now) else { continue };
            let first =
                || format!("pod {}/{} cannot be evicted: {why}", eviction.pod.namespace, eviction.pod.name);
            let entry = blocked.entry(beneficiary.clone()).or_insert_with(|| (first(), 0));
            entry.1 = entry.1.saturating_add(1);
        }
        let sentence = |(first, pods): (String, u32)| match pods {
            1 => first,
            _ => format!("{first} (and {} more pods)", pods.saturating_sub(1)),
        };
        blocked.into_iter().map(|(queue, about)| (queue, sentence(about))).collect()
    }
}

/// Asks for one eviction at `at`. None if it may not be asked for any more.
async fn evict_one(tools: &Tools, at: Instant, pod: &PodId) -> Option<Verdict> {
    tokio::select! {
        biased;
        () = tools.stop.cancelled() => return None,
        () = tokio::time::sleep_until(at) => {}
    }
    if !tools.may_write() {
        return None;
    }
    let api: Api<Pod> = Api::namespaced(tools.client.clone(), pod.namespace.as_str());
    let (parameters, body) = (PostParams::default(), eviction(pod));
    let call = api.create_subresource::<_, Status>("eviction", pod.name.as_str(), &parameters, &body);
    let answer = ask(CALL, call).await;
    tools.metrics.wrote(KIND, answer.result());
    Some(verdict(answer))
}

fn deadline() -> Timestamp {
    Timestamp::from_millis(Clock::now().as_millisecond()).plus_seconds(GRACE_SECONDS)
}
