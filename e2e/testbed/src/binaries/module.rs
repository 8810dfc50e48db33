//! The Go modules that pin the programs, as they were when this crate was compiled.

use super::Program;

/// A Go module of tools: one `go.mod` and `go.sum`, and what is built from it.
///
/// There are three because their dependencies differ: programs that are released apart want other versions of the same
/// libraries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Module {
    /// The control plane, `controlplane/go.mod`.
    ControlPlane,
    /// What charts are tested with, `charttools/go.mod`.
    ChartTools,
    /// What metrics, alerts and dashboards are tested with, `prometheus/go.mod`.
    Prometheus,
}

impl Module {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::ControlPlane, Self::ChartTools, Self::Prometheus];

    /// The programs built from it, in the order in which building one leaves the most for the next to reuse.
    pub const fn programs(self) -> &'static [Program] {
        match self {
            Self::ControlPlane => &Program::CONTROL_PLANE,
            Self::ChartTools => &[Program::Helm],
            Self::Prometheus => &[Program::Promtool, Program::Prometheus],
        }
    }

    /// The name of its folder, here and in the cache.
    pub(super) const fn directory(self) -> &'static str {
        match self {
            Self::ControlPlane => "controlplane",
            Self::ChartTools => "charttools",
            Self::Prometheus => "prometheus",
        }
    }

    /// The text of its `go.mod`.
    pub(super) const fn go_mod(self) -> &'static str {
        match self {
            Self::ControlPlane => include_str!("../../controlplane/go.mod"),
            Self::ChartTools => include_str!("../../charttools/go.mod"),
            Self::Prometheus => include_str!("../../prometheus/go.mod"),
        }
    }

    /// The text of its `go.sum`.
    pub(super) const fn go_sum(self) -> &'static str {
        match self {
            Self::ControlPlane => include_str!("../../controlplane/go.sum"),
            Self::ChartTools => include_str!("../../charttools/go.sum"),
            Self::Prometheus => include_str!("../../prometheus/go.sum"),
        }
    }

    /// What is built, for the line of progress.
    pub(super) fn title(self) -> String {
        match self {
            Self::ControlPlane => format!("control plane programs of Kubernetes {}", kubernetes_version()),
            Self::ChartTools => format!("chart tools, Helm {}", helm_version()),
            Self::Prometheus => format!("programs of Prometheus {}", prometheus_version()),
        }
    }

    /// The linker's flags: no debug tables, and the versions. A Kubernetes without them calls itself v0.0.0-master,
    /// which every client that checks versions refuses; a Helm without them fails every chart that asks for its version.
    pub(super) fn linker_flags(self) -> String {
        match self {
            Self::ControlPlane => {
                let version = kubernetes_version();
                let mut numbers = version.trim_start_matches('v').split('.');
                let (major, minor) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
                let stamps = [
                    ("gitVersion", version),
                    ("gitMajor", major),
                    ("gitMinor", minor),
                    ("gitTreeState", "clean"),
                ];
                let stamp =
                    |package| stamps.map(|(name, value)| format!("-X {package}.{name}={value}")).join(" ");
                let (server, client) =
                    (stamp("k8s.io/component-base/version"), stamp("k8s.io/client-go/pkg/version"));
                format!("-s -w {server} {client}")
            }
            Self::ChartTools => {
                format!("-s -w -X {HELM}/internal/version.version={}", helm_version())
            }
            Self::Prometheus => "-s -w".to_owned(),
        }
    }

    /// The flags of a build but the linker's. Discovery of targets in clouds is most of Prometheus, and tests name their targets.
    ///
    /// Without `-trimpath`, which names the version of a package that is required, not the one that replaces it. With it Go would
    /// compile a package of the same version again for each module.
    pub(super) fn flags(self) -> Vec<&'static str> {
        let mut flags = vec!["-buildvcs=false", "-mod=readonly"];
        flags.extend((self == Self::Prometheus).then_some("-tags=remove_all_sd"));
        flags
    }
}

/// The module of Helm.
const HELM: &str = "helm.sh/helm/v4";

/// The version of Kubernetes that is pinned, with its `v`: what a started API server must answer.
pub fn kubernetes_version() -> &'static str {
    pinned(Module::ControlPlane.go_mod(), "k8s.io/kubernetes").unwrap_or_default()
}

/// The version of Helm that is pinned, with its `v`.
pub fn helm_version() -> &'static str {
    pinned(Module::ChartTools.go_mod(), HELM).unwrap_or_default()
}

/// The version of Prometheus that is pinned, as Go counts it: v0.313.5 is 3.13.5.
fn prometheus_version() -> &'static str {
    pinned(Module::Prometheus.go_mod(), "github.com/prometheus/prometheus").unwrap_or_default()
}

/// The second word of the first line that has exactly `name` as its first word, after `require` if it is a line of its
/// own.
fn pinned<'text>(text: &'text str, name: &str) -> Option<&'text str> {
    text.lines().find_map(|line| {
        let line = line.trim_start();
        let mut words = line.strip_prefix("require ").unwrap_or(line).split_whitespace();
        (words.next() == Some(name)).then(|| words.next()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pin_is_found() {
        assert!(kubernetes_version().starts_with("v1."), "{}", kubernetes_version());
        assert!(helm_version().starts_with("v4."), "{}", helm_version());
        assert!(prometheus_version().starts_with("v0."), "{}", prometheus_version());
        let [go, of_chart_tools, of_prometheus] = Module::ALL.map(|module| pinned(module.go_mod(), "go"));
        assert!(go.is_some_and(|version| version.starts_with("1.")), "{go:?}");
        assert_eq!([go, go], [of_chart_tools, of_prometheus]);
    }

    /// The staging modules must be those of the same release, or the programs are a mixture that no cluster runs.
    #[test]
    fn staging_modules_are_of_the_same_release() {
        let staging = kubernetes_version().replacen("v1.", "v0.", 1);
        let replacements: Vec<&str> =
            Module::ControlPlane.go_mod().lines().filter(|line| line.contains("=> k8s.io/")).collect();
        assert!(replacements.len() > 30, "{replacements:?}");
        for line in replacements {
            assert!(line.ends_with(&staging), "{line} is not {staging}");
        }
    }

    #[test]
    fn every_program_is_a_tool_of_its_module() {
        for module in Module::ALL {
            for program in module.programs() {
                assert_eq!(program.module(), module, "{program}");
                let is_tool = |line: &str| line.trim().trim_start_matches("tool ") == program.package();
                assert!(module.go_mod().lines().any(is_tool), "{program}");
            }
        }
    }

    #[test]
    fn versions_are_stamped() {
        let flags = Module::ControlPlane.linker_flags();
        let version = kubernetes_version();
        assert!(
            flags.contains(&format!("-X k8s.io/component-base/version.gitVersion={version} ")),
            "{flags}"
        );
        assert!(flags.contains("-X k8s.io/client-go/pkg/version.gitMajor=1 "), "{flags}");
        let flags = Module::ChartTools.linker_flags();
        assert!(flags.ends_with(&format!("version.version={}", helm_version())), "{flags}");
    }
}
