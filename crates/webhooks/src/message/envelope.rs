//! The signed message that tells an event (docs/protocol/identity.md §14), made anew for each attempt: the public client
//! refuses a token a second after its end.

use crate::{
    Core,
    endpoint::{Format, secret::signature},
    message::event::{Event, entity_of},
};
use ring::hmac;
use serde_json::{Map, Value, json};
use stoa_identity::app_key::{AppSigner, SigningKey};
use stoa_kernel::{ClientId, Fault, Millis, Result, SiteId, date::iso_from_millis, limit::SECOND};

/// How long a token is good, in seconds.
pub(crate) const LIFE: i64 = 300;
/// Bytes of a token beside its claims, with a key of 4096 bits.
const TOKEN_BYTES: usize = 900;

/// A message as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The id of the event, the same in all messages that tell it.
    pub id: String,
    pub event_type: &'static str,
    /// The id of what the event tells of.
    pub entity_id: String,
    /// Names in lower case.
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
    /// Whether what the entity holds was left out.
    pub is_short: bool,
}

impl Message {
    /// `{"id", "type", "entityId", "headers": {name: value}, "body"}`.
    pub fn to_json(&self) -> Value {
        let headers: Map<String, Value> = self.headers.iter().map(|it| (it.0.to_owned(), json!(it.1))).collect();
        let (kind, entity) = (self.event_type, &self.entity_id);
        json!({ "id": self.id, "type": kind, "entityId": entity, "headers": headers, "body": self.body })
    }
}

/// How messages are made for an endpoint.
#[derive(Clone)]
pub(crate) struct Maker {
    pub site: SiteId,
    pub app: ClientId,
    pub format: Format,
    pub max_bytes: usize,
    /// The secrets that sign, and when each ceases to.
    pub secrets: Vec<(hmac::Key, Option<Millis>)>,
}

/// What signs a message, and in whose name.
pub(crate) struct Signatory {
    issuer: String,
    signer: Option<AppSigner>,
}

impl Maker {
    /// What signs now. It may ask the databases.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::NotFound`] when there is no such application any more, or it has no active key.
    pub(crate) async fn signatory(&self, core: &Core) -> Result<Signatory> {
        let signer = match self.format {
            Format::Jwt => Some(core.identity.app_signer(&self.app, SigningKey::Active).await?),
            Format::Standard => None,
        };
        let issuer = core.identity.issuer(&self.site).await?;
        Ok(Signatory { issuer, signer })
    }

    /// The message of an event at a time. Where it would be too long, or `is_short` says so, what the entity holds is left
    /// out, and said to be; an event of which nothing can be left out stays as it is.
    ///
    /// # Errors
    /// None that a caller can mend.
    pub(crate) fn message(&self, event: &Event, by: &Signatory, now: Millis, is_short: bool) -> Result<Message> {
        // What is sent is longer than the event.
        let mut unsigned = match is_short || event.body.len() > self.max_bytes {
            true => None,
            false => Some(self.unsigned(event, &event.body, by, now)?),
        };
        unsigned = unsigned.filter(|it| self.length(it.len()) <= self.max_bytes);
        let short = if unsigned.is_none() { shortened(&event.body)? } else { None };
        let is_short = short.is_some();
        let unsigned = match unsigned {
            Some(it) => it,
            None => self.unsigned(event, short.as_deref().unwrap_or(&event.body), by, now)?,
        };
        let (content_type, body) = match &by.signer {
            Some(signer) => ("text/plain; charset=utf-8", signer.token(unsigned.as_bytes())?),
            None => ("application/json", unsigned),
        };
        let timestamp = (now / SECOND).to_string();
        let signatures = self.signatures(&event.id, &timestamp, &body, now);
        let mut headers = vec![
            ("content-type", content_type.to_owned()),
            ("webhook-id", event.id.clone()),
            ("webhook-timestamp", timestamp),
        ];
        if !signatures.is_empty() {
            headers.push(("webhook-signature", signatures));
        }
        let entity_id = entity_of(&event.entity).0;
        Ok(Message { id: event.id.clone(), event_type: event.event_type, entity_id, headers, body, is_short })
    }

    /// The claims of a token, or the body of the other format.
    fn unsigned(&self, event: &Event, body: &str, by: &Signatory, now: Millis) -> Result<String> {
        match self.format {
            Format::Jwt => Ok(self.claims(event, body, &by.issuer, now)),
            Format::Standard => {
                let parse = |text: &str| serde_json::from_str::<Value>(text).map_err(Fault::internal);
                let mut data = parse(body)?;
                data["instanceId"] = json!(self.site);
                data["identity"] = parse(&event.identity)?;
                let time = iso_from_millis(event.time);
                Ok(json!({ "type": event.event_type, "timestamp": time, "data": data }).to_string())
            }
        }
    }

    fn claims(&self, event: &Event, body: &str, issuer: &str, now: Millis) -> String {
        let data = json!({
            "eventType": event.event_type,
            "instanceId": self.site,
            "identity": event.identity,
            "accountInfo": { "siteId": self.site },
            "data": body,
        });
        let issued = now / SECOND;
        let claims = json!({
            "iss": issuer,
            "aud": self.app,
            "jti": event.id,
            "iat": issued,
            "exp": issued + LIFE,
            "data": data.to_string(),
        });
        claims.to_string()
    }

    /// Bytes of a body, by those of what is not yet signed.
    fn length(&self, unsigned: usize) -> usize {
        match self.format {
            Format::Jwt => unsigned.div_ceil(3) * 4 + TOKEN_BYTES,
            Format::Standard => unsigned,
        }
    }

    fn signatures(&self, id: &str, timestamp: &str, body: &str, now: Millis) -> String {
        let is_good = |it: &&(hmac::Key, Option<Millis>)| it.1.is_none_or(|end| end > now);
        let sign = |it: &(hmac::Key, Option<Millis>)| signature(&it.0, id, timestamp, body);
        self.secrets.iter().filter(is_good).map(sign).collect::<Vec<_>>().join(" ")
    }
}

/// An event without what its entity holds: the entity's id is left, and for an item its collection. Nothing where there is
/// nothing to leave out.
fn shortened(body: &str) -> Result<Option<String>> {
    let mut body: Value = serde_json::from_str(body).map_err(Fault::internal)?;
    let mut is_shorter = false;
    for (change, entity) in
        [("createdEvent", "entity"), ("updatedEvent", "currentEntity"), ("deletedEvent", "deletedEntity")]
    {
        let Some(Value::Object(change)) = body.get_mut(change) else { continue };
        is_shorter |= change.remove("modifiedFields").is_some();
        if let Some(Value::Object(entity)) = change.get_mut(entity) {
            let before = entity.len();
            entity.retain(|name, _| matches!(name.as_str(), "id" | "dataCollectionId"));
            is_shorter |= entity.len() < before;
        }
    }
    if !is_shorter {
        return Ok(None);
    }
    body["dataOmitted"] = json!(true);
    serde_json::to_string(&body).map(Some).map_err(Fault::internal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::secret::EndpointSecret;
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    use stoa_kernel::{EntryKind, World};

    fn event(text: &str) -> Event {
        let body = json!({
            "id": "s-7-0", "entityFqdn": "wix.data.v2.data_item", "slug": "updated", "entityId": "i1",
            "updatedEvent": {
                "currentEntity": { "id": "i1", "dataCollectionId": "cars", "data": { "_id": "i1", "text": text } },
                "modifiedFields": { "text": text },
            },
        });
        Event {
            id: "s-7-0".to_owned(),
            sequence: 7,
            place: 0,
            kind: EntryKind::ItemUpdated,
            event_type: "wix.data.v2.data_item_updated",
            entity: String::new(),
            time: 1_767_225_600_009,
            identity: r#"{"identityType":"MEMBER","memberId":"m"}"#.to_owned(),
            body: body.to_string(),
        }
    }

    fn maker(format: Format, max_bytes: usize) -> Maker {
        let (site, app) = (SiteId::from("s"), ClientId::from("a"));
        Maker { site, app, format, max_bytes, secrets: Vec::new() }
    }

    /// Byte by byte: who verifies it in another language relies on it.
    #[test]
    fn claims_are_those_that_the_public_client_takes() {
        let claims =
            maker(Format::Jwt, 98_304).claims(&event("x"), &event("x").body, "https://example.org", 1_767_225_600_999);
        let expected = concat!(
            r#"{"iss":"https://example.org","aud":"a","jti":"s-7-0","iat":1767225600,"exp":1767225900,"#,
            r#""data":"{\"eventType\":\"wix.data.v2.data_item_updated\",\"instanceId\":\"s\","#,
            r#"\"identity\":\"{\\\"identityType\\\":\\\"MEMBER\\\",\\\"memberId\\\":\\\"m\\\"}\","#,
            r#"\"accountInfo\":{\"siteId\":\"s\"},"#,
            r#"\"data\":\"{\\\"id\\\":\\\"s-7-0\\\",\\\"entityFqdn\\\":\\\"wix.data.v2.data_item\\\","#,
            r#"\\\"slug\\\":\\\"updated\\\",\\\"entityId\\\":\\\"i1\\\",\\\"updatedEvent\\\":{\\\"currentEntity\\\":"#,
            r#"{\\\"id\\\":\\\"i1\\\",\\\"dataCollectionId\\\":\\\"cars\\\",\\\"data\\\":{\\\"_id\\\":\\\"i1\\\","#,
            r#"\\\"text\\\":\\\"x\\\"}},\\\"modifiedFields\\\":{\\\"text\\\":\\\"x\\\"}}}\"}"}"#,
        );
        assert_eq!(claims, expected);
    }

    #[test]
    fn message_that_is_too_long_goes_without_what_the_entity_holds() {
        let by = Signatory { issuer: "https://example.org".to_owned(), signer: None };
        let body = |text: &str, is_short| {
            let message = maker(Format::Standard, 5_000).message(&event(text), &by, 0, is_short).expect("a message");
            serde_json::from_str::<Value>(&message.body).expect("JSON")
        };
        let whole = body("x", false);
        assert_eq!(
            (&whole["type"], &whole["timestamp"]),
            (&json!("wix.data.v2.data_item_updated"), &json!("2026-01-01T00:00:00.009Z"))
        );
        assert_eq!(whole["data"]["updatedEvent"]["currentEntity"]["data"]["text"], "x");
        assert_eq!((&whole["data"]["instanceId"], &whole["data"]["identity"]["memberId"]), (&json!("s"), &json!("m")));
        for short in [body(&"x".repeat(5_000), false), body("x", true)] {
            assert_eq!(short["data"]["dataOmitted"], true);
            let expected = json!({ "currentEntity": { "id": "i1", "dataCollectionId": "cars" } });
            assert_eq!(short["data"]["updatedEvent"], expected);
        }
    }

    #[test]
    fn message_of_which_nothing_can_be_left_out_says_so() {
        let by = Signatory { issuer: String::new(), signer: None };
        let action = json!({ "entityId": "b", "actionEvent": { "body": { "text": "x".repeat(5_000) } } });
        let action = Event { body: action.to_string(), ..event("x") };
        for is_short in [false, true] {
            let message = maker(Format::Standard, 4_096).message(&action, &by, 0, is_short).expect("a message");
            let body: Value = serde_json::from_str(&message.body).expect("JSON");
            assert!(!message.is_short && body["data"].get("dataOmitted").is_none());
            assert_eq!(body["data"]["actionEvent"]["body"]["text"].as_str().map(str::len), Some(5_000));
        }
    }

    #[test]
    fn each_secret_signs_as_long_as_it_is_good() {
        let (world, _) = World::fixed(0, 1);
        let keys = [(); 2].map(|()| EndpointSecret::make(&world).key().expect("a key"));
        let secrets = keys.iter().cloned().zip([None, Some(10_000)]).collect();
        let maker = Maker { secrets, ..maker(Format::Standard, 98_304) };
        let by = Signatory { issuer: String::new(), signer: None };
        for (now, count) in [(9_999, 2), (10_000, 1)] {
            let message = maker.message(&event("x"), &by, now, false).expect("a message");
            let header = |name| message.headers.iter().find(|it| it.0 == name).expect("a header").1.clone();
            let signed = format!("s-7-0.{}.{}", header("webhook-timestamp"), message.body);
            let signatures = header("webhook-signature");
            let signatures: Vec<&str> = signatures.split(' ').collect();
            assert_eq!(signatures.len(), count);
            for (key, signature) in keys.iter().zip(signatures) {
                let tag = STANDARD.decode(signature.strip_prefix("v1,").expect("a version")).expect("base64");
                assert!(hmac::verify(key, signed.as_bytes(), &tag).is_ok());
            }
        }
    }
}
