//! Amounts in a few characters: `3c 9Gi 2gpu`, as in the columns of `kubectl get queues.quotient.dev`.

use quotient_engine::amounts::{Amount, Amounts, Resource};

/// `amounts` in short form, zeros left out; `0` if there are none. Rounded down where a figure would get long.
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
