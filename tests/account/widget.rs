//! From where the account pages may load the widget of a captcha provider: those on which members sign in, of the site
//! that has it, and no others, whatever shares their host.

use super::*;
use stoa_identity::defence::captcha_provider::ProviderSettings;
use stoa_kernel::Secret;
use stoa_store::{Site, SiteChange};
use stoa_testkit::on_both_engines;

const HCAPTCHA: &str = "https://api.hcaptcha.com/siteverify";
const TURNSTILE: &str = "https://challenges.cloudflare.com/turnstile/v0/siteverify";

/// What tells the policy of a page with a widget from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Admits {
    Nothing,
    Hcaptcha,
    Turnstile,
    /// The script of a provider that isn't known.
    Script,
}

fn settings(url: &str) -> ProviderSettings {
    ProviderSettings {
        url: url.to_owned(),
        secret: Secret::new("a-secret"),
        visible_key: Some("a-key".to_owned()),
        invisible_key: None,
        minimum_score: None,
        script_url: None,
    }
}

impl World {
    async fn provider(&self, site: &Site, settings: &ProviderSettings) {
        self.app.app.identity.captcha_provider_set(site, settings).await.unwrap();
    }
}

impl Browser<'_> {
    /// What a page may load, as its policy says.
    async fn admits(&self, path: &str) -> Admits {
        let reply =
            self.send(Method::GET, path, &[("accept", "text/html"), ("sec-fetch-mode", "navigate")], None).await;
        let policy = reply.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("a-secret"), "{path}: {policy}");
        let directives = |it: &str| {
            ["script-src", "frame-src"]
                .iter()
                .all(|name| policy.split("; ").any(|directive| directive.starts_with(name) && directive.contains(it)))
        };
        let names = ["hcaptcha.com", "challenges.cloudflare.com", "https://captcha.example.org"];
        let found = names.map(|it| (policy.contains(it), directives(it)));
        match found {
            [(false, false), (false, false), (false, false)] => {
                assert!(!policy.contains("frame-src"), "{path}: {policy}");
                Admits::Nothing
            }
            [(true, true), (false, false), (false, false)] => Admits::Hcaptcha,
            [(false, false), (true, true), (false, false)] => Admits::Turnstile,
            [(false, false), (false, false), (true, true)] => Admits::Script,
            _ => panic!("{path}: {policy}"),
        }
    }

    /// Begins a flow beneath a path; its token.
    async fn begin_at(&self, prefix: &str, start: Value) -> String {
        text(&self.ask(Method::POST, &format!("{prefix}/_api/account/v1/flows"), Some(&start)).await.json()["token"])
    }
}

on_both_engines! {
    async fn pages_admit_the_provider_of_their_own_site_only(engine) {
        let world = World::new(engine).await;
        let (beside, client) = world.beside().await;
        let (here, there) = (format!("/s/{}", world.app.site.id), format!("/s/{}", beside.id));
        world.provider(&world.app.site, &settings(HCAPTCHA)).await;
        world.provider(&beside, &settings(TURNSTILE)).await;
        let browser = world.browser();
        for path in [format!("{here}/account/sign-in"), format!("{there}/account/sign-up")] {
            assert_eq!(browser.admits(&path).await, Admits::Nothing, "no captcha is asked for yet: {path}");
        }
        world.policy(json!({ "requireCaptcha": true })).await;
        assert_eq!(browser.admits(&format!("{there}/account/sign-up")).await, Admits::Nothing);
        captcha::require(&world.app.app.identity, &beside).await;

        for page in ["sign-in", "sign-up", "recover", "", "?over=link", "profile", "password", "sessions", "privacy"] {
            assert_eq!(browser.admits(&format!("{here}/account/{page}")).await, Admits::Hcaptcha, "{page}");
            assert_eq!(browser.admits(&format!("{there}/account/{page}")).await, Admits::Turnstile, "{page}");
        }
        for page in ["owner", "security", "setup", "sign-out", "approve", "keep", "install", "error", "nothing", "flow/x", "sign-in/x"] {
            assert_eq!(browser.admits(&format!("{here}/account/{page}")).await, Admits::Nothing, "{page}");
        }
        // One host for both: the client says which site it is, or nothing does.
        let of = |client: &Client| format!("account/sign-in?clientId={}", client.id);
        for (path, wants) in [
            (format!("/{}", of(&world.client)), Admits::Hcaptcha),
            (format!("/{}", of(&client)), Admits::Turnstile),
            (format!("{there}/{}", of(&client)), Admits::Turnstile),
            (format!("{there}/{}", of(&world.client)), Admits::Nothing),
            (format!("{here}/{}", of(&client)), Admits::Nothing),
            ("/account/sign-in".to_owned(), Admits::Nothing),
            ("/account/sign-in?clientId=unknown".to_owned(), Admits::Nothing),
            ("/s/unknown/account/sign-in".to_owned(), Admits::Nothing),
        ] {
            assert_eq!(browser.admits(&path).await, wants, "{path}");
        }
        // What the page asks for is its own site's.
        let asked = browser.ask(Method::GET, &format!("{there}/_api/account/v1/captcha"), None).await.json();
        let wants = json!({ "kind": "PROVIDER", "visibleSiteKey": "a-key", "invisibleSiteKey": null, "widget": "TURNSTILE",
            "scriptUrl": "https://challenges.cloudflare.com/turnstile/v0/api.js" });
        assert_eq!(asked, wants);

        world.app.app.identity.captcha_provider_remove(&world.app.site).await.unwrap();
        assert_eq!(browser.admits(&format!("{here}/account/sign-in")).await, Admits::Nothing);
        assert_eq!(browser.admits(&format!("{there}/account/sign-in")).await, Admits::Turnstile);
    }

    async fn flow_admits_the_provider_of_its_site_in_its_browser(engine) {
        let world = World::new(engine).await;
        let (beside, client) = world.beside().await;
        let (here, there) = (format!("/s/{}", world.app.site.id), format!("/s/{}", beside.id));
        world.provider(&world.app.site, &settings(HCAPTCHA)).await;
        world.policy(json!({ "requireCaptcha": true })).await;
        let browser = world.browser();
        for kind in ["SIGN_IN", "SIGN_UP", "RECOVER"] {
            let token = browser.begin_at("", json!({ "kind": kind, "clientId": world.client.id })).await;
            for prefix in ["", here.as_str()] {
                assert_eq!(browser.admits(&format!("{prefix}/account/flow/{token}")).await, Admits::Hcaptcha, "{kind}");
            }
            assert_eq!(browser.admits(&format!("{there}/account/flow/{token}")).await, Admits::Nothing, "{kind}");
            assert_eq!(world.browser().admits(&format!("/account/flow/{token}")).await, Admits::Nothing, "{kind}");
        }
        let token = browser.begin_at("", json!({ "kind": "SIGN_IN", "clientId": client.id })).await;
        for prefix in ["", here.as_str(), there.as_str()] {
            assert_eq!(browser.admits(&format!("{prefix}/account/flow/{token}")).await, Admits::Nothing);
        }
        // Those who run the site answer no captcha, and load no provider's script.
        let owner = browser.begin_at(&here, json!({ "kind": "OWNER_SIGN_IN" })).await;
        assert_eq!(browser.admits(&format!("{here}/account/flow/{owner}")).await, Admits::Nothing);
    }

    async fn host_of_one_site_admits_no_other_sites_provider(engine) {
        let world = World::new(engine).await;
        let (beside, client) = world.beside().await;
        let (here, there) = (format!("/s/{}", world.app.site.id), format!("/s/{}", beside.id));
        world.provider(&world.app.site, &settings(HCAPTCHA)).await;
        world.provider(&beside, &settings(TURNSTILE)).await;
        world.policy(json!({ "requireCaptcha": true })).await;
        captcha::require(&world.app.app.identity, &beside).await;
        let browser = world.browser();
        let token = browser.begin_at("", json!({ "kind": "SIGN_IN", "clientId": world.client.id })).await;
        let pages = [
            format!("{here}/account/sign-in"),
            format!("{here}/account/profile"),
            format!("/account/sign-up?clientId={}", world.client.id),
            format!("{here}/account/recover?clientId={}", world.client.id),
            format!("/account/flow/{token}"),
            format!("{here}/account/flow/{token}"),
        ];
        let drawn = async |prefix: &str| {
            let path = format!("{prefix}/_api/account/v1/captcha");
            browser.ask(Method::GET, &path, None).await.json()["widget"].clone()
        };
        for page in &pages {
            assert_eq!(browser.admits(page).await, Admits::Hcaptcha, "the host is of no site: {page}");
        }
        assert_eq!(drawn(&here).await, "HCAPTCHA");

        let store = &world.app.kit.store;
        let change = SiteChange { add_hosts: vec!["localhost".to_owned()], ..SiteChange::default() };
        store.site_update(&beside.id, change, world.app.kit.world.now()).await.unwrap();
        for page in &pages {
            assert_eq!(browser.admits(page).await, Admits::Nothing, "the host is of another site: {page}");
        }
        assert_eq!(drawn(&here).await, Value::Null);
        for page in ["/account/sign-in".to_owned(), format!("{there}/account/sign-in"), format!("/account?clientId={}", client.id)] {
            assert_eq!(browser.admits(&page).await, Admits::Turnstile, "{page}");
        }
        assert_eq!((drawn("").await, drawn(&there).await), (json!("TURNSTILE"), json!("TURNSTILE")));

        // A host by itself is no more than what shows a site.
        let change = SiteChange { remove_hosts: vec!["localhost".to_owned()], ..SiteChange::default() };
        store.site_update(&beside.id, change, world.app.kit.world.now()).await.unwrap();
        assert_eq!(browser.admits(&pages[0]).await, Admits::Hcaptcha);
    }

    async fn account_of_a_member_who_is_signed_in_admits_no_provider(engine) {
        let world = World::new(engine).await;
        let browser = world.browser();
        let token = browser.begin_at("", json!({ "kind": "SIGN_UP" })).await;
        let input = json!({ "type": "SIGN_UP", "email": "anna@example.org", "password": PASSWORD, "profile": {} });
        assert_eq!(browser.answer(&token, input).await["step"]["type"], "DONE");
        world.provider(&world.app.site, &settings(HCAPTCHA)).await;
        world.policy(json!({ "requireCaptcha": true })).await;
        for page in ["", "profile", "password", "sessions", "privacy"] {
            assert_eq!(browser.admits(&format!("/account/{page}")).await, Admits::Nothing, "{page}");
            assert_eq!(world.browser().admits(&format!("/account/{page}")).await, Admits::Hcaptcha, "{page}");
        }
        assert_eq!(browser.admits("/account/sign-in").await, Admits::Hcaptcha);
    }

    async fn script_of_another_provider_is_admitted_where_it_was_set(engine) {
        let world = World::new(engine).await;
        world.policy(json!({ "requireCaptcha": true })).await;
        let without = settings("https://captcha.example.org/siteverify");
        world.provider(&world.app.site, &without).await;
        let browser = world.browser();
        assert_eq!(browser.admits("/account/sign-in").await, Admits::Nothing);
        let with = ProviderSettings { script_url: Some("https://captcha.example.org/v1/api.js".to_owned()), ..without };
        world.provider(&world.app.site, &with).await;
        assert_eq!(browser.admits("/account/sign-in").await, Admits::Script);
        let known = ProviderSettings { url: HCAPTCHA.to_owned(), ..with };
        let refused = world.app.app.identity.captcha_provider_set(&world.app.site, &known).await.err().unwrap();
        assert_eq!(refused.violations()[0].field, "scriptUrl");
        assert_eq!(browser.admits("/account/sign-in").await, Admits::Script, "the one that is there stays");
    }
}
