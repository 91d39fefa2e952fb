//! Second factors of a member as answers show them.

use super::api_call::Answer;
use crate::body;
use axum::http::{HeaderValue, header};
use serde_json::{Value, json};
use stoa_identity::factor::{Enrolled, Enrolment, FactorType, MemberFactor, PASSKEY_NAME, passkey::Creation};
use stoa_kernel::date::iso_from_millis;

/// An authenticator to be set up.
pub(super) fn begun(Enrolment { id, name, secret: shared, uri, expires }: Enrolment) -> Answer {
    secret(&json!({
        "factor": { "id": id, "type": FactorType::Totp.name(), "name": name },
        "secret": shared.expose(),
        "uri": uri.expose(),
        "expiresDate": iso_from_millis(expires),
    }))
}

/// What a browser is asked that adds a passkey; the id of the factor is that of the challenge.
pub(super) fn passkey_begun(creation: &Creation) -> Answer {
    secret(&json!({
        "factor": { "id": creation.id(), "type": FactorType::Webauthn.name(), "name": PASSKEY_NAME },
        "options": creation.options(),
        "expiresDate": iso_from_millis(creation.expires()),
    }))
}

/// A factor that counts from now on.
pub(super) fn enrolled(Enrolled { factor, recovery_codes }: Enrolled) -> Answer {
    let mut answer = json!({ "factor": view(&factor) });
    if let Some(codes) = recovery_codes {
        answer["recoveryCodes"] = json!(codes);
    }
    secret(&answer)
}

/// A factor of the list.
pub(super) fn view(factor: &MemberFactor) -> Value {
    let MemberFactor { id, factor, name, created, used, is_backed_up, needs_enrolment } = factor;
    let mut view = json!({ "id": id, "type": factor.name(), "name": name,
        "createdDate": iso_from_millis(*created) });
    if let Some(used) = used {
        view["lastUsedDate"] = json!(iso_from_millis(*used));
    }
    if let Some(is_backed_up) = is_backed_up {
        view["backedUp"] = json!(*is_backed_up);
    }
    if *needs_enrolment {
        view["needsReenrolment"] = json!(true);
    }
    view
}

/// An answer that no cache keeps.
pub(super) fn secret(value: &Value) -> Answer {
    let mut response = body::ok(value);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
