//! What a language of ours says.

/// One language.
pub(in crate::mail) struct Language {
    /// BCP 47.
    pub tag: &'static str,
    pub is_right_to_left: bool,
    /// Before an address that is to be copied when the button does nothing.
    pub copy_link: &'static str,
    /// At the end of every message.
    pub footer: &'static str,
    pub verification: Words,
    pub second_factor: Words,
    pub recovery: Words,
    pub activation: Words,
    pub new_device: Words,
    pub password_changed: Words,
    pub password_dropped: Words,
    pub email_verified: Words,
    pub email_changed: Words,
    pub email_change_undo: Words,
    pub email_change_undone: Words,
    pub factor_added: Words,
    pub passkey_added: Words,
    pub factor_removed: Words,
    pub recovery_codes_renewed: Words,
    pub recovery_code_used: Words,
    pub browsers_forgotten: Words,
    pub sessions_ended: Words,
    pub impersonated: Words,
    pub deletion_waits: Words,
    pub deletion_undone: Words,
    pub approval_request: Words,
    pub approved: Words,
    pub declined: Words,
    pub webhook_disabled: Words,
}

/// One message of one language.
pub(in crate::mail) struct Words {
    pub subject: &'static str,
    pub title: &'static str,
    pub body: &'static str,
    /// On the button; empty when there is none.
    pub action: &'static str,
    /// Small print below.
    pub note: &'static str,
}
