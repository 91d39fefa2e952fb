//! Limits that the operator of a server may set.
//!
//! Each is declared once, beside the code that keeps to it, with [`limits!`](crate::limits): its name in
//! the configuration, its default, its bounds and what it is. From the declaration come a struct of plain
//! fields, its default, and the table that the configuration is read by and the documentation is checked
//! against.

use crate::Millis;
use std::fmt;

pub const SECOND: Millis = 1_000;
pub const MINUTE: Millis = 60 * SECOND;
pub const HOUR: Millis = 60 * MINUTE;
pub const DAY: Millis = 24 * HOUR;

/// A limit as it was declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    pub name: &'static str,
    pub unit: Unit,
    pub default: u64,
    pub least: u64,
    pub most: u64,
    /// As it stands in the source: see [`Limit::meaning`].
    pub doc: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// How many.
    Number,
    /// How long, in milliseconds; written `90s`, `15m`, `4h`, `60d`.
    Time,
}

/// The units of time, the longest first.
const UNITS: [(char, Millis); 4] = [('d', DAY), ('h', HOUR), ('m', MINUTE), ('s', SECOND)];

impl Limit {
    /// What it is, for the operator who sets it.
    pub fn meaning(&self) -> &'static str {
        self.doc.trim()
    }

    /// The value that a text stands for.
    ///
    /// # Errors
    /// The end of a sentence that begins with the limit's name: what the text is and what it must be.
    pub fn read(&self, text: &str) -> Result<u64, String> {
        let value = match self.unit {
            Unit::Number => text.parse().ok(),
            Unit::Time => time(text),
        };
        match value {
            Some(it) if (self.least..=self.most).contains(&it) => Ok(it),
            Some(_) => {
                Err(format!("is {text}, but must be between {} and {}", self.print(self.least), self.print(self.most)))
            }
            None => Err(format!("is {text:?}, but must be {}", self.unit)),
        }
    }

    /// A value as it is written.
    pub fn print(&self, value: u64) -> String {
        if self.unit == Unit::Number {
            return value.to_string();
        }
        let fits = |unit: &&(char, Millis)| value > 0 && value.is_multiple_of(unit.1.unsigned_abs());
        let (letter, length) = UNITS.iter().find(fits).copied().unwrap_or(('s', SECOND));
        format!("{}{letter}", value / length.unsigned_abs())
    }
}

fn time(text: &str) -> Option<u64> {
    let number = text.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    let length = UNITS.iter().find(|it| text[number.len()..] == *it.0.encode_utf8(&mut [0; 4]))?.1;
    number.parse::<u64>().ok()?.checked_mul(length.unsigned_abs())
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Number => "a whole number",
            Self::Time => "a time such as 90s, 15m, 4h or 60d",
        })
    }
}

/// A type that a limit may have.
pub trait Value: Copy {
    const UNIT: Unit;
    /// A value that [`Limit::read`] answered.
    fn of(value: u64) -> Self;
}

impl Value for usize {
    const UNIT: Unit = Unit::Number;
    fn of(value: u64) -> Self {
        Self::try_from(value).unwrap_or(Self::MAX)
    }
}

impl Value for Millis {
    const UNIT: Unit = Unit::Time;
    fn of(value: u64) -> Self {
        Self::try_from(value).unwrap_or(Self::MAX)
    }
}

/// Limits that were declared together.
pub trait Limited: Default {
    const DECLARED: &'static [Limit];

    /// Sets the limit of this name, if there is one, without checking its bounds.
    fn put(&mut self, name: &str, value: u64);

    /// Sets the limit of this name to what a text stands for; false when there is none.
    ///
    /// # Errors
    /// As for [`Limit::read`].
    fn set(&mut self, name: &str, text: &str) -> Result<bool, String> {
        let Some(limit) = Self::DECLARED.iter().find(|it| it.name == name) else { return Ok(false) };
        self.put(name, limit.read(text)?);
        Ok(true)
    }
}

/// Declares limits: `/// meaning`, then `name: type = default, least..=most;`. The type is `usize` for how
/// many and [`Millis`] for how long. Other fields of the struct, which have their own defaults, come after
/// `and`.
#[macro_export]
macro_rules! limits {
    (
        $(#[$outer:meta])*
        $vis:vis struct $Name:ident {
            $($(#[doc = $meaning:literal])+ $field:ident: $ty:ty = $default:expr, $range:expr;)*
            $(and { $($(#[$other_meta:meta])* $other_vis:vis $other:ident: $other_ty:ty,)* })?
        }
    ) => {
        $(#[$outer])*
        $vis struct $Name {
            $($(#[doc = $meaning])+ pub $field: $ty,)*
            $($($(#[$other_meta])* $other_vis $other: $other_ty,)*)?
        }

        impl Default for $Name {
            fn default() -> Self {
                Self {
                    $($field: $default,)*
                    $($($other: Default::default(),)*)?
                }
            }
        }

        impl $crate::limit::Limited for $Name {
            const DECLARED: &'static [$crate::limit::Limit] = &[$({
                const DEFAULT: $ty = $default;
                const RANGE: ::std::ops::RangeInclusive<$ty> = $range;
                $crate::limit::Limit {
                    name: stringify!($field),
                    unit: <$ty as $crate::limit::Value>::UNIT,
                    default: DEFAULT as u64,
                    least: *RANGE.start() as u64,
                    most: *RANGE.end() as u64,
                    doc: concat!($($meaning),+),
                }
            },)*];

            fn put(&mut self, name: &str, value: u64) {
                match name {
                    $(stringify!($field) => self.$field = <$ty as $crate::limit::Value>::of(value),)*
                    _ => {}
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    limits! {
        #[derive(Debug, PartialEq)]
        struct Two {
            /// Things,
            /// all told.
            things: usize = 10, 1..=100;
            /// A while.
            a_while: Millis = 4 * HOUR, 0..=365 * DAY;
            and {
                /// Something else.
                pub other: u8,
            }
        }
    }

    #[test]
    fn declaration_is_the_default_and_the_table() {
        assert_eq!(Two::default(), Two { things: 10, a_while: 14_400_000, other: 0 });
        let [things, a_while] = Two::DECLARED else { panic!("two limits") };
        assert_eq!(
            (things.name, things.unit, things.default, things.least, things.most),
            ("things", Unit::Number, 10, 1, 100)
        );
        assert_eq!(things.meaning(), "Things, all told.");
        assert_eq!((a_while.unit, a_while.most), (Unit::Time, 31_536_000_000));
    }

    #[test]
    fn value_is_read_or_refused_with_a_reason() {
        let mut two = Two::default();
        assert_eq!(two.set("things", "100"), Ok(true));
        assert_eq!(two.set("a_while", "90s"), Ok(true));
        assert_eq!(two.set("nothing", "1"), Ok(false));
        assert_eq!(two, Two { things: 100, a_while: 90_000, other: 0 });
        let refused = |two: &mut Two, name: &str, text: &str| two.set(name, text).expect_err(text);
        assert_eq!(refused(&mut two, "things", "101"), "is 101, but must be between 1 and 100");
        assert_eq!(refused(&mut two, "things", "0"), "is 0, but must be between 1 and 100");
        assert_eq!(refused(&mut two, "a_while", "366d"), "is 366d, but must be between 0s and 365d");
        for text in ["", "many", "-1", "1.5", "1s", "18446744073709551616"] {
            assert_eq!(refused(&mut two, "things", text), format!("is {text:?}, but must be a whole number"));
        }
        for text in ["", "90", "s", "1.5h", "-1s", "1w", "1ms", "1 s", "99999999999999999999d", "300000000000d"] {
            let says = refused(&mut two, "a_while", text);
            assert_eq!(says, format!("is {text:?}, but must be a time such as 90s, 15m, 4h or 60d"));
        }
        assert_eq!(two, Two { things: 100, a_while: 90_000, other: 0 }, "nothing refused was set");
    }

    #[test]
    fn times_are_printed_in_the_longest_unit_that_fits() {
        let limit = Two::DECLARED[1];
        for text in ["0s", "1s", "90s", "15m", "4h", "90m", "25h", "1d", "365d"] {
            let value = limit.read(text).expect(text);
            assert_eq!(limit.print(value), text);
        }
        assert_eq!(limit.print(86_400_000), "1d");
    }
}
