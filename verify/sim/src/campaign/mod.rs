//! The fault campaign: workloads, what can go wrong with them, and what must be true all the same.
//!
//! ```text
//!   Workload  ──reference──►  its writes, counted
//!      │                            │
//!      └──────►  Perturbation  ◄────┘   one fault at one place, or a few by chance; a line of text names it
//!                     │
//!                   Trial ──sim──► trace ──check──► Verdict
//! ```
//!
//! **Architecture invariant:** a perturbation is its line of text: printed when it fails, and enough to play it again.

mod family;
pub mod named;
mod perturbation;
mod storms;
mod summary;
mod swarm;
mod trial;
pub mod workloads;

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use family::{Family, Place};
pub use named::{Named, Occasion};
pub use perturbation::Perturbation;
pub use summary::Summary;
pub use trial::{Expectation, Trial, Verdict};
pub use workloads::Case;

use crate::random::Random;

/// The most events of one kind that are disturbed one by one.
const EVENTS: u64 = 100;

/// Perturbations to be played.
#[derive(Debug)]
pub struct Campaign {
    cases: BTreeMap<&'static str, Case>,
    items: Vec<Item>,
}

/// One execution to be played.
#[derive(Debug)]
enum Item {
    Placed(Perturbation),
    Named(Box<Occasion>),
}

impl Item {
    fn id(&self) -> String {
        match self {
            Self::Placed(perturbation) => perturbation.to_string(),
            Self::Named(occasion) => occasion.to_string(),
        }
    }

    /// Where summaries count it: the workload, and the group of faults.
    fn place(&self) -> (String, String) {
        match self {
            Self::Placed(perturbation) => {
                (perturbation.workload.clone(), summary::group(&perturbation.family.to_string()).to_owned())
            }
            Self::Named(occasion) => ("named".to_owned(), occasion.name.to_owned()),
        }
    }
}

/// A perturbation that did harm.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Which.
    pub id: String,
    /// What is wrong, a line each.
    pub findings: Vec<String>,
}

/// Which, and below it what is wrong.
impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}\n  {}", self.id, self.findings.join("\n  "))
    }
}

impl Campaign {
    /// Everything that can be enumerated, of these workloads and families, and so many pairs and swarms of each workload.
    ///
    /// Plays every workload once without faults to count its writes.
    ///
    /// # Errors
    ///
    /// When a workload breaks a promise without any fault.
    pub fn new(cases: Vec<Case>, families: &[Family], seeds: u64, chance: u64) -> Result<Self, Failure> {
        let mut perturbations = Vec::new();
        let mut known = BTreeMap::new();
        for mut case in cases {
            let reference = case.reference().run();
            let id = format!("{} without faults", case.workload.name);
            if !reference.is_clean() {
                return Err(Failure { id, findings: reference.findings() });
            }
            case.count(&reference.trace);
            for family in families {
                for seed in 0..seeds {
                    let places = match family.place() {
                        Place::Write => case.writes(),
                        Place::Event(kind) => case.events(kind.kind()).min(EVENTS),
                        Place::Chance => chance,
                    };
                    let workload = case.workload.name;
                    let one =
                        |nth| Perturbation { workload: workload.to_owned(), family: *family, nth, seed };
                    perturbations.extend((0..places).map(one));
                }
            }
            known.insert(case.workload.name, case);
        }
        Ok(Self { cases: known, items: perturbations.into_iter().map(Item::Placed).collect() })
    }

    /// With every play of these named perturbations, in so many executions each.
    #[must_use]
    pub fn with_named(mut self, named: &[Named], seeds: u64) -> Self {
        let occasions = named.iter().flat_map(|named| Occasion::all(named, seeds));
        self.items.extend(occasions.map(|occasion| Item::Named(Box::new(occasion))));
        self
    }

    /// Keeps so many of them, evenly spread by chance that is always the same.
    pub fn sample(&mut self, count: usize) {
        let mut random = Random::of(1, "sample");
        while self.items.len() > count {
            let index = usize::try_from(random.below(self.items.len() as u64)).unwrap_or_default();
            self.items.swap_remove(index);
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The perturbation of this line of text, played.
    ///
    /// # Errors
    ///
    /// When there is no such workload.
    pub fn replay(perturbation: &Perturbation) -> Result<Verdict, String> {
        let case = workloads::named(&perturbation.workload);
        let mut case = case.ok_or_else(|| format!("there is no workload {}", perturbation.workload))?;
        let reference = case.reference().run();
        case.count(&reference.trace);
        Ok(perturbation.trial(&case).run())
    }

    /// Plays all on so many threads, and tells `progress` of each that is done.
    pub fn run(&self, threads: usize, progress: &(dyn Fn(usize, &Summary) + Sync)) -> Summary {
        let next = AtomicUsize::new(0);
        let summary = Mutex::new(Summary::default());
        std::thread::scope(|scope| {
            for _ in 0..threads.max(1) {
                scope.spawn(|| {
                    while let Some(item) = self.items.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let findings = self.play(item);
                        let Ok(mut summary) = summary.lock() else { return };
                        summary.add(item.place(), || item.id(), findings);
                        progress(self.items.len(), &summary);
                    }
                });
            }
        });
        summary.into_inner().unwrap_or_default()
    }

    fn play(&self, item: &Item) -> Vec<String> {
        let play = || match item {
            Item::Placed(perturbation) => {
                let case = self.cases.get(perturbation.workload.as_str());
                case.map(|case| perturbation.trial(case).run().findings()).unwrap_or_default()
            }
            Item::Named(occasion) => occasion.trial.run().findings(),
        };
        let played = catch_unwind(AssertUnwindSafe(play));
        played.unwrap_or_else(|_| vec!["the simulation panicked".to_owned()])
    }
}
