//! Numbers as ECMAScript prints them (Number::toString): the one text that a double has here.

/// Appends a finite double. Minus zero prints as `0`.
pub fn print(value: f64, out: &mut String) {
    use std::fmt::Write;
    if value == 0.0 {
        out.push('0');
        return;
    }
    // `1.25e-7`: the fewest digits that give the same double, and where the point goes.
    let shortest = format!("{:e}", value.abs());
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let digits = mantissa.replace('.', "");
    let point = exponent.parse::<i32>().unwrap_or_default() + 1;
    if value < 0.0 {
        out.push('-');
    }
    let count = digits.len() as i32;
    let zeros = |n: i32| "0".repeat(n as usize);
    let _ = match point {
        _ if count <= point && point <= 21 => write!(out, "{digits}{}", zeros(point - count)),
        1..=21 => write!(out, "{}.{}", &digits[..point as usize], &digits[point as usize..]),
        -5..=0 => write!(out, "0.{}{digits}", zeros(-point)),
        _ => write!(out, "{mantissa}e{:+}", point - 1),
    };
}

/// Whether the text of a JSON number is already what [`print`] would make of it, seen at a glance.
///
/// At most 15 digits always survive the way through a double, so without an exponent, trailing zeros
/// and a long run of leading zeros nothing can change.
pub fn is_canonical(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    whole.len() + fraction.len() <= 15
        && !text.contains(['e', 'E'])
        && (text == "0" || unsigned != "0")
        && if fraction.is_empty() { !unsigned.contains('.') } else { !fraction.ends_with('0') }
        && !(whole == "0" && fraction.starts_with("000000"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(value: f64) -> String {
        let mut out = String::new();
        print(value, &mut out);
        out
    }

    #[test]
    fn numbers_print_as_in_ecmascript() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.5e21, "1.5e+21"),
            (123_456_789_012_345_680_000.0, "123456789012345680000"),
            (0.000001, "0.000001"),
            (0.0000015, "0.0000015"),
            (1e-7, "1e-7"),
            (-1.25e-7, "-1.25e-7"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (9_007_199_254_740_993.0, "9007199254740992"),
            (9_223_372_036_854_775_807.0, "9223372036854776000"),
            (0.1 + 0.2, "0.30000000000000004"),
        ] {
            assert_eq!(printed(value), text);
        }
    }

    #[test]
    fn number_glance_is_never_wrong() {
        for text in [
            "0",
            "-0",
            "0.0",
            "1",
            "10",
            "-10",
            "1.0",
            "1.10",
            "0.5",
            "0.000001",
            "0.0000001",
            "0.00000012",
            "123456789012345",
            "1234567890123456",
            "1e5",
            "1E5",
            "-0.0",
            "12.5",
            "100000000000000",
        ] {
            let value: f64 = text.parse().expect("a number");
            assert!(!is_canonical(text) || printed(value) == text, "{text}");
        }
        assert!(is_canonical("0") && is_canonical("-12.5") && is_canonical("0.000001"));
    }
}
