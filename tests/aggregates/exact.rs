//! The double that is nearest to a sum, found by looking for it among all doubles.

use std::cmp::Ordering;

/// The sum of these, rounded once; of two doubles that are as near, the one whose last bit is zero.
pub(super) fn sum(values: &[f64]) -> f64 {
    let (mut plus, mut minus) = (Big::default(), Big::default());
    for it in values {
        if *it < 0.0 { minus.add(&Big::of(-it)) } else { plus.add(&Big::of(*it)) }
    }
    match plus.cmp(&minus) {
        Ordering::Less => -nearest(&minus.minus(&plus)),
        _ => nearest(&plus.minus(&minus)),
    }
}

fn nearest(size: &Big) -> f64 {
    // The bits of doubles that are not negative are in their order.
    let (mut low, mut high) = (0_u64, f64::MAX.to_bits());
    if *size > Big::of(f64::MAX) {
        return f64::INFINITY;
    }
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if Big::of(f64::from_bits(middle)) <= *size { low = middle } else { high = middle - 1 }
    }
    let below = size.minus(&Big::of(f64::from_bits(low)));
    if below == Big::default() {
        return f64::from_bits(low);
    }
    let above = Big::of(f64::from_bits(low + 1)).minus(size);
    match below.cmp(&above) {
        Ordering::Less => f64::from_bits(low),
        Ordering::Greater => f64::from_bits(low + 1),
        Ordering::Equal => f64::from_bits(low + (low & 1)),
    }
}

/// A whole number of the smallest doubles, its highest digits first, all of one length.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Big([u32; 72]);

impl Default for Big {
    fn default() -> Self {
        Self([0; 72])
    }
}

impl Big {
    fn of(value: f64) -> Self {
        let bits = value.to_bits();
        let (exponent, fraction) = (bits >> 52, bits & 0x000f_ffff_ffff_ffff);
        let (mantissa, shift) =
            if exponent == 0 { (fraction, 0) } else { (fraction + 0x0010_0000_0000_0000, exponent - 1) };
        let mut big = Self::default();
        for n in (0..53).filter(|n| mantissa >> n & 1 == 1) {
            let bit = shift + n;
            big.0[71 - (bit / 32) as usize] |= 1 << (bit % 32);
        }
        big
    }

    fn add(&mut self, other: &Self) {
        let mut carry = 0;
        for n in (0..72).rev() {
            let sum = u64::from(self.0[n]) + u64::from(other.0[n]) + carry;
            self.0[n] = sum as u32;
            carry = sum >> 32;
        }
    }

    fn minus(&self, other: &Self) -> Self {
        let (mut left, mut borrow) = (self.clone(), 0);
        for n in (0..72).rev() {
            let here = i64::from(self.0[n]) - i64::from(other.0[n]) - borrow;
            left.0[n] = here as u32;
            borrow = i64::from(here < 0);
        }
        left
    }
}
