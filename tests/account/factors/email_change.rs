//! Another address of an account (docs/my-account.md): as members change it, as thieves of a session do, and how who reads the
//! address before takes the account back.

use super::{
    passkey_attacks::{REFUSED, at},
    *,
};
use stoa_identity::manage::{ImportOutcome, ImportedMember};
use stoa_kernel::Caller;

const DAY: i64 = 24 * 60 * 60_000;
const GET: &str = "/_api/account/v1/email-changes";
const UNDO: &str = "/_api/account/v1/email-changes/undo";
const LINK: &str = "400 INVALID_LINK";
const TAKEN: &str = "409 -19995";
const THROTTLED: &str = "429 THROTTLED_FEATURE";
const ANNA: &str = "anna@example.org";
const NEW: &str = "anna@new.example.org";

impl World {
    /// Asks for another address in a session that has proved who the member is: the code that went there.
    async fn change_code(&self, access: &str, email: &str) -> String {
        self.code_of(email, self.post_own(access, "email", json!({ "email": email }))).await.1
    }

    async fn confirm(&self, access: &str, code: &str) -> Reply {
        self.post_own(access, "email/confirm", json!({ "code": code })).await
    }

    /// A member whose password was shown in the session of the token.
    async fn proved(&self, email: &str) -> String {
        let access = self.member_access(email).await;
        assert_eq!(self.prove(&access, json!({ "password": PASSWORD })).await, "200");
        access
    }

    /// Gives the member of a session that has proved who they are another address: the token of the link to the one before.
    async fn change(&self, access: &str, before: &str, email: &str) -> String {
        let code = self.change_code(access, email).await;
        let confirmed = self.confirm(access, &code).await;
        assert_eq!(confirmed.json(), json!({ "email": email }));
        self.undo_token(before).await
    }

    /// The token behind the link that went to an address.
    async fn undo_token(&self, email: &str) -> String {
        for _ in 0..1_500 {
            let links = self.app.mail.last_to(email).map(|it| it.links).unwrap_or_default();
            if let Some((_, token)) =
                links.iter().find_map(|it| it.split_once("/account/keep#")).filter(|it| it.1.starts_with('u'))
            {
                return token.to_owned();
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        panic!("no link to {email}");
    }

    async fn undo(&self, token: &str) -> Reply {
        self.browser().ask(Method::POST, UNDO, Some(&json!({ "token": token }))).await
    }

    /// The address of a member as it was written, and whether it was shown to be theirs.
    async fn address(&self, email: &str) -> (String, bool) {
        let member = self.app.app.identity.member_by_email(&self.app.site, &Email::parse(email).unwrap()).await;
        let member = member.unwrap().unwrap();
        (member.email, member.email_verified)
    }

    async fn registers_as(&self, email: &str) -> String {
        let body = json!({ "loginId": { "email": email }, "password": PASSWORD });
        self.call(&self.visitor().await, "/v2/register", &body).await.verdict()
    }

    async fn recovers(&self, email: &str, password: &str) -> Value {
        let recover = json!({ "recoveryToken": self.recovery_link(email).await, "password": password });
        self.call(&self.visitor().await, "/v1/recover", &recover).await.json()
    }
}

on_both_engines! {
    async fn address_changes_by_a_code_that_goes_to_the_new_one(engine) {
        let world = World::with_factors(engine).await;
        let access = world.member_access(ANNA).await;
        let other = world.access_of(&world.login(ANNA, PASSWORD).await["sessionToken"]).await;
        for (path, body) in [("email", json!({ "email": NEW })), ("email/confirm", json!({ "code": "123456" }))] {
            assert_eq!(world.post_own(&access, path, body).await.verdict(), NEEDED, "{path}");
        }
        for access in [&access, &other] {
            assert_eq!(world.prove(access, json!({ "password": PASSWORD })).await, "200");
        }
        for email in [json!(null), json!(""), json!(7), json!("no address"), json!("ANNA@example.org")] {
            let refused = world.post_own(&access, "email", json!({ "email": email })).await;
            assert_eq!(refused.verdict(), "400 validationError", "{email}");
            assert_eq!(refused.json()["details"]["validationError"]["fieldViolations"][0]["field"], "email");
        }
        assert_eq!(world.post_own(&access, "email/confirm", json!({})).await.verdict(), "400 validationError");
        assert_eq!(world.confirm(&access, "123456").await.verdict(), WRONG, "none was sent");

        let first = world.change_code(&access, "other@new.example.org").await;
        let code = world.change_code(&access, "Anna@New.example.org").await;
        if first != code {
            assert_eq!(world.confirm(&access, &first).await.verdict(), WRONG, "another was sent");
        }
        assert_eq!(world.confirm(&other, &code).await.verdict(), WRONG, "of another session");
        world.app.mail.take();
        let confirmed = world.confirm(&access, &code).await;
        assert_eq!((confirmed.verdict().as_str(), &confirmed.headers["cache-control"]), ("200", &"no-store".parse().unwrap()));
        assert_eq!(confirmed.json(), json!({ "email": "Anna@New.example.org" }));
        assert_eq!(world.confirm(&access, &code).await.verdict(), WRONG, "twice");

        let signed = world.login(NEW, PASSWORD).await;
        assert_eq!(signed["identity"]["email"], json!({ "address": "Anna@New.example.org", "isVerified": true }), "{signed}");
        let refused = world.login(ANNA, PASSWORD).await;
        assert_eq!(refused["details"]["applicationError"]["code"], "-19976", "{refused}");
        // Sessions go on, but what was proved in others ends.
        assert_eq!(world.own(&other, Method::GET, "sessions", Value::Null).await.verdict(), "200");
        assert_eq!(world.post_own(&other, "email", json!({ "email": ANNA })).await.verdict(), NEEDED);

        world.undo_token(ANNA).await;
        let told = world.app.mail.last_to(ANNA).unwrap();
        assert_eq!(told.subject, "The address of your account at Test was changed");
        assert!(told.text.contains("A***@New.example.org") && !told.text.to_lowercase().contains(NEW), "{}", told.text);
        assert_eq!((world.events("email_change").await, world.events("email_change_undo").await), (1, 0));
    }

    async fn nothing_tells_whether_an_address_is_anothers(engine) {
        let world = World::with_factors(engine).await;
        let access = world.proved(ANNA).await;
        world.register("ben@example.org").await;
        let mut asked = Vec::new();
        for email in ["ben@example.org", "unknown@example.org"] {
            let reply = world.code_of(email, world.post_own(&access, "email", json!({ "email": email }))).await.0;
            let letter = world.app.mail.last_to(email).unwrap();
            asked.push((reply.verdict(), reply.json(), letter.subject.split_once(' ').unwrap().1.to_owned(), letter.links));
        }
        assert_eq!(asked[0], asked[1]);
        // Nor does a wrong code; the right one is known to who reads the mail there.
        let code = world.change_code(&access, "ben@example.org").await;
        let wrong = format!("{:06}", (code.parse::<u32>().unwrap() + 1) % 1_000_000);
        assert_eq!(world.confirm(&access, &wrong).await.verdict(), WRONG);
        assert_eq!(world.confirm(&access, &code).await.verdict(), TAKEN);
        assert_eq!(world.confirm(&access, &code).await.verdict(), WRONG, "a code tells it once");
        assert_eq!(world.login(ANNA, PASSWORD).await["state"], "SUCCESS");
        assert_eq!(world.login("ben@example.org", PASSWORD).await["state"], "SUCCESS");
        assert_eq!(world.events("email_change").await, 0);
    }

    async fn two_members_at_once_don_t_get_one_address(engine) {
        let world = World::with_factors(engine).await;
        let (anna, ben) = (world.proved(ANNA).await, world.proved("ben@example.org").await);
        let codes = [world.change_code(&anna, NEW).await, world.change_code(&ben, NEW).await];
        let tries = (0..100).map(|n| world.confirm([&anna, &ben][n % 2], &codes[n % 2]));
        let verdicts: Vec<_> = join_all(tries).await.iter().map(Reply::verdict).collect();
        assert_eq!(verdicts.iter().filter(|it| *it == "200").count(), 1, "{verdicts:?}");
        let known = ["200", WRONG, TAKEN, THROTTLED];
        assert!(verdicts.iter().all(|it| known.contains(&it.as_str())), "{verdicts:?}");
        assert_eq!((world.events("email_change").await, world.count("link").await, world.count("member").await), (1, 1, 2));
    }

    async fn address_is_kept_while_it_can_be_taken_back(engine) {
        let world = World::with_factors(engine).await;
        let (anna, ben) = (world.proved(ANNA).await, world.proved("ben@example.org").await);
        let code = world.change_code(&anna, NEW).await;
        // Who wants the address at the moment itself gets none.
        let all = (0..100).map(|n| {
            let (world, anna, code) = (&world, &anna, &code);
            async move { if n == 50 { world.confirm(anna, code).await.verdict() } else { world.registers_as(ANNA).await } }
        });
        let verdicts = join_all(all).await;
        assert_eq!(verdicts[50], "200");
        assert!(verdicts.iter().enumerate().all(|(n, it)| n == 50 || it == TAKEN || it == THROTTLED), "{verdicts:?}");
        let token = world.undo_token(ANNA).await;
        world.app.kit.clock.advance(3_600_000);

        assert_eq!(world.registers_as("Anna@Example.org").await, TAKEN);
        assert_eq!(world.prove(&ben, json!({ "password": PASSWORD })).await, "200");
        let code = world.change_code(&ben, ANNA).await;
        assert_eq!(world.confirm(&ben, &code).await.verdict(), TAKEN);
        let app = world.app.app();
        let path = format!("/wix-sm/api/v1/auth/api/v1/members/{}/change-login-email", world.id_of("ben@example.org").await);
        let moved = app.send(Method::PATCH, &path, Some(json!({ "newEmail": ANNA }).to_string().into())).await;
        assert_eq!(moved.verdict(), TAKEN);
        assert_eq!(app.post("/members/v1/members", &json!({ "member": { "loginEmail": ANNA } })).await.verdict(), TAKEN);
        assert_eq!(app.post("/v2/sign-on", &json!({ "loginId": { "email": ANNA } })).await.verdict(), TAKEN);
        let rows = [ANNA, NEW].map(|it| ImportedMember::parse(&json!({ "email": it })).unwrap()).to_vec();
        let key = Caller::App { id: "key".into() };
        let imported = world.app.app.identity.member_import(&world.app.site, &key, rows).await.unwrap();
        assert_eq!(imported, [ImportOutcome::AddressKept, ImportOutcome::Known]);
        // Whose it was may have it again without the link.
        assert_eq!(world.prove(&anna, json!({ "password": PASSWORD })).await, "200");
        world.change(&anna, NEW, ANNA).await;
        world.change(&anna, ANNA, "third@example.org").await;

        world.app.kit.clock.advance(7 * DAY);
        assert_eq!(world.undo(&token).await.verdict(), LINK);
        assert_eq!(world.registers_as(ANNA).await, "200");
    }

    async fn link_gives_the_account_back_that_a_thief_took(engine) {
        let world = World::with_factors(engine).await;
        let thief = world.proved(ANNA).await;
        let token = world.change(&thief, ANNA, "thief@example.net").await;
        let (_, secret, _) = world.enrol(&thief, json!({ "password": PASSWORD })).await;
        world.add_passkey(&thief, "Thief").await;
        let passwords = json!({ "oldPassword": PASSWORD, "newPassword": ANOTHER });
        assert_eq!(world.post_own(&thief, "password", passwords).await.verdict(), "200");
        assert_eq!(world.post_own(&thief, "deletion", json!({})).await.verdict(), "200");
        world.app.kit.clock.advance(6 * DAY);

        let stranger = world.browser();
        for path in [GET, UNDO] {
            let read = stranger.ask(Method::GET, &format!("{path}?token={token}"), None).await;
            assert!(read.status.is_client_error(), "{path}: {:?}", read.status);
            let cross = [("sec-fetch-site", "cross-site"), ("content-type", "application/json")];
            let reply = stranger.send(Method::POST, path, &cross, Some(&json!({ "token": token }))).await;
            assert_eq!(reply.verdict(), "403 PERMISSION_DENIED", "{path}");
            let reply = stranger.ask(Method::POST, path, Some(&json!({ "token": "u1.nonsense" }))).await;
            assert_eq!(reply.verdict(), LINK, "{path}");
        }
        for _ in 0..2 {
            let shown = stranger.ask(Method::POST, GET, Some(&json!({ "token": token }))).await.json();
            assert_eq!((&shown["email"], &shown["isUndone"], &shown["site"]["name"]), (&json!(ANNA), &json!(false), &json!("Test")));
        }
        world.app.mail.take();
        let tries = join_all((0..100).map(|_| world.undo(&token))).await;
        let undone: Vec<_> = tries.iter().filter(|it| it.verdict() == "200").collect();
        assert_eq!((undone.len(), &undone[0].json()["isUndone"], &undone[0].json()["email"]), (1, &json!(true), &json!(ANNA)));
        assert!(tries.iter().all(|it| ["200", LINK].contains(&it.verdict().as_str())));
        assert_eq!((world.events("email_change_undo").await, world.events("deletion_undo").await), (1, 1));

        // All who were signed in are out; neither password opens anything, and the factor of the thief is gone.
        assert_eq!(world.own(&thief, Method::GET, "sessions", Value::Null).await.verdict(), "401 UNAUTHENTICATED");
        for (email, password, code) in [(ANNA, PASSWORD, "-19976"), (ANNA, ANOTHER, "-19973"), ("thief@example.net", ANOTHER, "-19976")] {
            let refused = world.login(email, password).await;
            assert_eq!(refused["details"]["applicationError"]["code"], code, "{email}: {refused}");
        }
        let left = [world.count("factor").await, world.count("passkey").await, world.count("recovery_code").await];
        assert_eq!(left, [0, 0, 0], "{secret}");
        let told = loop {
            if let (Some(back), Some(gone)) = (world.app.mail.last_to(ANNA), world.app.mail.last_to("thief@example.net")) {
                break [back, gone];
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        };
        assert_eq!(told[0].subject, "Your account at Test has its address again");
        assert!(told[1].links.is_empty() && told[1].text.contains("a***@example.org"), "{}", told[1].text);
        assert_eq!(world.recovers(ANNA, "a third long phrase").await["state"], "SUCCESS");
        assert_eq!(world.address(ANNA).await, (ANNA.to_owned(), true));
        assert_eq!(world.registers_as("thief@example.net").await, "200", "what was displaced is kept for nobody");
    }

    async fn passkey_that_a_thief_added_first_opens_nothing_afterwards(engine) {
        let world = World::with_factors(engine).await;
        let thief = world.proved(ANNA).await;
        let (mut passkey, _) = world.add_passkey(&thief, "Thief").await;
        world.app.kit.clock.advance(1_000);
        let token = world.change(&thief, ANNA, "thief@example.net").await;
        world.app.kit.clock.advance(7 * DAY - 60_000);
        assert_eq!(world.undo(&token).await.verdict(), "200");
        assert_eq!([world.count("passkey").await, world.count("recovery_code").await], [0, 0]);
        assert_eq!(world.recovers(ANNA, ANOTHER).await["state"], "SUCCESS", "the owner is asked for nothing that a thief has");
        let browser = world.browser();
        let view = browser.sign_in_page().await;
        assert_eq!(at(&browser.show(&view, &mut passkey).await), REFUSED);

        // One that was there long before is the member's own.
        let ben = "ben@example.org";
        let (_, mut passkey) = world.with_passkey(ben).await;
        world.app.kit.clock.advance(7 * DAY + 1_000);
        let access = world.session_by_passkey(ben, &mut passkey).await;
        assert_eq!(world.prove_by_passkey(&access, &mut passkey).await, "200");
        let token = world.change(&access, ben, "ben@new.example.org").await;
        assert_eq!(world.undo(&token).await.verdict(), "200");
        assert_eq!(world.count("passkey").await, 1);
    }

    async fn what_a_thief_let_an_application_do_ends_with_the_way_back(engine) {
        let world = World::with_factors(engine).await;
        world.member_access(ANNA).await;
        let [(older, _), (newer, _)] = [world.app.partner("items:read").await, world.app.partner("items:read").await];
        let browser = world.browser();
        let mut access = String::new();
        for partner in [&older, &newer] {
            world.app.kit.clock.advance(8 * DAY);
            let signed = world.login(ANNA, PASSWORD).await;
            let page = browser.open_from(&world.direct(&text(&signed["sessionToken"])).await, Some(APP)).await;
            access = text(&world.exchange(message_of(&page)["code"].as_str().unwrap(), None).await.json()["access_token"]);
            browser.agree(&authorize_path(partner, &[("scope", "items:read")])).await;
        }
        assert_eq!(world.count("consent").await, 2);
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let token = world.change(&access, ANNA, "thief@example.net").await;
        assert_eq!(world.undo(&token).await.verdict(), "200");
        assert_eq!(world.count("consent").await, 1, "that of long before is the member's own");
    }

    async fn contact_names_the_address_of_now_where_its_list_was_written(engine) {
        let world = World::with_factors(engine).await;
        let access = world.proved(ANNA).await;
        let path = format!("/members/v1/members/{}", world.id_of(ANNA).await);
        let app = world.app.app();
        let write = json!({ "member": { "contact": { "emails": [ANNA, "work@example.org"] } } });
        assert_eq!(app.send(Method::PATCH, &path, Some(write.to_string().into())).await.verdict(), "200");
        let emails = async || app.get(&format!("{path}?fieldsets=FULL")).await.json()["member"]["contact"]["emails"].clone();
        assert_eq!(emails().await, json!([ANNA, "work@example.org"]));
        let token = world.change(&access, ANNA, NEW).await;
        assert_eq!(emails().await, json!([NEW, "work@example.org"]));
        assert_eq!(world.undo(&token).await.verdict(), "200");
        assert_eq!(emails().await, json!([ANNA, "work@example.org"]));
    }

    async fn copy_of_the_data_has_the_address_that_is_kept(engine) {
        let world = World::with_factors(engine).await;
        let access = world.proved(ANNA).await;
        let kept = async || {
            world.prove(&access, json!({ "password": PASSWORD })).await;
            world.own(&access, Method::GET, "export", Value::Null).await.json()["keptAddresses"].clone()
        };
        assert_eq!(kept().await, json!([]));
        world.change(&access, ANNA, NEW).await;
        let found = kept().await;
        assert_eq!((found.as_array().map(Vec::len), &found[0]["email"]), (Some(1), &json!(ANNA)), "{found}");
        let date = |name: &str| stoa_kernel::date::parse(found[0][name].as_str().unwrap()).unwrap();
        assert_eq!(date("expiresDate") - date("changedDate"), 7 * DAY);
        // Another member's copy has none of it, and hers has it no longer than the link is good.
        let ben = world.proved("ben@example.org").await;
        assert_eq!(world.own(&ben, Method::GET, "export", Value::Null).await.json()["keptAddresses"], json!([]));
        world.move_to(NEW, "third@example.org").await;
        assert_eq!(kept().await, json!([]), "those who run the site have ended the link");
    }

    async fn account_goes_no_sooner_than_it_can_be_taken_back(engine) {
        let world = World::with_factors(engine).await;
        world.policy(json!({ "accountDeletionDays": 0 })).await;
        let thief = world.proved(ANNA).await;
        let token = world.change(&thief, ANNA, "thief@example.net").await;
        world.app.kit.clock.advance(60_000);
        let asked = world.post_own(&thief, "deletion", json!({ "deletionDays": 0 })).await.json();
        assert_eq!((&asked["isDeleted"], asked["deletionDate"].is_string()), (&json!(false), true), "{asked}");
        world.app.kit.clock.advance(7 * DAY - 120_000);
        assert_eq!(world.undo(&token).await.verdict(), "200");
        assert_eq!(world.recovers(ANNA, ANOTHER).await["state"], "SUCCESS");
        // Without such a link it is as the site says.
        let access = world.access_of(&world.login(ANNA, ANOTHER).await["sessionToken"]).await;
        assert_eq!(world.prove(&access, json!({ "password": ANOTHER })).await, "200");
        assert_eq!(world.post_own(&access, "deletion", json!({})).await.json(), json!({ "isDeleted": true }));
    }

    async fn clocks_that_differ_make_no_later_link_the_earlier_one(engine) {
        let world = World::with_factors(engine).await;
        let thief = world.proved(ANNA).await;
        world.app.kit.clock.advance(60_000);
        let owners = world.change(&thief, ANNA, "thief@example.net").await;
        world.app.kit.clock.advance(-60_000);
        let thiefs = world.change(&thief, "thief@example.net", "thief@example.com").await;
        assert_eq!(world.undo(&owners).await.json()["email"], ANNA);
        assert_eq!(world.undo(&thiefs).await.verdict(), LINK);
        assert_eq!(world.address(ANNA).await, (ANNA.to_owned(), true));
    }

    async fn link_to_a_later_address_ends_none_to_an_earlier_one(engine) {
        let world = World::with_factors(engine).await;
        let thief = world.proved(ANNA).await;
        let owners = world.change(&thief, ANNA, "thief@example.net").await;
        world.app.kit.clock.advance(1_000);
        let thiefs = world.change(&thief, "thief@example.net", "thief@example.com").await;
        assert_eq!(world.undo(&thiefs).await.json()["email"], "thief@example.net");
        assert_eq!(world.recovers("thief@example.net", ANOTHER).await["state"], "SUCCESS");
        let thief = world.access_of(&world.login("thief@example.net", ANOTHER).await["sessionToken"]).await;
        assert_eq!(world.prove(&thief, json!({ "password": ANOTHER })).await, "200");
        let again = world.change(&thief, "thief@example.net", "thief@example.com").await;
        assert_eq!(world.undo(&owners).await.json()["email"], ANNA);
        for token in [again, thiefs, owners] {
            assert_eq!(world.undo(&token).await.verdict(), LINK);
        }
        assert_eq!(world.address(ANNA).await, (ANNA.to_owned(), true));
    }

    async fn second_factor_of_before_stays_and_codes_go_to_the_address_of_now(engine) {
        let world = World::with_factors(engine).await;
        let anna = world.enrolled(ANNA).await;
        assert_eq!(world.prove(&anna.access, json!({ "password": PASSWORD })).await, NEEDED);
        assert_eq!(world.prove(&anna.access, json!({ "totpData": { "code": world.totp(&anna.secret, 0) } })).await, "200");
        // Codes by e-mail beside the authenticator: one that went to the address before counts for nothing.
        let begun = world.code_of(ANNA, world.post_own(&anna.access, "factors", json!({ "type": "EMAIL" }))).await;
        let confirm = format!("factors/{}/confirm", text(&begun.0.json()["factor"]["id"]));
        assert_eq!(world.post_own(&anna.access, &confirm, json!({ "code": begun.1 })).await.verdict(), "200");
        let asked = world.challenge(&anna).await;
        let ask = json!({ "stateToken": asked, "factorType": "EMAIL", "emailData": {} });
        let visitor = world.visitor().await;
        let (sent, code) = world.code_of(ANNA, world.call(&visitor, "/v2/EMAIL/verify", &ask)).await;
        let recovery = world.recovery_link(ANNA).await;
        let start = json!({ "identityId": world.id_of(ANNA).await, "target": "EMAIL" });
        let (started, proof) = world.code_of(ANNA, world.call(&anna.access, "/v1/start", &start)).await;

        let token = world.change(&anna.access, ANNA, NEW).await;
        let shows = json!({ "stateToken": sent.json()["stateToken"], "emailData": { "code": code } });
        assert_eq!(world.call(&visitor, "/v2/EMAIL/verify", &shows).await.verdict(), GONE);
        let shows = json!({ "code": proof, "stateToken": started.json()["verificationId"] });
        assert_eq!(world.call(&visitor, "/v1/auth/verify", &shows).await.verdict(), GONE);
        let recover = json!({ "recoveryToken": recovery, "password": ANOTHER });
        assert_eq!(world.call(&visitor, "/v1/recover", &recover).await.verdict(), LINK);
        let asked = world.login(NEW, PASSWORD).await;
        let ask = json!({ "stateToken": asked["stateToken"], "factorType": "EMAIL", "emailData": {} });
        let (sent, code) = world.code_of(NEW, world.call(&visitor, "/v2/EMAIL/verify", &ask)).await;
        let shows = json!({ "stateToken": sent.json()["stateToken"], "emailData": { "code": code } });
        assert_eq!(world.call(&visitor, "/v2/EMAIL/verify", &shows).await.json()["state"], "SUCCESS");

        // Taken back: who reads the address alone gets no further than before.
        assert_eq!(world.undo(&token).await.verdict(), "200");
        let asked = world.recovers(ANNA, ANOTHER).await;
        assert_eq!(asked["state"], "MFA_CHALLENGE", "{asked}");
        let factors: Vec<_> = asked["mfaChallengeData"]["availableFactors"].as_array().unwrap().iter().map(|it| &it["factorType"]).collect();
        assert_eq!(factors, ["TOTP", "RECOVERY_CODE"], "the mailbox is no second factor beside its own password");
        world.next_step();
        assert_eq!(world.verify_totp(&asked["stateToken"], &world.totp(&anna.secret, 0)).await.json()["state"], "SUCCESS");
    }

    async fn address_that_nobody_has_shown_gets_no_link(engine) {
        let world = World::with_factors(engine).await;
        let access = world.unproven_access(ANNA).await;
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let code = world.change_code(&access, NEW).await;
        assert_eq!(world.confirm(&access, &code).await.verdict(), "200");
        let told = loop {
            if let Some(told) = world.app.mail.last_to(ANNA) {
                break told;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        };
        assert!(told.links.is_empty() && told.text.contains("a***@new.example.org"), "{}", told.text);
        assert_eq!((world.count("link").await, world.address(NEW).await.1), (0, true));
        assert_eq!(world.registers_as(ANNA).await, "200");
    }

    async fn those_who_run_the_site_decide_for_good(engine) {
        let world = World::with_factors(engine).await;
        let access = world.proved(ANNA).await;
        let token = world.change(&access, ANNA, NEW).await;
        world.move_to(NEW, "third@example.org").await;
        assert_eq!(world.undo(&token).await.verdict(), LINK);
        assert_eq!(world.registers_as(ANNA).await, "200");
        // A member who is gone leaves no address that is kept.
        let access = world.proved("ben@example.org").await;
        let token = world.change(&access, "ben@example.org", "ben@new.example.org").await;
        let path = format!("/members/v1/members/{}", world.id_of("ben@new.example.org").await);
        assert_eq!(world.app.app().delete(&path).await.verdict(), "200");
        assert_eq!(world.undo(&token).await.verdict(), LINK);
        assert_eq!(world.registers_as("ben@example.org").await, "200");
    }

    async fn few_codes_are_sent_and_few_wrong_ones_taken(engine) {
        let world = World::with_factors(engine).await;
        let access = world.proved(ANNA).await;
        let all = (0..100).map(|n| world.post_own(&access, "email", json!({ "email": format!("x{n}@example.org") })));
        let all = all.map(async |it| { let it: Reply = it.await; it.verdict() });
        let verdicts = join_all(all).await;
        assert_eq!(verdicts.iter().filter(|it| *it == "200").count(), 10, "{verdicts:?}");
        assert!(verdicts.iter().all(|it| it == "200" || it == THROTTLED), "{verdicts:?}");

        world.app.kit.clock.advance(3_600_000);
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        let code = world.change_code(&access, NEW).await;
        let wrong = format!("{:06}", (code.parse::<u32>().unwrap() + 1) % 1_000_000);
        let verdicts: Vec<_> = join_all((0..100).map(|_| world.confirm(&access, &wrong))).await.iter().map(Reply::verdict).collect();
        assert!(verdicts.iter().filter(|it| *it == WRONG).count() <= 20, "{verdicts:?}");
        assert_ne!(world.confirm(&access, &code).await.verdict(), "200", "too many were wrong");

        // One mailbox gets few, however many members ask.
        let mut sent = 0;
        for n in 0..25 {
            let access = world.unproven_access(&format!("m{n}@example.org")).await;
            assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
            sent += usize::from(world.post_own(&access, "email", json!({ "email": "victim@example.com" })).await.verdict() == "200");
        }
        assert!((15..25).contains(&sent), "{sent}");
    }
}
