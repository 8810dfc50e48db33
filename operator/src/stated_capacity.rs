//! Amounts of capacity, as the command line states them: `cpu=64,memory=256Gi`.

use quotient_engine::amounts::{Amounts, ParseQuantityError, Quantity, Resource};
use quotient_index::governable;

/// That there are no shares of what `name` names.
pub(crate) fn not_shared(name: &str) -> String {
    format!("{name:?} is no resource that can be shared; cpu, memory and nvidia.com/gpu are")
}

/// Reads the amounts; empty parts state nothing. An error says what is wrong.
pub(crate) fn parse(parts: &[String]) -> Result<Amounts, String> {
    let mut amounts: Vec<(Resource, _)> = Vec::new();
    for part in parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()) {
        let (name, text) = part
            .split_once('=')
            .ok_or_else(|| format!("{part:?} is not NAME=AMOUNT, such as cpu=64 or memory=256Gi"))?;
        let name = name.trim();
        let resource = Some(name).filter(|name| !name.contains(char::is_whitespace)).and_then(governable);
        let resource = resource.ok_or_else(|| not_shared(name))?;
        let quantity: Quantity =
            text.trim().parse().map_err(|problem: ParseQuantityError| format!("{part:?}: {problem}"))?;
        if quantity.nano() < 0 {
            return Err(format!("{part:?} is negative; state what there may be"));
        }
        if amounts.iter().any(|(other, _)| *other == resource) {
            return Err(format!("{name} is stated twice"));
        }
        let amount = resource.rounded_down(quantity);
        amounts.push((resource, amount));
    }
    Ok(amounts.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        let parts: Vec<String> = text.split(',').map(ToOwned::to_owned).collect();
        parse(&parts).map(|amounts| amounts.to_string())
    }

    #[test]
    fn amounts_are_read_as_kubernetes_reads_them() {
        assert_eq!(
            read("cpu=64, memory = 256Gi,nvidia.com/gpu=8").unwrap(),
            "cpu 64, memory 256Gi, nvidia.com/gpu 8"
        );
        assert_eq!(read("cpu=1500m").unwrap(), "cpu 1500m");
        assert_eq!(read("").unwrap(), "nothing");
        assert_eq!(read("cpu=0").unwrap(), "nothing");
    }

    #[test]
    fn what_states_nothing_is_named() {
        for (text, named) in [
            ("cpu", "\"cpu\" is not NAME=AMOUNT"),
            ("pods=10", "\"pods\" is no resource"),
            ("c pu=10", "\"c pu\" is no resource"),
            ("memory=256GB", "\"GB\" is no suffix"),
            ("cpu=", "it is empty"),
            ("cpu=-1", "\"cpu=-1\" is negative"),
            ("cpu=1,cpu=2", "cpu is stated twice"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
