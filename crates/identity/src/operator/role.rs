//! What an operator may do at a site, as it is stored.

use stoa_kernel::Role;

pub(crate) fn role_name(role: Role) -> &'static str {
    match role {
        Role::Owner => "OWNER",
        Role::Editor => "EDITOR",
    }
}

/// An unknown name counts as the lesser role.
pub(crate) fn role_of(name: &str) -> Role {
    if name == "OWNER" { Role::Owner } else { Role::Editor }
}
