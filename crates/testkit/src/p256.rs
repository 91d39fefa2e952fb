//! Multiplication on P-256 for tests, by other code than the server's: `ring` gives no private key away, and a browser that is sent
//! several messages opens all of them with one. Not for secrets: its time depends on them.

/// 256 bits, the lowest 64 first.
type Limbs = [u64; 4];

/// The prime of the field.
const P: Limbs = [0xffff_ffff_ffff_ffff, 0x0000_0000_ffff_ffff, 0, 0xffff_ffff_0000_0001];
const BASE: &str = "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296\
                    4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";

/// The public key of a private one: an uncompressed point.
pub fn public_key(private: &[u8; 32]) -> Vec<u8> {
    let base: Vec<u8> = (0..64).map(|at| u8::from_str_radix(&BASE[at * 2..at * 2 + 2], 16).unwrap()).collect();
    let (x, y) = multiply(private, &[&[4u8][..], &base].concat());
    [&[4u8][..], &x, &y].concat()
}

/// What a private key and the public key of another agree upon (ECDH): the x of their product.
pub fn agree(private: &[u8; 32], public: &[u8]) -> [u8; 32] {
    multiply(private, public).0
}

/// A point with `x / z²` and `y / z³`; all in Montgomery form.
#[derive(Clone, Copy)]
struct Point {
    x: Limbs,
    y: Limbs,
    z: Limbs,
}

fn multiply(by: &[u8; 32], point: &[u8]) -> ([u8; 32], [u8; 32]) {
    assert!(point.len() == 65 && point[0] == 4, "an uncompressed point is expected");
    let square = (0..512).fold([1, 0, 0, 0], |it, _| add(it, it));
    let montgomery = |bytes: &[u8]| times(limbs(bytes), square);
    let one = times([1, 0, 0, 0], square);
    let point = Point { x: montgomery(&point[1..33]), y: montgomery(&point[33..]), z: one };
    let mut product: Option<Point> = None;
    for bit in by.iter().flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1)) {
        product = product.map(double);
        if bit == 1 {
            product = product.map_or(Some(point), |it| plus(it, point));
        }
    }
    let Point { x, y, z } = product.expect("a key that isn't zero");
    let inverse = inverse(z, one);
    let inverse_square = times(inverse, inverse);
    let plain = |it: Limbs| bytes(times(it, [1, 0, 0, 0]));
    (plain(times(x, inverse_square)), plain(times(y, times(inverse_square, inverse))))
}

fn double(Point { x, y, z }: Point) -> Point {
    let (delta, gamma) = (times(z, z), times(y, y));
    let beta = times(x, gamma);
    let half = times(sub(x, delta), add(x, delta));
    let alpha = add(add(half, half), half);
    let beta4 = add(add(beta, beta), add(beta, beta));
    let gamma4 = times(add(gamma, gamma), add(gamma, gamma));
    let sum = add(y, z);
    let new = sub(times(alpha, alpha), add(beta4, beta4));
    Point {
        x: new,
        y: sub(times(alpha, sub(beta4, new)), add(gamma4, gamma4)),
        z: sub(sub(times(sum, sum), gamma), delta),
    }
}

/// The sum with a point whose `z` is one; nothing at infinity.
fn plus(a: Point, b: Point) -> Option<Point> {
    let square = times(a.z, a.z);
    let (x, y) = (times(b.x, square), times(b.y, times(a.z, square)));
    let (width, height) = (sub(x, a.x), sub(y, a.y));
    if width == [0; 4] {
        return (height == [0; 4]).then(|| double(a));
    }
    let width2 = times(width, width);
    let (width3, middle) = (times(width2, width), times(a.x, width2));
    let new = sub(sub(times(height, height), width3), add(middle, middle));
    let y = sub(times(height, sub(middle, new)), times(a.y, width3));
    Some(Point { x: new, y, z: times(a.z, width) })
}

/// By the power of `P - 2`.
fn inverse(of: Limbs, one: Limbs) -> Limbs {
    let power = sub_raw(P, [2, 0, 0, 0]).0;
    let bits = (0..256).rev().map(|at| power[at / 64] >> (at % 64) & 1);
    bits.fold(one, |it, bit| {
        let squared = times(it, it);
        if bit == 1 { times(squared, of) } else { squared }
    })
}

/// Montgomery's product: `a · b / 2^256`. The inverse of `-P` modulo `2^64` is one.
fn times(a: Limbs, b: Limbs) -> Limbs {
    let mut t = [0u64; 6];
    for digit in a {
        let mut carry = 0u128;
        for at in 0..4 {
            let sum = u128::from(t[at]) + u128::from(digit) * u128::from(b[at]) + carry;
            (t[at], carry) = (sum as u64, sum >> 64);
        }
        let sum = u128::from(t[4]) + carry;
        (t[4], t[5]) = (sum as u64, (sum >> 64) as u64);
        let factor = u128::from(t[0]);
        let mut carry = (u128::from(t[0]) + factor * u128::from(P[0])) >> 64;
        for at in 1..4 {
            let sum = u128::from(t[at]) + factor * u128::from(P[at]) + carry;
            (t[at - 1], carry) = (sum as u64, sum >> 64);
        }
        let sum = u128::from(t[4]) + carry;
        (t[3], t[4]) = (sum as u64, t[5] + (sum >> 64) as u64);
    }
    reduced([t[0], t[1], t[2], t[3]], t[4] != 0)
}

fn add(a: Limbs, b: Limbs) -> Limbs {
    let (mut sum, mut carry) = ([0; 4], 0u128);
    for at in 0..4 {
        let next = u128::from(a[at]) + u128::from(b[at]) + carry;
        (sum[at], carry) = (next as u64, next >> 64);
    }
    reduced(sum, carry != 0)
}

fn sub(a: Limbs, b: Limbs) -> Limbs {
    match sub_raw(a, b) {
        (difference, false) => difference,
        // What is carried out at the top takes the borrow back.
        (difference, true) => {
            let (mut sum, mut carry) = ([0; 4], 0u128);
            for at in 0..4 {
                let next = u128::from(difference[at]) + u128::from(P[at]) + carry;
                (sum[at], carry) = (next as u64, next >> 64);
            }
            sum
        }
    }
}

/// The difference modulo `2^256`, and whether it is below zero.
fn sub_raw(a: Limbs, b: Limbs) -> (Limbs, bool) {
    let (mut difference, mut borrows) = ([0; 4], false);
    for at in 0..4 {
        let (once, first) = a[at].overflowing_sub(b[at]);
        let (twice, second) = once.overflowing_sub(u64::from(borrows));
        (difference[at], borrows) = (twice, first || second);
    }
    (difference, borrows)
}

fn reduced(number: Limbs, is_above: bool) -> Limbs {
    match sub_raw(number, P) {
        (_, true) if !is_above => number,
        (less, _) => less,
    }
}

fn limbs(bytes: &[u8]) -> Limbs {
    let mut limbs = [0; 4];
    for (at, eight) in bytes.rchunks(8).enumerate() {
        limbs[at] = eight.iter().fold(0, |it, byte| it << 8 | u64::from(*byte));
    }
    limbs
}

fn bytes(limbs: Limbs) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (at, limb) in limbs.iter().rev().enumerate() {
        bytes[at * 8..][..8].copy_from_slice(&limb.to_be_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

    /// The keys of RFC 8291 section 5 and appendix A.
    #[test]
    fn keys_of_the_standard_agree() {
        let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        let receiver: [u8; 32] = bytes("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94").try_into().unwrap();
        let sender: [u8; 32] = bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw").try_into().unwrap();
        let public = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
        assert_eq!(URL_SAFE_NO_PAD.encode(public_key(&receiver)), public);
        let shared = "kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs";
        assert_eq!(URL_SAFE_NO_PAD.encode(agree(&receiver, &public_key(&sender))), shared);
        assert_eq!(URL_SAFE_NO_PAD.encode(agree(&sender, &public_key(&receiver))), shared);
    }
}
