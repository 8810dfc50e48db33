//! Quantities: `1500m`, `9Gi`, `12e6`.

/// Billionths in one.
const ONE: i128 = 1_000_000_000;

/// The suffixes, each with the number of billionths.
const SUFFIXES: [(&str, i128); 16] = [
    ("", ONE),
    ("n", 1),
    ("u", 1_000),
    ("m", 1_000_000),
    ("k", ONE * 1_000),
    ("M", ONE * 1_000_000),
    ("G", ONE * 1_000_000_000),
    ("T", ONE * 1_000_000_000_000),
    ("P", ONE * 1_000_000_000_000_000),
    ("E", ONE * 1_000_000_000_000_000_000),
    ("Ki", ONE << 10),
    ("Mi", ONE << 20),
    ("Gi", ONE << 30),
    ("Ti", ONE << 40),
    ("Pi", ONE << 50),
    ("Ei", ONE << 60),
];

/// The billionths that `text` states, rounded away from zero; none if it is no quantity. What exceeds `i128` counts as its most.
pub(super) fn nano(text: &str) -> Option<i128> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = unsigned.find(|one: char| !one.is_ascii_digit() && one != '.').unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || number.chars().all(|one| one == '.') {
        return None;
    }
    let (unit, exponent) = match SUFFIXES.iter().find(|(known, _)| *known == suffix) {
        Some((_, unit)) => (*unit, 0),
        None => (ONE, suffix.strip_prefix(['e', 'E'])?.parse::<i32>().ok()?),
    };
    let digits = whole.chars().chain(fraction.chars()).filter_map(|one| one.to_digit(10));
    let mantissa = digits.fold(0_i128, |sum, digit| sum.saturating_mul(10).saturating_add(digit.into()));
    let scale = i64::from(exponent).saturating_sub(i64::try_from(fraction.len()).ok()?);
    let power = |exponent: u64| 10_i128.saturating_pow(u32::try_from(exponent).unwrap_or(u32::MAX));
    let amount = mantissa.saturating_mul(unit);
    let amount = if scale >= 0 {
        amount.saturating_mul(power(scale.unsigned_abs()))
    } else {
        let divisor = power(scale.unsigned_abs());
        let rest = amount.checked_rem(divisor)?;
        amount.checked_div(divisor)?.saturating_add(i128::from(rest > 0))
    };
    Some(amount.saturating_mul(sign))
}

/// As Kubernetes prints it: with the largest suffix of which it is a whole multiple, and of bytes with a binary one
/// if there is such a suffix.
pub(super) fn text(nano: i128, is_in_bytes: bool) -> String {
    let is_binary = |suffix: &str| suffix.ends_with('i');
    let fits = |(suffix, unit): &&(&str, i128)| {
        (is_in_bytes || !is_binary(suffix)) && nano.checked_rem(*unit) == Some(0)
    };
    let largest = SUFFIXES.iter().filter(fits).max_by_key(|(suffix, unit)| (is_binary(suffix), *unit));
    match largest {
        Some((suffix, unit)) if nano != 0 => {
            format!("{}{suffix}", nano.checked_div(*unit).unwrap_or_default())
        }
        _ => "0".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_kubernetes_reads_them() {
        for (text, expected) in [
            ("2", Some(2 * ONE)),
            ("1500m", Some(ONE + ONE / 2)),
            ("1.5", Some(ONE + ONE / 2)),
            (".5", Some(ONE / 2)),
            ("9Gi", Some(9 * (1 << 30) * ONE)),
            ("1.5Ki", Some(1536 * ONE)),
            ("12e6", Some(12_000_000 * ONE)),
            ("12E-3", Some(ONE * 12 / 1000)),
            ("1E", Some(ONE * 1_000_000_000_000_000_000)),
            ("0.0000000001", Some(1)),
            ("-1Gi", Some(-(1 << 30) * ONE)),
            ("1e99", Some(i128::MAX)),
            ("", None),
            ("Gi", None),
            ("1 Gi", None),
            ("1.2.3", None),
            ("1x", None),
        ] {
            assert_eq!(nano(text), expected, "{text}");
        }
    }

    #[test]
    fn amounts_are_printed_with_the_largest_suffix() {
        let printed = |quantity| [false, true].map(|is_in_bytes| text(nano(quantity).unwrap(), is_in_bytes));
        assert_eq!(printed("1500m"), ["1500m", "1500m"]);
        assert_eq!(printed("1024"), ["1024", "1Ki"]);
        assert_eq!(printed("1536Mi"), ["1610612736", "1536Mi"]);
        assert_eq!(printed("2000"), ["2k", "2k"]);
        assert_eq!(printed("0"), ["0", "0"]);
    }
}
