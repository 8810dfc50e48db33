//! Which of the resources that objects name can be shared out at all.

use quotient_engine::amounts::Resource;

/// The resource called `name`, if a queue can have a share of it: cpu, memory and extended resources.
///
/// Extended are names with a domain that is not Kubernetes' own, such as `nvidia.com/gpu`. Local storage, huge
/// pages and volume counts are properties of single nodes: a share of their sum means nothing.
pub fn governable(name: &str) -> Option<Resource> {
    match name {
        "cpu" | "memory" => Some(Resource::from_name(name)),
        _ if is_extended(name) => Some(Resource::from_name(name)),
        _ => None,
    }
}

/// The rule of `IsExtendedResourceName` in Kubernetes' API helpers.
fn is_extended(name: &str) -> bool {
    name.contains('/') && !name.contains("kubernetes.io/") && !name.starts_with("requests.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_exist_of_cpu_memory_and_devices() {
        for name in ["cpu", "memory", "nvidia.com/gpu", "example.org/fpga-2"] {
            assert_eq!(governable(name).map(|resource| resource.name().to_owned()).as_deref(), Some(name));
        }
        for name in [
            "",
            "gpu",
            "pods",
            "ephemeral-storage",
            "hugepages-2Mi",
            "attachable-volumes-aws-ebs",
            "kubernetes.io/batch-cpu",
            "node.kubernetes.io/slots",
            "requests.nvidia.com/gpu",
        ] {
            assert_eq!(governable(name), None, "{name}");
        }
    }
}
