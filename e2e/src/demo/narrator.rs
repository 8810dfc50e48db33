//! Telling the story: headings, commands with what they print, and how long things took.

use std::io::{IsTerminal as _, Write as _};
use std::time::Instant;

use anyhow::Context as _;

use crate::testbed::TestBed;

/// Tells the demo on standard output; colors on a terminal unless `NO_COLOR` is set.
///
/// Headings, paragraphs and commands stand apart from what comes before them; a [`done`](Self::done) does not.
#[derive(Debug)]
pub struct Narrator {
    colors: bool,
    act: u32,
}

impl Default for Narrator {
    fn default() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { colors: wanted && std::io::stdout().is_terminal(), act: 0 }
    }
}

impl Narrator {
    /// A heading with the next number.
    pub fn act(&mut self, heading: &str) {
        self.act = self.act.saturating_add(1);
        let heading = format!("{}. {heading}", self.act);
        self.line("");
        self.line(&self.styled("1;36", &heading));
    }

    /// A paragraph; line breaks are the caller's.
    pub fn say(&self, text: &str) {
        self.line("");
        for line in text.lines() {
            self.line(&format!("   {}", line.trim_start()));
        }
    }

    /// Says what was done and how long it took.
    pub fn done(&self, what: &str, since: Instant) {
        let took = format!("{:.1} s", since.elapsed().as_secs_f64());
        self.line(&format!("   {} {what:<64} {}", self.styled("32", "✓"), self.styled("2", &took)));
    }

    /// Runs `kubectl` with what stands in `command`, and shows both it and what it printed.
    pub async fn kubectl(&self, bed: &TestBed, command: &str) -> anyhow::Result<()> {
        self.kubectl_as(bed, command, &command.split_whitespace().collect::<Vec<_>>()).await
    }

    /// Like [`kubectl`](Self::kubectl), for arguments that are shown otherwise: shorter, or quoted for a shell.
    pub async fn kubectl_as(&self, bed: &TestBed, shown: &str, arguments: &[&str]) -> anyhow::Result<()> {
        self.run(bed, shown, arguments, usize::MAX).await
    }

    /// Like [`kubectl`](Self::kubectl), but shows only the titles and the last row, and how many are above.
    pub async fn kubectl_last(&self, bed: &TestBed, command: &str) -> anyhow::Result<()> {
        self.run(bed, command, &command.split_whitespace().collect::<Vec<_>>(), 1).await
    }

    async fn run(&self, bed: &TestBed, shown: &str, arguments: &[&str], most: usize) -> anyhow::Result<()> {
        self.line("");
        self.line(&format!("   {} {}", self.styled("2", "$ kubectl"), self.styled("1", shown)));
        let printed = bed.kubectl(arguments).await.with_context(|| format!("running kubectl {shown}"))?;
        let mut rows = printed.lines();
        let titles = rows.next();
        let left_out = rows.clone().count().saturating_sub(most);
        let earlier = (left_out > 0).then(|| self.styled("2", &format!("… {left_out} earlier ones")));
        for line in titles.into_iter().chain(earlier.as_deref()).chain(rows.skip(left_out)) {
            self.line(&format!("   {}", line.trim_end()));
        }
        Ok(())
    }

    /// One line as it is.
    pub fn line(&self, text: &str) {
        // A closed pipe (`make demo | head`) is the reader's choice, not an error.
        let _ = writeln!(std::io::stdout(), "{text}");
    }

    fn styled(&self, code: &str, text: &str) -> String {
        if self.colors { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
