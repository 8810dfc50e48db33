//! Whether the world comes to a good rest from everywhere, once nothing goes wrong any more.
//!
//! A checker of states cannot see this, and Stateright says of its `eventually` that it is incomplete. So the graph is
//! walked a second time: from every state that can be reached, with faults, a good rest has to be reachable without
//! any. Then, as whatever can happen again and again does happen at last, everything ends there.

use crate::action::Action;
use crate::graph::Graph;
use crate::state_space::StateSpace;

/// What was found.
#[derive(Clone, Debug)]
pub struct Converged {
    /// States from which no good rest can be reached any more: there must be none.
    pub lost: usize,
    /// How one of them is reached.
    pub way: Vec<Action>,
    /// States on a cycle of steps that are no faults, or behind one: operators that see old things may go round until
    /// their watches catch up.
    pub cyclic: usize,
}

/// Walks the whole graph of `space`.
pub fn converge(space: &StateSpace) -> Converged {
    let graph = Graph::walk(space, &|_| false);
    let backwards = Lists::new(graph.good.len(), graph.steps.iter().map(|(from, to)| (*to, *from)));
    let sure = graph.reached(&backwards);
    let lost = sure.iter().filter(|sure| !**sure).count();
    let way = sure.iter().position(|sure| !sure).map(|at| graph.way_to(space, at)).unwrap_or_default();
    Converged { lost, way, cyclic: graph.cyclic(&backwards) }
}

impl Graph {
    /// Which states can reach a good rest without faults.
    fn reached(&self, backwards: &Lists) -> Vec<bool> {
        let mut sure = self.good.clone();
        let mut open: Vec<usize> = (0..sure.len()).filter(|at| sure[*at]).collect();
        while let Some(at) = open.pop() {
            for from in backwards.of(at) {
                if !std::mem::replace(&mut sure[*from as usize], true) {
                    open.push(*from as usize);
                }
            }
        }
        sure
    }

    /// How many states can go on without faults for ever.
    fn cyclic(&self, backwards: &Lists) -> usize {
        let mut ahead = vec![0_u32; self.good.len()];
        for (from, _) in &self.steps {
            ahead[*from as usize] += 1;
        }
        let mut open: Vec<usize> = (0..ahead.len()).filter(|at| ahead[*at] == 0).collect();
        let mut ends = 0;
        while let Some(at) = open.pop() {
            ends += 1;
            for from in backwards.of(at) {
                ahead[*from as usize] -= 1;
                if ahead[*from as usize] == 0 {
                    open.push(*from as usize);
                }
            }
        }
        ahead.len() - ends
    }
}

/// Lists of numbers, one a state, in two allocations.
struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    fn new(length: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0_u32; length + 1];
        for (key, _) in pairs.clone() {
            starts[key as usize + 1] += 1;
        }
        for at in 0..length {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut items = vec![0_u32; starts[length] as usize];
        for (key, item) in pairs {
            items[next[key as usize] as usize] = item;
            next[key as usize] += 1;
        }
        Self { starts, items }
    }

    fn of(&self, at: usize) -> &[u32] {
        &self.items[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}
