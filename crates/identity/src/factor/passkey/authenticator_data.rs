//! What an authenticator says and signs (Web Authentication Level 3, chapter 6.1).

use super::{cbor::Reader, cose::PublicKey};

/// Bytes of an id of a credential.
pub(super) const LONGEST_ID: usize = 512;

const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;
const BACKUP_ELIGIBLE: u8 = 0x08;
const BACKED_UP: u8 = 0x10;
const HAS_CREDENTIAL: u8 = 0x40;
const HAS_EXTENSIONS: u8 = 0x80;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AuthenticatorData<'a> {
    /// SHA-256 of the relying party's id.
    pub relying_party: &'a [u8],
    /// Somebody has touched it, and has shown to it who they are.
    pub is_user_verified: bool,
    pub counter: u32,
    /// Whether its keys may be copied to other devices, and whether this one is.
    pub is_backup_eligible: bool,
    pub is_backed_up: bool,
    /// Of a new one.
    pub credential: Option<Credential<'a>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Credential<'a> {
    pub id: &'a [u8],
    /// As it is stored.
    pub public_key: &'a [u8],
}

impl<'a> AuthenticatorData<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (relying_party, rest) = bytes.split_at_checked(32)?;
        let (flags, rest) = rest.split_first()?;
        let (counter, mut rest) = rest.split_first_chunk::<4>()?;
        let has = |flag: u8| flags & flag != 0;
        let credential = match has(HAS_CREDENTIAL) {
            true => {
                let (credential, after) = credential(rest)?;
                rest = after;
                Some(credential)
            }
            false => None,
        };
        if has(HAS_EXTENSIONS) {
            let mut reader = Reader::new(rest);
            let extensions = reader.any()?;
            Reader::new(extensions).map()?;
            rest = reader.rest();
        }
        // A copy of what can not be copied is none.
        let is_sound = rest.is_empty() && (has(BACKUP_ELIGIBLE) || !has(BACKED_UP));
        is_sound.then_some(Self {
            relying_party,
            is_user_verified: has(USER_PRESENT) && has(USER_VERIFIED),
            counter: u32::from_be_bytes(*counter),
            is_backup_eligible: has(BACKUP_ELIGIBLE),
            is_backed_up: has(BACKED_UP),
            credential,
        })
    }
}

/// A new credential, and what stands behind it. Which model of authenticator made it is not asked.
fn credential(bytes: &[u8]) -> Option<(Credential<'_>, &[u8])> {
    let (_model, rest) = bytes.split_at_checked(16)?;
    let (length, rest) = rest.split_first_chunk::<2>()?;
    let length = usize::from(u16::from_be_bytes(*length));
    if length == 0 || length > LONGEST_ID {
        return None;
    }
    let (id, rest) = rest.split_at_checked(length)?;
    let mut reader = Reader::new(rest);
    PublicKey::read(&mut reader)?;
    let public_key = rest.get(..rest.len() - reader.rest().len())?;
    Some((Credential { id, public_key }, reader.rest()))
}

/// The authenticator's data in an attestation object (chapter 6.5). How it attests that it is what it says is not looked at (decision 50).
pub(super) fn of_attestation(object: &[u8]) -> Option<&[u8]> {
    let mut reader = Reader::new(object);
    let (mut format, mut statement, mut data) = (None, None, None);
    for _ in 0..reader.map()? {
        let is_new = match reader.text()? {
            "fmt" => format.replace(reader.text()?).is_none(),
            "attStmt" => {
                let any = reader.any()?;
                Reader::new(any).map()?;
                statement.replace(any).is_none()
            }
            "authData" => data.replace(reader.bytes()?).is_none(),
            _ => false,
        };
        if !is_new {
            return None;
        }
    }
    (format.is_some() && statement.is_some() && reader.rest().is_empty()).then_some(data).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(flags: u8, rest: &[u8]) -> Vec<u8> {
        [[9; 32].as_slice(), &[flags], &[0, 0, 1, 2], rest].concat()
    }

    fn new_credential() -> Vec<u8> {
        let key = [[0xa4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06, 0x21, 0x58, 0x20].as_slice(), &[7; 32]].concat();
        [[0; 16].as_slice(), &[0, 3, b'a', b'b', b'c'], &key].concat()
    }

    #[test]
    fn flags_and_counter() {
        let bytes = data(0x05, &[]);
        let read = AuthenticatorData::parse(&bytes).unwrap();
        assert_eq!((read.relying_party, read.counter, read.is_user_verified), ([9; 32].as_slice(), 258, true));
        assert!(!read.is_backup_eligible && !read.is_backed_up && read.credential.is_none());
        for flags in [0x00, 0x01, 0x04] {
            assert!(!AuthenticatorData::parse(&data(flags, &[])).unwrap().is_user_verified, "{flags}");
        }
        assert!(AuthenticatorData::parse(&data(0x1d, &[])).unwrap().is_backed_up);
    }

    #[test]
    fn credential_and_extensions_are_read_whole() {
        let bytes = data(0x45, &new_credential());
        let read = AuthenticatorData::parse(&bytes).unwrap();
        assert_eq!(read.credential.map(|it| (it.id.to_vec(), it.public_key.len())), Some((b"abc".to_vec(), 42)));
        let with_extensions = data(0xc5, &[new_credential(), vec![0xa1, 0x61, b'x', 0xf5]].concat());
        assert!(AuthenticatorData::parse(&with_extensions).is_some());
        for end in 0..with_extensions.len() {
            assert!(AuthenticatorData::parse(&with_extensions[..end]).is_none(), "{end}");
        }
    }

    #[test]
    fn what_is_unsound_is_nothing() {
        for (bytes, what) in [
            (data(0x15, &[]), "a copy of what can not be copied"),
            (data(0x05, &[0]), "something behind it"),
            (data(0x45, &[]), "a credential that is missing"),
            (data(0x85, &[0x01]), "extensions that are no map"),
            (data(0x45, &[[0; 16].as_slice(), &[0, 0]].concat()), "an id without bytes"),
            (data(0x45, &[[0; 16].as_slice(), &[2, 1], &[1; 600]].concat()), "an id that is too long"),
        ] {
            assert!(AuthenticatorData::parse(&bytes).is_none(), "{what}");
        }
    }

    #[test]
    fn attestation_objects() {
        let entry = |name: &str, value: &[u8]| {
            [[0x60 | u8::try_from(name.len()).unwrap()].as_slice(), name.as_bytes(), value].concat()
        };
        let (format, statement) = (entry("fmt", &[0x64, b'n', b'o', b'n', b'e']), entry("attStmt", &[0xa0]));
        let auth = entry("authData", &[0x42, 1, 2]);
        let object = |entries: &[&Vec<u8>]| {
            let head = vec![0xa0 | u8::try_from(entries.len()).unwrap()];
            [vec![head], entries.iter().map(|it| (*it).clone()).collect()].concat().concat()
        };
        assert_eq!(of_attestation(&object(&[&format, &statement, &auth])), Some([1, 2].as_slice()));
        let other = entry("more", &[0x00]);
        for bad in [
            object(&[&format, &statement]),
            object(&[&format, &auth]),
            object(&[&statement, &auth]),
            object(&[&format, &statement, &auth, &auth]),
            object(&[&format, &statement, &auth, &other]),
            object(&[&format, &entry("attStmt", &[0x00]), &auth]),
            [object(&[&format, &statement, &auth]), vec![0]].concat(),
        ] {
            assert_eq!(of_attestation(&bad), None, "{bad:?}");
        }
    }
}
