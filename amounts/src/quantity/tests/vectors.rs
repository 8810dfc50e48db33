//! Texts and what Kubernetes makes of them.
//!
//! Every row was also put to `resource.ParseQuantity` of apimachinery 0.36.3 and agreed, but for the rows that
//! say so.

use crate::{ParseQuantityError, Quantity};

/// Checks what `text` is in nano units and how it is printed, in decimal and in binary.
#[track_caller]
fn check(text: &str, nano: i128, decimal: &str, binary: &str) {
    let quantity: Quantity = text.parse().unwrap();
    assert_eq!(quantity.nano(), nano, "{text:?} in nano");
    assert_eq!(quantity.decimal_text(), decimal, "{text:?} in decimal");
    assert_eq!(quantity.binary_text(), binary, "{text:?} in binary");
}

/// Checks the message about a text that is no quantity.
#[track_caller]
fn check_error(text: &str, message: &str) {
    assert_eq!(text.parse::<Quantity>().unwrap_err().to_string(), message);
}

const ONE: i128 = 1_000_000_000;

#[test]
fn decimal_suffixes() {
    check("0", 0, "0", "0");
    check("1", ONE, "1", "1");
    check("-1", -ONE, "-1", "-1");
    check("+1", ONE, "1", "1");
    check("100m", 100_000_000, "100m", "100m");
    check("1000m", ONE, "1", "1");
    check("100u", 100_000, "100u", "100u");
    check("1n", 1, "1n", "1n");
    check("1000", 1000 * ONE, "1k", "1k");
    check("1024", 1024 * ONE, "1024", "1Ki");
    check("1536", 1536 * ONE, "1536", "1536");
    check("2M", 2_000_000 * ONE, "2M", "2000000");
    check("1G", ONE * ONE, "1G", "1000000000");
    check("3T", 3_000 * ONE * ONE, "3T", "2929687500Ki");
    check("1P", 1_000_000 * ONE * ONE, "1P", "976562500000Ki");
    check("1E", ONE * ONE * ONE, "1E", "976562500000000Ki");
}

#[test]
fn binary_suffixes() {
    check("1Ki", 1024 * ONE, "1024", "1Ki");
    check("1023", 1023 * ONE, "1023", "1023");
    check("-1Ki", -1024 * ONE, "-1024", "-1Ki");
    check("1024Mi", (1 << 30) * ONE, "1073741824", "1Gi");
    check("1.5Gi", 1_610_612_736 * ONE, "1610612736", "1536Mi");
    check("9Gi", 9 * (1 << 30) * ONE, "9663676416", "9Gi");
    check("1Ei", (1 << 60) * ONE, "1152921504606846976", "1Ei");
    check("1.1Ki", 1_126_400_000_000, "1126400m", "1126400m");
    check("0.5Ki", 512 * ONE, "512", "512");
}

#[test]
fn fractions() {
    check("1.5", 1_500_000_000, "1500m", "1500m");
    check("5.", 5 * ONE, "5", "5");
    check(".5", 500_000_000, "500m", "500m");
    check("1.2345", 1_234_500_000, "1234500u", "1234500u");
    check("0.1m", 100_000, "100u", "100u");
    check("007", 7 * ONE, "7", "7");
    check("000000000000000000000000000000000000000000.250", 250_000_000, "250m", "250m");
}

#[test]
fn exponents() {
    check("12e6", 12_000_000 * ONE, "12M", "12000000");
    check("12E6", 12_000_000 * ONE, "12M", "12000000");
    check("12e+6", 12_000_000 * ONE, "12M", "12000000");
    check("12e-3", 12_000_000, "12m", "12m");
    check("1.5e1", 15 * ONE, "15", "15");
    check("1e0", ONE, "1", "1");
    check("100000e-7", 10_000_000, "10m", "10m");
    check("0e2000000000", 0, "0", "0");
}

#[test]
fn what_is_finer_than_a_nano_is_rounded_away_from_zero() {
    check("0.9n", 1, "1n", "1n");
    check("-0.1n", -1, "-1n", "-1n");
    check("1.0000000001", ONE + 1, "1000000001n", "1000000001n");
    check("1.0000000000", ONE, "1", "1");
    check("1e-40", 1, "1n", "1n");
    check("0.0000000001Ki", 103, "103n", "103n");
    check("0.0000000000000000000000000000001Ei", 1, "1n", "1n");
    // Kubernetes computes ten to the power of two thousand million here.
    check("1e-2000000000", 1, "1n", "1n");
    // Kubernetes refuses this.
    check("-1e-99999999999999999999", -1, "-1n", "-1n");
}

#[test]
fn only_binary_suffixes_have_a_bound() {
    let most = ((1 << 63) - 1) * ONE;
    check("8Ei", most, "9223372036854775807", "9223372036854775807");
    check("-9Ei", -most, "-9223372036854775807", "-9223372036854775807");
    check("7.99999999999999999999999Ei", most, "9223372036854775807", "9223372036854775807");
    check(
        "99999999999999999999999999999999999999999999999999999Ki",
        most,
        "9223372036854775807",
        "9223372036854775807",
    );
    check("9007199254740993", 9_007_199_254_740_993 * ONE, "9007199254740993", "9007199254740993");
    check("18446744073709551615", ((1 << 64) - 1) * ONE, "18446744073709551615", "18446744073709551615");
    // From here on Kubernetes prints a binary suffix that it would itself read back as 2^63 − 1, or drops the
    // exponent. No cluster states so much.
    check("18446744073709551616", (1 << 64) * ONE, "18446744073709551616", "18446744073709551616");
    check("1000E", 1000 * ONE * ONE * ONE, "1000E", "1000E");
}

#[test]
fn texts_without_digits_are_zero() {
    for text in ["Ki", "Ti", ".", "+", "-", "-.m", "k", "E", "e3", "0Ki", "0.00", "-0"] {
        check(text, 0, "0", "0");
    }
    // Kubernetes refuses these, by an accident of its fast path.
    for text in ["Pi", "Ei", "e-12"] {
        check(text, 0, "0", "0");
    }
}

#[test]
fn errors_name_the_text_and_what_is_wrong() {
    check_error("", "read quantity: it is empty; a quantity looks like 2, 1500m or 9Gi");
    check_error(
        "--1",
        "read quantity \"--1\": it does not begin with a number; a quantity looks like 2, 1500m or 9Gi",
    );
    check_error(
        "1K",
        "read quantity \"1K\": \"K\" is no suffix; those that exist are \
         n u m k M G T P E, Ki Mi Gi Ti Pi Ei and exponents such as e3",
    );
    check_error(
        "1e30",
        "read quantity \"1e30\": it is beyond 1.7e29, the largest quantity that can be counted",
    );
}

#[test]
fn no_number() {
    for text in ["+-1", "--1", "inf", "nan", "Infinity", " 1", "\n", "x", "é", "KI", "Ki1"] {
        let error = ParseQuantityError::NotANumber { text: text.to_owned() };
        assert_eq!(text.parse::<Quantity>(), Err(error));
    }
}

#[test]
fn no_suffix() {
    for text in [
        "1K", "1ki", "1e", "1E+", "1ee3", "1e3k", "1e1.5", "0x10", "1_000", "1,5", "1m5", "1.1.1", "1..1",
        "1 ", "1 Ki", "1+5", "1µ", "5é", "1Zi",
    ] {
        let error = text.parse::<Quantity>().unwrap_err();
        assert!(matches!(error, ParseQuantityError::UnknownSuffix { .. }), "{text:?} gives {error:?}");
    }
}

/// Kubernetes takes these, but for the exponent of twenty digits.
#[test]
fn too_large() {
    for text in ["1e30", "-1e30", "1e2000000000", "1e99999999999999999999", "170141183461E", "1e2147483647"] {
        let error = ParseQuantityError::TooLarge { text: text.to_owned() };
        assert_eq!(text.parse::<Quantity>(), Err(error));
    }
}

#[test]
fn the_ends_of_the_range() {
    check(
        "170141183460469231731687303715884105727n",
        i128::MAX,
        "170141183460469231731687303715884105727n",
        "170141183460469231731687303715884105727n",
    );
    check(
        "-170141183460469231731687303715884105728n",
        i128::MIN,
        "-170141183460469231731687303715884105728n",
        "-170141183460469231731687303715884105728n",
    );
    assert!("170141183460469231731687303715884105728n".parse::<Quantity>().is_err());
    assert!("-170141183460469231731687303715884105729n".parse::<Quantity>().is_err());
}
