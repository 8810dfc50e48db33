//! `-l`: Queues by their labels, in kubectl's words.

use kube::core::{Selector, SelectorExt as _};
use quotient_operator::label_selector::parse;

use super::QueueView;

/// The flag `-l`.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct SelectorArgs {
    /// Only Queues with these labels, such as `org=research,tier!=free` or `org in (research, web)`.
    #[arg(short = 'l', long = "selector", value_name = "SELECTOR", value_parser = parse)]
    selector: Option<Selector>,
}

impl SelectorArgs {
    /// Whether the Queue has the labels.
    pub(crate) fn selects(&self, view: &QueueView) -> bool {
        let labels = view.queue.metadata.labels.clone().unwrap_or_default();
        self.selector.as_ref().is_none_or(|selector| selector.matches(&labels))
    }

    /// As the API takes it; empty for all.
    pub(crate) fn text(&self) -> String {
        self.selector.as_ref().map(ToString::to_string).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_read_as_kubectl_reads_them() {
        let read = |text: &str| parse(text).map(|selector| selector.to_string());
        for text in
            ["a=b", "a!=b", "a in (b,c)", "a notin (b)", "example.com/a", "!a", "a=b,c in (d,e),!f", ""]
        {
            assert_eq!(read(text), Ok(text.to_owned()));
        }
        assert_eq!(read(" a == b , c in ( d , e ) "), Ok("a=b,c in (d,e)".to_owned()));
        for text in ["=b", "a b", "a into (b)", "(b)", "a in b)"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn labels_are_compared() {
        let labels = [("a".to_owned(), "b".to_owned())].into();
        for (text, expected) in
            [("a", true), ("a=b", true), ("a!=b", false), ("c!=d", true), ("!a", false), ("a in (x,b)", true)]
        {
            assert_eq!(parse(text).unwrap().matches(&labels), expected, "{text}");
        }
    }
}
