//! Prose in lines of bounded width.

/// `text` in lines of at most `width` characters, where words allow it.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if length(line).saturating_add(length(word)).saturating_add(1) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// `text` behind `first`, which is `indent` characters wide; further lines are indented as much. `width` is that of all.
pub(crate) fn hanging(first: &str, indent: usize, text: &str, width: usize) -> Vec<String> {
    let lines = wrap(text, width.saturating_sub(indent)).into_iter().enumerate();
    lines
        .map(|(at, line)| if at == 0 { format!("{first}{line}") } else { format!("{:indent$}{line}", "") })
        .collect()
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_between_words() {
        assert_eq!(wrap("one two  three four", 9), ["one two", "three", "four"]);
        assert_eq!(wrap("extraordinary", 5), ["extraordinary"]);
        assert!(wrap("", 5).is_empty());
        assert_eq!(hanging("! ", 2, "one two three", 9), ["! one two", "  three"]);
    }
}
