//! `completion`: a script that completes the command line in a shell, or behind `kubectl`.

use std::ffi::OsString;
use std::path::Path;

use clap::builder::StyledStr;
use clap::{Arg, Command, ValueHint};
use clap_complete::Shell;

use crate::exit::{CommandError, Outcome};
use crate::output::print;

/// Which shell.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionArgs {
    /// The shell.
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

/// The words so far; kubectl asks by them.
#[derive(Debug, clap::Args)]
pub(crate) struct WordsArgs {
    /// The words behind `kubectl quotient`; the last one is to be completed.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// The name under which kubectl asks for completions.
const ASKED_BY_KUBECTL: &str = "kubectl_complete-quotient";

/// The command line; under the name that kubectl asks for completions, that of the command which prints them.
pub(crate) fn command_line(mut words: Vec<OsString>) -> Vec<OsString> {
    let name = words.first().map(Path::new).and_then(Path::file_stem);
    if name.is_some_and(|name| name == ASKED_BY_KUBECTL) {
        // Words that look like flags are words, too.
        words.splice(1..1, [COMPLETE.into(), "--".into()]);
    }
    words
}

/// The command that prints completions.
pub(crate) const COMPLETE: &str = "__complete";

/// What kubectl then does: no files, or files.
const NO_FILES: &str = ":4";
const FILES: &str = ":0";

/// Prints the script.
pub(crate) fn run(args: &CompletionArgs, command: &mut Command) -> Result<Outcome, CommandError> {
    print(&script(args.shell, command)?)?;
    Ok(Outcome::Fine)
}

/// Prints what the last word may become.
pub(crate) fn complete(args: &WordsArgs, root: Command) -> Result<Outcome, CommandError> {
    print(&format!("{}\n", completions(&args.words, root).join("\n")))?;
    Ok(Outcome::Fine)
}

/// The script for `shell`.
fn script(shell: Shell, command: &mut Command) -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, command, "kubectl-quotient", &mut bytes);
    String::from_utf8(bytes).map_err(|error| CommandError::Other(error.into()))
}

/// What the last word may become, a line each, and in the end what kubectl does beside.
fn completions(words: &[String], mut root: Command) -> Vec<String> {
    // Flags of all commands are known to each of them only then.
    root.build();
    let (last, before) =
        words.split_last().map_or(("", [].as_slice()), |(last, before)| (last.as_str(), before));
    let command = before.iter().find_map(|word| root.find_subcommand(word)).unwrap_or(&root);
    let (found, directive) = match open_flag(command, before) {
        Some(flag) => values(flag),
        None if last.starts_with('-') => (flags(command), NO_FILES),
        None if command.get_name() == root.get_name() => (commands(&root), NO_FILES),
        None => command.get_positionals().next().map_or((Vec::new(), NO_FILES), values),
    };
    let mut lines: Vec<String> = found.into_iter().filter(|line| line.starts_with(last)).collect();
    lines.push(directive.to_owned());
    lines
}

/// The flag that takes a value behind these words.
fn open_flag<'c>(command: &'c Command, words: &[String]) -> Option<&'c Arg> {
    let place = words.iter().rposition(|word| word.starts_with('-') && word != "-")?;
    let (word, values) = words.get(place..)?.split_first()?;
    let flag = flag(command, word)?;
    flag.get_num_args().filter(|taken| values.len() < taken.max_values()).map(|_| flag)
}

fn flag<'c>(command: &'c Command, word: &str) -> Option<&'c Arg> {
    command.get_arguments().find(|arg| {
        let is_long = arg.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long));
        let is_short =
            arg.get_short().is_some_and(|short| word.strip_prefix('-') == Some(&*short.to_string()));
        is_long || is_short
    })
}

/// The values that are possible, or files.
fn values(arg: &Arg) -> (Vec<String>, &'static str) {
    let is_path =
        matches!(arg.get_value_hint(), ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath);
    let values = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    (values, if is_path { FILES } else { NO_FILES })
}

/// With what each does, as kubectl wants it: behind a tab.
fn commands(root: &Command) -> Vec<String> {
    let shown = root.get_subcommands().filter(|command| !command.is_hide_set());
    shown.map(|command| described(command.get_name(), command.get_about())).collect()
}

fn flags(command: &Command) -> Vec<String> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    shown.filter_map(|arg| Some(described(&format!("--{}", arg.get_long()?), arg.get_help()))).collect()
}

fn described(name: &str, about: Option<&StyledStr>) -> String {
    match about.map(ToString::to_string).as_deref().and_then(|about| about.lines().next()) {
        Some(about) => format!("{name}\t{about}"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Command};
    use clap::{CommandFactory as _, Parser as _, ValueEnum as _};

    #[test]
    fn kubectl_asks_under_another_name() {
        let read = |words: &[&str]| command_line(words.iter().map(OsString::from).collect());
        assert_eq!(read(&["/bin/kubectl_complete-quotient", "sta"])[1..], ["__complete", "--", "sta"]);
        assert_eq!(read(&["kubectl_complete-quotient.exe", ""])[1], "__complete");
        assert_eq!(read(&["kubectl-quotient", "status"])[1..], ["status"]);
        // Flags are completed, not obeyed.
        for words in [&["--context"][..], &["-h"], &["-n", ""], &["status", "--", "x"]] {
            let line = read(&[&["kubectl_complete-quotient"], words].concat());
            let Command::Complete(asked) = Args::try_parse_from(line).unwrap().command else { panic!() };
            assert_eq!(asked.words, words);
        }
    }

    #[test]
    fn every_shell_learns_every_command() {
        for shell in Shell::value_variants() {
            let script = script(*shell, &mut Args::command()).unwrap();
            for command in Args::command().get_subcommands().filter(|command| !command.is_hide_set()) {
                assert!(script.contains(command.get_name()), "{shell}: {}", command.get_name());
            }
        }
    }

    fn completed(line: &str) -> Vec<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        completions(&words, Args::command())
            .iter()
            .map(|line| line.split('\t').next().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn kubectl_learns_commands_flags_and_values() {
        assert_eq!(completed("sta"), ["status", ":4"]);
        assert_eq!(completed("diff --fail"), ["--fail-on", ":4"]);
        assert_eq!(completed("status --all"), ["--all-namespaces", ":4"]);
        assert_eq!(completed("status -o j"), ["json", ":4"]);
        assert_eq!(completed("top w"), ["workloads", ":4"]);
        assert_eq!(completed("simulate -f exa"), [":0"]);
        assert_eq!(completed("simulate -f - a.yaml b"), [":0"]);
        assert_eq!(completed("replay deci"), [":0"]);
        assert_eq!(completed("snapshot -o "), [":0"]);
        assert_eq!(completed("status -n tea"), [":4"]);
        assert_eq!(completed("status -A tea"), [":4"]);
        assert!(completed("status --con").contains(&"--context".to_owned()));
        assert!(completions(&[], Args::command()).len() > 10);
    }
}
