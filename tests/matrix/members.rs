//! The permission matrix of the members API (docs/protocol/identity.md §17): every call, by every kind of caller.

use super::{
    kept,
    table::{Refusals, Table},
};
use crate::{hooks, interface};
use axum::http::Method;
use serde_json::{Value, json};
use std::{cell::Cell, fmt::Write};
use stoa_identity::client::NewClient;
use stoa_kernel::ClientId;
use stoa_testkit::{Engine, Reply, TestApp, TestClient, on_both_engines};
use tokio::sync::OnceCell;

/// What a refusal's status stands for in these tables.
const REFUSALS: Refusals =
    Refusals(&["400 validationError", "401 UNAUTHENTICATED", "403 PERMISSION_DENIED", "404 NOT_FOUND"]);

on_both_engines! {
    async fn member_matrix(engine) {
        kept("member_matrix.txt", &draw(engine).await);
    }
}

/// The calls by their operations, and what they send. `{ada}` is a member who shows herself, `{bob}` another; `{new}`, `{badge}`,
/// `{role}`, `{field}`, `{assignment}` are made for each call; `{n}` is another number each time. `{application}` is a client
/// with a secret, `{endpoint}` a webhook endpoint of it, both there until they are deleted.
pub(crate) const ROUTES: &[(&str, &str, &str)] = &[
    ("auditList", "/_api/identity/v1/audit?member={ada}", ""),
    ("sessionList", "/_api/identity/v1/sessions", ""),
    ("sessionList", "/_api/identity/v1/sessions?memberId={ada}", ""),
    ("sessionEndOthers", "/_api/identity/v1/sessions", ""),
    ("sessionEndOthers", "/_api/identity/v1/sessions?memberId={new}", ""),
    ("sessionEnd", "/_api/identity/v1/sessions/none?memberId={new}", ""),
    ("applicationList", "/_api/identity/v1/applications", ""),
    ("applicationEnd", "/_api/identity/v1/applications/none", ""),
    ("factorList", "/_api/identity/v1/factors", ""),
    ("factorBegin", "/_api/identity/v1/factors", "{}"),
    ("factorConfirm", "/_api/identity/v1/factors/none/confirm", r#"{"code":"123456"}"#),
    ("factorRename", "/_api/identity/v1/factors/none", r#"{"name":"Mine"}"#),
    ("factorRemove", "/_api/identity/v1/factors/none", ""),
    ("memberConnectionList", "/_api/identity/v1/connections", ""),
    ("memberConnectionRemove", "/_api/identity/v1/connections/none", ""),
    ("idpConnectionList", "/_api/identity/v1/idp-connections", ""),
    (
        "idpConnectionCreate",
        "/_api/identity/v1/idp-connections",
        r#"{"idpConnection":{"name":"n{n}","issuer":"ftp://none.example","clientId":"c","clientSecret":"s"}}"#,
    ),
    ("idpConnectionGet", "/_api/identity/v1/idp-connections/none", ""),
    ("idpConnectionUpdate", "/_api/identity/v1/idp-connections/none", r#"{"idpConnection":{"label":"L"}}"#),
    ("idpConnectionRemove", "/_api/identity/v1/idp-connections/none", ""),
    ("recoveryCodesRenew", "/_api/identity/v1/recovery-codes", "{}"),
    ("rememberedBrowsersForget", "/_api/identity/v1/remembered-browsers", ""),
    ("memberProve", "/_api/identity/v1/proof", r#"{"totpData":{"code":"123456"}}"#),
    ("memberExport", "/_api/identity/v1/export", ""),
    ("emailChangeBegin", "/_api/identity/v1/email", r#"{"email":"new@example.org"}"#),
    ("emailChangeConfirm", "/_api/identity/v1/email/confirm", r#"{"code":"123456"}"#),
    ("deletionAsk", "/_api/identity/v1/deletion", "{}"),
    ("passwordReplace", "/_api/identity/v1/password", r#"{"oldPassword":"none such","newPassword":"short"}"#),
    ("factorsReset", "/_api/identity/v1/members/{new}/factors", ""),
    ("impersonationStart", "/_api/identity/v1/members/{new}/impersonation", r#"{"reason":"x","password":"none such"}"#),
    ("impersonationEnd", "/_api/identity/v1/members/{new}/impersonation", ""),
    ("deletionUndoByOwner", "/_api/identity/v1/members/{new}/keep", "{}"),
    ("passwordRefuse", "/_api/identity/v1/members/{new}/refuse-password", "{}"),
    ("sitePagesGet", "/_api/site/v1/pages", ""),
    ("sitePagesUpdate", "/_api/site/v1/pages", r#"{"pages":{"ecomCheckout":"https://example.org/checkout"}}"#),
    ("mailSenderGet", "/_api/site/v1/mail-sender", ""),
    ("mailSenderUpdate", "/_api/site/v1/mail-sender", r#"{"mailSender":{"replyTo":"help@example.org"}}"#),
    ("captchaChallengeGet", "/_api/account/v1/captcha", ""),
    ("signOnPolicyGet", "/v1/sign-on-policies", ""),
    ("hookVersionDeploy", "/_api/hooks/v1/versions", r#"{"source":""}"#),
    ("hookVersionList", "/_api/hooks/v1/versions", ""),
    ("hookVersionActivate", "/_api/hooks/v1/versions/1/activate", "{}"),
    ("hookLogList", "/_api/hooks/v1/log?limit=1", ""),
    ("hooksResume", "/_api/hooks/v1/resume", "{}"),
    ("hookTry", "/_api/hooks/v1/try", r#"{"collectionId":"c","hook":"afterGet","argument":{},"source":""}"#),
    ("webhookEventTypeList", "/_api/webhooks/v1/event-types", ""),
    ("webhookEndpointList", "/_api/webhooks/v1/endpoints", ""),
    (
        "webhookEndpointCreate",
        "/_api/webhooks/v1/endpoints",
        r#"{"appId":"{application}","url":"http://127.0.0.1:1/","types":["wix.data.v2.data_item_created"],"collections":["a"],"environment":"LIVE","format":"standard","maxBytes":5000,"timeoutMs":1000}"#,
    ),
    ("webhookEndpointGet", "/_api/webhooks/v1/endpoints/{endpoint}", ""),
    (
        "webhookEndpointUpdate",
        "/_api/webhooks/v1/endpoints/{endpoint}",
        r#"{"types":["AppInstalled"],"collections":["b"]}"#,
    ),
    ("webhookEndpointPause", "/_api/webhooks/v1/endpoints/{endpoint}/pause", "{}"),
    ("webhookEndpointResume", "/_api/webhooks/v1/endpoints/{endpoint}/resume", r#"{"fromNow":true}"#),
    ("webhookEndpointTest", "/_api/webhooks/v1/endpoints/{endpoint}/test", "{}"),
    ("webhookEndpointReplay", "/_api/webhooks/v1/endpoints/{endpoint}/replay", r#"{"dead":true}"#),
    ("webhookSecretRotate", "/_api/webhooks/v1/endpoints/{endpoint}/rotate-secret", "{}"),
    ("webhookEventList", "/_api/webhooks/v1/endpoints/{endpoint}/events?state=HELD", ""),
    (
        "webhookPull",
        "/_api/webhooks/v1/pull",
        r#"{"appId":"{application}","types":["AppInstalled"],"format":"standard","waitMs":0}"#,
    ),
    ("webhookEndpointDelete", "/_api/webhooks/v1/endpoints/{endpoint}", ""),
    ("memberList", "/members/v1/members", ""),
    (
        "memberCreate",
        "/members/v1/members",
        r#"{"member":{"loginEmail":"n{n}@example.org","contact":{"firstName":"N","phones":["1"],"customFields":{"a":{"name":"a","value":1}}},"profile":{"nickname":"N"}}}"#,
    ),
    ("memberGetMy", "/members/v1/members/my", ""),
    ("memberSlugUpdateMy", "/members/v1/members/my/slug", r#"{"slug":"s{n}"}"#),
    (
        "memberQuery",
        "/members/v1/members/query",
        r#"{"query":{"filter":{"nickname":"x"},"paging":{"limit":5,"offset":0},"sort":[{"fieldName":"nickname","order":"ASC"}]}}"#,
    ),
    (
        "memberQuery",
        "/members/v1/members/query",
        r#"{"query":{"filter":{"loginEmail":{"$in":["x@example.org"]}}},"search":{"expression":"x"}}"#,
    ),
    ("communityLeave", "/members/v1/members/leave-community", "{}"),
    ("communityJoin", "/members/v1/members/join-community", "{}"),
    ("memberBulkDelete", "/members/v1/members/bulk/delete", r#"{"memberIds":["{new}"]}"#),
    ("memberBulkDeleteByFilter", "/members/v1/members/bulk/delete-by-filter", r#"{"filter":{"id":"{new}"}}"#),
    ("memberBulkApproveByFilter", "/members/v1/members/bulk/approve-by-filter", r#"{"filter":{"id":"{new}"}}"#),
    ("memberBulkBlockByFilter", "/members/v1/members/bulk/block-by-filter", r#"{"filter":{"id":"{new}"}}"#),
    ("memberGet", "/members/v1/members/{ada}", ""),
    ("memberGet", "/members/v1/members/{new}?fieldsets=FULL", ""),
    ("memberUpdate", "/members/v1/members/{ada}", r#"{"member":{"profile":{"title":"T"}}}"#),
    ("memberDelete", "/members/v1/members/{new}", ""),
    ("memberSlugUpdate", "/members/v1/members/{ada}/slug", r#"{"slug":"a{n}"}"#),
    ("memberBlock", "/members/v1/members/{new}/block", "{}"),
    ("memberApprove", "/members/v1/members/{new}/approve", "{}"),
    ("memberDisconnect", "/members/v1/members/{new}/disconnect", "{}"),
    ("memberMute", "/members/v1/members/{ada}/mute", "{}"),
    ("memberUnmute", "/members/v1/members/{ada}/unmute", "{}"),
    ("memberPhonesDelete", "/members/v1/members/{ada}/phones", ""),
    ("memberEmailsDelete", "/members/v1/members/{ada}/emails", ""),
    ("memberAddressesDelete", "/members/v1/members/{ada}/addresses", ""),
    (
        "userMemberQuery",
        "/members/v1/user-members/query",
        r#"{"query":{"filter":{"userId":"{ada}"},"cursorPaging":{"limit":5}}}"#,
    ),
    (
        "memberRegisterByEmail",
        "/wix-sm/api/v1/auth/api/v1/auth/register",
        r#"{"email":"r{n}@example.org","password":"correct horse battery","contactInfo":{"firstName":"R","customFields":[{"name":"a","numValue":1}]},"profilePrivacyStatus":"PRIVATE"}"#,
    ),
    (
        "memberLoginByEmail",
        "/wix-sm/api/v1/auth/api/v1/auth/login",
        r#"{"email":"ada@example.org","password":"correct horse battery"}"#,
    ),
    (
        "passwordEmailSend",
        "/wix-sm/api/v1/auth/v1/auth/members/send-set-password-email",
        r#"{"email":"nobody@example.org","hideIgnoreMessage":true}"#,
    ),
    (
        "memberLoginEmailUpdate",
        "/wix-sm/api/v1/auth/api/v1/members/{new}/change-login-email",
        r#"{"newEmail":"c{n}@example.org"}"#,
    ),
    ("memberBlockByAny", "/wix-sm/api/v1/auth/api/v1/members/block", r#"{"id":"{new}"}"#),
    ("memberApproveByAny", "/wix-sm/api/v1/auth/api/v1/members/approve", r#"{"email":"nobody@example.org"}"#),
    ("roleList", "/members/v1/roles/definitions", ""),
    ("roleCreate", "/members/v1/roles/definitions", r#"{"roleKey":"r{n}","roleTitle":"R","blockable":true}"#),
    ("roleGet", "/members/v1/roles/definitions/{role}", ""),
    ("roleUpdate", "/members/v1/roles/definitions/{role}", r#"{"roleTitle":"R2","blockable":false}"#),
    ("roleDelete", "/members/v1/roles/definitions/{role}", ""),
    ("memberRoleQuery", "/members/v1/roles/members/query", r#"{"query":{"filter":{"memberId":{"$in":["{ada}"]}}}}"#),
    ("memberRoleList", "/members/v1/roles/members/{ada}", ""),
    ("memberRoleAssign", "/members/v1/roles/members/{ada}", r#"{"roleKey":"{role}"}"#),
    ("memberRoleUnassign", "/members/v1/roles/members/{ada}?roleKey={role}", ""),
    ("badgeListV3", "/members/v3/badges", ""),
    (
        "badgeCreateV3",
        "/members/v3/badges",
        r#"{"badge":{"title":"B","description":"D","backgroundColor":"red","permissionsEnabled":true}}"#,
    ),
    ("badgeOrderUpdateV3", "/members/v3/badges/order", r#"{"ids":["{badge}"]}"#),
    ("memberBadgeListV3", "/members/v3/badges/members", r#"{"memberIds":["{ada}"]}"#),
    ("badgeMemberCountV3", "/members/v3/badges/members/count", ""),
    ("badgeGetV3", "/members/v3/badges/{badge}", ""),
    ("badgeUpdateV3", "/members/v3/badges/{badge}", r#"{"badge":{"title":"B2"}}"#),
    ("badgeDeleteV3", "/members/v3/badges/{badge}", ""),
    ("badgeMemberListV3", "/members/v3/badges/{badge}/members", ""),
    ("badgeAssignV3", "/members/v3/badges/{badge}/members", r#"{"memberIds":["{ada}"]}"#),
    ("badgeUnassignV3", "/members/v3/badges/{badge}/members?memberIds={ada}", ""),
    ("badgeCreate", "/badges/v4/badges", r#"{"badge":{"title":"B"}}"#),
    ("badgeQuery", "/badges/v4/badges/query", r#"{"query":{"filter":{"title":"B"},"cursorPaging":{"limit":5}}}"#),
    ("badgeOrderUpdate", "/badges/v4/badges/order", r#"{"badgeIds":["{badge}"]}"#),
    ("badgeGet", "/badges/v4/badges/{badge}", ""),
    ("badgeUpdate", "/badges/v4/badges/{badge}", r#"{"badge":{"title":"B2","revision":"1"}}"#),
    ("badgeMove", "/badges/v4/badges/{badge}/move", r#"{"position":"FIRST","moveAfterBadgeId":"{badge}"}"#),
    ("badgeDelete", "/badges/v4/badges/{badge}", ""),
    (
        "badgeAssignmentCreate",
        "/badges/v4/assignments",
        r#"{"badgeAssignment":{"badgeId":"{badge}","memberId":"{ada}","tags":{"tags":{"tagIds":["t"]}}}}"#,
    ),
    (
        "badgeAssignmentQuery",
        "/badges/v4/assignments/query",
        r#"{"query":{"filter":{"memberId":{"$in":["{ada}"]},"badgeId":"{badge}"}}}"#,
    ),
    ("badgeAssignmentDelete", "/badges/v4/assignments/{assignment}", ""),
    (
        "badgeAssignmentBulkCreate",
        "/badges/v4/bulk/assignments/create",
        r#"{"badgeAssignments":[{"badgeId":"{badge}","memberId":"{ada}"}]}"#,
    ),
    ("badgeAssignmentBulkDelete", "/badges/v4/bulk/assignments/delete", r#"{"badgeAssignmentIds":["{assignment}"]}"#),
    (
        "badgeAssignmentBulkTag",
        "/badges/v4/bulk/assignments/bulk-update-tags",
        r#"{"ids":["{assignment}"],"assignTags":{"tags":{"tagIds":["t"]}},"unassignTags":{"privateTags":{"tagIds":["u"]}}}"#,
    ),
    (
        "badgeAssignmentBulkTagByFilter",
        "/badges/v4/bulk/assignments/update-tags-by-filter",
        r#"{"filter":{"badgeId":"{badge}"},"assignTags":{"tags":{"tagIds":["t"]}}}"#,
    ),
    ("customFieldList", "/members/v1/custom-fields", ""),
    (
        "customFieldCreate",
        "/members/v1/custom-fields",
        r#"{"field":{"name":"F{n}","fieldType":"TEXT","defaultPrivacy":"PUBLIC","hidden":false}}"#,
    ),
    ("customFieldOrderUpdate", "/members/v1/custom-fields/order", r#"{"fieldIds":["{field}"],"section":"GENERAL"}"#),
    ("customFieldGet", "/members/v1/custom-fields/{field}", ""),
    ("customFieldUpdate", "/members/v1/custom-fields/{field}", r#"{"field":{"name":"G{n}","revision":"1"}}"#),
    ("customFieldHide", "/members/v1/custom-fields/{field}/hide", r#"{"revision":"1"}"#),
    ("customFieldDelete", "/members/v1/custom-fields/{field}?revision=1", ""),
    ("customFieldSuggestionList", "/members/v1/custom-field-suggestions", ""),
    (
        "customFieldSuggestionQuery",
        "/members/v1/custom-field-suggestions/query",
        r#"{"query":{"filter":{"fieldType":"SOCIAL"},"paging":{"limit":5,"offset":0}}}"#,
    ),
    (
        "fieldApplicationCreate",
        "/members/v1/custom-fields-applications",
        r#"{"application":{"customFieldId":"{field}","applications":{"items":[{"applicationType":"MEMBER","entityId":"{ada}"}]}}}"#,
    ),
    (
        "fieldApplicationList",
        "/members/v1/custom-fields-applications/applications",
        r#"{"customFieldIds":["{field}"]}"#,
    ),
    ("fieldApplicationListOfMembers", "/members/v1/custom-fields-applications/members", r#"{"memberIds":["{ada}"]}"#),
    ("fieldApplicationListOfRoles", "/members/v1/custom-fields-applications/roles", r#"{"roleIds":["{role}"]}"#),
    ("fieldApplicationGet", "/members/v1/custom-fields-applications/{applied}", ""),
    (
        "fieldApplicationUpdate",
        "/members/v1/custom-fields-applications/{applied}",
        r#"{"application":{"exclusions":{"items":[]}}}"#,
    ),
    ("fieldApplicationDelete", "/members/v1/custom-fields-applications/{applied}", ""),
    ("defaultPrivacyGet", "/members/v1/default-privacy-status", ""),
    (
        "defaultPrivacyUpdate",
        "/members/v1/default-privacy-status",
        r#"{"defaultPrivacy":{"defaultPrivacy":"PRIVATE"}}"#,
    ),
    ("privacySettingsGet", "/members/v1/privacy-settings", ""),
    (
        "privacySettingsUpdate",
        "/members/v1/privacy-settings",
        r#"{"memberPrivacySettings":{"publicMemberVisibility":"VISIBLE_TO_MEMBERS_ONLY","publicMemberCandidates":"ANYONE"}}"#,
    ),
    ("followerListMy", "/members/v3/followers/my", ""),
    ("followingListMy", "/members/v3/followers/my/following", ""),
    ("connectionQueryMy", "/members/v3/followers/my/connections", r#"{"connectedMemberIds":["{bob}"]}"#),
    ("followerList", "/members/v3/followers/{ada}", ""),
    ("followerCreate", "/members/v3/followers/{ada}", "{}"),
    ("followerDelete", "/members/v3/followers/{ada}", ""),
    ("followingList", "/members/v3/followers/{ada}/following", ""),
    ("connectionQuery", "/members/v3/followers/{ada}/connections", r#"{"connectedMemberIds":["{bob}"]}"#),
    ("memberBlockListMy", "/members/v1/member-to-member-blocks/members/my", ""),
    ("memberBlockCreate", "/members/v1/member-to-member-blocks/members/my", r#"{"memberId":"{new}"}"#),
    ("memberBlockDelete", "/members/v1/member-to-member-blocks/members/my/{new}", ""),
    ("memberBlockList", "/members/v1/member-to-member-blocks/members/{ada}", ""),
    (
        "memberReportCreate",
        "/members/v1/member-reports",
        r#"{"memberReport":{"reportedMemberId":"{new}","reason":{"category":"SPAM","description":"x"}}}"#,
    ),
    (
        "memberReportQuery",
        "/members/v1/member-reports/query",
        r#"{"query":{"filter":{"reportedMemberId":{"$in":["{ada}"]}},"cursorPaging":{"limit":5}}}"#,
    ),
    ("reportedMemberList", "/members/v1/member-reports/members", ""),
    ("reportedMemberQuery", "/members/v1/member-reports/members/query", r#"{"query":{"cursorPaging":{"limit":5}}}"#),
    ("memberReportDelete", "/members/v1/member-reports/members/{new}", ""),
    ("memberAboutCreate", "/members/v2/abouts", r#"{"memberAbout":{"content":{"nodes":[]}}}"#),
    ("memberAboutGetMy", "/members/v2/abouts/my", ""),
    ("memberAboutQuery", "/members/v2/abouts/query", r#"{"query":{"filter":{"memberId":{"$in":["{ada}"]}}}}"#),
    ("memberAboutGet", "/members/v2/abouts/{ada}", ""),
    ("memberAboutUpdate", "/members/v2/abouts/{ada}", r#"{"memberAbout":{"content":{"nodes":[]},"revision":"1"}}"#),
    ("memberAboutDelete", "/members/v2/abouts/{ada}", ""),
    // The last, as it ends those who may.
    ("memberDeleteMy", "/members/v1/members/my", ""),
];

/// A site in which every call has what it names.
pub(crate) struct World<'a> {
    app: &'a TestApp,
    ada: String,
    bob: String,
    /// Made when it is first named.
    application: OnceCell<ClientId>,
    made: Cell<usize>,
}

impl<'a> World<'a> {
    pub(crate) async fn new(app: &'a TestApp, ada: &TestClient<'_>, bob: &TestClient<'_>) -> World<'a> {
        let mut ids = Vec::new();
        for member in [ada, bob] {
            let shown = member.post("/members/v1/members/join-community", &json!({})).await.json();
            ids.push(shown["member"]["id"].as_str().unwrap().to_owned());
        }
        let [ada, bob] = ids.try_into().unwrap();
        app.app.content.keep_hooks(hooks::host());
        World { app, ada, bob, application: OnceCell::new(), made: Cell::new(0) }
    }

    /// Puts ids in the place of their names, making what they are of.
    pub(crate) async fn fill(&self, template: &str, body: &str) -> (String, String) {
        let n = self.made.replace(self.made.get() + 1);
        let mut both = format!("{template}\n{body}").replace("{ada}", &self.ada).replace("{bob}", &self.bob);
        both = both.replace("{n}", &n.to_string());
        let id = |made: Value, name: &str| made[name]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
        let make = async |path: &str, body: Value| self.app.app().post(path, &body).await.json();
        if both.contains("{new}") {
            let member = json!({ "member": { "loginEmail": format!("new{n}@example.org") } });
            both = both.replace("{new}", &id(make("/members/v1/members", member).await, "member"));
        }
        if both.contains("{role}") {
            make("/members/v1/roles/definitions", json!({ "roleKey": format!("role{n}"), "roleTitle": "R" })).await;
            both = both.replace("{role}", &format!("role{n}"));
        }
        if both.contains("{badge}") || both.contains("{assignment}") {
            let badge = id(make("/badges/v4/badges", json!({ "badge": { "title": "B" } })).await, "badge");
            if both.contains("{assignment}") {
                let assignment = json!({ "badgeAssignment": { "badgeId": badge, "memberId": self.ada } });
                let made = make("/badges/v4/assignments", assignment).await;
                both = both.replace("{assignment}", &id(made, "badgeAssignment"));
            }
            both = both.replace("{badge}", &badge);
        }
        if both.contains("{application}") || both.contains("{endpoint}") {
            let application = self.application.get_or_init(|| application(self.app)).await.as_str();
            if both.contains("{endpoint}") {
                both = both.replace("{endpoint}", &self.endpoint(application).await);
            }
            both = both.replace("{application}", application);
        }
        if both.contains("{field}") || both.contains("{applied}") {
            // A site may have so many of them.
            if n.is_multiple_of(100) {
                self.forget_fields().await;
            }
            let field = json!({ "field": { "name": format!("Field {n}"), "fieldType": "TEXT" } });
            let field = id(make("/members/v1/custom-fields", field).await, "field");
            if both.contains("{applied}") {
                let application = json!({ "application": { "customFieldId": field } });
                make("/members/v1/custom-fields-applications", application).await;
                both = both.replace("{applied}", &field);
            }
            both = both.replace("{field}", &field);
        }
        let (path, body) = both.split_once('\n').unwrap();
        (path.to_owned(), body.to_owned())
    }

    /// An endpoint of the application: one that is there, as a site may have few of them, or a new one.
    async fn endpoint(&self, application: &str) -> String {
        const PATH: &str = "/_api/webhooks/v1/endpoints";
        let types = ["wix.data.v2.data_item_created"];
        let body = json!({ "appId": application, "url": "http://127.0.0.1:1/", "types": types });
        let there = self.app.app().get(PATH).await.json()["endpoints"][0]["id"].clone();
        let id = if there.is_null() {
            self.app.app().post(PATH, &body).await.json()["endpoint"]["id"].clone()
        } else {
            there
        };
        id.as_str().expect("an id").to_owned()
    }

    async fn forget_fields(&self) {
        let fields = self.app.app().get("/members/v1/custom-fields?paging.limit=100").await.json();
        for field in fields["fields"].as_array().into_iter().flatten() {
            let path = format!("/members/v1/custom-fields/{}?revision=1", field["id"].as_str().unwrap());
            self.app.app().delete(&path).await;
        }
    }
}

async fn application(app: &TestApp) -> ClientId {
    let new = NewClient { name: "Application".to_owned(), with_secret: true, ..NewClient::default() };
    app.app.identity.client_create(&app.site.id, new).await.unwrap().0.id
}

pub(crate) async fn send(who: &TestClient<'_>, method: &str, path: &str, body: &str) -> Reply {
    let body = Some(body.to_owned()).filter(|it| !it.is_empty());
    who.send(Method::from_bytes(method.as_bytes()).unwrap(), path, body.map(Into::into)).await
}

async fn draw(engine: Engine) -> String {
    let app = TestApp::new(engine).await;
    let (ada, bob) = (app.member("ada@example.org").await, app.member("bob@example.org").await);
    let world = World::new(&app, &ada, &bob).await;
    let (partner, _) = app.partner("items:read members:write").await;
    let mut callers = [
        ("nobody", app.anonymous()),
        ("visitor", app.visitor().await),
        ("other", bob),
        ("self", ada.clone()),
        ("editor", app.editor().await),
        ("owner", app.owner().await),
        ("app", app.app()),
        ("reader", app.key("members:read").await),
        ("signer", app.key("members:sign-in items:write site:read").await),
        ("agreed", app.installed("members:write").await),
        ("via", app.anonymous()),
    ];
    let mut out = String::from("# What each caller is answered, a table for each beginning of the path.\n");
    for line in [
        "# `reader` is a key held to members:read, `signer` one held to members:sign-in, items:write and",
        "# site:read; `agreed` is a client of others in its own name, installed with members:write, `via` is `self`",
        "# through one that asked for members:read. `scope` stands for 403 INSUFFICIENT_SCOPE.",
    ] {
        let _ = writeln!(out, "{line}");
    }
    out.push_str("# `{ada}` shows herself and is `self`, `{bob}` is `other`; what else is named is of no member.\n");
    out.push_str("# A refusal with a `!` has a code of its own, which stands below its table.\n");
    out.push_str(&REFUSALS.legend());
    for base in bases() {
        let mut table = Table::new(base, callers.iter().map(|(name, _)| *name));
        let mut codes = String::new();
        let mut columns = vec![Vec::new(); callers.len()];
        for (id, route, body) in ROUTES.iter().filter(|(_, path, _)| base_of(path) == base) {
            let listed = interface::operation(id);
            let method = listed.method.as_str();
            let operation = format!("{method:<6} {}", route[base.len()..].trim_start_matches('/'));
            // A session of `self`, who ends all her others.
            callers.last_mut().unwrap().1 = app.through(&partner, &ada, "members:read").await;
            for ((name, caller), column) in callers.iter().zip(&mut columns) {
                let (path, body) = world.fill(route, body).await;
                let verdict = send(caller, method, &path, &body).await.verdict();
                interface::check_caller(listed.operation, name, &verdict);
                let verdict = REFUSALS.short(&verdict);
                let cell = match verdict.split_once(' ') {
                    Some((_, "INSUFFICIENT_SCOPE")) => "scope".to_owned(),
                    Some((status, _)) => {
                        let _ = writeln!(codes, "! {method} {route}\n    {name}: {verdict}");
                        format!("{status}!")
                    }
                    None => verdict,
                };
                column.push((operation.clone(), cell));
            }
        }
        columns.into_iter().for_each(|column| table.column(column));
        let _ = write!(out, "\n{table}{codes}");
    }
    out
}

/// What the calls of a table have in common: the first two parts of their paths.
fn base_of(path: &str) -> &str {
    let depth = match path {
        it if it.starts_with("/wix-sm/") => 7,
        it if it.starts_with("/badges/v4/bulk/") || it.starts_with("/_api/webhooks/") => 4,
        _ => 3,
    };
    let end = path.match_indices('/').nth(depth).map_or(path.len(), |(at, _)| at);
    &path[..end]
}

/// Each once, in the order of the calls.
fn bases() -> Vec<&'static str> {
    let mut bases = Vec::new();
    for (_, path, _) in ROUTES {
        if !bases.contains(&base_of(path)) {
            bases.push(base_of(path));
        }
    }
    // The one whose last call ends its caller's account.
    let last = ROUTES.last().map(|(_, path, _)| base_of(path));
    bases.sort_by_key(|base| Some(*base) == last);
    bases
}
