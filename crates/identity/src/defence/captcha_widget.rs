//! The widget of a site's captcha provider on the account pages: which script draws it, and from where a page that
//! shows it loads things.
//!
//! Providers that are known (`captcha_script`) need no more than their keys. Any other has a widget there when its script's
//! address was set beside it (`ProviderSettings::script_url`); such a script has the calls of reCAPTCHA v2.

use crate::{
    Identity,
    defence::{
        captcha_provider::{self, Provider},
        captcha_script,
    },
    policy,
};
use serde_json::{Value, json};
use std::borrow::Cow;
use stoa_kernel::Result;
use stoa_store::{ReaderPool, Site, boxed};

pub use captcha_script::{Sources, WidgetKind};

/// A widget that the account pages can draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Widget {
    pub kind: WidgetKind,
    /// Address of the script, without a query.
    pub script_url: Cow<'static, str>,
    pub sources: Sources,
}

impl Identity {
    /// The widget that a site's pages for signing in and registering show; none where the site asks for no captcha, has
    /// no provider, or one whose script isn't known.
    pub async fn captcha_widget(&self, site: &Site) -> Result<Option<Widget>> {
        let id = site.id.clone();
        site.read(ReaderPool::Point, move |tx| {
            boxed!({
                if !policy::read(tx, &id).await?.require_captcha {
                    return Ok(None);
                }
                Ok(captcha_provider::read(tx, &id).await?.as_ref().and_then(Widget::of))
            })
        })
        .await
    }
}

impl Widget {
    /// The widget of a provider, if the account pages can draw it.
    pub fn of(provider: &Provider) -> Option<Self> {
        let Some(known) = captcha_script::known(&provider.url) else {
            let url = provider.script_url.as_ref()?;
            let origin = Cow::<'static, str>::Owned(captcha_script::origin(url)?);
            let [script, frame, style] = [origin.clone(), origin.clone(), origin.clone()];
            let sources = Sources { script, frame, style, connect: origin };
            return Some(Self { kind: WidgetKind::Other, script_url: Cow::Owned(url.clone()), sources });
        };
        // Scores are given by v3 alone, which is never seen.
        let is_scored = provider.minimum_score.is_some() && provider.invisible_key.is_some();
        let kind = match known.kind {
            WidgetKind::Recaptcha if is_scored => WidgetKind::RecaptchaScore,
            kind => kind,
        };
        Some(Self { kind, script_url: Cow::Borrowed(known.script_url), sources: known.sources() })
    }
}

/// The public keys of a provider, and the widget that the account pages draw: `widget` and `scriptUrl` are null where they
/// draw none.
pub fn with_keys(provider: &Provider) -> Value {
    let (mut all, widget) = (provider.public(), Widget::of(provider));
    all["widget"] = json!(widget.as_ref().map(|it| it.kind));
    all["scriptUrl"] = json!(widget.as_ref().map(|it| &it.script_url));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provider(value: Value) -> Provider {
        let mut all = json!({ "url": "https://www.google.com/recaptcha/api/siteverify", "secret": "" });
        all.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
        serde_json::from_value(all).unwrap()
    }

    fn drawn(value: Value) -> Option<WidgetKind> {
        Widget::of(&provider(value)).map(|it| it.kind)
    }

    #[test]
    fn only_an_unseen_key_with_scores_is_version_three() {
        let (v2, v3) = (Some(WidgetKind::Recaptcha), Some(WidgetKind::RecaptchaScore));
        assert_eq!(drawn(json!({ "visibleKey": "v", "invisibleKey": "i" })), v2);
        assert_eq!(drawn(json!({ "visibleKey": "v", "minimumScore": 0.5 })), v2);
        assert_eq!(drawn(json!({ "invisibleKey": "i", "minimumScore": 0.5 })), v3);
        assert_eq!(drawn(json!({ "visibleKey": "v", "invisibleKey": "i", "minimumScore": 0.5 })), v3);
        let hcaptcha =
            json!({ "url": "https://api.hcaptcha.com/siteverify", "invisibleKey": "i", "minimumScore": 0.5 });
        assert_eq!(drawn(hcaptcha), Some(WidgetKind::Hcaptcha));
    }

    #[test]
    fn only_the_very_origin_is_a_known_provider() {
        for (url, kind) in [
            ("https://www.google.com/recaptcha/api/siteverify", Some(WidgetKind::Recaptcha)),
            ("https://WWW.Google.com:443/recaptcha/api/siteverify", Some(WidgetKind::Recaptcha)),
            ("https://www.recaptcha.net/recaptcha/api/siteverify", Some(WidgetKind::Recaptcha)),
            ("https://hcaptcha.com/siteverify", Some(WidgetKind::Hcaptcha)),
            ("https://challenges.cloudflare.com/turnstile/v0/siteverify", Some(WidgetKind::Turnstile)),
            ("http://www.google.com/recaptcha/api/siteverify", None),
            ("https://www.google.com:8443/recaptcha/api/siteverify", None),
            ("https://www.google.com.example.org/siteverify", None),
            ("https://api.hcaptcha.com.example.org/siteverify", None),
            ("https://captcha.example.org/siteverify", None),
        ] {
            assert_eq!(drawn(json!({ "url": url, "visibleKey": "k" })), kind, "{url}");
        }
    }

    #[test]
    fn other_script_opens_its_own_origin_and_no_more() {
        let url = "https://captcha.example.org/siteverify";
        let script = "https://static.example.org:8443/a;script-src%20*/api.js";
        let widget = Widget::of(&provider(json!({ "url": url, "visibleKey": "k", "scriptUrl": script }))).unwrap();
        assert_eq!((widget.kind, widget.script_url.as_ref()), (WidgetKind::Other, script));
        let Sources { script, frame, style, connect } = widget.sources;
        assert_eq!([script, frame, style, connect], ["https://static.example.org:8443"; 4]);
    }
}
