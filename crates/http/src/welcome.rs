//! What a browser is shown where no website can start: no site answers, or one that has its pages elsewhere. It is the
//! next step.

use crate::{App, RequestInfo};
use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use stoa_kernel::Code;

const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page for a host name that shows no site, or a site that has no website here: only the demo has one. `None` where
/// a website can start, or where that can't be told now. `path` is the address without the site.
pub(crate) async fn page(app: &App, info: &RequestInfo, path: &str) -> Option<Response> {
    let Notice { status, text, command } = match info.find_site(app).await {
        Ok(site) => {
            let clients = app.identity.client_list(&site.id).await.ok()?;
            let has_client = clients.iter().any(|it| !it.is_third_party);
            if has_client && app.store.site_is_demo(&site.id).await.ok()? {
                return None;
            }
            of_site(has_client, info, path)
        }
        Err(fault) if fault.code() == Code::SiteUnknown => of_server(app, info).await?,
        Err(_) => return None,
    };
    let html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Stoa</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>body{{font:1rem/1.6 system-ui,sans-serif;\
         max-width:40rem;margin:4rem auto;padding:0 1rem}}pre{{padding:1rem;background:#eee;color:#111;\
         overflow-x:auto}}code{{white-space:nowrap}}</style><h1>Welcome to Stoa</h1><p>{text}</p><pre>{command}</pre>\
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

/// What the page says, and with which status.
struct Notice {
    status: StatusCode,
    /// HTML.
    text: String,
    command: &'static str,
}

/// What is said of a site whose website is elsewhere.
fn of_site(has_client: bool, info: &RequestInfo, path: &str) -> Notice {
    let status = if path == "/" { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let text = "The server runs, and this is a site of yours.";
    if !has_client {
        let text =
            format!("{text} It has no client yet, with which a website or a program asks it for anything; make one:");
        let command = "stoa client create --name web --origin http://localhost:3000 \
                       --redirect-uri http://localhost:3000/callback";
        return Notice { status, text, command };
    }
    let account = info.site.as_ref().map_or_else(|| "/account".to_owned(), |it| format!("/s/{it}/account"));
    let text = format!(
        "{text} Its pages are yours to make: they, and programs, ask for what it has with one of its clients. Here are \
         its accounts: <a href=\"{account}/sign-in\">for members</a> and <a href=\"{account}/owner\">for those who run \
         it</a>. Its clients:"
    );
    Notice { status, text, command: "stoa client list" }
}

/// What is said where no site answers.
async fn of_server(app: &App, info: &RequestInfo) -> Option<Notice> {
    let (status, text, command) = if app.store.sites().await.ok()?.is_empty() {
        (StatusCode::OK, "The server runs. It has no site yet; make one:", "stoa site create --name Mine")
    } else if info.site.is_some() {
        (StatusCode::NOT_FOUND, "The server runs. None of its sites has this id; those that it has:", "stoa site list")
    } else {
        (
            StatusCode::NOT_FOUND,
            "The server runs and has several sites, none of which has this host name. Give it to one, or make one the \
             default:",
            "stoa site update NAME --default",
        )
    };
    Some(Notice { status, text: text.to_owned(), command })
}
