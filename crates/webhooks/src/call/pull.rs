//! Events as they would be sent, read instead of received: for a receiver that no address leads to, such as one on the
//! machine of a developer (`stoa webhook listen`). Who reads keeps the place.

use crate::{
    Core, Webhooks,
    access::{Hearing, Reaches},
    endpoint::{
        Format,
        manage::{app, unheard},
        types,
        wish::Fields,
    },
    message::{
        Message,
        envelope::{Maker, Signatory},
        source::{Heard, piece},
    },
};
use serde_json::{Value, json};
use std::time::Duration;
use stoa_kernel::{Caller, ClientId, Fault, Millis, Result, Right, Violation, clock::elapsing};
use stoa_store::{
    Site,
    outbox::{Entry, Read, Token},
};

/// Messages of one answer, and their bytes.
const MOST: usize = 100;
const BYTES: usize = 4 << 20;
/// The longest wait for the first, in milliseconds.
const LONGEST: u64 = 20_000;
/// Rows that are read at once, and items of one that are made events of.
const ROWS: usize = 50;
const PIECE: (usize, usize) = (16, 256 << 10);
const MAX_BYTES: usize = 96 * 1024;

/// What is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pull {
    pub(crate) app: ClientId,
    pub(crate) types: Vec<String>,
    pub(crate) collections: Option<Vec<String>>,
    pub(crate) format: Format,
    /// [`Pulled::token`] of the answer before; what comes from now on without.
    pub(crate) after: Option<Token>,
    pub(crate) limit: usize,
    /// How long to wait for the first event.
    pub(crate) wait: Millis,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pulled {
    pub messages: Vec<Message>,
    /// Where to go on.
    pub token: String,
    /// Why events are missing before these, if some are: `epoch` or `floor`.
    pub gap: Option<&'static str>,
}

impl Pulled {
    /// `{"messages": [{"id", "type", "entityId", "headers", "body"}], "token", "gap"?}`.
    pub fn to_json(&self) -> Value {
        let messages: Vec<Value> = self.messages.iter().map(Message::to_json).collect();
        let mut view = json!({ "messages": messages, "token": self.token });
        if let Some(gap) = self.gap {
            view["gap"] = json!(gap);
        }
        view
    }
}

const NAMES: [&str; 7] = ["appId", "types", "collections", "format", "after", "limit", "waitMs"];

impl Pull {
    /// Reads a body: `{"appId", "types", "collections"?, "format"?, "after"?, "limit"? (1 to 100), "waitMs"? (up to
    /// 20000)}`.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Validation`] with all that is wrong.
    pub fn parse(body: &Value) -> Result<Self> {
        let mut fields = Fields::of(body, "a pull", &NAMES)?;
        let app = fields.app();
        let types = fields.required_types();
        let collections = fields.collections();
        let format = fields.format();
        let after = fields.text("after").map(Token::parse);
        if after == Some(None) {
            fields.add("after", "FORMAT", "the token of an answer before is expected");
        }
        let limit = fields.number("limit", 1..=MOST as u64);
        let wait = fields.number("waitMs", 0..=LONGEST);
        fields.refuse()?;
        let missing = || Fault::internal("a member is missing that was not told of");
        Ok(Self {
            app: app.ok_or_else(missing)?,
            types: types.ok_or_else(missing)?,
            collections: collections.flatten(),
            format: format.unwrap_or(Format::Jwt),
            after: after.flatten(),
            limit: limit.and_then(|it| usize::try_from(it).ok()).unwrap_or(MOST),
            wait: wait.and_then(|it| Millis::try_from(it).ok()).unwrap_or_default(),
        })
    }
}

impl Webhooks {
    /// The next events, as messages that are signed now; those of the format `standard` are not: there is no endpoint that
    /// has a secret. Where many rows tell of other things, there may be no message although more follows behind the token.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Forbidden`] and [`stoa_kernel::Code::ScopeMissing`]; [`stoa_kernel::Code::Validation`] for an
    /// application that there isn't, or that the caller may not read for; [`stoa_kernel::Code::NotFound`] when it has no
    /// active key and the format needs one.
    pub async fn pull(&self, site: &Site, caller: &Caller, pull: Pull) -> Result<Pulled> {
        let core = &self.core;
        let reaches = Reaches::of(caller, Right::Read)?;
        let heard = heard(core, site, &reaches, &pull).await?;
        let (site_id, secrets) = (site.id.clone(), Vec::new());
        let maker = Maker { site: site_id, app: pull.app, format: pull.format, max_bytes: MAX_BYTES, secrets };
        let by = maker.signatory(core).await?;
        // Before it is read, so that nothing is missed between reading and waiting.
        let (mut news, began) = (site.outbox().news(), elapsing());
        let token = match pull.after {
            Some(token) => token,
            None => site.outbox().end().await?,
        };
        let mut reading =
            Reading { core, site, heard, token, gap: None, limit: pull.limit, events: Vec::new(), bytes: 0 };
        loop {
            let is_end = reading.read().await?;
            let passed = elapsing() - began;
            let left = pull.wait - passed;
            // The log may be long, and none of it meant for who asks.
            let is_late = left <= 0 && (is_end || passed >= core.times.reading);
            if !reading.events.is_empty() || reading.gap.is_some() || is_late {
                break;
            }
            if is_end {
                news.wait(Duration::from_millis(left.unsigned_abs().min(1_000))).await;
            }
        }
        let Reading { events, token, gap, .. } = reading;
        Ok(Pulled { messages: sign(core, site, maker, by, events).await?, token: token.to_string(), gap })
    }
}

async fn heard(core: &Core, site: &Site, reaches: &Reaches, pull: &Pull) -> Result<Heard> {
    let refuse = |field: &str, why: &str| Fault::invalid(vec![Violation::new(field, "FORMAT", why)]);
    let app = app(core, &site.id, &pull.app).await?.filter(|it| reaches.includes(&it.id));
    let app = app.ok_or_else(|| refuse("appId", "an application of the site, or the caller's own, is expected"))?;
    let hearing = Hearing::of(reaches.scopes(), &app);
    if let Some(why) = unheard(&hearing, &pull.types, pull.collections.as_deref()) {
        return Err(refuse("types", &why));
    }
    Ok(Heard { types: pull.types.clone(), collections: pull.collections.clone(), hearing })
}

/// Signs on the threads for it.
async fn sign(
    core: &Core,
    site: &Site,
    maker: Maker,
    by: Signatory,
    events: Vec<crate::message::event::Event>,
) -> Result<Vec<Message>> {
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let (lanes, now) = (core.lanes()?, core.world.now());
    let turn = lanes.turn(&site.id).await;
    let signing = async move { events.iter().map(|it| maker.message(it, &by, now, false)).collect() };
    turn.run(signing).await?
}

struct Reading<'r> {
    core: &'r Core,
    site: &'r Site,
    heard: Heard,
    token: Token,
    gap: Option<&'static str>,
    limit: usize,
    events: Vec<crate::message::event::Event>,
    bytes: usize,
}

impl Reading<'_> {
    /// Reads on; whether there is nothing more at the moment.
    async fn read(&mut self) -> Result<bool> {
        let kinds: Vec<&str> = types::kinds(&self.heard.types).iter().map(|it| it.name()).collect();
        let batch = match self.site.outbox().resume(&self.token, &kinds, ROWS).await? {
            Read::Batch(batch) => batch,
            Read::Gap(gap) => {
                self.gap = Some(gap.reason.name());
                let epoch = self.site.outbox().end().await?.epoch;
                self.token = Token { epoch, position: gap.oldest, delivered: None };
                return Ok(false);
            }
        };
        for row in &batch.entries {
            if !self.row(row).await? {
                return Ok(true);
            }
        }
        self.token = Token { position: batch.end.max(self.token.position), delivered: None, ..self.token.clone() };
        Ok(batch.is_last || self.is_full())
    }

    /// Takes the events of a row. `false`: there is no room for all of them.
    async fn row(&mut self, row: &Entry) -> Result<bool> {
        let mut next = self.token.skip(row.position());
        loop {
            if self.is_full() {
                let delivered = Some(u32::try_from(next).map_err(Fault::internal)?);
                self.token = Token { position: row.position(), delivered, ..self.token.clone() };
                return Ok(false);
            }
            let room = (PIECE.0.min(self.limit - self.events.len()), PIECE.1);
            let piece = piece(self.core, self.site, &self.heard, row, (next, room)).await?;
            // Rows about people are made in one piece.
            let mut events = piece.events;
            events.retain(|it| it.place >= next);
            let is_cut = events.len() > self.limit - self.events.len();
            events.truncate(self.limit - self.events.len());
            next = match events.last() {
                Some(last) if is_cut => last.place + 1,
                _ => piece.next,
            };
            self.bytes += events.iter().map(|it| it.size()).sum::<usize>();
            self.events.extend(events);
            if piece.is_last && !is_cut {
                self.token = Token { position: row.position(), delivered: None, ..self.token.clone() };
                return Ok(true);
            }
        }
    }

    fn is_full(&self) -> bool {
        self.events.len() >= self.limit || self.bytes >= BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stoa_kernel::Code;

    #[test]
    fn pull_is_read_strictly() {
        let pull = Pull::parse(&json!({ "appId": "a", "types": ["AppRemoved"], "waitMs": 20_000 })).expect("a pull");
        assert_eq!((pull.limit, pull.wait, pull.format), (100, 20_000, Format::Jwt));
        let fault = Pull::parse(&json!({ "types": ["x"], "after": "y", "limit": 101, "url": "z" })).expect_err("wrong");
        let wrong: Vec<_> = fault.violations().iter().map(|it| it.field.as_str()).collect();
        assert_eq!(wrong, ["url", "appId", "types[0]", "after", "limit"]);
        assert_eq!(fault.code(), Code::Validation);
    }
}
