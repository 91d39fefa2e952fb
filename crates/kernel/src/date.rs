//! Times as text: ISO 8601 in UTC, the years 0000 to 9999.
//!
//! The calendar is the `time` crate's. Which text is a time is decided here, because it is what clients'
//! own `Date` takes: several forms, and a fraction of any length.

use crate::Millis;
use time::{Date, Month, OffsetDateTime};

/// 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z.
pub const RANGE: std::ops::RangeInclusive<Millis> = -62_167_219_200_000..=253_402_300_799_999;

const DAY: Millis = 86_400_000;

/// Prints a time as `2024-03-05T06:07:08.009Z`, or nothing outside of [`RANGE`].
pub fn print(millis: Millis) -> Option<String> {
    let at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(millis) * 1_000_000).ok()?;
    let (year, month, day) = at.to_calendar_date();
    let (hour, minute, second, milli) = at.to_hms_milli();
    let month = u8::from(month);
    RANGE
        .contains(&millis)
        .then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z"))
}

/// Prints the time of a clock; what is outside of [`RANGE`] as its nearest end.
pub fn iso_from_millis(millis: Millis) -> String {
    print(millis.clamp(*RANGE.start(), *RANGE.end())).unwrap_or_default()
}

/// Milliseconds of an ISO 8601 text: a date, or a date and a time to the minute, second or fraction.
///
/// Without an offset the text counts as UTC; what is finer than a millisecond is cut, as JavaScript does.
pub fn parse(text: &str) -> Option<Millis> {
    let mut rest = Reader(text.as_bytes());
    let (year, month, day) = (rest.number(4)?, rest.after(b'-')?.number(2)?, rest.after(b'-')?.number(2)?);
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    let date = Date::from_calendar_date(i32::try_from(year).ok()?, month, u8::try_from(day).ok()?).ok()?;
    let days = date.to_julian_day() - OffsetDateTime::UNIX_EPOCH.to_julian_day();
    let time = if rest.0.is_empty() { 0 } else { rest.time()? };
    let millis = Millis::from(days) * DAY + time;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_as_they_were_printed() {
        assert_eq!(iso_from_millis(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso_from_millis(-1), "1969-12-31T23:59:59.999Z");
        for days in (-719_528..2_932_896).step_by(13) {
            let millis = days * DAY + 3_723_004;
            assert_eq!(parse(&iso_from_millis(millis)), Some(millis));
        }
    }

    #[test]
    fn texts_of_times_are_read() {
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
    fn texts_of_no_time_are_refused() {
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
