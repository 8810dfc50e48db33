//! The operators that are broken, and what has to catch each.

use std::sync::Arc;

use quotient_crds::names::{GANG_ANNOTATION, GANG_MIN_AVAILABLE_ANNOTATION};
use quotient_sim::faults::Tamper;
use quotient_sim::objects::Kind;
use quotient_sim::server::{Call, Failure, is_gated};
use quotient_sim::trace::Verb;
use serde_json::{Value, json};

use super::layers::{
    Alters, Asks, Dealer, Deals, DealsWithout, FirstTargets, Keeps, Sees, change, deletion, entries,
    is_eviction, is_gate_removal, is_leaving, is_quota_write, operations, status, success, uncounted,
};
use super::setup::Setup;

/// A way to break the operator.
pub(crate) struct Mutant {
    /// What is broken, in words.
    pub(crate) what: &'static str,
    /// The layer that does it, for the operator of this number.
    pub(crate) layer: fn(usize) -> Arc<dyn Tamper>,
    /// Where it is played.
    pub(crate) setup: Setup,
    /// How the finding begins that has to catch it, and the promise that it is about.
    pub(crate) finding: &'static str,
}

const fn mutant(
    what: &'static str,
    setup: Setup,
    finding: &'static str,
    layer: fn(usize) -> Arc<dyn Tamper>,
) -> Mutant {
    Mutant { what, layer, setup, finding }
}

fn asks(means: fn(&Call) -> bool, change: fn(&mut Call)) -> Arc<dyn Tamper> {
    Arc::new(Asks { means, change })
}

/// One that does not know of budgets: the real one does not even ask where one is in the way.
fn without_budgets(deals: Dealer) -> Arc<dyn Tamper> {
    Arc::new(DealsWithout { kind: Kind::PodDisruptionBudget, deals })
}

fn alters(kind: Kind, change: fn(&mut Value)) -> Arc<dyn Tamper> {
    Arc::new(Alters { kind, change })
}

/// Takes fields out of an object, where it is one.
fn forget(object: &mut Value, fields: &[&str]) {
    if let Some(object) = object.as_object_mut() {
        object.retain(|field, _| !fields.contains(&&**field));
    }
}

fn any(_: &Call) -> bool {
    true
}

fn is_of_ledger(call: &Call) -> bool {
    call.key.kind == Kind::ConfigMap
}

fn is_owner_patch(call: &Call) -> bool {
    matches!(call.key.kind, Kind::Job | Kind::ReplicaSet) && call.verb == Verb::Patch
}

fn sees(change: fn(Kind, &mut Value) -> bool) -> Arc<dyn Tamper> {
    Arc::new(Sees(change))
}

pub(crate) const ALL: &[Mutant] = &[
    mutant("evictions without the pod's uid", Setup::Plain("newcomer"), "I20u", |_| {
        asks(is_eviction, |call| {
            change(call, |body| body["deleteOptions"]["preconditions"] = Value::Null);
        })
    }),
    mutant("a plain DELETE instead of an eviction", Setup::Plain("newcomer"), "I23", |_| {
        Arc::new(Deals(|call, server| {
            if !is_eviction(&call) {
                return server(&call);
            }
            server(&deletion(&call)).map(|_| success())
        }))
    }),
    mutant("evictions without grace", Setup::Plain("newcomer"), "I23", |_| {
        asks(is_eviction, |call| {
            change(call, |body| body["deleteOptions"]["gracePeriodSeconds"] = 0.into());
        })
    }),
    mutant("a pod whose budget refuses is deleted", Setup::Plain("budgets"), "I23", |_| {
        without_budgets(|call, server| match server(&call) {
            Err(failure) if is_eviction(&call) && failure.code == 429 => {
                server(&deletion(&call)).map(|_| success())
            }
            reply => reply,
        })
    }),
    mutant("a refused eviction is sent again at once", Setup::Plain("budgets"), "quotient-0 storms", |_| {
        without_budgets(|call, server| {
            let mut reply = server(&call);
            for _ in 0..20 {
                if !is_eviction(&call) || reply.is_ok() {
                    break;
                }
                reply = server(&call);
            }
            reply
        })
    }),
    mutant("a victim counts twice: its eviction is sent twice", Setup::Plain("newcomer"), "I20 ", |_| {
        Arc::new(Deals(|call, server| {
            if is_eviction(&call) {
                server(&call).ok();
            }
            server(&call)
        }))
    }),
    mutant("modes are not read", Setup::Plain("modes"), "I28", |_| {
        alters(Kind::Queue, |queue| forget(&mut queue["spec"], &["mode"]))
    }),
    mutant("pauses are not read", Setup::Plain("modes"), "I28", |_| {
        alters(Kind::Queue, |queue| forget(&mut queue["spec"], &["pausedUntil"]))
    }),
    mutant("pods on their way out count as staying", Setup::Restarted, "I20 ", |_| {
        alters(Kind::Pod, |pod| {
            forget(&mut pod["metadata"], &["deletionTimestamp", "deletionGracePeriodSeconds"]);
        })
    }),
    mutant(
        "a lower quota counts as enforced when it is written",
        Setup::SlowQuotas("newcomer"),
        "I5",
        |_| {
            alters(Kind::ResourceQuota, |quota| {
                if quota["status"].is_object() {
                    quota["status"]["hard"] = quota["spec"]["hard"].clone();
                }
            })
        },
    ),
    mutant("a quota rises while pods are still on their way out", Setup::Plain("newcomer"), "I2 ", |_| {
        sees(|kind, object| {
            if kind == Kind::ResourceQuota {
                uncounted(object);
            }
            kind != Kind::Pod || !is_leaving(object)
        })
    }),
    mutant("shares move before there was a full list of pods", Setup::Plain("newcomer"), "I2 ", |_| {
        sees(|kind, object| {
            if kind == Kind::ResourceQuota {
                uncounted(object);
            }
            kind != Kind::Pod
        })
    }),
    mutant("half of the nodes are missing, and it is believed", Setup::Plain("two-queues"), "team-", |_| {
        sees(|kind, object| kind != Kind::Node || object["metadata"]["name"] != "node-2")
    }),
    mutant("a quota of another name is written", Setup::Plain("newcomer"), "I24", |_| {
        asks(is_quota_write, |call| {
            change(call, |body| {
                if body["metadata"].is_object() {
                    body["metadata"]["name"] = "compute".into();
                }
            });
            call.key.name = "compute".into();
        })
    }),
    mutant("owners are scaled, not requeued", Setup::Plain("weights"), "I24", |_| {
        asks(is_owner_patch, |call| change(call, |body| body["spec"]["parallelism"] = 0.into()))
    }),
    mutant("guarantees are not read", Setup::Guaranteed, "I11", |_| {
        alters(Kind::Queue, |queue| forget(&mut queue["spec"], &["guaranteed"]))
    }),
    mutant("the Lease is no lock: every replica leads", Setup::Replicas("newcomer"), "I20 ", |number| {
        Arc::new(Keeps { kind: Kind::Lease, number })
    }),
    mutant(
        "every leader remembers its grants by itself",
        Setup::Leaders,
        "it does not come to rest",
        |number| Arc::new(Keeps { kind: Kind::ConfigMap, number }),
    ),
    mutant("what is freed for a queue is not written first", Setup::Plain("newcomer"), "I30", |_| {
        asks(any, |call| entries(call, |entry| forget(entry, &["owed"])))
    }),
    mutant("more is owed than is freed", Setup::Plain("newcomer"), "I29", |_| {
        asks(any, |call| {
            entries(call, |entry| {
                if entry.get("owed").is_some() {
                    entry["owed"] = json!({"cpu": "9"});
                }
            });
        })
    }),
    mutant("loans are written down as targets", Setup::Idle, "I2 ", |_| {
        asks(any, |call| entries(call, |entry| forget(entry, &["target"])))
    }),
    mutant("targets stay after their inputs have changed", Setup::HeavierLater, "team-", |_| {
        Arc::new(FirstTargets::default())
    }),
    mutant("the ledger is written whatever it says by now", Setup::Leaders, "I2 ", |_| {
        asks(is_of_ledger, |call| {
            change(call, |body| forget(&mut body["metadata"], &["resourceVersion"]));
        })
    }),
    mutant("quotas are written over a later stamp", Setup::Leaders, "I27", |_| {
        asks(is_quota_write, |call| {
            operations(call, |operation| operation["op"] != "test");
        })
    }),
    mutant("a generation is used again", Setup::Plain("newcomer"), "I27", |_| {
        asks(is_quota_write, |call| {
            operations(call, |operation| {
                if operation["op"] == "replace" {
                    operation["value"] = "0".into();
                }
                true
            });
        })
    }),
    mutant("gates are removed before the ledger is written", Setup::Plain("gated"), "I32", |_| {
        asks(any, |call| {
            entries(call, |entry| entry["granted"] = json!({}));
        })
    }),
    mutant("for every gate that is removed another one is", Setup::Plain("gated"), "I32", |_| {
        Arc::new(Deals(|call, server| {
            if is_gate_removal(&call) {
                for number in 0..10 {
                    let mut other = call.clone();
                    operations(&mut other, |operation| operation["path"] != "/metadata/uid");
                    other.key.name = format!("db-{number}").into();
                    if server(&other).is_ok() {
                        break;
                    }
                }
            }
            server(&call)
        }))
    }),
    mutant("gates are removed by place, whatever is there", Setup::TwoGates, "I23", |_| {
        asks(is_gate_removal, |call| {
            operations(call, |operation| operation["op"] != "test");
        })
    }),
    mutant("of gated pods the gang is not read", Setup::WaitingGang, "I33", |_| {
        alters(Kind::Pod, |pod| {
            forget(&mut pod["metadata"]["annotations"], &[GANG_ANNOTATION, GANG_MIN_AVAILABLE_ANNOTATION]);
        })
    }),
    mutant("gated pods are forgotten", Setup::Plain("gated"), "L9", |_| {
        sees(|kind, object| kind != Kind::Pod || !is_gated(object))
    }),
    mutant("no reason is given for a pending reclaim", Setup::Named("P37", 0), "L7", |_| {
        asks(any, |call| status(call, |status| drop(status.remove("conditions"))))
    }),
    mutant("statuses say that every queue has its deserved share", Setup::Named("P37", 0), "I4", |_| {
        asks(any, |call| {
            status(call, |status| {
                status.remove("preempting");
                match status.get("deserved").cloned() {
                    Some(deserved) => status.insert("allocated".to_owned(), deserved),
                    None => status.remove("allocated"),
                };
            });
        })
    }),
    mutant("what is granted to one queue is never written", Setup::Plain("lent"), "L10", |_| {
        Arc::new(Deals(|call, server| {
            let is_raise =
                is_quota_write(&call) && call.verb == Verb::Patch && &*call.key.namespace == "team-2";
            if is_raise { Err(Failure::injected(500, &call.key)) } else { server(&call) }
        }))
    }),
    mutant("no reason is given for four minutes", Setup::Named("P37", 0), "L11", |_| {
        asks(any, |call| status(call, |status| drop(status.remove("conditions"))))
    }),
    mutant("no gate of one queue is removed", Setup::Plain("gated"), "L13", |_| {
        Arc::new(Deals(|call, server| {
            let is_one = is_gate_removal(&call) && &*call.key.namespace == "team-2";
            if is_one { Err(Failure::injected(500, &call.key)) } else { server(&call) }
        }))
    }),
];
