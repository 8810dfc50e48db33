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

/// The Queues for `drafts`, parent queues first.
pub(super) fn migration(system: &'static str, mut drafts: Drafts, places: &Places) -> Migration {
    leave_out_missing_parents(&mut drafts);
    assume_namespaces(&mut drafts, places);
    whole_weights(&mut drafts);
    let mut built = Building { places, parents: parents(&drafts, places), taken: BTreeMap::new() };
    let mut migration = Migration { system, namespace: None, queues: Vec::new(), unmapped: Vec::new() };
    for (name, draft) in &mut drafts {
        lower_guarantees(draft);
        let queues = built.queues(name, draft);
        migration.unmapped.append(&mut draft.unmapped);
        migration.queues.extend(queues);
    }
    accept_children(&mut migration.queues, &drafts, &built.parents, &mut migration.unmapped);
    let is_new = |name: &String| drafts.get(name).is_some_and(|draft| draft.home.is_none());
    let exists = places.known.as_ref().is_some_and(|known| known.contains(&places.parents));
    if built.parents.keys().any(is_new) && !exists {
        migration.namespace = Some(places.parents.clone());
    }
    let place =
        |queue: &ProposedQueue| (queue.spec.children.is_none(), queue.namespace.clone(), queue.name.clone());
    migration.queues.sort_by_cached_key(place);
    migration
}

/// A queue that no object ties to a namespace is taken to be that of the namespace of its name.
fn assume_namespaces(drafts: &mut Drafts, places: &Places) {
    let parents: BTreeSet<String> = drafts.values().filter_map(|draft| draft.parent.clone()).collect();
    for (name, draft) in drafts.iter_mut() {
        if !draft.namespaces.is_empty() || draft.is_parent || parents.contains(name) {
            continue;
        }
        let namespace = name.rsplit('.').next().unwrap_or(name).to_owned();
        if places.known.as_ref().is_none_or(|known| known.contains(&namespace)) {
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

/// Multiplies all weights by one number until they are whole; only their ratio matters.
fn whole_weights(drafts: &mut Drafts) {
    const ONE: i128 = 1_000_000_000;
    let nano = |draft: &Draft| draft.weight.map_or(ONE, Quantity::nano).max(0);
    let are_whole = drafts.values().all(|draft| nano(draft) % ONE == 0);
    let unit = if are_whole { ONE } else { drafts.values().map(nano).fold(0, divisor).max(1) };
    for draft in drafts.values_mut() {
        draft.spec.weight = bounded(nano(draft).checked_div(unit).unwrap_or(1));
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

fn bounded(weight: i128) -> i32 {
    i32::try_from(weight).unwrap_or(MAX_WEIGHT).min(MAX_WEIGHT)
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

/// Namespace and name of the parent queue of each draft that needs one.
fn parents(drafts: &Drafts, places: &Places) -> BTreeMap<String, (String, String)> {
    let above: BTreeSet<&String> = drafts.values().filter_map(|draft| draft.parent.as_ref()).collect();
    let needs_one =
        |name: &&String, draft: &Draft| above.contains(name) || draft.is_parent || draft.namespaces.len() > 1;
    let taken: BTreeSet<&String> = drafts.values().flat_map(|draft| &draft.namespaces).collect();
    let named = drafts.iter().filter(|(name, draft)| needs_one(name, draft)).map(|(name, draft)| {
        let namespace = draft.home.clone().unwrap_or_else(|| places.parents.clone());
        let mut queue = object_name(name);
        // The Queue of the namespace has the name of the namespace.
        if queue == namespace && taken.contains(&namespace) {
            queue.push_str("-tree");
        }
        (name.clone(), (namespace, queue))
    });
    named.collect()
}

/// What the API takes as a name.
fn object_name(name: &str) -> String {
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    name.chars().map(letter).collect::<String>().trim_matches('-').to_owned()
}

struct Building<'a> {
    places: &'a Places,
    parents: BTreeMap<String, (String, String)>,
    /// The draft whose Queue a namespace has.
    taken: BTreeMap<String, String>,
}

impl Building<'_> {
    fn queues(&mut self, name: &str, draft: &mut Draft) -> Vec<ProposedQueue> {
        let mut spec = QueueSpec {
            guaranteed: resource_map(&draft.guaranteed),
            limit: resource_map(&draft.limit),
            ..draft.spec.clone()
        };
        let own = self.parents.get(name).cloned();
        let above = draft.parent.as_ref().and_then(|parent| self.parents.get(parent)).cloned();
        let comments = draft.unmapped.iter().map(Unmapped::comment);
        let mut comments: Vec<String> =
            std::iter::once(format!("From {}.", draft.origin)).chain(comments).collect();
        let mut queues = Vec::new();
        if let Some((namespace, queue)) = &own {
            let parent_ref = above.as_ref().map(|above| reference(above, namespace));
            let children = Some(Children::default());
            let leaf = of_leaves(&mut spec);
            let parent = QueueSpec { parent_ref, children, mode: Mode::Full, ..spec };
            queues.push(ProposedQueue {
                namespace: namespace.clone(),
                name: queue.clone(),
                spec: parent,
                comments: std::mem::take(&mut comments),
            });
            spec = leaf;
            comments = vec![format!("Of {}.", draft.origin)];
        }
        let above = own.or(above);
        for namespace in draft.namespaces.clone() {
            if self.is_taken(name, draft, &namespace) {
                continue;
            }
            let parent_ref = above.as_ref().map(|above| reference(above, &namespace));
            queues.push(ProposedQueue {
                name: namespace.clone(),
                namespace,
                spec: QueueSpec { parent_ref, ..spec.clone() },
                comments: comments.clone(),
            });
        }
        queues
    }

    fn is_taken(&mut self, name: &str, draft: &mut Draft, namespace: &str) -> bool {
        if namespace == self.places.parents
            && self.parents.values().any(|(home, queue)| home == namespace && queue == namespace)
        {
            return true;
        }
        if let Some(first) = self.taken.get(namespace).filter(|first| *first != name) {
            let advice = format!(
                "the namespace has one Queue, that of {first}: split the namespace, or add these amounts"
            );
            draft.refuse_own("namespace", namespace, &advice);
            return true;
        }
        self.taken.insert(namespace.to_owned(), name.to_owned());
        false
    }
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

fn reference((namespace, name): &(String, String), from: &str) -> ParentRef {
    ParentRef { namespace: (namespace != from).then(|| namespace.clone()), name: name.clone() }
}

/// Lets each parent queue accept the namespaces of its children, and no others unless the old selector did.
fn accept_children(
    queues: &mut [ProposedQueue],
    drafts: &Drafts,
    parents: &BTreeMap<String, (String, String)>,
    unmapped: &mut Vec<Unmapped>,
) {
    let of_parent: Vec<((String, String), String)> = (queues.iter())
        .filter_map(|queue| {
            let above = queue.spec.parent_ref.as_ref()?;
            let namespace = above.namespace.clone().unwrap_or_else(|| queue.namespace.clone());
            Some(((namespace, above.name.clone()), queue.namespace.clone()))
        })
        .collect();
    for queue in queues.iter_mut().filter(|queue| queue.spec.children.is_some()) {
        let key = (queue.namespace.clone(), queue.name.clone());
        let below: BTreeSet<&str> =
            of_parent.iter().filter(|(above, _)| *above == key).map(|(_, below)| below.as_str()).collect();
        let draft = parents.iter().find(|(_, place)| **place == key).and_then(|(name, _)| drafts.get(name));
        let selector = draft.and_then(|draft| draft.accepts.clone());
        let is_home = draft.is_some_and(|draft| draft.home.is_some());
        // Parent queues below it are in its own namespace, which the old selector does not know.
        let usable = selector.filter(|_| is_home || !below.contains(queue.namespace.as_str()));
        let accepted = match usable {
            Some(selector) => selected(selector),
            None if below.is_empty() => ChildNamespaces::default(),
            None if below.len() <= MAX_LABEL_VALUES as usize => selected(named(&below)),
            None => {
                unmapped.push(Unmapped {
                    object: format!("Queue {}", queue.name),
                    field: "children".to_owned(),
                    value: format!("{} namespaces", below.len()),
                    advice: "a selector names at most 64, so every namespace is accepted".to_owned(),
                });
                ChildNamespaces { from: NamespacesFrom::All, selector: None }
            }
        };
        queue.spec.children = Some(Children { namespaces: Some(accepted) });
    }
}

/// A selector without requirements accepts every namespace.
fn selected(selector: LabelSelector) -> ChildNamespaces {
    if selector == LabelSelector::default() {
        return ChildNamespaces { from: NamespacesFrom::All, selector: None };
    }
    ChildNamespaces { from: NamespacesFrom::Selector, selector: Some(selector) }
}

fn named(namespaces: &BTreeSet<&str>) -> LabelSelector {
    let values = namespaces.iter().map(|namespace| (*namespace).to_owned()).collect();
    let names =
        LabelRequirement { key: NAME_LABEL.to_owned(), operator: LabelOperator::In, values: Some(values) };
    LabelSelector { match_labels: None, match_expressions: Some(vec![names]) }
}
