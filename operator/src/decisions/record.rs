//! One decision: a line of JSON that says what it is about, and behind it the compressed inputs.

use std::collections::HashSet;
use std::hash::Hash;
use std::io::Read as _;
use std::sync::Arc;

use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use quotient_engine::plan::Plan;
use quotient_engine::snapshot::Snapshot;
use quotient_engine::stable_hash;
use quotient_engine::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The first field of the line.
const KIND: &str = "Decision";

/// What stands for a name that the reader may not see.
const HIDDEN: &str = "(hidden)";

/// More than the inputs of a decision about 150,000 pods unpack to; less than a memory full.
const MOST_UNPACKED: u64 = 1 << 30;

/// What a decision is about. A stable interface; fields are only added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// `Decision`.
    pub kind: String,
    /// Counts from 1 since the operator started.
    pub number: u64,
    /// The version that decided. Only the same version computes the same plan.
    pub version: String,
    /// The time of the snapshot, in milliseconds since 1970.
    pub as_of_millis: i64,
    /// The digest of the plan; 0 while it is computed.
    pub digest: u64,
    /// The pods that were to be evicted, in this order.
    pub evictions: Vec<Evicted>,
}

/// One pod of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evicted {
    /// `namespace/name`.
    pub pod: String,
    /// The id of this life of the pod.
    pub uid: String,
    /// The queue that loses it, as `namespace/name`.
    pub queue: String,
    /// The queue that it is evicted for.
    pub beneficiary: Option<String>,
    /// Why.
    pub reason: String,
    /// Its place among the candidates of its queue.
    pub rank: Option<u32>,
    /// What it frees.
    pub requests: String,
    /// What the API server said; none while it has not answered.
    pub answer: Option<String>,
}

/// What a decision was made from.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// What the engine read.
    pub snapshot: Snapshot,
    /// What it decided, as text.
    pub plan: String,
}

/// Why a decision cannot be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum DecisionError {
    /// It is another file.
    #[error("this is no decision: {0}")]
    NoDecision(#[from] serde_json::Error),
    /// Another version wrote it.
    #[error("Quotient {0} made this decision: use kubectl-quotient of that version")]
    Version(String),
    /// Its inputs.
    #[error("read the inputs of the decision: {0}")]
    Inputs(#[from] postcard::Error),
    /// Its compression.
    #[error("unpack the inputs of the decision: {0}")]
    Packing(#[from] std::io::Error),
}

impl Decision {
    /// What this plan does.
    pub(super) fn of(snapshot: &Snapshot, plan: &Plan) -> Self {
        let evictions = plan.evictions.iter().map(|eviction| Evicted {
            pod: format!("{}/{}", eviction.pod.namespace, eviction.pod.name),
            uid: eviction.pod.uid.to_string(),
            queue: eviction.queue.to_string(),
            beneficiary: eviction.beneficiary.as_ref().map(ToString::to_string),
            reason: eviction.reason.to_string(),
            rank: eviction.rank,
            requests: eviction.requests.to_string(),
            answer: None,
        });
        Self {
            kind: KIND.to_owned(),
            number: 0,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            as_of_millis: snapshot.now.millis(),
            digest: 0,
            evictions: evictions.collect(),
        }
    }

    /// The time of the snapshot.
    pub const fn as_of(&self) -> Timestamp {
        Timestamp::from_millis(self.as_of_millis)
    }

    /// Leaves out which pods they are. Queues, amounts and ranks stay: metrics show them, too.
    pub(crate) fn hide_pods(&mut self) {
        for evicted in &mut self.evictions {
            HIDDEN.clone_into(&mut evicted.pod);
            HIDDEN.clone_into(&mut evicted.uid);
        }
    }

    /// The file: the line, and the inputs.
    pub(super) fn file(&self, inputs: &[u8]) -> Vec<u8> {
        let mut file = serde_json::to_vec(self).unwrap_or_default();
        file.push(b'\n');
        file.extend_from_slice(inputs);
        file
    }
}

/// The plan as text: equal texts are equal plans.
pub fn text(plan: &Plan) -> String {
    format!("{plan:?}")
}

/// The digest of a plan, and the inputs of the decision, compressed.
pub(super) fn pack(snapshot: &Snapshot, plan: &Plan) -> Result<(u64, Vec<u8>), DecisionError> {
    let text = text(plan);
    let bytes = postcard::to_allocvec(&(snapshot, &text))?;
    let mut packed = Vec::new();
    // Fast: the operator has other work, and the names that repeat are found all the same.
    GzEncoder::new(bytes.as_slice(), Compression::fast()).read_to_end(&mut packed)?;
    Ok((stable_hash(text.bytes()), packed))
}

/// Reads a decision as it is served.
///
/// # Errors
///
/// If the file is no decision, or one of another version.
pub fn read(file: &[u8]) -> Result<(Decision, Inputs), DecisionError> {
    let end = file.iter().position(|byte| *byte == b'\n').unwrap_or(file.len());
    let (line, inputs) = file.split_at(end);
    let decision: Decision = serde_json::from_slice(line)?;
    if decision.version != env!("CARGO_PKG_VERSION") {
        return Err(DecisionError::Version(decision.version));
    }
    let mut bytes = Vec::new();
    GzDecoder::new(inputs.get(1..).unwrap_or_default()).take(MOST_UNPACKED).read_to_end(&mut bytes)?;
    let (mut snapshot, plan) = postcard::from_bytes(&bytes)?;
    share(&mut snapshot);
    Ok((decision, Inputs { snapshot, plan }))
}

/// Equal shapes and metadata are one value again, as in the index: the engine takes pods together that share theirs.
fn share(snapshot: &mut Snapshot) {
    let (mut shapes, mut metadata) = (HashSet::new(), HashSet::new());
    for state in snapshot.namespaces.values_mut().map(Arc::make_mut) {
        for pod in &mut state.pods {
            shared(&mut shapes, &mut pod.shape);
            shared(&mut metadata, &mut pod.metadata);
        }
        state.owners.iter_mut().for_each(|owner| shared(&mut shapes, &mut owner.shape));
        let tasks = state.queue_jobs.iter_mut().flat_map(|job| &mut job.tasks);
        tasks.for_each(|task| shared(&mut shapes, &mut task.shape));
    }
}

fn shared<T: Eq + Hash>(known: &mut HashSet<Arc<T>>, value: &mut Arc<T>) {
    match known.get(value) {
        Some(known) => value.clone_from(known),
        None => {
            known.insert(Arc::clone(value));
        }
    }
}
