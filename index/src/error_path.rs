//! Where in an object the value is that cannot be decoded, found only after an error.
//!
//! Rejected: `serde_path_to_error`. Around the decoder of every object it makes decoding a third slower; as a second try it
//! compiles each of the large kinds twice.

/// The path of what cannot be decoded in the field `name` with this `text`, and why.
pub(crate) fn located(name: &str, text: &str, error: &serde_json::Error) -> String {
    let message = error.to_string();
    // Line and column count from the beginning of the field, where no reader could find them.
    let Some((reason, _)) = message.rsplit_once(" at line ") else { return message };
    let lines = text.split_inclusive('\n').map(str::len);
    let before: usize = lines.take(error.line().saturating_sub(1)).sum();
    let path = path_at(text, before.saturating_add(error.column()));
    format!("{name}{path}: {reason}")
}

/// One step from a value to a value in it.
enum Step<'t> {
    Field(&'t str),
    Item(usize),
}

/// The path of what stands at `offset` of a JSON `text`, such as `.tasks[0].replicas`.
fn path_at(text: &str, offset: usize) -> String {
    let mut path: Vec<Step<'_>> = Vec::new();
    let mut last_string = "";
    let mut rest = text.get(..offset).unwrap_or(text);
    while let Some((mark, behind)) = next_mark(rest) {
        rest = behind;
        match (mark, path.last_mut()) {
            ('"', _) => (last_string, rest) = string(behind),
            ('{', _) => path.push(Step::Field("")),
            ('[', _) => path.push(Step::Item(0)),
            ('}' | ']', _) => drop(path.pop()),
            (':', Some(Step::Field(name))) => *name = last_string,
            (',', Some(Step::Item(number))) => *number = number.saturating_add(1),
            _ => {}
        }
    }
    let step = |step: Step<'_>| match step {
        Step::Field(name) => format!(".{name}"),
        Step::Item(number) => format!("[{number}]"),
    };
    path.into_iter().map(step).collect()
}

/// The next character of `text` that gives it structure, and what follows it.
fn next_mark(text: &str) -> Option<(char, &str)> {
    let mut rest =
        text.trim_start_matches(|one| !matches!(one, '"' | '{' | '}' | '[' | ']' | ':' | ',')).chars();
    Some((rest.next()?, rest.as_str()))
}

/// The string whose opening quote has been read, and what follows it.
fn string(text: &str) -> (&str, &str) {
    let mut is_escaped = false;
    let ends = |one: char| {
        let ends = one == '"' && !is_escaped;
        is_escaped = one == '\\' && !is_escaped;
        ends
    };
    text.split_once(ends).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Task {
        name: String,
        sizes: Vec<u8>,
    }

    #[test]
    fn the_path_of_what_cannot_be_decoded_is_told() {
        let located = |text: &str| {
            let error = serde_json::from_str::<Vec<Task>>(text).unwrap_err();
            located("tasks", text, &error)
        };
        let sound = r#"{"name": "a\\\"}],[{", "sizes": [1, 2], "more": {"x": [{}]}}"#;
        for (text, expected) in [
            ("7", "tasks: invalid type: integer `7`, expected a sequence"),
            ("[{}]", "tasks[0]: missing field `name`"),
            (
                &format!("[{sound}, {{\"name\":\"b\",\n\"sizes\": [1,\n 2, 256]}}]"),
                "tasks[1].sizes[2]: invalid value: integer `256`, expected u8",
            ),
            (
                &format!("[{sound}, {sound}, {{\"name\": {{\"b\": 1}}}}]"),
                "tasks[2].name: invalid type: map, expected a string",
            ),
            (
                &format!("[{sound}, [\"b\", \"c\"]]"),
                "tasks[1][1]: invalid type: string \"c\", expected a sequence",
            ),
        ] {
            assert_eq!(located(text), expected, "{text}");
        }
    }
}
