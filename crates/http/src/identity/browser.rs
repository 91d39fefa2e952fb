//! What a browser brings and takes away: cookies, where it comes from, and the headers of pages.

use super::page::{page_of, see_other};
use crate::{
    App, Problem, RequestInfo,
    extract::{cookie, text},
    problem::log,
};
use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, HeaderValue, header, request::Parts},
    response::Response,
};
use cookie::{Cookie, SameSite, time::Duration};
use stoa_identity::{
    DeviceHints,
    authorize::Navigation,
    browser::{Browser, Change, Cookies},
    mail::is_tag,
};
use stoa_kernel::{ClientId, Code, Fault, Result};

/// The session of a member. Frames of the client's own pages need it too, so it is sent everywhere
/// (docs/protocol/identity.md §21.34); every use of it is a navigation or same-origin.
const SESSION: &str = "stoa-session";
/// The session of an operator: only our own pages may use it.
const PERSON: &str = "stoa-person";
/// Binds flows to the browser that began them.
const FLOW: &str = "stoa-flow";

/// By which the browser is known after its session: it tells a new browser from one that was used before.
const DEVICE: &str = "stoa-device";

/// A browser that opened an address or talks from one of our pages.
pub(crate) struct Visit {
    pub(crate) browser: Browser,
    pub(crate) navigation: Navigation,
    pub(crate) info: RequestInfo,
    sender: Sender,
    /// Whether the answer is shown to a person.
    wants_page: bool,
    /// How long a session lives that isn't used, in seconds.
    idle: i64,
}

/// By what a call's browser may be known. A page of another origin brings no cookie.
pub(crate) fn hints(headers: &HeaderMap, info: &RequestInfo) -> DeviceHints {
    let device = cookie(headers, &cookie_name(DEVICE, info.is_https));
    DeviceHints { cookie: device.map(str::to_owned), user_agent: text(headers, "user-agent").map(str::to_owned) }
}

/// What a browser says about who sends a request. It can't be set by a page.
struct Sender {
    fetch_site: Option<String>,
    origin: Option<String>,
}

impl FromRequestParts<App> for Visit {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let info = RequestInfo::of(parts, app)?;
        let headers = &parts.headers;
        let brought = |name: &str| cookie(headers, &cookie_name(name, info.is_https)).map(str::to_owned);
        let browser = Browser {
            session: brought(SESSION),
            operator: brought(PERSON),
            flow: brought(FLOW),
            device: brought(DEVICE),
            user_agent: text(headers, "user-agent").map(str::to_owned),
            language: text(headers, "accept-language").and_then(first_language),
            address: info.address,
            base_url: info.base_url.clone(),
        };
        let navigation = Navigation {
            referer: text(headers, "referer").map(str::to_owned),
            is_frame: matches!(text(headers, "sec-fetch-dest"), Some("iframe" | "frame" | "embed" | "object")),
            is_page: text(headers, "sec-fetch-mode").is_none_or(|it| it == "navigate")
                && text(headers, "sec-fetch-dest").is_none_or(|it| it == "document"),
        };
        let sender =
            Sender { fetch_site: text(headers, "sec-fetch-site").map(str::to_owned), origin: info.origin.clone() };
        let config = app.identity.config();
        let idle = config.session_idle.min(config.session_life) / 1000;
        let wants_page = text(headers, "accept").is_some_and(|it| it.contains("text/html"));
        Ok(Self { browser, navigation, info, sender, wants_page, idle })
    }
}

impl Visit {
    /// Refuses requests that a page of another origin makes in the person's name.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub(crate) fn require_same_origin(&self) -> Result<()> {
        let is_ours = match (&self.sender.fetch_site, &self.sender.origin) {
            (Some(site), _) => site == "same-origin" || site == "none",
            (None, Some(origin)) => origin.eq_ignore_ascii_case(&origin_of(&self.info.base_url)),
            // Not a browser: no cookies are at stake.
            (None, None) => true,
        };
        if is_ours { Ok(()) } else { Err(Fault::because(Code::Forbidden, "only the account pages may ask this")) }
    }

    /// A refusal in the form that the sender reads: a page for a person, JSON for others. `client` is the
    /// front end with which the person may start again.
    ///
    /// # Errors
    /// The fault, for those who read JSON.
    pub(crate) fn refuse(&self, fault: Fault, client: Option<&ClientId>) -> Result<Response, Problem> {
        if !self.wants_page {
            return Err(fault.into());
        }
        log(&fault);
        Ok(see_other(&page_of(&format!("/account/error?code={}", fault.code().name()), client)))
    }

    /// Writes the `Set-Cookie` headers of an answer.
    pub(crate) fn write(&self, cookies: &Cookies, headers: &mut HeaderMap) {
        // Without TLS, on this machine only, browsers take neither `Secure` nor `SameSite=None`.
        let everywhere = if self.info.is_https { SameSite::None } else { SameSite::Lax };
        let all = [
            (SESSION, &cookies.session, everywhere, Some(self.idle)),
            (PERSON, &cookies.operator, SameSite::Strict, Some(14 * 86_400)),
            (FLOW, &cookies.flow, SameSite::Lax, None),
            (DEVICE, &cookies.device, everywhere, Some(365 * 86_400)),
        ];
        for (name, change, same_site, life) in all {
            let (value, life) = match change {
                Change::Keep => continue,
                Change::Set(value) => (value.expose(), life),
                Change::Clear => ("", Some(0)),
            };
            let mut cookie = Cookie::build((cookie_name(name, self.info.is_https), value))
                .path("/")
                .http_only(true)
                .same_site(same_site)
                .secure(self.info.is_https)
                .build();
            cookie.set_max_age(life.map(Duration::seconds));
            if let Ok(value) = HeaderValue::from_str(&cookie.to_string()) {
                headers.append(header::SET_COOKIE, value);
            }
        }
    }
}

/// The first language of an `Accept-Language` header, when it is one.
fn first_language(header: &str) -> Option<String> {
    let tag = header.split([',', ';']).next().unwrap_or_default().trim();
    is_tag(tag).then(|| tag.to_owned())
}

/// Over TLS the name says that only this very host can have set the cookie.
fn cookie_name(name: &str, is_https: bool) -> String {
    if is_https { format!("__Host-{name}") } else { name.to_owned() }
}

/// Scheme and authority of an address without path.
fn origin_of(base_url: &str) -> String {
    let end = base_url.match_indices('/').nth(2).map_or(base_url.len(), |it| it.0);
    base_url[..end].to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_of_addresses() {
        assert_eq!(origin_of("http://127.0.0.1:4400"), "http://127.0.0.1:4400");
        assert_eq!(origin_of("https://Example.org/app/x"), "https://example.org");
    }

    fn visit(base_url: &str) -> Visit {
        let address = std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
        let base_url = base_url.to_owned();
        let is_https = base_url.starts_with("https:");
        Visit {
            browser: Browser {
                session: None,
                operator: None,
                flow: None,
                device: None,
                user_agent: None,
                language: None,
                address,
                base_url: base_url.clone(),
            },
            navigation: Navigation::default(),
            info: RequestInfo { address, base_url, host: "example.org".to_owned(), is_https, origin: None, site: None },
            sender: Sender { fetch_site: None, origin: None },
            wants_page: false,
            idle: 60 * 86_400,
        }
    }

    #[test]
    fn cookies_are_as_strict_as_their_use_allows() {
        let set = || Change::Set(stoa_kernel::Secret::new("v"));
        let cookies = Cookies { session: set(), operator: Change::Clear, flow: set(), device: Change::Keep };
        let written = |base_url: &str| {
            let mut headers = HeaderMap::new();
            visit(base_url).write(&cookies, &mut headers);
            headers.get_all("set-cookie").iter().map(|it| it.to_str().unwrap_or("").to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(
            written("https://example.org"),
            [
                "__Host-stoa-session=v; HttpOnly; SameSite=None; Secure; Path=/; Max-Age=5184000",
                "__Host-stoa-person=; HttpOnly; SameSite=Strict; Secure; Path=/; Max-Age=0",
                "__Host-stoa-flow=v; HttpOnly; SameSite=Lax; Secure; Path=/",
            ]
        );
        assert_eq!(
            written("http://localhost:4400")[0],
            "stoa-session=v; HttpOnly; SameSite=Lax; Path=/; Max-Age=5184000"
        );
    }
}
