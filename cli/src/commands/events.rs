//! `events`: what Quotient did, in the order of time.

use std::collections::BTreeSet;
use std::time::Duration;

use quotient_engine::names::QueueName;
use quotient_engine::time::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::pause::duration;
use crate::Session;
use crate::exit::{CommandError, Outcome};
use crate::objects::{text as text_of, time};
use crate::output::{
    Answer, Cell, Color, INTERVAL, OutputArgs, Screen, columns, document, joined, print, time_text,
};
use crate::source::{EVENTS, Live, now};

/// Which events.
#[derive(Debug, clap::Args)]
pub(crate) struct EventsArgs {
    /// Only events about this Queue, about objects of its namespace, and for it: by name, or NAMESPACE/NAME.
    #[arg(value_name = "QUEUE")]
    queue: Option<String>,

    /// The events of all namespaces.
    #[arg(short = 'A', long)]
    all_namespaces: bool,

    /// How far back: a number with s, m, h or d.
    #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = duration)]
    since: Duration,

    /// Go on printing what happens, until you interrupt it.
    #[arg(short = 'w', long)]
    watch: bool,

    #[command(flatten)]
    output: OutputArgs,
}

/// The reporter of every event of the operator.
const CONTROLLER: &str = "quotient.dev/operator";

/// One event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Entry {
    time: String,
    #[serde(skip)]
    at: Timestamp,
    reason: String,
    object: String,
    /// The queue that it happened for.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<String>,
    message: String,
    #[serde(skip)]
    is_warning: bool,
    #[serde(skip)]
    uid: String,
}

/// All of them.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Report<'a> {
    events: &'a [Entry],
}

/// Reads and prints.
pub(crate) async fn run(args: &EventsArgs, session: Session<'_>) -> Result<Outcome, CommandError> {
    let live = Live::connect(session.connection).await?;
    let namespace = Some(live.namespace.as_str()).filter(|_| !args.all_namespaces);
    let fields = format!("reportingController={CONTROLLER}");
    let place = namespace.map_or("in any namespace".to_owned(), |namespace| {
        format!("in namespace {namespace}; -A shows all namespaces")
    });
    let nothing = format!(
        "Quotient reported nothing within {} {place}.\n",
        crate::output::duration(i64::try_from(args.since.as_secs()).unwrap_or(i64::MAX))
    );
    let queue = match &args.queue {
        Some(queue) => Some(find(&live, queue).await?),
        None => None,
    };
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let (mut is_first, mut is_read) = (true, true);
    loop {
        let found = live.of(&EVENTS, namespace).with_fields(&fields).list().await?;
        let mut entries = timeline(&found, now(), args.since, queue.as_ref());
        entries.retain(|entry| !seen.contains(&entry.uid));
        seen.extend(entries.iter().map(|entry| entry.uid.clone()));
        if std::mem::take(&mut is_first) || !entries.is_empty() {
            let table = |_| if entries.is_empty() { nothing.clone() } else { text(&entries, session.screen) };
            let report = Report { events: &entries };
            let answer = Answer {
                table: &table,
                document: || document("Events", now(), &format!("cluster {}", live.name), &report),
                names: entries.iter().map(|entry| entry.object.clone()).collect(),
            };
            is_read = print(&answer.text(args.output.output)?)?;
        }
        if !args.watch || !is_read {
            return Ok(Outcome::Fine);
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// The Queue that is called so.
async fn find(live: &Live, queue: &str) -> Result<QueueName, CommandError> {
    Ok(match queue.split_once('/') {
        Some((namespace, name)) => QueueName::new(namespace, name),
        None => QueueName::new(live.namespace_of_queue(queue).await?.as_str(), queue),
    })
}

/// The events of the operator within `since`, oldest first.
pub(crate) fn timeline(
    events: &[Value],
    now: Timestamp,
    since: Duration,
    queue: Option<&QueueName>,
) -> Vec<Entry> {
    let oldest = now.millis().saturating_sub(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    let is_wanted = |event: &&Value| queue.is_none_or(|queue| concerns(event, queue));
    let mut entries: Vec<Entry> = events.iter().filter(is_wanted).filter_map(entry).collect();
    entries.retain(|entry| entry.at.millis() >= oldest);
    entries.sort_by(|one, other| (one.at, &one.uid).cmp(&(other.at, &other.uid)));
    entries
}

/// Whether it is about the queue, about an object of its namespace that is no other queue, or for the queue.
fn concerns(event: &Value, queue: &QueueName) -> bool {
    let field = |object: &str, field: &str| text_of(event, &format!("/{object}/{field}"));
    let is_queue = |object| field(object, "kind") == "Queue";
    let is_named = |object| *field(object, "name") == *queue.name;
    let is_there = |object| field(object, "namespace") == queue.namespace.as_str();
    is_there("regarding") && (is_named("regarding") || !is_queue("regarding"))
        || is_there("related") && is_named("related") && is_queue("related")
}

fn entry(event: &Value) -> Option<Entry> {
    if text_of(event, "/reportingController") != CONTROLLER {
        return None;
    }
    let times =
        ["/series/lastObservedTime", "/eventTime", "/deprecatedLastTimestamp", "/metadata/creationTimestamp"];
    let at = times.iter().find_map(|pointer| time(text_of(event, pointer)).ok())?;
    let related = text_of(event, "/related/name");
    Some(Entry {
        time: time_text(at),
        at,
        reason: text_of(event, "/reason").to_owned(),
        object: format!(
            "{}/{} in {}",
            text_of(event, "/regarding/kind").to_lowercase(),
            text_of(event, "/regarding/name"),
            text_of(event, "/regarding/namespace")
        ),
        queue: (!related.is_empty()).then(|| related.to_owned()),
        message: text_of(event, "/note").to_owned(),
        is_warning: text_of(event, "/type") == "Warning",
        uid: format!("{}/{at:?}", text_of(event, "/metadata/uid")),
    })
}

/// A line for each.
pub(crate) fn text(entries: &[Entry], screen: Screen) -> String {
    let rows = entries.iter().map(|entry| {
        let color = if entry.is_warning { Color::Notice } else { Color::Plain };
        vec![
            Cell::new(entry.time.clone(), Color::Faint),
            Cell::new(&entry.reason, color),
            Cell::from(&entry.object),
            Cell::from(&entry.message),
        ]
    });
    joined(columns(&rows.collect::<Vec<_>>(), screen.style))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    fn event(uid: &str, time: &str, regarding: &[&str; 3], related: Option<&str>) -> Value {
        let [kind, namespace, name] = regarding;
        json!({
            "metadata": {"uid": uid}, "eventTime": time, "reason": "Reclaimed", "type": "Warning", "note": "Why.",
            "reportingController": CONTROLLER,
            "regarding": {"kind": kind, "namespace": namespace, "name": name},
            "related": related.map(|name| json!({"kind": "Queue", "namespace": name, "name": name})),
        })
    }

    #[test]
    fn events_stand_in_the_order_of_time() {
        let foreign = json!({"reportingController": "kubelet", "eventTime": "2026-11-24T14:00:00Z"});
        let events = [
            event("2", "2026-11-24T14:01:00.5Z", &["Pod", "ml-train", "trainer-46"], Some("ml-dev")),
            event("1", "2026-11-24T14:00:00Z", &["Queue", "ml-dev", "ml-dev"], None),
            event("0", "2026-11-24T12:00:00Z", &["Queue", "ml-dev", "ml-dev"], None),
            event("3", "2026-11-24T14:01:30Z", &["Pod", "web", "api"], Some("web")),
            foreign,
        ];
        let now: jiff::Timestamp = "2026-11-24T14:02:00Z".parse().unwrap();
        let now = Timestamp::from_millis(now.as_millisecond());
        let printed = |queue: Option<&str>| {
            let queue = queue.map(|queue| QueueName::new(queue, queue));
            text(&timeline(&events, now, Duration::from_secs(3600), queue.as_ref()), Screen::plain())
        };
        expect![[r#"
            2026-11-24T14:00:00Z  Reclaimed  queue/ml-dev in ml-dev      Why.
            2026-11-24T14:01:00Z  Reclaimed  pod/trainer-46 in ml-train  Why.
        "#]]
        .assert_eq(&printed(Some("ml-dev")));
        assert_eq!(printed(None).lines().count(), 3);
        assert_eq!(printed(Some("ml-train")).lines().count(), 1);
        assert_eq!(printed(Some("nothing")), "");
    }

    #[test]
    fn a_queue_need_not_have_the_name_of_its_namespace() {
        let events = [
            event("1", "2026-11-24T14:00:00Z", &["Pod", "team-a", "web-1"], Some("batch")),
            event("2", "2026-11-24T14:00:01Z", &["Queue", "team-a", "other"], None),
            event("3", "2026-11-24T14:00:02Z", &["Queue", "team-a", "own"], None),
            event("4", "2026-11-24T14:00:03Z", &["Pod", "own", "web-1"], None),
        ];
        let now = Timestamp::from_seconds(1_795_528_920);
        let queue = QueueName::new("team-a", "own");
        let found = timeline(&events, now, Duration::from_secs(3600), Some(&queue));
        let found: Vec<&str> = found.iter().map(|entry| entry.object.as_str()).collect();
        assert_eq!(found, ["pod/web-1 in team-a", "queue/own in team-a"]);
    }
}
