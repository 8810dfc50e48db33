//! Amounts in a few characters, for the columns of `kubectl get`: `3c 9Gi 2gpu`.

use quotient_engine::amounts::{Amount, Amounts, Resource};

/// `amounts` in short form; `0` if there are none. Rounded down where a figure would get long.
pub(super) fn compact(amounts: &Amounts) -> String {
    let parts: Vec<String> = amounts.iter().map(|(resource, amount)| one(resource, amount)).collect();
    if parts.is_empty() { "0".to_owned() } else { parts.join(" ") }
}

fn one(resource: &Resource, amount: Amount) -> String {
    match resource {
        Resource::Cpu => format!("{}c", tenths(amount.units(), 1000)),
        Resource::Memory => memory(amount.units()),
        Resource::Extended(name) => {
            let short = name.rsplit('/').next().unwrap_or(name);
            format!("{}{short}", amount.units())
        }
    }
}

fn memory(bytes: i128) -> String {
    let scales = [("Ti", 1_i128 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)];
    scales
        .into_iter()
        .find(|(_, scale)| bytes >= *scale)
        .map_or_else(|| bytes.to_string(), |(suffix, scale)| format!("{}{suffix}", tenths(bytes, scale)))
}

/// `units / scale` with at most one decimal.
fn tenths(units: i128, scale: i128) -> String {
    let all = units.saturating_mul(10).checked_div(scale).unwrap_or_default();
    match (all.div_euclid(10), all.rem_euclid(10)) {
        (0, 0) if units > 0 => "<0.1".to_owned(),
        (whole, 0) => whole.to_string(),
        (whole, tenth) => format!("{whole}.{tenth}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(amounts: &[(&str, i128)], expected: &str) {
        let amounts: Amounts =
            amounts.iter().map(|(name, units)| (Resource::from_name(name), Amount::new(*units))).collect();
        assert_eq!(compact(&amounts), expected);
    }

    #[test]
    fn amounts_are_short() {
        check(&[], "0");
        check(&[("cpu", 3000), ("memory", 9 << 30), ("nvidia.com/gpu", 2)], "3c 9Gi 2gpu");
        check(&[("cpu", 1500), ("memory", 1536 << 20)], "1.5c 1.5Gi");
        check(&[("cpu", 100), ("memory", 999)], "0.1c 999");
        check(&[("cpu", 1), ("memory", (9 << 30) + 1)], "<0.1c 9Gi");
    }
}
