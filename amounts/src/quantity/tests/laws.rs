//! What holds for every quantity and every text.

use proptest::prelude::*;

use super::reference;
use crate::Quantity;

/// Quantities of every size, and among them many with a short text.
fn quantities() -> impl Strategy<Value = Quantity> {
    let unit = prop_oneof![
        (0..10_u32).prop_map(|k| 1000_i128.pow(k)),
        (1..7_u32).prop_map(|k| 1_000_000_000 << (10 * k))
    ];
    prop_oneof![
        any::<i128>(),
        any::<i64>().prop_map(i128::from),
        (any::<i32>(), unit).prop_map(|(number, unit)| i128::from(number) * unit),
    ]
    .prop_map(Quantity::from_nano)
}

/// The parts of valid texts: sign, digits before the point, digits behind it, suffix.
fn parts() -> impl Strategy<Value = (&'static str, String, String, String)> {
    let sign = prop_oneof![Just(""), Just("-"), Just("+")];
    let suffix = prop_oneof!["", "[numkMGTPE]", "[KMGTPE]i", "[eE][+]?[0-4]?[0-9]", "[eE]-[0-4]?[0-9]"];
    (sign, "[0-9]{1,22}|0{0,5}[0-9]{1,3}|[0-9]{30,60}", "[0-9]{0,12}|0{20,50}[0-9]{0,40}|[0-9]{0,3}", suffix)
}

proptest! {
    #[test]
    fn texts_are_read_back_as_the_same_quantity(quantity in quantities()) {
        prop_assert_eq!(quantity.decimal_text().parse(), Ok(quantity));
        prop_assert_eq!(quantity.binary_text().parse(), Ok(quantity));
    }

    #[test]
    fn texts_are_whole_numbers_and_the_shortest_of_their_kind(quantity in quantities()) {
        let text = quantity.decimal_text();
        let number = text.trim_end_matches(|c: char| c.is_alphabetic());
        let units: i128 = number.parse().unwrap();
        prop_assert!(units == 0 || units % 1000 != 0 || text.ends_with('E'), "{}", text);
        prop_assert!(number.len() <= quantity.nano().to_string().len());
    }

    #[test]
    fn order_is_that_of_the_numbers(one in quantities(), other in quantities()) {
        let read = |quantity: Quantity| quantity.decimal_text().parse::<Quantity>().unwrap();
        prop_assert_eq!(read(one).cmp(&read(other)), one.nano().cmp(&other.nano()));
    }

    #[test]
    fn valid_texts_mean_what_the_slow_reading_says((sign, whole, fraction, suffix) in parts()) {
        let text = format!("{sign}{whole}.{fraction}{suffix}");
        let expected = reference::nano(&whole, &fraction, &suffix)
            .and_then(|nano| if sign == "-" { 0_i128.checked_sub_unsigned(nano) } else { nano.try_into().ok() });
        prop_assert_eq!(text.parse::<Quantity>().ok().map(Quantity::nano), expected, "{}", text);
        if fraction.is_empty() {
            let short = format!("{sign}{whole}{suffix}");
            prop_assert_eq!(short.parse::<Quantity>().ok(), text.parse().ok(), "{}", short);
        }
    }

    #[test]
    fn more_digits_never_make_less((_, whole, fraction, suffix) in parts(), digit in 0..10_u8) {
        let read = |fraction: &str| format!("{whole}.{fraction}{suffix}").parse::<Quantity>();
        if let (Ok(short), Ok(long)) = (read(&fraction), read(&format!("{fraction}{digit}"))) {
            prop_assert!(long >= short);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        let _: Result<Quantity, _> = text.parse();
    }

    #[test]
    fn any_text_of_the_right_letters_is_read_or_refused(text in "[-+0-9.eEinumkKMGTP]{0,60}") {
        if let Ok(quantity) = text.parse::<Quantity>() {
            prop_assert_eq!(quantity.decimal_text().parse(), Ok(quantity));
        }
    }
}
