//! A number of a telephone as the world writes it (E.164).

use std::fmt;

/// Digits of a number, its calling code among them.
const SHORTEST: usize = 7;
const LONGEST: usize = 15;
/// Digits of a number whose calling code is 1.
const NORTH_AMERICAN: usize = 11;
/// Calling codes of one digit and of two; all others have three.
const ONE_DIGIT: [&str; 2] = ["1", "7"];
const TWO_DIGITS: [&str; 44] = [
    "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46", "47", "48", "49", "51",
    "52", "53", "54", "55", "56", "57", "58", "60", "61", "62", "63", "64", "65", "66", "81", "82", "84", "86", "90",
    "91", "92", "93", "94", "95", "98",
];
/// Characters of one as it may be typed.
const LONGEST_TYPED: usize = 40;
/// Digits that a number shows of itself, at its beginning and at its end.
const SHOWN: (usize, usize) = (2, 2);

/// `+` and digits. Printed it shows a few of them.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PhoneNumber(String);

impl PhoneNumber {
    /// Reads a number as people write it, with its calling code: `+49 (151) 123-45.67`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() > LONGEST_TYPED {
            return None;
        }
        let is_between = |it: &char| matches!(it, ' ' | '\u{a0}' | '-' | '.' | '(' | ')' | '/');
        let plain: String = text.trim().chars().filter(|it| !is_between(it)).collect();
        let digits = plain.strip_prefix('+')?;
        let is_one = (SHORTEST..=LONGEST).contains(&digits.len())
            && !digits.starts_with('0')
            && digits.bytes().all(|it| it.is_ascii_digit())
            // Further digits are not dialled there: each would make another number of the same telephone.
            && (!digits.starts_with('1') || digits.len() == NORTH_AMERICAN);
        is_one.then_some(Self(plain))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Without the `+`.
    pub(crate) fn digits(&self) -> &str {
        &self.0[1..]
    }

    /// The digits without the zeros that stand before a number where it is dialled at home, `+49 (0)151…`: providers leave them out.
    pub(crate) fn bare(&self) -> String {
        let digits = self.digits();
        let (code, rest) = digits.split_at(calling_code(digits).unwrap_or_default());
        format!("{code}{}", rest.trim_start_matches('0'))
    }

    /// As it is shown to one who may have a stolen session alone: `+49***67`.
    pub(crate) fn mask(&self) -> String {
        let digits = self.digits();
        let (first, last) = SHOWN;
        format!("+{}***{}", &digits[..first], &digits[digits.len() - last..])
    }
}

/// Digits of the calling code with which a number begins; nothing where these are too few to tell.
pub(super) fn calling_code(digits: &str) -> Option<usize> {
    let begins = |codes: &[&str]| codes.iter().any(|it| digits.starts_with(it));
    let length = if begins(&ONE_DIGIT) {
        1
    } else if begins(&TWO_DIGITS) {
        2
    } else {
        3
    };
    (digits.len() >= length).then_some(length)
}

impl fmt::Debug for PhoneNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.mask())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_is_read_as_people_write_it() {
        for text in ["+4915112345678", " +49 151 1234-5678 ", "+49 (151) 1234.5678", "+49/151/12345678"] {
            assert_eq!(PhoneNumber::parse(text).unwrap().as_str(), "+4915112345678", "{text}");
        }
        for text in [
            "",
            "+",
            "015112345678",
            "4915112345678",
            "+0151123456",
            "+123456",
            "+1234567890123456",
            "+49151x345678",
            "++4915112345678",
            "+4915112345678,1",
            "+4915112345678;ext=1",
            "+٤٩١٥١١٢٣٤٥٦",
            "+49\n15112345678",
            "+1234567                                        ",
            "+1212555123",
            "+121255512345",
        ] {
            assert!(PhoneNumber::parse(text).is_none(), "{text}");
        }
        let number = PhoneNumber::parse("+4915112345678").unwrap();
        assert_eq!((number.mask().as_str(), format!("{number:?}").as_str()), ("+49***78", "+49***78"));
        for (text, bare) in [
            ("+49 (0)151 12345678", "4915112345678"),
            ("+49 00151 12345678", "4915112345678"),
            ("+15005550006", "15005550006"),
            ("+350 00012345", "35012345"),
            ("+4900000000", "49"),
        ] {
            assert_eq!(PhoneNumber::parse(text).unwrap().bare(), bare, "{text}");
        }
    }

    #[test]
    fn calling_codes_have_one_to_three_digits() {
        for (digits, length) in [("1212", 1), ("7", 1), ("4915", 2), ("353", 3), ("979", 3), ("881", 3)] {
            assert_eq!(calling_code(digits), Some(length), "{digits}");
        }
        for digits in ["", "4", "35", "88", "97"] {
            assert_eq!(calling_code(digits), None, "{digits}");
        }
    }
}
