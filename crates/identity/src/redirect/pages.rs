//! The site's own pages for what business applications would show: checkouts, a product, an account.
//!
//! ```json
//! { "ecomCheckout": "https://shop.example.org/checkout", "storesProduct": "https://shop.example.org/p/{productSlug}" }
//! ```
//! What a redirect session says of its intent stands in the page's query, or where the address has its
//! name in braces.

use crate::{Identity, address::Address, redirect::request};
use serde_json::{Map, Value, json};
use stoa_kernel::{Caller, Code, Fault, Result, Violation};
use stoa_store::{ReaderPool, Site, boxed, setting};
use url::form_urlencoded::byte_serialize;

const SETTING: &str = "pages";
/// Characters of the address that a browser is sent to.
const LONGEST: usize = 16_000;

/// Addresses by intent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pages(Map<String, Value>);

impl Pages {
    /// Reads `{intent: address, …}`.
    ///
    /// # Errors
    /// [`Code::Validation`] for an intent that does not exist, or an address that is neither https nor on
    /// this machine.
    pub fn parse(body: &Value) -> Result<Self> {
        let wrong = |field: String, why: &str| Violation::new(field, "FORMAT", why);
        let Value::Object(pages) = body else {
            return Err(Fault::invalid(vec![wrong("pages".to_owned(), "an object is expected")]));
        };
        let mut violations = Vec::new();
        for (intent, url) in pages {
            let field = format!("pages.{intent}");
            if request::pages().all(|it| it != intent) {
                violations.push(wrong(field, "there is no such intent"));
            } else if !url.as_str().is_some_and(|it| it.len() <= 2048 && is_page(it)) {
                violations.push(wrong(field, "a https address is expected, at most 2048 characters long"));
            }
        }
        if violations.is_empty() { Ok(Self(pages.clone())) } else { Err(Fault::invalid(violations)) }
    }

    pub fn to_json(&self) -> Value {
        Value::Object(self.0.clone())
    }

    /// The page of an intent, with what the request says of it.
    ///
    /// # Errors
    /// [`Code::PageNotSet`] when the site has none; [`Code::Validation`] when it all gets too long, or `more` says
    /// again what the request says already.
    pub(super) fn url(
        &self,
        intent: &str,
        values: &[(&str, String)],
        more: impl Iterator<Item = (String, String)>,
    ) -> Result<String> {
        let none = || Fault::because(Code::PageNotSet, format!("this site has no page for {intent}"));
        let mut page = self.0.get(intent).and_then(Value::as_str).ok_or_else(none)?.to_owned();
        let mut pairs: Vec<(String, String)> = Vec::new();
        for (name, value) in values {
            let placeholder = format!("{{{name}}}");
            match page.contains(&placeholder) {
                // A plus means a space in queries only.
                true => {
                    page = page.replace(
                        &placeholder,
                        &byte_serialize(value.as_bytes()).collect::<String>().replace('+', "%20"),
                    )
                }
                false => pairs.push(((*name).to_owned(), value.clone())),
            }
        }
        for (name, value) in more {
            if values.iter().any(|it| it.0.eq_ignore_ascii_case(&name)) {
                let field = format!("preferences.additionalQueryParameters.{name}");
                return Err(Fault::invalid(vec![Violation::new(field, "FORMAT", format!("belongs to {intent}"))]));
            }
            pairs.push((name, value));
        }
        let address = Address::parse(&page).ok_or_else(none)?;
        if pairs.is_empty() {
            return Ok(page);
        }
        let url = address.with_query(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        if url.len() > LONGEST {
            let why = "the address of the page gets too long";
            return Err(Fault::invalid(vec![Violation::new(intent, "MAX_LENGTH", why)]));
        }
        Ok(url)
    }
}

/// An address a browser may be sent to, on any host: operators of the site set it.
fn is_page(text: &str) -> bool {
    // Braces are names; anything may stand for them.
    let filled = text.replace(['{', '}'], "");
    let is_plain = !text.chars().any(|it| it.is_control() || it.is_whitespace());
    let is_safe = filled.starts_with("https://")
        || ["http://localhost", "http://127.0.0.1", "http://[::1]"]
            .iter()
            .any(|it| filled.strip_prefix(it).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':', '?'])));
    // The host is not for requests to choose.
    let after = text.split_once("://").map_or("", |it| it.1);
    let has_plain_host = !after.split(['/', '?', '#']).next().unwrap_or_default().contains('{');
    is_plain && is_safe && has_plain_host && Address::parse(&filled).is_some()
}

impl Identity {
    /// The site's pages, for those who run it and for apps.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub async fn pages_get(&self, site: &Site, caller: &Caller) -> Result<Pages> {
        if caller.is_privileged() { of_site(site).await } else { Err(Fault::new(Code::Forbidden)) }
    }

    /// Sets the site's pages, all at once.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub async fn pages_set(&self, site: &Site, caller: &Caller, pages: Pages) -> Result<Pages> {
        if !caller.is_privileged() {
            return Err(Fault::new(Code::Forbidden));
        }
        let put = site.write_with((site.id.clone(), json!(pages.0).to_string()), |tx, (site, value)| {
            boxed!(Ok(setting::put(tx, site, SETTING, value.clone()).await?))
        });
        put.await?;
        Ok(pages)
    }
}

pub(crate) async fn of_site(site: &Site) -> Result<Pages> {
    let id = site.id.clone();
    let stored = site.read(ReaderPool::Point, move |tx| boxed!(Ok(setting::get(tx, &id, SETTING).await?))).await?;
    let stored = stored.map(|it| serde_json::from_str(&it)).transpose().map_err(Fault::internal)?;
    Ok(Pages(stored.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_pages() {
        for good in
            ["https://shop.example/checkout", "https://shop.example/p/{productSlug}?x=1", "http://localhost:3000/x"]
        {
            assert!(is_page(good), "{good}");
        }
        for bad in [
            "http://shop.example/",
            "javascript:alert(1)",
            "https://{productSlug}/",
            "https://shop.{x}.example/",
            "http://localhost.evil.example/",
            "http://localhost@evil.example/",
            "/checkout",
            "https://u:p@shop.example/",
            "https://shop.example/a b",
            "",
        ] {
            assert!(!is_page(bad), "{bad}");
        }
    }

    #[test]
    fn intent_values_stand_in_the_address() {
        let pages =
            Pages::parse(&json!({ "storesProduct": "https://shop.example/p/{productSlug}?x=1" })).expect("good");
        let values = [("productSlug", "a/b ?#é&".to_owned())];
        let more = [("thankYouPageUrl".to_owned(), "https://a.example/?y=1&z=2".to_owned())];
        let url = pages.url("storesProduct", &values, more.into_iter()).expect("a page");
        let wants = "https://shop.example/p/a%2Fb%20%3F%23%C3%A9%26?x=1&thankYouPageUrl=https%3A%2F%2Fa.example%2F%3Fy%3D1%26z%3D2";
        assert_eq!(url, wants);
        let missing = pages.url("ecomCheckout", &[], std::iter::empty()).expect_err("none");
        assert_eq!(missing.code(), Code::PageNotSet);
        assert!(Pages::parse(&json!({ "login": "https://a.example/" })).is_err());
    }
}
