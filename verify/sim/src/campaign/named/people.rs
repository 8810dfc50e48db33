//! P47 to P54: what people do to quotas, Queues and namespaces.

use serde_json::json;

use super::numbers::bystander;
use super::victims::{HALF, is_true};
use super::{Named, here};
use crate::campaign::trial::Trial;
use crate::objects::Kind;
use crate::scenario::build::{self, created, deleted, joins, merged};

pub(super) const ALL: &[Named] = &[
    here("P47", "a user edits a quota every ten seconds", "I2 I4 L8", || {
        let edit = |cpu: &str| {
            let hard = json!({"spec": {"hard": {"requests.cpu": cpu}}});
            merged(Kind::ResourceQuota, "team-1", "quotient", hard)
        };
        ["90", "0"]
            .map(|cpu| {
                let play = Trial::of("newcomer").lets_in().heals_after(120);
                let play = (0..12).fold(play, |play, round| play.at(50 + 10 * round, edit(cpu)));
                play.expect("it is restored once in 30 s at most", |world| {
                    let trace = world.trace();
                    let own = trace.asked_by("quotient-0").filter(|record| {
                        record.kind == Kind::ResourceQuota && &*record.namespace == "team-1"
                    });
                    // Its share moves as well.
                    own.count() <= 12
                })
            })
            .into()
    })
    .and(&["verify/sim/tests/guards.rs: a_quota_that_is_edited_every_ten_seconds_is_restored_every_thirty"]),
    here("P48", "a user deletes a quota", "I2 I7 I21", || {
        let delete = |namespace: &str| deleted(Kind::ResourceQuota, namespace, "quotient");
        let moments = [("team-1", 50), ("team-1", 60), ("team-2", 61), ("team-3", 62)];
        moments
            .map(|(namespace, second)| {
                Trial::of("newcomer").at(second, delete(namespace)).lets_in().heals_after(90)
            })
            .into()
    })
    .and(&["e2e/tests/guards.rs: people_and_device_plugins_cost_no_pod"]),
    here("P49", "a foreign quota is tighter", "I4 I15", || {
        let quota = build::quota("team-2", "of-the-team", &json!({"requests.cpu": "4"}));
        vec![
            Trial::of("two-queues")
                .at(120, created(Kind::ResourceQuota, quota))
                .ends(|workload| workload.shares([("team-1", "5", "9Gi"), ("team-2", "4", "18Gi")]), 2)
                .heals_after(120),
        ]
    }),
    here("P50", "a Queue is deleted while pods leave for it", "I9 I24", || vec![Trial::of("queue-deleted")]),
    here("P51", "a Queue is deleted and created again, under the same name", "I2 I24", || {
        let again = |second| {
            let play = Trial::of("queue-deleted").at(second, joins("team-2", 1));
            // Four pods for each of its lives, and none of its own comes.
            play.ends(|workload| workload.shares(HALF).running([("team-1", "4"), ("team-2", "0")]), 8)
        };
        [33, 34, 60].map(again).into()
    }),
    here(
        "P52",
        "a namespace is deleted while pods leave for another, and one of its pods hangs",
        "I2 I24 L6",
        || [60, 62, 75].map(super::errors::terminating).into(),
    ),
    here("P53", "two Queues in one namespace", "I4 I24", || {
        let second = || {
            let mut queue = build::team("team-1", 9);
            queue["metadata"]["name"] = "other".into();
            queue
        };
        [40, 61].map(|second_of| Trial::of("newcomer").at(second_of, created(Kind::Queue, second()))).into()
    })
    .and(&["e2e/tests/bad_input.rs: bad_input_is_refused_or_reported_and_disturbs_no_other_queue"]),
    here(
        "P54",
        "parents that are missing, their own, in a ring of 2 and of 50, and 100 above each other",
        "L6",
        || {
            let mut rings = Trial::of("newcomer");
            for length in [1, 2, 50] {
                for at in 0..length {
                    let above = format!("ring-{length}-{}", (at + 1) % length);
                    rings = queue_below(rings, &format!("ring-{length}-{at}"), Some(&above));
                }
            }
            let missing = queue_below(Trial::of("newcomer"), "orphan", Some("nobody"));
            let mut deep = Trial::of("newcomer");
            for at in 0..100 {
                let above = (at > 0).then(|| format!("deep-{}", at - 1));
                deep = queue_below(deep, &format!("deep-{at}"), above.as_deref());
            }
            vec![
                rings.expect("each of the ring is told", |world| {
                    ["ring-1-0", "ring-2-1", "ring-50-49"].iter().all(|name| is_true(world, name, "Stalled"))
                }),
                missing.expect("it is told", |world| is_true(world, "orphan", "Stalled")),
                deep,
            ]
        },
    ),
];

/// With a parent queue that asks for nothing, in a namespace of its own, below another one of that sort.
fn queue_below(play: Trial, name: &str, above: Option<&str>) -> Trial {
    let mut spec = json!({"weight": 0, "children": {"namespaces": {"from": "All"}}});
    if let Some(above) = above {
        spec["parentRef"] = json!({"namespace": above, "name": above});
    }
    bystander(play, name, &spec)
}
