//! Kinds of faults.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde_json::json;

use crate::campaign::trial::{DOWN, WITHOUT_LEASE};
use crate::faults::{
    Act, Fault, Match, NAMESPACE, OperatorOptions, StaleView, WatchFault, WatchMatch, WatchWhat, What,
};
use crate::objects::Kind;
use crate::scenario::build::{deleted, merged, status_merged};
use crate::trace::Verb;

/// Longer than an operator waits for an answer.
const LATE: Duration = Duration::from_secs(40);
/// Three times as long as a Lease.
const FROZEN: Duration = Duration::from_secs(45);

/// A kind of fault; one perturbation is a family at one place of one workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// The operator ends before the server hears of a write.
    CrashBefore,
    /// It ends after the server has carried it out.
    CrashAfter,
    /// The answer is lost.
    ReplyLost,
    /// The connection breaks before the answer.
    ReplyReset,
    /// It is carried out, and the answer is 504.
    ReplyError,
    /// The connection breaks before the server hears of it.
    Reset,
    /// It never arrives, and no answer comes.
    Lost,
    /// It arrives when the operator has long given up on it.
    Late,
    /// It takes two seconds.
    Slow,
    /// It is refused with this code.
    Code(u16),
    /// It is refused because the server is busy.
    Busy,
    /// All that follows is refused for a minute.
    Outage,
    /// The leader does not get through for three times the Lease's length, while another replica stands by.
    Frozen,
    /// A second operator begins that believes it leads, whatever the Lease says.
    SecondLeader,
    /// The same, with a view that stands still so many versions ago for half a minute.
    StaleLeader(u64),
    /// The operator ends, and what lists show the next one of a kind is so many versions old.
    StaleList(Watched, u64),
    /// The next list of nodes is empty, after a restart.
    NoNodes,
    /// The next list of nodes is half of them, after a restart.
    HalfTheNodes,
    /// An event never arrives.
    Drop(Watched),
    /// An event arrives twice.
    Twice(Watched),
    /// Events of a kind come ten seconds later than those of others.
    Behind(Watched),
    /// A watch is silent from here on.
    Silent(Watched),
    /// A watch says 410.
    Gone(Watched),
    /// A watch breaks.
    Broken(Watched),
    /// A person deletes the loser's quota.
    QuotaDeleted,
    /// A person raises it.
    QuotaRaised,
    /// A person lowers it to nothing.
    QuotaLowered,
    /// A person deletes the Lease.
    LeaseDeleted,
    /// A person deletes the ledger.
    LedgerDeleted,
    /// A person spoils the ledger.
    LedgerSpoiled,
    /// A person writes nonsense into a Queue's status.
    StatusFaked,
    /// The operator's clock jumps by an hour, forward or back.
    Clock(bool),
    /// Two faults by chance.
    Pair,
    /// Up to six faults by chance, and a cluster as slow as chance has it.
    Swarm,
}

/// A kind whose watch is disturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Watched {
    /// Pods.
    Pods,
    /// ResourceQuotas.
    Quotas,
    /// Queues.
    Queues,
    /// Nodes.
    Nodes,
    /// Jobs, for all that creates pods.
    Owners,
}

/// Where in a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the nth write of the operator.
    Write,
    /// At the nth event of this kind.
    Event(Watched),
    /// By chance: the nth try.
    Chance,
}

impl Watched {
    const ALL: [Self; 5] = [Self::Pods, Self::Quotas, Self::Queues, Self::Nodes, Self::Owners];

    /// The kind of object.
    pub fn kind(self) -> Kind {
        match self {
            Self::Pods => Kind::Pod,
            Self::Quotas => Kind::ResourceQuota,
            Self::Queues => Kind::Queue,
            Self::Nodes => Kind::Node,
            Self::Owners => Kind::Job,
        }
    }
}

impl Family {
    /// All of them.
    pub fn all() -> Vec<Self> {
        let codes = [403, 404, 409, 422, 429, 500, 503, 504].map(Self::Code);
        let views = [1, 5, 20, 50].map(Self::StaleLeader);
        let watched = Watched::ALL.into_iter();
        let lists = watched.clone().flat_map(|kind| [1, 5, 20].map(|by| Self::StaleList(kind, by)));
        let events = watched.flat_map(|kind| {
            [
                Self::Drop(kind),
                Self::Twice(kind),
                Self::Behind(kind),
                Self::Silent(kind),
                Self::Gone(kind),
                Self::Broken(kind),
            ]
        });
        let single = [
            Self::CrashBefore,
            Self::CrashAfter,
            Self::ReplyLost,
            Self::ReplyReset,
            Self::ReplyError,
            Self::Reset,
            Self::Lost,
            Self::Late,
            Self::Slow,
            Self::Busy,
            Self::Outage,
            Self::Frozen,
            Self::SecondLeader,
            Self::NoNodes,
            Self::HalfTheNodes,
            Self::QuotaDeleted,
            Self::QuotaRaised,
            Self::QuotaLowered,
            Self::LeaseDeleted,
            Self::LedgerDeleted,
            Self::LedgerSpoiled,
            Self::StatusFaked,
            Self::Clock(true),
            Self::Clock(false),
        ];
        single
            .into_iter()
            .chain(codes)
            .chain(views)
            .chain(lists)
            .chain(events)
            .chain([Self::Pair, Self::Swarm])
            .collect()
    }

    /// Where it strikes.
    pub fn place(self) -> Place {
        match self {
            Self::Drop(kind)
            | Self::Twice(kind)
            | Self::Behind(kind)
            | Self::Silent(kind)
            | Self::Gone(kind)
            | Self::Broken(kind) => Place::Event(kind),
            Self::Pair | Self::Swarm => Place::Chance,
            _ => Place::Write,
        }
    }

    /// Whether the operator may not know what others did for longer than usual.
    pub fn blinds(self) -> bool {
        let hides =
            matches!(self, Self::Behind(_) | Self::Silent(_) | Self::Frozen | Self::Late | Self::Outage);
        hides || self.deceives()
    }

    /// Whether it shows a world that never was, as no API server does that keeps its promises: then only promises count,
    /// and where it ends, not how many pods go on the way.
    pub fn deceives(self) -> bool {
        matches!(
            self,
            Self::StaleList(..) | Self::StaleLeader(_) | Self::Drop(_) | Self::NoNodes | Self::HalfTheNodes
        )
    }

    /// Whether it has another pod go than without it, so that it may end in another way that is as right: with other pods
    /// kept, other shares are whole.
    pub fn diverts(self) -> bool {
        matches!(self, Self::Drop(Watched::Pods))
    }

    /// Whether what comes at an age of an object comes much later with it.
    pub fn delays(self) -> bool {
        matches!(self, Self::Clock(false))
    }

    /// Whether what starts looks late with it: a sound workload may be set aside, and a pod go for its next try.
    pub fn looks_late(self) -> bool {
        matches!(self, Self::Clock(true) | Self::Silent(Watched::Pods))
    }

    /// Whether it refuses a write for good. An eviction that is refused twice like that has another pod go.
    pub fn refuses(self) -> bool {
        matches!(self, Self::Code(403 | 422))
    }

    /// How long it may take until it is noticed, where nothing happens meanwhile.
    pub fn heals_after(self) -> Option<Duration> {
        match self {
            // Two that write the same status insist once a minute.
            Self::StatusFaked | Self::SecondLeader | Self::StaleLeader(_) | Self::Frozen => {
                Some(Duration::from_secs(70))
            }
            Self::Silent(_) | Self::Pair | Self::Swarm => Some(Duration::from_secs(330)),
            Self::Drop(_) | Self::NoNodes | Self::HalfTheNodes => Some(Duration::from_secs(2800)),
            _ => None,
        }
    }

    /// Whether what it does lets in more pods than there should be, so that more have to go.
    pub fn lets_in(self) -> bool {
        matches!(self, Self::QuotaDeleted | Self::QuotaRaised)
    }

    /// For how long an eviction may be under way while a quota is raised, in milliseconds: by another leader, or by what is
    /// decided while it hangs.
    pub fn under_way(self) -> i64 {
        let hangs = |length: Duration| i64::try_from(length.as_millis()).unwrap_or(i64::MAX) + 2_000;
        match self {
            Self::SecondLeader | Self::StaleLeader(_) => 2_000,
            Self::Frozen => hangs(FROZEN),
            Self::Late => hangs(LATE),
            Self::Outage | Self::Slow => 10_000,
            // Every swarm is slow, and some have two operators.
            Self::Pair | Self::Swarm => 4_000,
            _ => 0,
        }
    }

    /// Makes it strike an operator at the nth place, for a workload whose first loser is in `namespace`.
    pub fn strike(self, options: OperatorOptions, nth: u64, namespace: &str) -> OperatorOptions {
        let at = |what: What| options.clone().fault(Fault::at_write(nth, what));
        let event = |what: WatchWhat, kind: Watched| {
            let on = WatchMatch::of(kind.kind());
            let skip = u32::try_from(nth).unwrap_or(u32::MAX);
            options.clone().watch_fault(WatchFault::on(on, what).skip(skip))
        };
        // A list of the second life: the first has been there before.
        let list = |kind: Kind, what: What| {
            let on = Match::requests(Verb::List, kind);
            at(What::CrashAfter(DOWN)).fault(Fault::on(on, what).skip(1))
        };
        let second = |view: Option<StaleView>| {
            let second = OperatorOptions { view, ..OperatorOptions::default().flag(WITHOUT_LEASE) };
            at(What::Then(Box::new(Act::Start(second))))
        };
        if let Some(act) = self.by_user(namespace) {
            return at(What::Then(Box::new(act)));
        }
        match self {
            Self::CrashBefore => at(What::CrashBefore(DOWN)),
            Self::CrashAfter => at(What::CrashAfter(DOWN)),
            Self::ReplyLost => at(What::ReplyLost),
            Self::ReplyReset => at(What::ReplyReset),
            Self::ReplyError => at(What::ReplyError(504)),
            Self::Reset => at(What::Reset),
            Self::Lost => at(What::Lost),
            Self::Late => at(What::Delay(LATE)),
            Self::Slow => at(What::Delay(Duration::from_secs(2))),
            Self::Code(code) => at(What::Reject(code)),
            Self::Busy => at(What::Busy(Some(1))),
            Self::Outage => {
                at(What::Then(Box::new(Act::Pause { operator: 0, length: Duration::from_secs(8) })))
                    .fault(Fault::at_write(nth + 1, What::Reject(500)))
                    .fault(Fault::at_write(nth + 2, What::Reject(503)))
                    .fault(Fault::at_write(nth + 3, What::Reset))
            }
            Self::Frozen => at(What::Then(Box::new(Act::Pause { operator: 0, length: FROZEN }))),
            Self::SecondLeader => second(None),
            Self::StaleLeader(behind) => second(Some(StaleView { behind, until: Duration::from_secs(90) })),
            Self::StaleList(kind, by) => list(kind.kind(), What::StaleList(by)),
            Self::NoNodes => list(Kind::Node, What::EmptyList),
            Self::HalfTheNodes => list(Kind::Node, What::PartialList),
            Self::Drop(kind) => event(WatchWhat::Drop, kind),
            Self::Twice(kind) => event(WatchWhat::Twice, kind),
            Self::Behind(kind) => event(WatchWhat::Delay(Duration::from_secs(10)), kind),
            Self::Silent(kind) => event(WatchWhat::Freeze, kind),
            Self::Gone(kind) => event(WatchWhat::Gone, kind),
            Self::Broken(kind) => event(WatchWhat::Reset, kind),
            Self::Clock(forward) => {
                let millis = if forward { 3_600_000 } else { -3_600_000 };
                at(What::Then(Box::new(Act::Clock { operator: 0, millis })))
            }
            // By chance: see `swarm`. What users do is done above.
            _ => options,
        }
    }

    /// What a user does, if it is that.
    fn by_user(self, namespace: &str) -> Option<Act> {
        let hard = |cpu: &str| {
            let patch = json!({"spec": {"hard": {"requests.cpu": cpu}}});
            merged(Kind::ResourceQuota, namespace, "quotient", patch)
        };
        let ledger = "quotient-ledger";
        let spoiled = || json!({"binaryData": {"ledger": "bm9uc2Vuc2U="}, "data": null});
        let faked = || json!({"status": {"deserved": {"cpu": "100"}, "allocated": {"cpu": "100"}, "preempting": null}});
        Some(match self {
            Self::QuotaDeleted => deleted(Kind::ResourceQuota, namespace, "quotient"),
            Self::QuotaRaised => hard("100"),
            Self::QuotaLowered => hard("0"),
            Self::LeaseDeleted => deleted(Kind::Lease, NAMESPACE, "quotient-operator"),
            Self::LedgerDeleted => deleted(Kind::ConfigMap, NAMESPACE, ledger),
            Self::LedgerSpoiled => merged(Kind::ConfigMap, NAMESPACE, ledger, spoiled()),
            Self::StatusFaked => status_merged(Kind::Queue, namespace, namespace, faked()),
            _ => return None,
        })
    }
}

impl fmt::Display for Family {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `StaleList(Pods, 5)` is stale-list-pods-5.
        let mut text = String::new();
        for letter in format!("{self:?}").chars() {
            match letter {
                '(' | ',' => text.push('-'),
                ')' | ' ' => {}
                upper if upper.is_ascii_uppercase() => {
                    if !text.is_empty() && !text.ends_with('-') {
                        text.push('-');
                    }
                    text.push(upper.to_ascii_lowercase());
                }
                other => text.push(other),
            }
        }
        formatter.pad(&text)
    }
}

impl FromStr for Family {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::all().into_iter().find(|family| family.to_string() == text);
        found.ok_or_else(|| format!("there is no family {text}; `--list` names them"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_family_has_a_name_of_its_own() {
        let names: BTreeSet<String> = Family::all().iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), Family::all().len());
        assert!(
            names.contains("stale-list-pods-5") && names.contains("code-409") && names.contains("clock-true")
        );
        for family in Family::all() {
            assert_eq!(family.to_string().parse(), Ok(family));
        }
    }
}
