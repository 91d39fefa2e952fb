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
    pub scopes: ScopeWords,
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
    pub operator_passkey_added: Words,
    pub provider_added: Words,
    pub factor_removed: Words,
    pub provider_removed: Words,
    pub recovery_codes_renewed: Words,
    pub recovery_code_used: Words,
    pub push_denied: Words,
    pub push_change_denied: Words,
    pub browsers_forgotten: Words,
    pub sessions_ended: Words,
    pub application_allowed: Words,
    pub application_ended: Words,
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

/// What a client of others may do, in the words of the account pages (`scope` of `web/apps/account/src/text/later`).
pub(in crate::mail) struct ScopeWords {
    /// Where it may do nothing.
    pub none: &'static str,
    pub items_read: &'static str,
    pub items_write: &'static str,
    pub items_read_in: &'static str,
    pub items_write_in: &'static str,
    pub collections_read: &'static str,
    pub collections_write: &'static str,
    pub collections_read_in: &'static str,
    pub collections_write_in: &'static str,
    pub members_read: &'static str,
    pub members_write: &'static str,
    pub members_sign_in: &'static str,
    pub site_read: &'static str,
    pub site_write: &'static str,
}

impl ScopeWords {
    /// A line for each scope. One that has no words is shown as it is.
    pub fn lines(&self, scopes: &[String]) -> String {
        if scopes.is_empty() {
            return format!("• {}", self.none);
        }
        scopes.iter().map(|it| format!("• {}", self.of(it))).collect::<Vec<_>>().join("\n")
    }

    fn of(&self, scope: &str) -> String {
        let mut parts = scope.splitn(3, ':');
        let (area, right) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let collection = parts.next();
        let words = match (area, right, collection.is_some()) {
            ("items", "read", false) => self.items_read,
            ("items", "write", false) => self.items_write,
            ("items", "read", true) => self.items_read_in,
            ("items", "write", true) => self.items_write_in,
            ("collections", "read", false) => self.collections_read,
            ("collections", "write", false) => self.collections_write,
            ("collections", "read", true) => self.collections_read_in,
            ("collections", "write", true) => self.collections_write_in,
            ("members", "read", false) => self.members_read,
            ("members", "write", false) => self.members_write,
            ("members", "sign-in", false) => self.members_sign_in,
            ("site", "read", false) => self.site_read,
            ("site", "write", false) => self.site_write,
            _ => return scope.to_owned(),
        };
        words.replace("{collection}", collection.unwrap_or_default())
    }
}
