//! `pause` and `resume`: no pod is evicted from a queue or for it until a time.

use std::time::Duration;

use jiff::{Span, SpanRelativeTo};
use kube::api::Patch;
use serde::Serialize;
use serde_json::{Value, json};

use crate::exit::{CommandError, Outcome};
use crate::objects::{Kind, find_text, text};
use crate::output::{Answer, OutputArgs, cause, document, time_text};
use crate::queues::SelectorArgs;
use crate::source::{ConnectionArgs, Live, now};

/// Which queues, and for how long.
#[derive(Debug, clap::Args)]
pub(crate) struct PauseArgs {
    #[command(flatten)]
    queues: QueuesArgs,

    /// How long: a number with s, m, h or d, such as 2h or 1h30m.
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    duration: Duration,
}

/// The queues that a command changes.
#[derive(Debug, clap::Args)]
pub(crate) struct QueuesArgs {
    /// The queues in the namespace; all Queues of the namespace if left out.
    #[arg(value_name = "QUEUE", conflicts_with = "selector")]
    names: Vec<String>,

    /// The Queues of all namespaces.
    #[arg(short = 'A', long, conflicts_with = "names")]
    all_namespaces: bool,

    #[command(flatten)]
    selector: SelectorArgs,

    /// Only say what would be changed.
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    output: OutputArgs,
}

/// Pauses.
pub(crate) async fn pause(args: &PauseArgs, connection: &ConnectionArgs) -> Result<Outcome, CommandError> {
    let seconds = i64::try_from(args.duration.as_secs()).unwrap_or(i64::MAX);
    let until = time_text(now().plus_seconds(seconds));
    change(&args.queues, connection, |queue| Ok((patch(Some(&until)), pause_text(queue, &until)))).await
}

/// Ends pauses.
pub(crate) async fn resume(args: &QueuesArgs, connection: &ConnectionArgs) -> Result<Outcome, CommandError> {
    change(args, connection, |queue| match find_text(queue, "/spec/pausedUntil") {
        Some(until) => Ok((patch(None), format!("no longer paused (until {until})"))),
        None => Err(why_nothing_ends(queue)),
    })
    .await
}

/// What became of the queues. For programs; fields are only added.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    dry_run: bool,
    queues: Vec<QueueText>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct QueueText {
    namespace: String,
    name: String,
    changed: bool,
    message: String,
}

/// Changes those of the queues for which `change` has a patch, and says of each at once what was changed, or why nothing is.
async fn change(
    args: &QueuesArgs,
    connection: &ConnectionArgs,
    change: impl Fn(&Value) -> Result<(Value, String), String>,
) -> Result<Outcome, CommandError> {
    let live = Live::connect(connection).await?;
    let format = args.output.output;
    let would = if args.dry_run { " (dry run)" } else { "" };
    let mut queues = Vec::new();
    for queue in &find(args, &live).await? {
        let [namespace, name] =
            ["/metadata/namespace", "/metadata/name"].map(|field| text(queue, field).to_owned());
        let patched = change(queue);
        let changed = patched.is_ok();
        let message = match patched {
            Err(why) => why,
            Ok((patch, change)) => {
                if !args.dry_run {
                    live.of(Kind::Queue.api(), Some(&namespace)).patch(&name, &Patch::Merge(&patch)).await?;
                }
                format!("{change}{would}")
            }
        };
        format.say(&format!("queue.quotient.dev/{name} in {namespace}: {message}"))?;
        queues.push(QueueText { namespace, name, changed, message });
    }
    let names = queues.iter().map(|queue| format!("queue.quotient.dev/{}/{}", queue.namespace, queue.name));
    let names = names.collect();
    let report = Report { dry_run: args.dry_run, queues };
    let source = format!("cluster {}", live.name);
    // The lines of the table stand there already.
    let answer =
        Answer { table: &|_| String::new(), document: || document("Pause", now(), &source, report), names };
    answer.print(format)?;
    Ok(Outcome::Fine)
}

async fn find(args: &QueuesArgs, live: &Live) -> Result<Vec<Value>, CommandError> {
    let namespace = Some(live.namespace.as_str()).filter(|_| !args.all_namespaces);
    let labels = args.selector.text();
    let found = live.of(Kind::Queue.api(), namespace).labeled(&labels).list().await?;
    let place = namespace.map_or_else(|| "the cluster".to_owned(), |name| format!("namespace {name}"));
    if args.names.is_empty() {
        let labeled = if labels.is_empty() { String::new() } else { format!(" with the labels {labels}") };
        return if found.is_empty() {
            Err(format!("there is no Queue{labeled} in {place}").into())
        } else {
            Ok(found)
        };
    }
    let named = args.names.iter().map(|name| {
        let queue = found.iter().find(|queue| text(queue, "/metadata/name") == name);
        queue.cloned().ok_or_else(|| format!("there is no Queue {name} in {place}"))
    });
    Ok(named.collect::<Result<_, _>>()?)
}

/// The change of a Queue's spec; without a time the field goes.
fn patch(until: Option<&str>) -> Value {
    json!({"spec": {"pausedUntil": until}})
}

fn pause_text(queue: &Value, until: &str) -> String {
    let is_parent = queue.pointer("/spec/children").is_some_and(|children| !children.is_null());
    let below = if is_parent { ", with its child queues" } else { "" };
    format!("paused until {until}{below}")
}

/// Why there is no pause of its own to end: a pause of a queue above covers it, as its status says.
fn why_nothing_ends(queue: &Value) -> String {
    // Without a queue above, its status has not followed yet.
    let conditions = queue.pointer("/spec/parentRef").and_then(|_| queue.pointer("/status/conditions"));
    let mut conditions = conditions.and_then(Value::as_array).into_iter().flatten();
    let paused = conditions.find(|condition| text(condition, "/reason") == "Paused");
    let nothing = "nothing to change".to_owned();
    paused.map_or(nothing, |paused| format!("nothing to change: {}", cause(text(paused, "/message"))))
}

/// Reads `2h`, `1h30m`, `1d`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let span = text.parse::<Span>().and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()));
    let seconds = span.ok().and_then(|span| u64::try_from(span.as_secs()).ok());
    let seconds = seconds.filter(|seconds| (1..=MOST_SECONDS).contains(seconds));
    let wrong = || format!("{text}: write a number with s, m, h or d, such as 2h or 1h30m, at most 366d");
    seconds.map(Duration::from_secs).ok_or_else(wrong)
}

/// A year.
const MOST_SECONDS: u64 = 366 * 86_400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        let seconds = |text| duration(text).map(|duration| duration.as_secs());
        assert_eq!(seconds("2h"), Ok(7200));
        assert_eq!(seconds("1h30m"), Ok(5400));
        assert_eq!(seconds("1d"), Ok(86_400));
        for wrong in ["", "2", "h", "2x", "-2h", "0s", "9999d"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_pause_is_one_field() {
        let set = patch(Some("2026-12-01T08:00:00Z"));
        assert_eq!(set, json!({"spec": {"pausedUntil": "2026-12-01T08:00:00Z"}}));
        assert_eq!(patch(None), json!({"spec": {"pausedUntil": null}}));
        let parent = json!({"spec": {"children": {}}});
        assert_eq!(pause_text(&parent, "T"), "paused until T, with its child queues");
        assert_eq!(pause_text(&json!({"spec": {}}), "T"), "paused until T");
    }

    #[test]
    fn a_pause_of_a_queue_above_is_named() {
        assert_eq!(why_nothing_ends(&json!({"spec": {}})), "nothing to change");
        let message = "Quotient lowers no quota and evicts no pod here because queue org/research is paused until T. The pause ends by \
                       itself.";
        let paused = json!({"type": "Ready", "status": "True", "reason": "Paused", "message": message});
        let status = json!({"conditions": [{"reason": "Reconciled"}, paused]});
        assert_eq!(why_nothing_ends(&json!({"spec": {}, "status": status})), "nothing to change");
        let below = json!({"spec": {"parentRef": {"name": "research"}}, "status": status});
        assert_eq!(why_nothing_ends(&below), "nothing to change: queue org/research is paused until T");
    }
}
