//! The Go module that pins the programs, as it was when this crate was compiled.

/// The text of `controlplane/go.mod`.
pub(super) const GO_MOD: &str = include_str!("../../../controlplane/go.mod");
/// The text of `controlplane/go.sum`.
pub(super) const GO_SUM: &str = include_str!("../../../controlplane/go.sum");

/// The version of Kubernetes that `go.mod` pins, with its `v`: what a started API server must answer.
pub fn kubernetes_version() -> &'static str {
    pinned(GO_MOD, "k8s.io/kubernetes").unwrap_or_default()
}

/// The oldest Go that `go.mod` allows, such as `1.26.0`.
pub(super) fn go_version() -> &'static str {
    pinned(GO_MOD, "go").unwrap_or_default()
}

/// The second word of the first line that has exactly `name` as its first word.
fn pinned<'text>(text: &'text str, name: &str) -> Option<&'text str> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some(name)).then(|| words.next()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pin_is_found() {
        assert!(kubernetes_version().starts_with("v1."), "{}", kubernetes_version());
        assert!(go_version().starts_with("1."), "{}", go_version());
    }

    /// The staging modules must be those of the same release, or the programs are a mixture nobody runs.
    #[test]
    fn staging_modules_are_of_the_same_release() {
        let staging = kubernetes_version().replacen("v1.", "v0.", 1);
        let replacements: Vec<&str> = GO_MOD.lines().filter(|line| line.contains("=> k8s.io/")).collect();
        assert!(replacements.len() > 30, "{replacements:?}");
        for line in replacements {
            assert!(line.ends_with(&staging), "{line} is not {staging}");
        }
    }

    #[test]
    fn every_program_is_a_tool_of_the_module() {
        for program in super::super::Program::ALL {
            assert!(GO_MOD.lines().any(|line| line.trim() == program.package()), "{program}");
        }
    }
}
