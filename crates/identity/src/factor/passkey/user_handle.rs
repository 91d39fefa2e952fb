//! The user handle of passkeys: what authenticators know of whose they are.

use ring::digest::{SHA256, digest};
use stoa_kernel::{MemberId, SiteId};

/// What the passkeys of a member have as name of their user: 16 bytes of the site and 32 of site and member. It says nothing of the
/// person, and no two sites have the same, so on a host of several one's passkeys put none of another's away.
pub(super) fn user_handle(site: &SiteId, member: &MemberId) -> Vec<u8> {
    let of = |value: serde_json::Value| digest(&SHA256, value.to_string().as_bytes()).as_ref().to_vec();
    let (mut handle, person) = (of(serde_json::json!(["site", site])), of(serde_json::json!(["member", site, member])));
    handle.truncate(16);
    handle.extend(person);
    handle
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_handles_carry_the_site() {
        let handle = |site: &str, member: &str| user_handle(&SiteId::from(site), &MemberId::from(member));
        let one = handle("a", "anna");
        assert_eq!(one.len(), 48);
        assert_eq!(one[..16], handle("a", "ben")[..16]);
        assert!(
            one != handle("a", "ben")
                && one[..16] != handle("b", "anna")[..16]
                && one[16..] != handle("b", "anna")[16..]
        );
    }
}
