//! Text that is parsed once and then compared as the product compares it.

use std::fmt;

/// An e-mail address as it was given, compared without regard to the case of the letters A to Z.
///
/// Other letters count as they are written: that is all that mail servers agree on (RFC 5321 section 2.4, RFC 6531
/// section 3.2). Unicode's case folding would make one address of two that are different mailboxes: the Kelvin sign
/// and `k`, the long s and `s`, a final sigma and another one.
///
/// The rule is the one of browsers (HTML, "valid e-mail address"), at most 254 characters: exactly one
/// `@`, no white space or control characters, and a domain of at least two labels.
#[derive(Clone)]
pub struct Email {
    given: String,
    folded: String,
}

impl Email {
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.len() > 254 {
            return None;
        }
        let (local, domain) = text.split_once('@')?;
        let is_local = |c: char| c.is_alphanumeric() || ".!#$%&'*+/=?^_`{|}~-".contains(c);
        let label_ok = |label: &str| {
            !label.is_empty()
                && label.len() <= 63
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.chars().all(|c| c.is_alphanumeric() || c == '-')
        };
        let local_ok = !local.is_empty() && local.len() <= 64 && local.chars().all(is_local);
        let domain_ok = domain.contains('.') && domain.split('.').all(label_ok);
        (local_ok && domain_ok).then(|| Self { given: text.to_owned(), folded: Self::fold(text) })
    }

    /// An address, or a part of one, as addresses are compared.
    pub fn fold(text: &str) -> String {
        text.trim().to_ascii_lowercase()
    }

    /// As the person wrote it: this is what mail is sent to.
    pub fn as_str(&self) -> &str {
        &self.given
    }

    /// The form that is unique in a site.
    pub fn folded(&self) -> &str {
        &self.folded
    }

    /// `a***@example.com`, for screens that must not reveal the address.
    pub fn hint(&self) -> String {
        let (local, domain) = self.given.split_once('@').unwrap_or((&self.given, ""));
        let first = local.chars().next().unwrap_or('*');
        format!("{first}***@{domain}")
    }
}

impl PartialEq for Email {
    fn eq(&self, other: &Self) -> bool {
        self.folded == other.folded
    }
}
impl Eq for Email {}

impl fmt::Debug for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hint())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed() {
        for good in ["a@b.co", "Anna.Beispiel+x@mail.example.org", "ü@exämple.de"] {
            assert!(Email::parse(good).is_some(), "{good}");
        }
        for bad in ["", "a", "a@b", "a@@b.co", "a b@c.de", "a@-b.co", "a@b..co", "@b.co", "a@b.co\n.x", "a,b@c.de"] {
            assert!(Email::parse(bad).is_none(), "{bad}");
        }
        assert_eq!(Email::parse("A@B.co"), Email::parse("a@b.CO"));
    }

    #[test]
    fn address_of_other_letters_is_another_address() {
        let is_same = |one: &str, other: &str| Email::parse(one).expect("good") == Email::parse(other).expect("good");
        assert!(is_same("Karen.Smith@Example.ORG", "karen.smith@example.org"));
        for (one, other) in [
            ("\u{212a}aren@example.org", "karen@example.org"),
            ("karen@example.org", "karen@exampl\u{212a}e.org"),
            ("\u{17f}mith@example.org", "smith@example.org"),
            ("smith@\u{17f}hop.example", "smith@shop.example"),
            ("nico\u{3c2}@example.org", "nico\u{3c3}@example.org"),
            ("a@nico\u{3c2}.example", "a@nico\u{3c3}.example"),
        ] {
            assert!(!is_same(one, other), "{one} {other}");
        }
    }
}
