//! What a browser brings and takes away: cookies, where it comes from, and the headers of pages.
//!
//! Several sites may share a host, and then share its cookies. A person is signed in to each site by itself, so those
//! of sessions carry the site's number in their names. What binds flows to a browser, and by what a browser is known
//! again, is random and says nothing of a site; one of each serves all.

use super::{
    page::{page_of, see_other},
    passkeys::{is_at_sites_host, relying_party},
};
use crate::{
    App, Problem, RequestInfo,
    extract::{cookie, cookies, text},
    problem::log,
};
use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, HeaderValue, header, request::Parts},
    response::Response,
};
use cookie::{Cookie, SameSite, time::Duration};
use std::sync::Arc;
use stoa_identity::{
    DeviceHints,
    authorize::Navigation,
    browser::{Browser, Change, Cookies},
    mail::is_tag,
    operator::OperatorSession,
    session::Session,
    token::{Kind, site_number},
};
use stoa_kernel::{ClientId, Code, Fault, Result, SiteId};
use stoa_store::Site;

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
    /// Sites whose sessions were brought under names that carry no site, as older programs wrote them.
    nameless: Nameless,
}

/// The numbers of such sites.
#[derive(Default)]
struct Nameless {
    session: Option<i64>,
    operator: Option<i64>,
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
            session: of_sites(headers, &cookie_name(SESSION, info.is_https), Kind::Cookie),
            operator: of_sites(headers, &cookie_name(PERSON, info.is_https), Kind::Operator),
            flow: brought(FLOW),
            device: brought(DEVICE),
            user_agent: text(headers, "user-agent").map(str::to_owned),
            language: first_language(headers),
            address: info.address,
            base_url: info.base_url.clone(),
            is_at_sites_host: is_at_sites_host(app, &info).await?,
            relying_party: relying_party(app, &info).await?,
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
        let number = |name: &str, kind: Kind| brought(name).as_deref().and_then(|it| site_number(kind, it));
        let nameless = Nameless { session: number(SESSION, Kind::Cookie), operator: number(PERSON, Kind::Operator) };
        Ok(Self { browser, navigation, info, sender, wants_page, idle, nameless })
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
        let page = self.path(&format!("/account/error?code={}", fault.code().name()));
        Ok(see_other(&page_of(&page, client)))
    }

    /// A path of our pages, beneath the site that the request's address named.
    pub(crate) fn path(&self, path: &str) -> String {
        self.info.site.as_ref().map_or_else(|| path.to_owned(), |site| format!("/s/{site}{path}"))
    }

    /// Refuses what belongs to another site than the one that the address names: a page beneath one site would show
    /// the other.
    ///
    /// # Errors
    /// The code that says so.
    pub(crate) fn require_site(&self, site: &SiteId, refused: Code) -> Result<()> {
        match &self.info.site {
            Some(named) if named != site => Err(Fault::new(refused)),
            _ => Ok(()),
        }
    }

    /// The same for what comes from a client.
    ///
    /// # Errors
    /// [`Code::ClientUnknown`].
    pub(crate) async fn require_client_of_site(&self, app: &App, client: &str) -> Result<()> {
        if self.info.site.is_none() {
            return Ok(());
        }
        let client = app.identity.client_get(&ClientId::from(client)).await?;
        self.require_site(&client.site, Code::ClientUnknown)
    }

    /// The session of the operator who talks from one of our pages: at the site that the address names, else at the
    /// only one where the browser has an operator's session, else at the one that the host name shows.
    ///
    /// # Errors
    /// [`Code::Unauthenticated`] when there is none; [`Code::SiteUnknown`].
    pub(crate) async fn operator(&self, app: &App) -> Result<OperatorSession> {
        let of_site =
            |number: i64| self.browser.operator.iter().find(move |it| site_number(Kind::Operator, it) == Some(number));
        let cookie = match (&self.info.site, self.browser.operator.as_slice()) {
            (None, [only]) => Some(only),
            _ => of_site(self.info.find_site(app).await?.number),
        };
        let session = match cookie {
            Some(it) => app.identity.operator_session_by_cookie(it).await?,
            None => None,
        };
        session.ok_or_else(|| Fault::new(Code::Unauthenticated))
    }

    /// The session of the member who talks from one of our pages, and its site: the one that the address names, else the one
    /// that the host name shows. A host that shows none has that of the only session.
    ///
    /// # Errors
    /// [`Code::Unauthenticated`] when there is none; [`Code::SiteUnknown`].
    pub(crate) async fn member(&self, app: &App) -> Result<(Arc<Site>, Session)> {
        let site = match (self.info.find_site(app).await, self.browser.session.as_slice()) {
            (Err(fault), [only]) if self.info.site.is_none() && fault.code() == Code::SiteUnknown => {
                app.identity.site_of(Kind::Cookie, only).await?
            }
            (found, _) => found?,
        };
        let cookie = self.browser.session.iter().find(|it| site_number(Kind::Cookie, it) == Some(site.number));
        let session = match cookie {
            Some(it) => app.identity.session_by_cookie(&site, it).await?,
            None => None,
        };
        Ok((site, session.ok_or_else(|| Fault::new(Code::Unauthenticated))?))
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
            let (kind, nameless) = match name {
                SESSION => (Some(Kind::Cookie), self.nameless.session),
                PERSON => (Some(Kind::Operator), self.nameless.operator),
                _ => (None, None),
            };
            let (value, life, site) = match change {
                Change::Keep => continue,
                Change::Set(value) => (value.expose(), life, kind.and_then(|kind| site_number(kind, value.expose()))),
                Change::Clear(site) => ("", Some(0), Some(*site)),
            };
            let named = site.map_or_else(|| name.to_owned(), |site| format!("{name}-{site}"));
            self.set(headers, &named, value, same_site, life);
            if site.is_some() && site == nameless {
                self.set(headers, name, "", same_site, Some(0));
            }
        }
    }

    fn set(&self, headers: &mut HeaderMap, name: &str, value: &str, same_site: SameSite, life: Option<i64>) {
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

/// The cookies of sessions at all sites, first those whose names carry the site. A cookie counts for the site that its
/// name and its value agree on.
fn of_sites(headers: &HeaderMap, name: &str, kind: Kind) -> Vec<String> {
    let read = |it: Cookie<'_>| {
        let value = it.value_raw()?.to_owned();
        let site = site_number(kind, &value)?;
        let rest = it.name().strip_prefix(name)?;
        (rest.is_empty() || rest == format!("-{site}")).then_some((rest.is_empty(), value))
    };
    let mut found: Vec<(bool, String)> = cookies(headers).filter_map(read).collect();
    found.sort_by_key(|it| it.0);
    found.into_iter().map(|it| it.1).collect()
}

/// The first language of the `Accept-Language` header, when it is one.
pub(super) fn first_language(headers: &HeaderMap) -> Option<String> {
    let tag = text(headers, "accept-language")?.split([',', ';']).next().unwrap_or_default().trim();
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
                session: Vec::new(),
                operator: Vec::new(),
                flow: None,
                device: None,
                user_agent: None,
                language: None,
                address,
                base_url: base_url.clone(),
                is_at_sites_host: false,
                relying_party: None,
            },
            navigation: Navigation::default(),
            info: RequestInfo { address, base_url, host: "example.org".to_owned(), is_https, origin: None, site: None },
            sender: Sender { fetch_site: None, origin: None },
            wants_page: false,
            idle: 60 * 86_400,
            nameless: Nameless { session: None, operator: Some(7) },
        }
    }

    #[test]
    fn cookies_are_as_strict_as_their_use_allows() {
        let set = |value: &str| Change::Set(stoa_kernel::Secret::new(value));
        let session = format!("b7.{}", "v".repeat(43));
        let cookies =
            Cookies { session: set(&session), operator: Change::Clear(7), flow: set("v"), device: Change::Keep };
        let written = |base_url: &str| {
            let mut headers = HeaderMap::new();
            visit(base_url).write(&cookies, &mut headers);
            headers.get_all("set-cookie").iter().map(|it| it.to_str().unwrap_or("").to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(
            written("https://example.org"),
            [
                format!("__Host-stoa-session-7={session}; HttpOnly; SameSite=None; Secure; Path=/; Max-Age=5184000"),
                "__Host-stoa-person-7=; HttpOnly; SameSite=Strict; Secure; Path=/; Max-Age=0".to_owned(),
                // As an older program wrote it.
                "__Host-stoa-person=; HttpOnly; SameSite=Strict; Secure; Path=/; Max-Age=0".to_owned(),
                "__Host-stoa-flow=v; HttpOnly; SameSite=Lax; Secure; Path=/".to_owned(),
            ]
        );
        assert_eq!(
            written("http://localhost:4400")[0],
            format!("stoa-session-7={session}; HttpOnly; SameSite=Lax; Path=/; Max-Age=5184000")
        );
    }

    #[test]
    fn sessions_of_several_sites_are_brought_side_by_side() {
        let value = |site: u8| format!("b{site}.{}", "v".repeat(43));
        let (one, two, three) = (value(1), value(2), value(3));
        let line = format!(
            "stoa-session={one}; stoa-session-2={two}; stoa-session-7={three}; stoa-sessions={three}; stoa-session-3=x"
        );
        let mut headers = HeaderMap::new();
        headers.insert("cookie", HeaderValue::from_str(&line).expect("a header"));
        assert_eq!(of_sites(&headers, "stoa-session", Kind::Cookie), [two, one]);
        assert!(of_sites(&headers, "stoa-session", Kind::Operator).is_empty());
    }
}
