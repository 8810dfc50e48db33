//! A slow and obvious reading of quantities, to hold the fast one against.

/// A number without bounds: its decimal digits, the last one first.
struct Digits(Vec<u8>);

impl Digits {
    /// Times `by`, and `more` added.
    fn scale(&mut self, by: u32, more: u32) {
        let mut carry = more;
        for digit in &mut self.0 {
            let scaled = u32::from(*digit) * by + carry;
            (*digit, carry) = (u8::try_from(scaled % 10).unwrap(), scaled / 10);
        }
        while carry > 0 {
            self.0.push(u8::try_from(carry % 10).unwrap());
            carry /= 10;
        }
    }

    /// Times `10^power`, rounded up.
    fn shift(&mut self, power: i64) {
        let places = usize::try_from(power.unsigned_abs()).unwrap();
        if power >= 0 {
            self.0.splice(0..0, std::iter::repeat_n(0, places));
        } else {
            let cut = self.0.len().min(places);
            let rest: Vec<u8> = self.0.drain(..cut).collect();
            if rest.iter().any(|digit| *digit > 0) {
                self.scale(1, 1);
            }
        }
    }

    fn value(&self) -> Option<u128> {
        let text: String = self.0.iter().rev().map(|digit| char::from(b'0' + digit)).collect();
        let text = text.trim_start_matches('0');
        if text.is_empty() { Some(0) } else { text.parse().ok() }
    }
}

/// The nano units of a number `<whole>.<fraction>` with `suffix`, all of them valid; nothing if beyond `u128`.
pub(super) fn nano(whole: &str, fraction: &str, suffix: &str) -> Option<u128> {
    let mut digits = Digits(whole.bytes().chain(fraction.bytes()).rev().map(|byte| byte - b'0').collect());
    let binary = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].iter().position(|name| *name == suffix);
    for _ in 0..binary.map_or(0, |at| at + 1) {
        digits.scale(1024, 0);
    }
    let decimal = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"].iter().position(|name| *name == suffix);
    let power = match decimal {
        Some(at) => 3 * i64::try_from(at).unwrap() - 9,
        None if binary.is_some() => 0,
        None => suffix.strip_prefix(['e', 'E']).map_or(0, |power| power.parse().unwrap()),
    };
    digits.shift(9 + power - i64::try_from(fraction.len()).unwrap());
    let most = ((1 << 63) - 1) * 1_000_000_000;
    match digits.value() {
        value if binary.is_none() => value,
        Some(value) => Some(value.min(most)),
        None => Some(most),
    }
}
