//! Second factors of a member as answers show them.

use super::api_call::Answer;
use crate::body;
use axum::http::{HeaderValue, header};
use serde_json::{Value, json};
use stoa_identity::factor::{Enrolled, MemberFactor};
use stoa_kernel::date::iso_from_millis;

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
    let MemberFactor { id, factor, name, created, used, is_backed_up } = factor;
    let mut view = json!({ "id": id, "type": factor.name(), "name": name,
        "createdDate": iso_from_millis(*created) });
    if let Some(used) = used {
        view["lastUsedDate"] = json!(iso_from_millis(*used));
    }
    if let Some(is_backed_up) = is_backed_up {
        view["backedUp"] = json!(*is_backed_up);
    }
    view
}

/// An answer that no cache keeps.
pub(super) fn secret(value: &Value) -> Answer {
    let mut response = body::ok(value);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
