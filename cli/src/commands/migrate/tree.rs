//! From queues of another system to Queues: one for each namespace, and parent queues above them.

use std::collections::{BTreeMap, BTreeSet};

use quotient_crds::{
    ChildNamespaces, Children, LabelOperator, LabelRequirement, LabelSelector, MAX_LABEL_VALUES, MAX_WEIGHT,
    Mode, NamespacesFrom, ParentRef, QueueSpec, Reclaim, ReclaimFrom,
};
use quotient_engine::amounts::Quantity;

use super::draft::Draft;
use super::report::{Migration, Unmapped};
use crate::proposals::{ProposedQueue, resource_map};

/// Queues of another system by their names there.
pub(super) type Drafts = BTreeMap<String, Draft>;

/// The label that every namespace has.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// Where the Queues of a migration go.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// The namespace of parent queues.
    pub(super) parents: String,
    /// The namespaces that exist; none if that is not known.
    pub(super) known: Option<BTreeSet<String>>,
}

/// Namespace and name of the parent queue of each draft that needs one.
type Parents = BTreeMap<String, (String, String)>;

/// The Queues for `drafts`, parent queues first.
pub(super) fn migration(system: &'static str, mut drafts: Drafts, places: &Places) -> Migration {
    leave_out_missing_parents(&mut drafts);
    assume_namespaces(&mut drafts, places);
    keep_one_queue_per_namespace(&mut drafts);
    whole_weights(&mut drafts);
    drafts.values_mut().for_each(lower_guarantees);
    let parents = parents(&drafts, places);
    accept_children(&mut drafts, &parents);
    let mut queues: Vec<ProposedQueue> =
        drafts.iter().flat_map(|(name, draft)| queues(name, draft, &parents)).collect();
    let place =
        |queue: &ProposedQueue| (queue.spec.children.is_none(), queue.namespace.clone(), queue.name.clone());
    queues.sort_by_cached_key(place);
    let is_new = |name: &String| drafts.get(name).is_some_and(|draft| draft.home.is_none());
    let exists = places.known.as_ref().is_some_and(|known| known.contains(&places.parents));
    let namespace = (parents.keys().any(is_new) && !exists).then(|| places.parents.clone());
    let unmapped = drafts.into_values().flat_map(|draft| draft.unmapped).collect();
    Migration { system, namespace, queues, unmapped }
}

/// A queue that no object ties to a namespace is taken to be that of the namespace of its name.
fn assume_namespaces(drafts: &mut Drafts, places: &Places) {
    let parents: BTreeSet<String> = drafts.values().filter_map(|draft| draft.parent.clone()).collect();
    for (name, draft) in drafts.iter_mut() {
        if !draft.namespaces.is_empty() || draft.is_parent || parents.contains(name) {
            continue;
        }
        let namespace = name.rsplit('.').next().unwrap_or(name).to_owned();
        let exists = match &places.known {
            Some(known) => known.contains(&namespace),
            // At least it may have that name.
            None => object_name(&namespace) == namespace,
        };
        if exists {
            draft.namespaces.insert(namespace);
        } else {
            let advice = "no namespace uses it, so no Queue is written";
            draft.refuse_own("metadata.name", name.as_str(), advice);
        }
    }
}

/// A parent that is missing is left out.
fn leave_out_missing_parents(drafts: &mut Drafts) {
    let known: BTreeSet<String> = drafts.keys().cloned().collect();
    for draft in drafts.values_mut() {
        if let Some(parent) = draft.parent.take_if(|parent| !known.contains(parent)) {
            draft.refuse_own("parent", parent, "there is no such queue above it");
        }
    }
}

/// A namespace has one Queue, that of the first draft that names it.
fn keep_one_queue_per_namespace(drafts: &mut Drafts) {
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    for (name, draft) in drafts {
        for namespace in std::mem::take(&mut draft.namespaces) {
            let first = taken.entry(namespace.clone()).or_insert_with(|| name.clone());
            if first == name {
                draft.namespaces.insert(namespace);
                continue;
            }
            let advice = format!(
                "the namespace has one Queue, that of {first}: split the namespace, or add these amounts"
            );
            draft.refuse_own("namespace", namespace, &advice);
        }
    }
}

/// Multiplies all weights by one number until they are whole; only their ratio matters.
fn whole_weights(drafts: &mut Drafts) {
    const ONE: i128 = 1_000_000_000;
    let nano = |draft: &Draft| draft.weight.map_or(ONE, Quantity::nano).max(0);
    let are_whole = drafts.values().all(|draft| nano(draft) % ONE == 0);
    let unit = if are_whole { ONE } else { drafts.values().map(nano).fold(0, divisor).max(1) };
    for draft in drafts.values_mut() {
        let weight = nano(draft).checked_div(unit).unwrap_or(1);
        draft.spec.weight = i32::try_from(weight).unwrap_or(MAX_WEIGHT).min(MAX_WEIGHT);
    }
}

/// The greatest common divisor.
fn divisor(one: i128, other: i128) -> i128 {
    let (mut one, mut other) = (one, other);
    while let Some(rest) = one.checked_rem(other) {
        (one, other) = (other, rest);
    }
    one
}

/// The API refuses a guarantee above the limit.
fn lower_guarantees(draft: &mut Draft) {
    let limits: Vec<_> = draft.limit.iter().map(|(resource, amount)| (resource.clone(), amount)).collect();
    for (resource, limit) in limits {
        if let Some(amount) = draft.guaranteed.get(&resource).filter(|amount| *amount > limit) {
            let advice =
                format!("it is above the limit {}, so the limit is guaranteed", resource.format(limit));
            draft.refuse_own(&format!("guaranteed {resource}"), resource.format(amount), &advice);
            draft.guaranteed.set(resource, limit);
        }
    }
}

fn parents(drafts: &Drafts, places: &Places) -> Parents {
    let above: BTreeSet<&String> = drafts.values().filter_map(|draft| draft.parent.as_ref()).collect();
    // The Queue of a namespace has the name of the namespace.
    let leaves = drafts.values().flat_map(|draft| &draft.namespaces);
    let mut taken: BTreeSet<(String, String)> = leaves.map(|name| (name.clone(), name.clone())).collect();
    let mut parents = Parents::new();
    for (name, draft) in drafts {
        if above.contains(name) || draft.is_parent || draft.namespaces.len() > 1 {
            let namespace = draft.home.as_ref().unwrap_or(&places.parents);
            let mut place = (namespace.clone(), object_name(name));
            while !taken.insert(place.clone()) {
                place.1.push_str("-tree");
            }
            parents.insert(name.clone(), place);
        }
    }
    parents
}

/// What the API takes as a name.
fn object_name(name: &str) -> String {
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    name.chars().map(letter).collect::<String>().trim_matches('-').to_owned()
}

/// The parent queue of a draft, if it needs one, and a Queue for each of its namespaces.
fn queues(name: &str, draft: &Draft, parents: &Parents) -> Vec<ProposedQueue> {
    let mut above = draft.parent.as_ref().and_then(|parent| parents.get(parent));
    let mut spec = QueueSpec {
        guaranteed: resource_map(&draft.guaranteed),
        limit: resource_map(&draft.limit),
        ..draft.spec.clone()
    };
    let mut comments = vec![format!("From {}.", draft.origin)];
    comments.extend(draft.unmapped.iter().map(Unmapped::comment));
    let mut queues = Vec::new();
    if let Some(own) = parents.get(name) {
        let of_leaves = of_leaves(&mut spec);
        let parent = QueueSpec { mode: Mode::Full, ..spec };
        queues.push(below(above, own, parent, comments));
        (above, spec, comments) = (Some(own), of_leaves, vec![format!("Of {}.", draft.origin)]);
    }
    for namespace in &draft.namespaces {
        let place = (namespace.clone(), namespace.clone());
        queues.push(below(above, &place, spec.clone(), comments.clone()));
    }
    queues
}

/// The Queue of this namespace and name below a parent queue, if there is one.
fn below(
    above: Option<&(String, String)>,
    (namespace, name): &(String, String),
    spec: QueueSpec,
    comments: Vec<String>,
) -> ProposedQueue {
    let parent_ref = above.map(|(home, parent)| ParentRef {
        namespace: (home != namespace).then(|| home.clone()),
        name: parent.clone(),
    });
    let spec = QueueSpec { parent_ref, ..spec };
    ProposedQueue { namespace: namespace.clone(), name: name.clone(), spec, comments }
}

/// What a parent queue does not pass on: its leaf queues need it themselves.
fn of_leaves(spec: &mut QueueSpec) -> QueueSpec {
    let stands_back = |reclaim: &&Reclaim| reclaim.from == ReclaimFrom::Nothing;
    QueueSpec {
        mode: Mode::Observe,
        default_requests: spec.default_requests.take(),
        preemption: std::mem::take(&mut spec.preemption),
        reclaim: spec.reclaim.as_ref().filter(stands_back).cloned(),
        ..QueueSpec::default()
    }
}

/// Lets each parent queue accept the namespaces of its children, and no others unless the old selector did.
fn accept_children(drafts: &mut Drafts, parents: &Parents) {
    let mut below: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, draft) in &*drafts {
        let own = parents.get(name);
        // The namespaces of a draft are below its parent queue, and that is below the next one.
        if let Some(above) = own.map(|_| name).or(draft.parent.as_ref()) {
            below.entry(above.clone()).or_default().extend(draft.namespaces.iter().cloned());
        }
        if let Some(((home, _), above)) = own.zip(draft.parent.as_ref()) {
            below.entry(above.clone()).or_default().insert(home.clone());
        }
    }
    for (name, draft) in drafts {
        let Some((namespace, _)) = parents.get(name) else { continue };
        let below = below.remove(name).unwrap_or_default();
        // Parent queues below it are in its own namespace, which the old selector does not know.
        let usable = draft.accepts.take().filter(|_| draft.home.is_some() || !below.contains(namespace));
        let accepted = match usable {
            Some(selector) => selected(selector),
            None if below.is_empty() => ChildNamespaces::default(),
            None if below.len() <= MAX_LABEL_VALUES as usize => selected(named(below)),
            None => {
                let advice =
                    format!("a selector names at most {MAX_LABEL_VALUES}, so every namespace is accepted");
                draft.refuse_own("children", format!("{} namespaces", below.len()), &advice);
                selected(LabelSelector::default())
            }
        };
        draft.spec.children = Some(Children { namespaces: Some(accepted) });
    }
}

/// A selector without requirements accepts every namespace.
fn selected(selector: LabelSelector) -> ChildNamespaces {
    if selector == LabelSelector::default() {
        return ChildNamespaces { from: NamespacesFrom::All, selector: None };
    }
    ChildNamespaces { from: NamespacesFrom::Selector, selector: Some(selector) }
}

fn named(namespaces: BTreeSet<String>) -> LabelSelector {
    let values = Some(namespaces.into_iter().collect());
    let names = LabelRequirement { key: NAME_LABEL.to_owned(), operator: LabelOperator::In, values };
    LabelSelector { match_labels: None, match_expressions: Some(vec![names]) }
}
