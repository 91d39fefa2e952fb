//! Dates inside items: `{"$date":"2024-03-05T06:07:08.009Z"}`, the years 0000 to 9999, in UTC.

use stoa_kernel::{
    Millis,
    clock::{days_from_civil, iso_from_millis},
};

/// 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z.
const RANGE: std::ops::RangeInclusive<Millis> = -62_167_219_200_000..=253_402_300_799_999;

/// The stored text of a time, or nothing outside the years 0000 to 9999.
pub fn print(millis: Millis) -> Option<String> {
    RANGE.contains(&millis).then(|| iso_from_millis(millis))
}

/// Milliseconds of an ISO 8601 text: a date, or a date and a time to the minute, second or fraction.
///
/// Without an offset the text counts as UTC; what is finer than a millisecond is cut, as JavaScript does.
pub fn parse(text: &str) -> Option<Millis> {
    let mut rest = Reader(text.as_bytes());
    let (year, month, day) = (rest.number(4)?, rest.after(b'-')?.number(2)?, rest.after(b'-')?.number(2)?);
    if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
        return None;
    }
    let date = days_from_civil(year, month, day) * 86_400_000;
    let time = if rest.0.is_empty() { 0 } else { rest.time()? };
    let millis = date + time;
    (rest.0.is_empty() && RANGE.contains(&millis)).then_some(millis)
}

/// What is left to read.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    /// Hours to fraction, and the offset, in milliseconds.
    fn time(&mut self) -> Option<Millis> {
        if !self.skip(b'T') && !self.skip(b't') && !self.skip(b' ') {
            return None;
        }
        let (hour, minute) = (self.number(2)?, self.after(b':')?.number(2)?);
        let (mut second, mut milli) = (0, 0);
        if self.skip(b':') {
            second = self.number(2)?;
            if self.skip(b'.') {
                milli = self.fraction()?;
            }
        }
        let is_midnight = (hour, minute, second, milli) == (24, 0, 0, 0);
        if !is_midnight && (hour > 23 || minute > 59 || second > 59) {
            return None;
        }
        let time = ((hour * 60 + minute) * 60 + second) * 1000 + milli;
        Some(time - self.offset()?)
    }

    fn offset(&mut self) -> Option<Millis> {
        if self.0.is_empty() || self.skip(b'Z') || self.skip(b'z') {
            return Some(0);
        }
        let sign = if self.skip(b'+') { 1 } else { self.after(b'-').map(|_| -1)? };
        let hour = self.number(2)?;
        self.skip(b':');
        let minute = if self.0.is_empty() { 0 } else { self.number(2)? };
        (hour <= 23 && minute <= 59).then_some(sign * (hour * 60 + minute) * 60_000)
    }

    fn fraction(&mut self) -> Option<i64> {
        let count = self.0.iter().take_while(|it| it.is_ascii_digit()).count();
        let digits = &self.0[..count];
        self.0 = &self.0[count..];
        let digit = |n: usize| digits.get(n).map_or(0, |it| i64::from(it - b'0'));
        (count > 0).then(|| digit(0) * 100 + digit(1) * 10 + digit(2))
    }

    fn number(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        digits.iter().try_fold(0, |sum, it| it.is_ascii_digit().then(|| sum * 10 + i64::from(it - b'0')))
    }

    fn after(&mut self, byte: u8) -> Option<&mut Self> {
        self.skip(byte).then_some(self)
    }

    fn skip(&mut self, byte: u8) -> bool {
        let is_next = self.0.first() == Some(&byte);
        self.0 = &self.0[usize::from(is_next)..];
        is_next
    }
}

fn days_in(year: i64, month: i64) -> i64 {
    let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    days_from_civil(next_year, next_month, 1) - days_from_civil(year, month, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settled_texts() {
        for (text, stored) in [
            ("2024-03-05T06:07:08.009Z", "2024-03-05T06:07:08.009Z"),
            ("2024-03-05", "2024-03-05T00:00:00.000Z"),
            ("2024-03-05T06:07", "2024-03-05T06:07:00.000Z"),
            ("2024-03-05T06:07:08Z", "2024-03-05T06:07:08.000Z"),
            ("2024-03-05T06:07:08.1234567Z", "2024-03-05T06:07:08.123Z"),
            ("2024-03-05T01:00:00+02:30", "2024-03-04T22:30:00.000Z"),
            ("2024-03-05T23:00:00-0230", "2024-03-06T01:30:00.000Z"),
            ("2024-02-29T24:00:00Z", "2024-03-01T00:00:00.000Z"),
            ("0000-01-01", "0000-01-01T00:00:00.000Z"),
            ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(parse(text).and_then(print).as_deref(), Some(stored), "{text}");
        }
    }

    #[test]
    fn refused_texts() {
        for text in [
            "",
            "2024",
            "2024-3-5",
            "2023-02-29",
            "2024-13-01",
            "2024-00-01",
            "2024-01-32",
            "24:00",
            "tomorrow",
            "2024-03-05T25:00Z",
            "2024-03-05T24:01Z",
            "2024-03-05T06:60Z",
            "2024-03-05T06:07:08.Z",
            "2024-03-05T06:07Zx",
            "+010000-01-01T00:00:00.000Z",
            "-000001-01-01T00:00:00.000Z",
            "0000-01-01T00:00:00+01:00",
            "9999-12-31T23:59:59-01:00",
            "2024-03-05T",
            "2024-03-05T06:07+",
            "2024-03-05T06:07+1",
            "2024-03-05é",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
