//! Sums that don't depend on the order of their numbers: exact, and rounded once at the end.
//!
//! Most sums are a few doubles that don't overlap (Shewchuk, "Adaptive Precision Floating-Point Arithmetic", 1997,
//! section 3). What grows beyond, in number or in size, goes on in an accumulator as wide as doubles are, where
//! nothing overflows on the way.

/// The sum of any doubles that are finite.
#[derive(Debug, Clone)]
pub struct Sum(State);

#[derive(Debug, Clone)]
enum State {
    /// Doubles that don't overlap, the smallest first; the rest of the array is unused.
    Parts([f64; PARTS], u8),
    Wide(Box<Wide>),
}

const PARTS: usize = 3;
/// Beyond, the sum of two might overflow.
const LARGE: f64 = 1e290;
/// Below, the error of a sum of two might not be a double.
const SMALL: f64 = 1e-290;

impl Default for Sum {
    fn default() -> Self {
        Self(State::Parts([0.0; PARTS], 0))
    }
}

impl Sum {
    pub fn add(&mut self, value: f64) {
        let State::Parts(parts, count) = &mut self.0 else {
            if let State::Wide(it) = &mut self.0 {
                it.add(value);
            }
            return;
        };
        let size = value.abs();
        let mut kept = 0;
        let mut rest = value;
        let mut is_wide = size > LARGE || size < SMALL && size != 0.0;
        let before = (*parts, *count);
        if !is_wide {
            for n in 0..usize::from(*count) {
                let (high, low) = two_sum(rest, parts[n]);
                if low != 0.0 {
                    parts[kept] = low;
                    kept += 1;
                }
                rest = high;
            }
            is_wide = kept == PARTS || rest.abs() > LARGE;
        }
        if is_wide {
            let mut wide = Box::<Wide>::default();
            before.0.iter().take(usize::from(before.1)).for_each(|it| wide.add(*it));
            wide.add(value);
            self.0 = State::Wide(wide);
            return;
        }
        parts[kept] = rest;
        *count = kept as u8 + 1;
    }

    /// The double that is nearest to the sum, never minus zero; infinite if it is beyond all.
    pub fn value(&self) -> f64 {
        match &self.0 {
            State::Parts(_, 0) => 0.0,
            State::Parts(parts, 1) => parts[0] + 0.0,
            State::Parts(parts, count) => {
                let mut wide = Wide::default();
                parts.iter().take(usize::from(*count)).for_each(|it| wide.add(*it));
                wide.value()
            }
            State::Wide(it) => it.value(),
        }
    }

    /// The bytes that it takes beside itself.
    pub fn weight(&self) -> usize {
        if matches!(self.0, State::Wide(_)) { size_of::<Wide>() } else { 0 }
    }
}

/// The sum of two, and what was lost by rounding it.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    let of_a = sum - of_b;
    (sum, (a - of_a) + (b - of_b))
}

/// Whole numbers of 32 bits each, the lowest first, with room for carries: a multiple of 2⁻¹⁰⁷⁴.
#[derive(Debug, Clone)]
struct Wide {
    limbs: [i64; LIMBS],
    /// Additions since carries were last passed on.
    pending: u32,
}

/// 2,098 bits for doubles, and 64 for the number of them.
const LIMBS: usize = 69;
const BITS: u32 = 32;
const MASK: i64 = (1 << BITS) - 1;

impl Default for Wide {
    fn default() -> Self {
        Self { limbs: [0; LIMBS], pending: 0 }
    }
}

impl Wide {
    fn add(&mut self, value: f64) {
        let bits = value.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as u32;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, shift) = if exponent == 0 { (fraction, 0) } else { (fraction | 1 << 52, exponent - 1) };
        let (limb, shift) = ((shift / BITS) as usize, shift % BITS);
        let wide = u128::from(mantissa) << shift;
        for n in 0..3 {
            let part = (wide >> (n as u32 * BITS)) as i64 & MASK;
            self.limbs[limb + n] += if value < 0.0 { -part } else { part };
        }
        self.pending += 1;
        if self.pending == 1 << 30 {
            self.carry();
        }
    }

    /// Leaves each limb but the highest from 0 up to 2³².
    fn carry(&mut self) {
        let mut carried = 0;
        for it in &mut self.limbs[..LIMBS - 1] {
            let sum = *it + carried;
            *it = sum & MASK;
            carried = sum >> BITS;
        }
        self.limbs[LIMBS - 1] += carried;
        self.pending = 0;
    }

    fn value(&self) -> f64 {
        let mut it = self.clone();
        it.carry();
        let is_negative = it.limbs[LIMBS - 1] < 0;
        if is_negative {
            it.limbs.iter_mut().for_each(|it| *it = -*it);
            it.carry();
        }
        let size = it.size();
        if is_negative { -size } else { size }
    }

    /// The nearest double of what is not negative; of two that are as near the even one.
    fn size(&self) -> f64 {
        let Some(top) = self.limbs.iter().rposition(|it| *it != 0) else { return 0.0 };
        let highest = top as u32 * BITS + self.limbs[top].ilog2();
        // The lowest bit that a double of this size has, in units of 2⁻¹⁰⁷⁴.
        let lowest = highest.saturating_sub(52);
        let mut mantissa = (0..=52.min(highest)).fold(0, |sum, n| sum | self.bit(lowest + n) << n);
        if lowest > 0 && self.bit(lowest - 1) == 1 {
            let is_above_half = (0..lowest - 1).any(|n| self.bit(n) == 1);
            if is_above_half || mantissa & 1 == 1 {
                mantissa += 1;
            }
        }
        // A mantissa of 2⁵³ carries into the exponent by itself.
        if highest < 52 {
            return f64::from_bits(mantissa);
        }
        let exponent = u64::from(lowest) + 1;
        let bits = (exponent << 52) + (mantissa - (1 << 52));
        if bits >= 0x7ff << 52 { f64::INFINITY } else { f64::from_bits(bits) }
    }

    fn bit(&self, n: u32) -> u64 {
        let limb = self.limbs.get((n / BITS) as usize).copied().unwrap_or_default();
        (limb >> (n % BITS) & 1) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(values: &[f64]) -> f64 {
        let mut sum = Sum::default();
        values.iter().for_each(|it| sum.add(*it));
        sum.value()
    }

    fn wide(values: &[f64]) -> f64 {
        let mut sum = Wide::default();
        values.iter().for_each(|it| sum.add(*it));
        sum.value()
    }

    #[test]
    fn sums_are_exact_and_rounded_once() {
        let tenths = [0.1; 10];
        for (values, expected) in [
            (&[][..], 0.0),
            (&[0.0, -0.0], 0.0),
            (&[1e16, 1.0, -1e16], 1.0),
            (&tenths, 1.0),
            (&[1e308, 1e308, -1e308], 1e308),
            (&[f64::MAX, f64::MAX, -f64::MAX, -f64::MAX, 5e-324], 5e-324),
            (&[f64::MAX, f64::MAX], f64::INFINITY),
            (&[-f64::MAX, -f64::MAX], f64::NEG_INFINITY),
            (&[5e-324, 5e-324], 1e-323),
            (&[-5e-324, 2.2250738585072014e-308], 2.225073858507201e-308),
            (&[1.0, 1e-16, 1e-16], 1.0000000000000002),
            (&[9007199254740992.0, 1.0], 9007199254740992.0),
            (&[9007199254740992.0, 1.0, 1.0], 9007199254740994.0),
            (&[9007199254740992.0, 1.0, 5e-324], 9007199254740994.0),
            (&[1e100, 1.0, -1e100, 1e-100, -1.0], 1e-100),
            (&[-3.5, 1.25], -2.25),
        ] {
            assert_eq!(sum(values).to_bits(), expected.to_bits(), "{values:?}");
            assert_eq!(wide(values).to_bits(), expected.to_bits(), "{values:?}");
        }
    }

    #[test]
    fn order_and_representation_change_nothing() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 11
        };
        for round in 0..2_000 {
            let span = if round % 3 == 0 { 2046 } else { 60 };
            let mut values: Vec<f64> = (0..1 + next() % 40)
                .map(|_| {
                    let exponent = if span == 60 { 1000 + next() % 60 } else { next() % 2046 };
                    f64::from_bits((next() & 1) << 63 | exponent << 52 | next() & ((1 << 52) - 1))
                })
                .collect();
            let (expected, forth) = (wide(&values), sum(&values));
            values.reverse();
            assert_eq!(forth.to_bits(), expected.to_bits(), "{values:?}");
            assert_eq!(sum(&values).to_bits(), expected.to_bits(), "{values:?}");
        }
    }
}
