//! A snapshot without the requests that no decision depends on.
//!
//! A container may request any resource, made-up ones included. A sum over pods has an entry for each resource, so pods
//! that each name others would make a decision take as long as the square of their number. What depends on a resource
//! that is not governed and that no node offers is one thing alone: the pod can never run.
//!
//! This is found out here and not where pods are read, because pods may be read before the nodes that offer what they
//! request.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{NamespaceState, Shape, Snapshot};
use crate::amounts::Resource;

impl Snapshot {
    /// This snapshot; where a pod, an owner or a task requests a resource that is neither `governed` nor offered by a
    /// node, without that request.
    ///
    /// Copies the namespaces with such a request, and nothing where there is none.
    pub fn narrowed(&self, governed: &[Resource]) -> Cow<'_, Self> {
        let kept = self.kept(governed);
        let is_wide = |shape: &Shape| shape.requests.resources().any(|one| kept.binary_search(one).is_err());
        let wide: Vec<_> =
            self.namespaces.iter().filter(|(_, state)| shapes(state).any(|shape| is_wide(shape))).collect();
        if wide.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut narrowed = self.clone();
        for (name, state) in wide {
            narrowed.namespaces.insert(name.clone(), Arc::new(narrow(state, &kept)));
        }
        Cow::Owned(narrowed)
    }

    /// The resources of which amounts are kept, in order.
    fn kept(&self, governed: &[Resource]) -> Vec<Resource> {
        // Without a list of resources all that nodes offer is governed.
        if self.settings.resources.is_empty() {
            return governed.to_vec();
        }
        let offered = self.nodes.values().flat_map(|node| node.allocatable.resources());
        let offered = offered.chain(self.settings.expandable.resources());
        let kept: BTreeSet<&Resource> = governed.iter().chain(offered).collect();
        kept.into_iter().cloned().collect()
    }
}

/// Every shape in a namespace; of pods that stand together and share one it is met once.
fn shapes(state: &NamespaceState) -> impl Iterator<Item = &Arc<Shape>> {
    let mut last: Option<&Arc<Shape>> = None;
    let of_pods = state.pods.iter().map(|pod| &pod.shape).filter(move |shape| {
        let same = last.is_some_and(|last| Arc::ptr_eq(last, shape));
        last = Some(shape);
        !same
    });
    let of_tasks = state.queue_jobs.iter().flat_map(|job| &job.tasks).map(|task| &task.shape);
    of_pods.chain(state.owners.iter().map(|owner| &owner.shape)).chain(of_tasks)
}

fn narrow(state: &NamespaceState, kept: &[Resource]) -> NamespaceState {
    let mut state = state.clone();
    // What shares a shape shares it afterwards, too.
    let mut known: BTreeMap<*const Shape, Arc<Shape>> = BTreeMap::new();
    let mut narrow = |shape: &mut Arc<Shape>| {
        let narrowed = known.entry(Arc::as_ptr(shape)).or_insert_with(|| with_only(shape, kept));
        *shape = Arc::clone(narrowed);
    };
    state.pods.iter_mut().for_each(|pod| narrow(&mut pod.shape));
    state.owners.iter_mut().for_each(|owner| narrow(&mut owner.shape));
    state.queue_jobs.iter_mut().flat_map(|job| &mut job.tasks).for_each(|task| narrow(&mut task.shape));
    state
}

fn with_only(shape: &Arc<Shape>, kept: &[Resource]) -> Arc<Shape> {
    let mut others = shape.requests.resources().filter(|resource| kept.binary_search(resource).is_err());
    let Some(first) = others.next() else { return Arc::clone(shape) };
    let mut narrowed = Shape { requests: shape.requests.of(kept), ..(**shape).clone() };
    let more = u32::try_from(others.count()).unwrap_or(u32::MAX);
    narrowed.left_out.resources = narrowed.left_out.resources.saturating_add(more).saturating_add(1);
    narrowed.left_out.first = Some(first.clone());
    Arc::new(narrowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pod;
    use crate::amounts::Amount;

    fn of(names: &[&str]) -> Arc<NamespaceState> {
        let requests = names.iter().map(|name| (Resource::from_name(name), Amount::new(1))).collect();
        let pod = Pod { shape: Arc::new(Shape { requests, ..Shape::default() }), ..Pod::default() };
        Arc::new(NamespaceState { pods: vec![pod.clone(), pod], ..NamespaceState::default() })
    }

    #[test]
    fn only_what_names_something_else_is_copied() {
        let governed = [Resource::Cpu, Resource::Memory, Resource::from_name("example.org/gpu")];
        let usual = || ("usual".into(), of(&["cpu", "memory", "example.org/gpu"]));
        let plain = Snapshot { namespaces: [usual()].into(), ..Snapshot::default() };
        assert!(matches!(plain.narrowed(&governed), Cow::Borrowed(_)));

        let odd = ("odd".into(), of(&["cpu", "example.org/b", "example.org/a"]));
        let mixed = Snapshot { namespaces: [usual(), odd].into(), ..Snapshot::default() };
        let narrowed = mixed.narrowed(&governed);
        let is_same =
            |name: &str| Arc::ptr_eq(&narrowed.namespaces[&name.into()], &mixed.namespaces[&name.into()]);
        assert!(is_same("usual") && !is_same("odd"));
        let [one, other] = &narrowed.namespaces[&"odd".into()].pods[..] else { panic!("two pods") };
        assert!(Arc::ptr_eq(&one.shape, &other.shape));
        assert_eq!(one.requests().resources().collect::<Vec<_>>(), [&Resource::Cpu]);
        let left_out = &one.shape.left_out;
        assert_eq!((left_out.resources, left_out.first.as_ref().unwrap().name()), (2, "example.org/a"));
    }
}
