//! When a proxy of the environment stands between this machine and the cluster, and when not.

use std::net::IpAddr;

use ipnet::IpNet;
use kube::Config;

/// Has the server be reached without the proxy that `HTTPS_PROXY` names, if `NO_PROXY` names the server or it is this machine, as
/// with kubectl. The library compares `NO_PROXY` with the proxy instead. A proxy of the kubeconfig stays.
pub(super) fn bypass(config: &mut Config) {
    let variable = |names: [&str; 2]| {
        let mut texts = names.into_iter().filter_map(|name| std::env::var(name).ok());
        texts.find(|text| !text.is_empty())
    };
    let proxy = variable(["HTTPS_PROXY", "https_proxy"]).and_then(|text| text.parse().ok());
    let exempt = variable(["NO_PROXY", "no_proxy"]).unwrap_or_default();
    if config.proxy_url == proxy && is_exempt(config.cluster_url.host().unwrap_or_default(), &exempt) {
        config.proxy_url = None;
    }
}

/// Whether the list has `host`: `*` for all, the name or the end of it, the address or a range of addresses.
fn is_exempt(host: &str, list: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>().ok();
    if host == "localhost" || address.is_some_and(|address| address.is_loopback()) {
        return true;
    }
    let has_host = |entry: &str| match address {
        Some(address) => is_in_range(address, entry),
        None => is_in_domain(host, entry),
    };
    list.split(',').map(str::trim).any(|entry| entry == "*" || has_host(entry))
}

/// `10.0.0.1` or `10.0.0.0/8`.
fn is_in_range(address: IpAddr, entry: &str) -> bool {
    entry.parse() == Ok(address) || entry.parse::<IpNet>().is_ok_and(|range| range.contains(&address))
}

/// `example.com`, or `.example.com` and `*.example.com` for what is below it; a port does not matter.
fn is_in_domain(host: &str, entry: &str) -> bool {
    let name = entry.split(':').next().unwrap_or_default().trim_start_matches('*');
    let below = host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.') || name.starts_with('.'));
    !name.is_empty() && (host == name || below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_bypassed_as_kubectl_bypasses_it() {
        let list = "corp.example, .internal:6443,10.0.0.0/8,192.168.1.5,fd00::/8,";
        for host in
            ["corp.example", "api.corp.example", "prod.internal", "10.96.0.1", "192.168.1.5", "[fd00::1]"]
        {
            assert!(is_exempt(host, list), "{host}");
        }
        for host in ["example", "notcorp.example", "internal", "11.0.0.1", "192.168.1.6", "[fe80::1]"] {
            assert!(!is_exempt(host, list), "{host}");
        }
        for host in ["localhost", "127.0.0.1", "[::1]"] {
            assert!(is_exempt(host, ""), "{host}");
        }
        assert!(is_exempt("anything.example", "*") && is_exempt("a.internal", "*.internal"));
        assert!(!is_exempt("anything.example", ""));
    }
}
