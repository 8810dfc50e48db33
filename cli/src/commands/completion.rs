//! `completion`: a script that completes the command line in a shell.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Args;
use crate::exit::{CommandError, Outcome};
use crate::output::print;

/// Which shell.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct CompletionArgs {
    /// The shell.
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  # In this session of bash
  source <(kubectl-quotient completion bash)

  # For every session of zsh
  kubectl quotient completion zsh > ~/.zfunc/_kubectl-quotient";

/// Prints the script.
pub(crate) fn run(args: &CompletionArgs) -> Result<Outcome, CommandError> {
    print(&script(args.shell)?).map_err(anyhow::Error::from)?;
    Ok(Outcome::Fine)
}

/// The script for `shell`. It completes `kubectl-quotient`, the program behind `kubectl quotient`.
fn script(shell: Shell) -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "kubectl-quotient", &mut bytes);
    String::from_utf8(bytes).map_err(|error| CommandError::Other(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_learns_every_command() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell] {
            let script = script(shell).unwrap();
            for command in Args::command().get_subcommands() {
                assert!(script.contains(command.get_name()), "{shell}: {}", command.get_name());
            }
        }
    }
}
