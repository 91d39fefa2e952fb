//! Files of places as tests need them, in the MaxMind DB format 2.0.

use serde_json::{Map, Value, json};
use std::net::IpAddr;

/// Where a bit of an address leads.
#[derive(Clone, Copy)]
enum Next {
    Node(usize),
    /// From the beginning of the data.
    Data(usize),
}

/// A file of a type (`GeoLite2-City`) that knows these networks (`192.0.2.0/24`), none of which is in another. Values are made of texts,
/// whole numbers, lists and objects.
///
/// # Panics
/// For what is no network.
pub fn place_file(kind: &str, networks: &[(&str, Value)]) -> Vec<u8> {
    let (mut nodes, mut data) = (vec![[None; 2]], Vec::new());
    for (network, value) in networks {
        let (address, length) = network.split_once('/').unwrap();
        let length: usize = length.parse().unwrap();
        // IPv4 addresses are the first ones of IPv6.
        let (bits, length) = match address.parse().unwrap() {
            IpAddr::V4(it) => (u128::from(it.to_bits()), 96 + length),
            IpAddr::V6(it) => (it.to_bits(), length),
        };
        let mut at = 0;
        for bit in 0..length {
            let side = usize::from(bits >> (127 - bit) & 1 == 1);
            at = match nodes[at][side] {
                _ if bit + 1 == length => {
                    nodes[at][side] = Some(Next::Data(data.len()));
                    break;
                }
                Some(Next::Node(next)) => next,
                _ => {
                    nodes.push([None; 2]);
                    let next = nodes.len() - 1;
                    nodes[at][side] = Some(Next::Node(next));
                    next
                }
            };
        }
        write(value, &mut data);
    }
    let count = nodes.len();
    let mut file = Vec::new();
    for next in nodes.into_iter().flatten() {
        let record = match next {
            None => count,
            Some(Next::Node(at)) => at,
            Some(Next::Data(at)) => count + 16 + at,
        };
        file.extend(&u32::try_from(record).unwrap().to_be_bytes()[1..]);
    }
    file.extend([0; 16]);
    file.extend(data);
    file.extend(b"\xab\xcd\xefMaxMind.com");
    let metadata = json!({
        "node_count": count, "record_size": 24, "ip_version": 6, "database_type": kind, "languages": ["en"],
        "binary_format_major_version": 2, "binary_format_minor_version": 0, "build_epoch": 1_700_000_000,
        "description": { "en": "For tests" },
    });
    write(&metadata, &mut file);
    file
}

/// A city with its names, and its country.
pub fn city(names: Value, country: &str) -> Value {
    json!({ "city": { "names": names }, "country": { "iso_code": country } })
}

fn write(value: &Value, to: &mut Vec<u8>) {
    match value {
        Value::String(it) => {
            control(2, it.len(), to);
            to.extend(it.bytes());
        }
        Value::Number(it) => {
            control(5, 2, to);
            to.extend(u16::try_from(it.as_u64().unwrap()).unwrap().to_be_bytes());
        }
        Value::Array(it) => {
            control(11, it.len(), to);
            it.iter().for_each(|it| write(it, to));
        }
        Value::Object(it) => write_map(it, to),
        other => panic!("{other} is not written"),
    }
}

fn write_map(map: &Map<String, Value>, to: &mut Vec<u8>) {
    control(7, map.len(), to);
    for (key, value) in map {
        write(&Value::from(key.as_str()), to);
        // Whole numbers have two bytes, but for these of the metadata.
        match (key.as_str(), value.as_u64()) {
            ("node_count", Some(it)) => {
                control(6, 4, to);
                to.extend(u32::try_from(it).unwrap().to_be_bytes());
            }
            ("build_epoch", Some(it)) => {
                control(9, 8, to);
                to.extend(it.to_be_bytes());
            }
            _ => write(value, to),
        }
    }
}

/// Type and size. Types above 7 have a byte of their own, and sizes above 28 another.
fn control(kind: u8, size: usize, to: &mut Vec<u8>) {
    let (size, more) = if size < 29 { (size, None) } else { (29, Some(u8::try_from(size - 29).unwrap())) };
    let size = u8::try_from(size).unwrap();
    match kind {
        1..=7 => to.push(kind << 5 | size),
        _ => to.extend([size, kind - 7]),
    }
    to.extend(more);
}
