//! The graph of all states, walked breadth first.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use crate::action::Action;
use crate::state_space::StateSpace;
use crate::world::World;

/// States are numbers, in the order in which they were found.
#[derive(Default)]
pub(crate) struct Graph {
    /// The good rests.
    pub(crate) good: Vec<bool>,
    /// Whence each state was reached first, and by which of the possible actions.
    parents: Vec<(u32, u16)>,
    /// Steps without fault, from where to where.
    pub(crate) steps: Vec<(u32, u32)>,
    /// The state at which the walk was to stop.
    stopped: Option<usize>,
}

/// The shortest way to a state for which `found` holds; none if there is no such state.
pub fn shortest(space: &StateSpace, found: &dyn Fn(&World) -> bool) -> Option<Vec<Action>> {
    let graph = Graph::walk(space, found);
    graph.stopped.map(|at| graph.way_to(space, at))
}

impl Graph {
    /// Walks everything, or until `stop` holds.
    pub(crate) fn walk(space: &StateSpace, stop: &dyn Fn(&World) -> bool) -> Self {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let mut graph = Self::default();
        let mut known: HashMap<u64, u32> = HashMap::new();
        let beginning = space.beginning();
        known.insert(hasher.hash_one(&beginning), 0);
        graph.parents.push((0, 0));
        let mut queue = VecDeque::from([(0_u32, beginning)]);
        let mut actions = Vec::new();
        while let Some((at, world)) = queue.pop_front() {
            if stop(&world) {
                graph.stopped = usize::try_from(at).ok();
                break;
            }
            let mut rests = true;
            space.actions(&world, &mut actions);
            for (number, action) in actions.drain(..).enumerate() {
                let Some(next) = space.after(&world, action) else { continue };
                let number = u16::try_from(number).expect("few actions");
                let fresh = u32::try_from(graph.parents.len()).expect("fewer than four billion states");
                let to = *known.entry(hasher.hash_one(&next)).or_insert(fresh);
                if to == fresh {
                    graph.parents.push((at, number));
                    queue.push_back((to, next));
                }
                if !action.is_chance() {
                    rests = false;
                    graph.steps.push((at, to));
                }
            }
            // States leave the queue in the order of their numbers.
            graph.good.push(rests && space.is_good(&world));
        }
        graph
    }

    /// The shortest way to a state.
    pub(crate) fn way_to(&self, space: &StateSpace, at: usize) -> Vec<Action> {
        let mut numbers = Vec::new();
        let mut at = at;
        while at != 0 {
            let (parent, number) = self.parents[at];
            numbers.push(number);
            at = parent as usize;
        }
        let mut world: World = space.beginning();
        let mut way = Vec::new();
        for number in numbers.into_iter().rev() {
            let mut actions = Vec::new();
            space.actions(&world, &mut actions);
            let action = actions[usize::from(number)];
            world = space.after(&world, action).expect("it was possible before");
            way.push(action);
        }
        way
    }
}
