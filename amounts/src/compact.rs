//! Amounts in a few characters, for columns and sentences: `3c 9Gi 2gpu`.

use super::{Amount, Amounts, Resource};

impl Amounts {
    /// These amounts in short form, as the columns of `kubectl get` show them: `1.5c 9Gi 2gpu`, or `0` for nothing.
    ///
    /// For people only: at most one decimal, the rest cut off, so that a share never looks larger than it is, and
    /// `<0.1` for what is too small to show. An extended resource goes by the last part of its name. To be read
    /// back, an amount is written with [`Resource::format`].
    pub fn compact(&self) -> String {
        let parts: Vec<String> = self.iter().map(|(resource, amount)| one(resource, amount)).collect();
        if parts.is_empty() { "0".to_owned() } else { parts.join(" ") }
    }
}

fn one(resource: &Resource, amount: Amount) -> String {
    let sign = if amount.units() < 0 { "-" } else { "" };
    let units = amount.units().unsigned_abs();
    match resource {
        Resource::Cpu => format!("{sign}{}c", tenths(units, 1000)),
        Resource::Memory => format!("{sign}{}", memory(units)),
        Resource::Extended(name) => {
            let short = name.rsplit('/').next().unwrap_or(name);
            format!("{sign}{units}{short}")
        }
    }
}

fn memory(bytes: u128) -> String {
    let scales = [("Ti", 1_u128 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)];
    scales
        .into_iter()
        .find(|(_, scale)| bytes >= *scale)
        .map_or_else(|| bytes.to_string(), |(suffix, scale)| format!("{}{suffix}", tenths(bytes, scale)))
}

/// `units / scale` with at most one decimal.
fn tenths(units: u128, scale: u128) -> String {
    let whole = units.checked_div(scale).unwrap_or_default();
    let rest = units.checked_rem(scale).unwrap_or_default();
    match rest.saturating_mul(10).checked_div(scale).unwrap_or_default() {
        0 if whole == 0 && units > 0 => "<0.1".to_owned(),
        0 => whole.to_string(),
        tenth => format!("{whole}.{tenth}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(amounts: &[(&str, i128)], expected: &str) {
        let amounts: Amounts =
            amounts.iter().map(|(name, units)| (Resource::from_name(name), Amount::new(*units))).collect();
        assert_eq!(amounts.compact(), expected);
    }

    #[test]
    fn amounts_are_short() {
        check(&[], "0");
        check(&[("cpu", 3000), ("memory", 9 << 30), ("nvidia.com/gpu", 2)], "3c 9Gi 2gpu");
        check(&[("cpu", 1500), ("memory", 1536 << 20)], "1.5c 1.5Gi");
        check(&[("cpu", 100), ("memory", 999)], "0.1c 999");
        check(&[("memory", 3 << 40)], "3Ti");
        check(&[("smarter-devices", 4)], "4smarter-devices");
    }

    #[test]
    fn what_is_too_long_is_cut_off() {
        check(&[("cpu", 1), ("memory", (9 << 30) + 1)], "<0.1c 9Gi");
        check(&[("cpu", 1999), ("memory", (2 << 20) - 1)], "1.9c 1.9Mi");
    }

    #[test]
    fn differences_have_a_sign() {
        check(&[("cpu", -500), ("memory", -(9 << 30)), ("nvidia.com/gpu", -1)], "-0.5c -9Gi -1gpu");
    }

    #[test]
    fn the_ends_of_what_can_be_counted_are_no_panic() {
        check(&[("cpu", i128::MAX)], "170141183460469231731687303715884105.7c");
        check(&[("nvidia.com/gpu", i128::MIN)], "-170141183460469231731687303715884105728gpu");
    }
}
