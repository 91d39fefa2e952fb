//! What a browser is shown where no site answers: the next step, in place of a website that can't start.

use crate::{App, RequestInfo};
use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use stoa_kernel::Code;

const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page for a host name that shows no site, or one whose website has no client to ask with; `None` where a website
/// can start, or where that can't be told now.
pub(crate) async fn page(app: &App, info: &RequestInfo) -> Option<Response> {
    let (status, text, command) = match info.find_site(app).await {
        Ok(site) => {
            if !app.identity.client_list(&site.id).await.ok()?.is_empty() {
                return None;
            }
            (
                StatusCode::OK,
                "The server runs, and this is a site of yours. It has no client yet, with which a website asks it for \
                 anything; make one:",
                "stoa client create --name web --origin http://localhost:3000 \
                 --redirect-uri http://localhost:3000/callback",
            )
        }
        Err(fault) if fault.code() == Code::SiteUnknown => match app.store.sites().await.ok()?.is_empty() {
            true => (StatusCode::OK, "The server runs. It has no site yet; make one:", "stoa site create --name Mine"),
            false => (
                StatusCode::NOT_FOUND,
                "The server runs and has several sites, none of which has this host name. Give it to one, or make one \
                 the default:",
                "stoa site update NAME --default",
            ),
        },
        Err(_) => return None,
    };
    let html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Stoa</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>body{{font:1rem/1.6 system-ui,sans-serif;\
         max-width:40rem;margin:4rem auto;padding:0 1rem}}pre{{padding:1rem;background:#eee;color:#111;\
         overflow-x:auto}}</style><h1>Welcome to Stoa</h1><p>{text}</p><pre>{command}</pre>\
         <p>In the terminal, with the same <code>--data</code> as the server. All commands: \
         <code>stoa --help</code>.</p></html>"
    );
    let mut response = Response::new(Body::from(html));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    Some(response)
}
