//! Log lines: text for people, JSON for machines.

use tracing_subscriber::EnvFilter;

use crate::args::LogFormat;
use crate::failed::Failed;

/// The module that logs every failed request as an error, without saying what it was for.
const CLIENT: &str = "kube_client";

/// Sends log lines to standard error from here on.
///
/// What `filter` does not say otherwise about, the client keeps to itself: the caller of a request logs its failure,
/// with what it means.
pub fn start(format: LogFormat, filter: &str) -> Result<(), Failed> {
    let quiet = if filter.contains(CLIENT) { filter.to_owned() } else { format!("{CLIENT}=off,{filter}") };
    let parsed = EnvFilter::try_new(quiet).map_err(Failed::to(format!("read --log-level {filter:?}")))?;
    let lines = tracing_subscriber::fmt().with_env_filter(parsed).with_writer(std::io::stderr);
    match format {
        LogFormat::Text => lines.with_target(false).with_ansi(false).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(false).try_init(),
    }
    .map_err(Failed::to("start logging"))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::fmt::MakeWriter;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl MakeWriter<'_> for Written {
        type Writer = Self;

        fn make_writer(&self) -> Self {
            self.clone()
        }
    }

    /// What others have written into names and messages forges no line of ours.
    #[test]
    fn one_event_is_one_line_whatever_it_says() {
        let hostile = "a\n2026-01-01T00:00:00Z ERROR forged\r\u{1b}[2J";
        let (text, json) = (Written::default(), Written::default());
        let lines = || tracing_subscriber::fmt().without_time();
        let as_text = lines().with_target(false).with_ansi(false).with_writer(text.clone()).finish();
        let as_json = lines().json().flatten_event(true).with_writer(json.clone()).finish();
        tracing::subscriber::with_default(as_text, || tracing::warn!(error = hostile, "refused"));
        tracing::subscriber::with_default(as_json, || tracing::warn!(error = hostile, "refused"));
        for written in [text, json] {
            let line = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
            assert_eq!(line.matches('\n').count(), 1, "{line:?}");
            assert!(line.ends_with('\n') && !line.contains(['\r', '\u{1b}']), "{line:?}");
        }
    }
}
