//! Building the programs, once per cache key.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context as _, ensure};

use super::module::Module;
use super::program::Program;
use super::toolchain::go;

/// Builds into `directory` whatever of the module's programs is not there yet.
pub(super) fn ensure_all(module: Module, go_version: &str, directory: &Path) -> anyhow::Result<()> {
    if missing(module, directory).is_empty() {
        return Ok(());
    }
    let _lock = lock(directory)?;
    // Another process may have built them during the wait for the lock.
    let missing = missing(module, directory);
    if missing.is_empty() {
        return Ok(());
    }
    let source = directory.join("module");
    write(&source.join("go.mod"), module.go_mod())?;
    write(&source.join("go.sum"), module.go_sum())?;
    progress(&format!(
        "building {} of {} {} with {} into {}",
        missing.len(),
        module.programs().len(),
        module.title(),
        go_version.trim_start_matches("go version "),
        directory.display()
    ));
    for program in missing {
        build(program, &source, directory)?;
    }
    Ok(())
}

fn missing(module: Module, directory: &Path) -> Vec<Program> {
    let programs = module.programs().iter().copied();
    programs.filter(|program| !directory.join(program.file_name()).is_file()).collect()
}

/// An exclusive lock on the directory, held until the value is dropped (by the system, if the process dies).
fn lock(directory: &Path) -> anyhow::Result<File> {
    let path = directory.join("build.lock");
    let locking = || format!("locking {}", path.display());
    fs::create_dir_all(directory).with_context(locking)?;
    let file = File::options().create(true).truncate(false).write(true).open(&path).with_context(locking)?;
    match file.try_lock() {
        Err(fs::TryLockError::WouldBlock) => {
            progress("waiting for another process that builds these programs");
            file.lock().with_context(locking)?;
        }
        taken => taken.with_context(locking)?,
    }
    Ok(file)
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let writing = || format!("writing {}", path.display());
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(writing)?;
    }
    fs::write(path, text).with_context(writing)
}

fn build(program: Program, source: &Path, directory: &Path) -> anyhow::Result<()> {
    let programs = program.module().programs();
    let position = programs.iter().take_while(|other| **other != program).count().saturating_add(1);
    progress(&format!(
        "building {program} ({position} of {}), {} when nothing is cached …",
        programs.len(),
        program.cold_build_time()
    ));
    let started = Instant::now();
    // A name of its own until it is complete: a build that was interrupted must not look like a program, and its Go,
    // which may still be running, must not write into ours.
    let unfinished = directory.join(format!("{program}.{}.unfinished", std::process::id()));
    let output = go()
        .arg("build")
        .args(program.module().flags())
        .arg("-ldflags")
        .arg(program.module().linker_flags())
        .arg("-o")
        .arg(&unfinished)
        .arg(program.package())
        .current_dir(source)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("building {program}: running `go build`"))?;
    ensure!(output.status.success(), "building {program}: `go build` failed:\n{}", end_of(&output.stderr));
    fs::rename(&unfinished, directory.join(program.file_name()))?;
    progress(&format!("built {program} in {:.0?}", started.elapsed()));
    Ok(())
}

/// The last forty lines: Go names what is wrong at the end, after any number of downloads.
fn end_of(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().collect();
    let skipped = lines.len().saturating_sub(40);
    lines.into_iter().skip(skipped).collect::<Vec<_>>().join("\n")
}

/// Writes to standard error itself, which the test harness does not capture: a build of minutes must be seen.
fn progress(line: &str) {
    // The reader may have gone; the build goes on.
    let _ = writeln!(std::io::stderr().lock(), "testbed: {line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_long_output_is_kept() {
        let output = (0..100).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n");
        let end = end_of(output.as_bytes());
        assert!(end.starts_with("line 60\n") && end.ends_with("line 99"), "{end}");
    }
}
