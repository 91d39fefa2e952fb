//! Second factors of members whom an identity provider has shown, several beside each other.

use super::{
    phone::offered,
    providers::person,
    push::{Pushes, at},
    *,
};

on_both_engines! {
    async fn browsers_are_asked_after_a_provider_beside_the_password(engine) {
        let world = Pushes::new(engine).await;
        let (provider, id, access) = world.by_both("anna@example.org").await;
        assert_eq!(world.post_own(&access, "factors", json!({ "type": "PASSWORD" })).await.verdict(), "200");
        assert_eq!(world.prove(&access, json!({ "password": PASSWORD })).await, "200");
        // The password has brought no recovery codes, so the browser does.
        let (_, confirmed) = world.add(&access, "laptop").await;
        assert_eq!(confirmed["recoveryCodes"].as_array().map(Vec::len), Some(10), "{confirmed}");
        assert_eq!(offered(&world.login("anna@example.org", PASSWORD).await), ["PUSH", "RECOVERY_CODE"]);

        let browser = world.browser();
        let asked = browser.by_provider(&provider, &id, person("s", "anna@example.org")).await;
        assert_eq!((at(&asked), &asked["step"]["factors"]), (("SECOND_FACTOR", None), &json!(["PUSH", "PASSWORD", "RECOVERY_CODE"])));
        let waits = browser.ask_push(&asked, false).await;
        assert_eq!(at(&waits), ("AWAIT_PUSH", None), "{waits}");
        let pushed = text(&world.service.next(1).await[0].content["token"]);
        assert_eq!(world.answer(&pushed, json!({ "number": waits["step"]["number"] })).await.verdict(), "200");
        assert_eq!(at(&browser.flow_view(&text(&asked["token"])).await.json()), ("DONE", None));

        // Denied, the sign-in goes on with the password, which it has not seen yet.
        let other = world.browser();
        let asked = other.by_provider(&provider, &id, person("s", "anna@example.org")).await;
        other.ask_push(&asked, false).await;
        let pushed = text(&world.service.next(1).await[0].content["token"]);
        assert_eq!(world.answer(&pushed, json!({ "denied": true })).await.verdict(), "200");
        let denied = other.flow_view(&text(&asked["token"])).await.json();
        assert_eq!((at(&denied), &denied["step"]["factors"]), (("SECOND_FACTOR", Some("PUSH_DENIED")), &json!(["PASSWORD", "RECOVERY_CODE"])));
        let show = json!({ "type": "SECOND_FACTOR", "factor": "PASSWORD", "code": PASSWORD, "remember": false });
        assert_eq!(at(&other.answer(&text(&asked["token"]), show).await), ("DONE", None));
    }
}
