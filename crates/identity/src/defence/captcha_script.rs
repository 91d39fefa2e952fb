//! Scripts that draw the widgets of captcha providers: those of providers that are known, recognised by the origin of
//! their siteverify address, and what the address of another may be.

use serde::Serialize;
use std::{borrow::Cow, net::Ipv4Addr};
use stoa_outbound::Target;

/// By which calls a widget is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WidgetKind {
    /// reCAPTCHA v2, a checkbox or unseen.
    Recaptcha,
    /// reCAPTCHA v3, which gives every answer a score.
    RecaptchaScore,
    Hcaptcha,
    Turnstile,
    /// A script of another provider, with the calls of reCAPTCHA v2.
    Other,
}

/// From where a page with the widget loads things, each as a directive of the content security policy lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources {
    pub script: Cow<'static, str>,
    pub frame: Cow<'static, str>,
    pub style: Cow<'static, str>,
    pub connect: Cow<'static, str>,
}

/// A provider that is known.
pub(super) struct Known {
    /// Of its siteverify address.
    origin: &'static str,
    pub(super) kind: WidgetKind,
    pub(super) script_url: &'static str,
    script: &'static str,
    frame: &'static str,
    style: &'static str,
    connect: &'static str,
}

/// The sources are those that the providers' own documents name.
static KNOWN: [Known; 5] = [
    Known {
        origin: "https://www.google.com",
        kind: WidgetKind::Recaptcha,
        script_url: "https://www.google.com/recaptcha/api.js",
        script: "https://www.google.com/recaptcha/ https://www.gstatic.com/recaptcha/",
        frame: "https://www.google.com/recaptcha/ https://recaptcha.google.com/recaptcha/",
        style: "",
        connect: "https://www.google.com/recaptcha/",
    },
    // The same where google.com can't be reached.
    Known {
        origin: "https://www.recaptcha.net",
        kind: WidgetKind::Recaptcha,
        script_url: "https://www.recaptcha.net/recaptcha/api.js",
        script: "https://www.recaptcha.net/recaptcha/ https://www.gstatic.com/recaptcha/ https://www.gstatic.cn/recaptcha/",
        frame: "https://www.recaptcha.net/recaptcha/ https://recaptcha.net/recaptcha/",
        style: "",
        connect: "https://www.recaptcha.net/recaptcha/",
    },
    Known { origin: "https://api.hcaptcha.com", ..HCAPTCHA },
    Known { origin: "https://hcaptcha.com", ..HCAPTCHA },
    Known {
        origin: "https://challenges.cloudflare.com",
        kind: WidgetKind::Turnstile,
        script_url: "https://challenges.cloudflare.com/turnstile/v0/api.js",
        script: "https://challenges.cloudflare.com",
        frame: "https://challenges.cloudflare.com",
        style: "",
        connect: "",
    },
];

const HCAPTCHA: Known = Known {
    origin: "",
    kind: WidgetKind::Hcaptcha,
    script_url: "https://js.hcaptcha.com/1/api.js",
    script: "https://hcaptcha.com https://*.hcaptcha.com",
    frame: "https://hcaptcha.com https://*.hcaptcha.com",
    style: "https://hcaptcha.com https://*.hcaptcha.com",
    connect: "https://hcaptcha.com https://*.hcaptcha.com",
};

impl Known {
    pub(super) fn sources(&self) -> Sources {
        let [script, frame, style, connect] = [self.script, self.frame, self.style, self.connect].map(Cow::Borrowed);
        Sources { script, frame, style, connect }
    }
}

/// Whether the address of a script may be set beside a siteverify address.
///
/// # Errors
/// A sentence for the operator.
pub(super) fn check_script(verify_url: &str, script_url: &str) -> Result<(), String> {
    if let Some(it) = known(verify_url) {
        return Err(format!("the script of this provider is known, {}; leave it out", it.script_url));
    }
    match origin(script_url) {
        Some(it) if it.contains('[') => Err("browsers take no IPv6 address in a content security policy".to_owned()),
        // On a page by https, browsers take http from their own machine only, whatever the server may call.
        Some(it) if it.strip_prefix("http://").is_some_and(|it| !is_loopback(it)) => {
            Err("a script is loaded by https; http is for localhost and 127.0.0.1".to_owned())
        }
        Some(_) => Ok(()),
        None => Err("an address such as https://captcha.example.org/api.js is expected".to_owned()),
    }
}

/// Whether a lowest score may be set. Of the known providers only reCAPTCHA v3 gives scores that grow with trust, and its
/// key is one that works unseen; without scores every answer would be refused.
///
/// # Errors
/// A sentence for the operator.
pub(super) fn check_scored(verify_url: &str, has_invisible_key: bool) -> Result<(), &'static str> {
    match known(verify_url).map(|it| it.kind) {
        Some(WidgetKind::Recaptcha) if !has_invisible_key => {
            Err("only reCAPTCHA v3 gives scores; its key is set as the invisible one")
        }
        Some(WidgetKind::Hcaptcha | WidgetKind::Turnstile) => Err("this provider gives no such scores"),
        _ => Ok(()),
    }
}

/// The provider that has this siteverify address, if it is known.
pub(super) fn known(verify_url: &str) -> Option<&'static Known> {
    let origin = origin(verify_url)?;
    KNOWN.iter().find(|it| it.origin == origin)
}

/// Whether host and port, without an IPv6 address, are of the machine that asks.
fn is_loopback(authority: &str) -> bool {
    let host = authority.split(':').next().unwrap_or_default();
    host == "localhost" || host.ends_with(".localhost") || host.parse::<Ipv4Addr>().is_ok_and(|it| it.is_loopback())
}

/// Scheme, host and port. A host has letters, digits, dots, `-` and `_` only, so that it says nothing else in a policy.
pub(super) fn origin(url: &str) -> Option<String> {
    Target::parse(url).ok().map(|it| it.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_of_another_provider_has_a_plain_address() {
        let url = "https://captcha.example.org/siteverify";
        assert_eq!(check_script(url, "https://static.example.org:8443/v1/api.js"), Ok(()));
        for here in ["http://127.0.0.1:4000/api.js", "http://localhost/api.js", "https://10.0.0.7/api.js"] {
            assert_eq!(check_script(url, here), Ok(()), "{here}");
        }
        for bad in [
            "",
            "api.js",
            "http://[::1]/x.js",
            "data:x,y",
            "http://10.0.0.7/api.js",
            "http://captcha.example.org/api.js",
            "http://127.0.0.1.example.org/api.js",
        ] {
            assert!(check_script(url, bad).is_err(), "{bad}");
        }
        // What would say more in a policy than one origin.
        for host in ["*", "*.example.org", "a;b", "a'b", "a,b", "a b", "a%3Bb", "a\"b", "a\tb"] {
            assert!(check_script(url, &format!("https://{host}/api.js")).is_err(), "{host}");
        }
        let known = check_script("https://api.hcaptcha.com/siteverify", "https://example.org/api.js").unwrap_err();
        assert!(known.contains("https://js.hcaptcha.com/1/api.js"), "{known}");
    }
}
