//! Whole pods: amounts that complete no pod where they are go where they complete one.
//!
//! 4.5 and 4.5 cpu run eight pods of one cpu, 5 and 4 run nine. What a queue has beside its units, while the next
//! one does not fit, is stranded; stranded amounts complete one unit at a time, in the caller's order. Whoever
//! received a resource gives none of it, and what completes nothing stays where it is. Shares are made whole like
//! that, and so are raises of quotas.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::amounts::{Amount, Amounts, Resource};
use crate::demand::{Stock, Unit};
use crate::tree::{Index, Tree};

/// An amount of every governed resource, in their order.
type Row = Vec<i128>;

/// What is to be made whole; every list has an entry a branch.
pub(crate) struct Parts {
    /// What everybody has; of parents the sums.
    pub(crate) have: Vec<Amounts>,
    /// What nobody is brought below.
    pub(crate) floor: Vec<Amounts>,
    /// What nobody is brought above.
    pub(crate) cap: Vec<Amounts>,
}

/// Where a queue stands in line, the lowest first, given what it has.
pub(crate) type InLine<'a, Key> = &'a dyn Fn(Index, &dyn Fn(&Resource) -> Amount) -> Key;

/// `parts.have`, made whole.
///
/// `stocks` are those of the leaves that have not room for all of their units. Nothing crosses a fence inwards: what a fenced queue is promised has to be had inside.
///
/// Pods that are there come first, and nobody gives what its own pods that are there request: what was made whole once
/// is found again when the pods that it was made for run, whatever order they are then in, and nobody is evicted
/// from for the sake of whole pods.
pub(crate) fn made_whole<Key: Ord>(
    tree: &Tree<'_>,
    stocks: &[Option<Stock<'_>>],
    parts: &Parts,
    resources: &[Resource],
    in_line: InLine<'_, Key>,
) -> Vec<Amounts> {
    let mut books = Books::open(tree, stocks, parts, resources);
    for stage in [Stage::Existing, Stage::Others] {
        books.begin(stage);
        let mut line: BinaryHeap<Reverse<(Key, Index)>> = BinaryHeap::new();
        let place = |books: &Books<'_>, at: Index| -> Option<Reverse<(Key, Index)>> {
            books.next_of(at)?;
            Some(Reverse((in_line(at, &|resource| books.amount(at, resource)), at)))
        };
        for at in 0..tree.branches.len() {
            line.extend(place(&books, at));
        }
        while let Some(Reverse((_, at))) = line.pop() {
            if !books.complete_one(at) {
                books.skip(at);
            }
            line.extend(place(&books, at));
        }
    }
    books.close(parts)
}

/// What is being completed.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// Pods that are there.
    #[default]
    Existing,
    /// What owners lack.
    Others,
}

/// Pods of a leaf that are alike and not among what it has.
#[derive(Clone)]
struct Lacking {
    requests: Row,
    pods: i128,
}

/// One leaf's units.
#[derive(Clone, Default)]
struct Stack {
    /// All that are there and all that are not, in order.
    existing: Vec<Lacking>,
    others: Vec<Lacking>,
    /// What the pods that are there request.
    needed: Row,
    /// What those request that it has room for; and what the others request that there is room for beside them.
    kept: Row,
    kept_of_others: Row,
    /// The others of this stage, in order, and how many of them have been tried in vain.
    lacking: Vec<Lacking>,
    tried: usize,
    stage: Stage,
    /// Whether it knows that it has too much of something.
    gives: bool,
    receives: bool,
    /// Which resources it was given.
    received: Vec<bool>,
    fence: Option<Index>,
}

struct Books<'a> {
    tree: &'a Tree<'a>,
    resources: &'a [Resource],
    have: Vec<Row>,
    floor: Vec<Row>,
    cap: Vec<Row>,
    stacks: Vec<Option<Stack>>,
    /// What can be given by all together, which spares most futile searches, and by each.
    pool: Row,
    given_to_pool: Vec<Row>,
    changed: Vec<bool>,
}

impl<'a> Books<'a> {
    fn open(
        tree: &'a Tree<'a>,
        stocks: &[Option<Stock<'_>>],
        parts: &Parts,
        resources: &'a [Resource],
    ) -> Self {
        let row = |amounts: &Amounts| -> Row {
            resources.iter().map(|resource| amounts.get(resource).units()).collect()
        };
        let rows = |list: &[Amounts]| -> Vec<Row> { list.iter().map(row).collect() };
        let mut books = Self {
            tree,
            resources,
            have: rows(&parts.have),
            floor: rows(&parts.floor),
            cap: rows(&parts.cap),
            stacks: Vec::new(),
            pool: vec![0; resources.len()],
            given_to_pool: vec![vec![0; resources.len()]; tree.branches.len()],
            changed: vec![false; tree.branches.len()],
        };
        for (at, stock) in stocks.iter().enumerate() {
            let Some(Stock { units, gives, receives }) = stock else {
                books.stacks.push(None);
                continue;
            };
            let have = books.have.get(at).cloned().unwrap_or_default();
            let alike = |unit: &Unit<'_>| Lacking { requests: row(unit.requests), pods: unit.pods };
            let existing = units.iter().filter(|unit| unit.exists).map(alike).collect();
            let others = units.iter().filter(|unit| !unit.exists).map(alike).collect();
            let fence = tree.fence_above(at);
            books.stacks.push(Some(Stack::new(existing, others, &have, *gives, *receives, fence)));
        }
        books
    }

    /// Finds what is lacking at the beginning of a stage.
    fn begin(&mut self, stage: Stage) {
        for (stack, have) in self.stacks.iter_mut().zip(&self.have) {
            if let Some(stack) = stack {
                stack.begin(stage, have);
            }
        }
        for at in 0..self.stacks.len() {
            self.restock(at);
        }
    }

    fn amount(&self, at: Index, resource: &Resource) -> Amount {
        let place = self.resources.iter().position(|one| one == resource);
        Amount::new(place.and_then(|place| self.have.get(at)?.get(place).copied()).unwrap_or(0))
    }

    /// The next unit of the leaf at `at` that it has no room for and that has not been tried in vain.
    fn next_of(&self, at: Index) -> Option<&Lacking> {
        let stack = self.stacks.get(at)?.as_ref()?;
        stack.lacking.get(stack.tried).filter(|_| stack.receives)
    }

    /// Goes on to the next unit that requests something else.
    fn skip(&mut self, at: Index) {
        if let Some(Some(stack)) = self.stacks.get_mut(at) {
            let failed = stack.lacking.get(stack.tried).map(|lacking| lacking.requests.clone());
            while stack.lacking.get(stack.tried).map(|lacking| &lacking.requests) == failed.as_ref()
                && failed.is_some()
            {
                stack.tried = stack.tried.saturating_add(1);
            }
        }
    }

    /// What the leaf at `at` can give of a resource.
    fn stranded(&self, at: Index, resource: usize) -> i128 {
        let Some(Some(stack)) = self.stacks.get(at) else { return 0 };
        if !stack.gives || stack.received.get(resource) == Some(&true) {
            return 0;
        }
        let existing = value(&stack.needed, resource).max(value(&stack.kept, resource));
        let own = existing.saturating_add(value(&stack.kept_of_others, resource));
        let kept = own.max(self.floor.get(at).map_or(0, |floor| value(floor, resource)));
        self.have.get(at).map_or(0, |have| value(have, resource)).saturating_sub(kept).max(0)
    }

    /// Completes the next unit of the leaf at `at` with what others cannot use; whether that went.
    fn complete_one(&mut self, at: Index) -> bool {
        let Some(next) = self.next_of(at).map(|next| next.requests.clone()) else { return false };
        let Some(Some(stack)) = self.stacks.get(at) else { return false };
        let have = self.have.get(at).cloned().unwrap_or_default();
        let needs: Vec<(usize, i128)> = (0..self.resources.len())
            .map(|resource| {
                let wanted = value(&stack.kept, resource).saturating_add(value(&next, resource));
                (resource, wanted.saturating_sub(value(&have, resource)))
            })
            .filter(|(resource, need)| *need > 0 && value(&next, *resource) > 0)
            .collect();
        if needs.iter().any(|(resource, need)| value(&self.pool, *resource) < *need) {
            return false;
        }
        let mut moved: Vec<(Index, usize, i128)> = Vec::new();
        for (resource, need) in &needs {
            if !self.gather(at, *resource, *need, &mut moved) {
                for (from, resource, amount) in moved.into_iter().rev() {
                    self.transfer(at, from, resource, amount);
                }
                return false;
            }
        }
        self.book(at, &next, &moved);
        true
    }

    /// Moves `need` of a resource to the leaf at `at` from whoever cannot use it, in the order of the tree.
    fn gather(
        &mut self,
        at: Index,
        resource: usize,
        need: i128,
        moved: &mut Vec<(Index, usize, i128)>,
    ) -> bool {
        let fence = self.stacks.get(at).and_then(|stack| stack.as_ref()?.fence);
        let mut missing = need;
        for from in 0..self.stacks.len() {
            if missing <= 0 {
                break;
            }
            let stranded = if from == at { 0 } else { self.stranded(from, resource) };
            if stranded <= 0 {
                continue;
            }
            let reaches = |fence: Index| self.tree.path_up(from).any(|(index, _)| index == fence);
            if !fence.is_none_or(reaches) {
                continue;
            }
            let amount = stranded.min(missing).min(self.passes(from, at, resource));
            if amount > 0 {
                self.transfer(from, at, resource, amount);
                moved.push((from, resource, amount));
                missing = missing.saturating_sub(amount);
            }
        }
        missing <= 0
    }

    /// How much of a resource may go from one leaf to another: what keeps everybody on the way above its floor, or
    /// below its cap.
    fn passes(&self, from: Index, to: Index, resource: usize) -> i128 {
        let mut most = i128::MAX;
        let row = |rows: &[Row], at: Index| rows.get(at).map_or(0, |row| value(row, resource));
        for (index, _) in self.tree.path_up(from) {
            if !self.tree.path_up(to).any(|(other, _)| other == index) {
                most = most.min(row(&self.have, index).saturating_sub(row(&self.floor, index)));
            }
        }
        for (index, _) in self.tree.path_up(to) {
            if !self.tree.path_up(from).any(|(other, _)| other == index) {
                most = most.min(row(&self.cap, index).saturating_sub(row(&self.have, index)));
            }
        }
        most
    }

    fn transfer(&mut self, from: Index, to: Index, resource: usize, amount: i128) {
        for (index, _) in self.tree.path_up(from) {
            if let Some(row) = self.have.get_mut(index) {
                add(row, resource, amount.saturating_neg());
            }
        }
        for (index, _) in self.tree.path_up(to) {
            if let Some(row) = self.have.get_mut(index) {
                add(row, resource, amount);
            }
        }
    }

    /// Books one more unit of the leaf at `at` as kept.
    fn book(&mut self, at: Index, next: &Row, moved: &[(Index, usize, i128)]) {
        if let Some(Some(stack)) = self.stacks.get_mut(at) {
            for (_, resource, _) in moved {
                if let Some(entry) = stack.received.get_mut(*resource) {
                    *entry = true;
                }
            }
            for (resource, amount) in next.iter().enumerate() {
                add(&mut stack.kept, resource, *amount);
            }
            if let Some(lacking) = stack.lacking.get_mut(stack.tried) {
                lacking.pods = lacking.pods.saturating_sub(1);
                if lacking.pods <= 0 {
                    stack.lacking.remove(stack.tried);
                }
            }
            // What does not exist makes room for what does.
            if let Some(have) = self.have.get(at).filter(|_| stack.stage == Stage::Existing) {
                stack.keep_others(have);
            }
        }
        for changed in moved.iter().map(|(from, _, _)| *from).chain([at]) {
            self.restock(changed);
            if let Some(entry) = self.changed.get_mut(changed).filter(|_| !moved.is_empty()) {
                *entry = true;
            }
        }
    }

    /// Brings the pool up to date with what the leaf at `at` can give.
    fn restock(&mut self, at: Index) {
        for resource in 0..self.resources.len() {
            let now = self.stranded(at, resource);
            if let Some(row) = self.given_to_pool.get_mut(at) {
                let before = value(row, resource);
                add(row, resource, now.saturating_sub(before));
                add(&mut self.pool, resource, now.saturating_sub(before));
            }
        }
    }

    fn close(self, parts: &Parts) -> Vec<Amounts> {
        let mut whole = parts.have.clone();
        let all_changed = |at: Index| self.changed.get(at) == Some(&true);
        let mut touched = vec![false; whole.len()];
        for at in (0..whole.len()).filter(|at| all_changed(*at)) {
            for (index, _) in self.tree.path_up(at) {
                if let Some(entry) = touched.get_mut(index) {
                    *entry = true;
                }
            }
        }
        for (at, amounts) in whole.iter_mut().enumerate().filter(|(at, _)| touched.get(*at) == Some(&true)) {
            for (place, resource) in self.resources.iter().enumerate() {
                let units = self.have.get(at).map_or(0, |row| value(row, place));
                amounts.set(resource, Amount::new(units));
            }
        }
        whole
    }
}

impl Stack {
    fn new(
        existing: Vec<Lacking>,
        others: Vec<Lacking>,
        have: &Row,
        gives: bool,
        receives: bool,
        fence: Option<Index>,
    ) -> Self {
        let nothing = vec![0; have.len()];
        let mut needed = nothing.clone();
        for unit in &existing {
            unit.add_to(&mut needed, unit.pods);
        }
        let nothing_yet = vec![false; have.len()];
        Self {
            existing,
            others,
            needed,
            kept: nothing.clone(),
            kept_of_others: nothing,
            gives,
            receives,
            received: nothing_yet,
            fence,
            ..Self::default()
        }
    }

    fn begin(&mut self, stage: Stage, have: &Row) {
        self.tried = 0;
        self.stage = stage;
        match stage {
            Stage::Existing => {
                let (kept, lacking) = packed(&self.existing, have, &self.kept);
                self.kept = kept;
                self.lacking = lacking;
                self.keep_others(have);
            }
            Stage::Others => {
                let (kept, lacking) = packed(&self.others, have, &self.kept);
                self.lacking = lacking;
                for (resource, amount) in kept.into_iter().enumerate() {
                    add(&mut self.kept, resource, amount);
                }
                self.kept_of_others = vec![0; have.len()];
            }
        }
    }

    /// Finds the others that there is room for beside all that is there, whether that is kept or not yet.
    fn keep_others(&mut self, have: &Row) {
        let existing = self.needed.iter().zip(&self.kept).map(|(needed, kept)| *needed.max(kept)).collect();
        self.kept_of_others = packed(&self.others, have, &existing).0;
    }
}

/// What those of `units` request that fit into what `have` holds beside `kept`, each as often as it does; and the
/// others.
fn packed(units: &[Lacking], have: &Row, kept: &Row) -> (Row, Vec<Lacking>) {
    let mut rest: Row = have.iter().zip(kept).map(|(have, kept)| have.saturating_sub(*kept)).collect();
    let mut all = vec![0; have.len()];
    let mut lacking = Vec::new();
    for unit in units {
        let fits = |(rest, requested): (&i128, &i128)| {
            (*requested > 0).then(|| (*rest).max(0).checked_div(*requested).unwrap_or(0))
        };
        let fitting = rest.iter().zip(&unit.requests).filter_map(fits).min();
        let fitting = fitting.unwrap_or(unit.pods).min(unit.pods);
        unit.add_to(&mut all, fitting);
        unit.add_to(&mut rest, fitting.saturating_neg());
        if fitting < unit.pods {
            let pods = unit.pods.saturating_sub(fitting);
            lacking.push(Lacking { requests: unit.requests.clone(), pods });
        }
    }
    (all, lacking)
}

impl Lacking {
    fn add_to(&self, row: &mut Row, pods: i128) {
        for (resource, requested) in self.requests.iter().enumerate() {
            add(row, resource, requested.saturating_mul(pods));
        }
    }
}

fn value(row: &Row, resource: usize) -> i128 {
    row.get(resource).copied().unwrap_or(0)
}

fn add(row: &mut Row, resource: usize, amount: i128) {
    if let Some(entry) = row.get_mut(resource) {
        *entry = entry.saturating_add(amount);
    }
}
