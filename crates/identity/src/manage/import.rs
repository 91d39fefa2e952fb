//! Import: members of another system with the password hashes they have there. Each password is hashed again
//! at its first sign-in.

use crate::{
    Core, Identity, audit,
    community::setting::Privacy,
    member::{
        Member, Status,
        access::MemberWrite,
        profile::{self, Profile},
        row,
        validator::{LAST_MILLI, ValueType},
    },
    password::can_import,
};
use serde_json::Value;
use stoa_kernel::{Caller, Code, Email, Fault, MemberId, Millis, Result, SiteId, Violation, date};
use stoa_store::{Site, Tx, boxed};

/// Members that one transaction takes.
pub const AT_ONCE: usize = 500;

/// A member on the way in, checked.
#[derive(Debug, Clone)]
pub struct ImportedMember {
    id: Option<MemberId>,
    email: Email,
    is_verified: bool,
    hash: Option<String>,
    must_reset: bool,
    status: Status,
    profile: Profile,
    created: Option<Millis>,
}

impl ImportedMember {
    /// Reads `{email, id?, emailVerified?, passwordHash?, passwordReset?, status?, createdDate?, profile?}`. Members of
    /// the profile may also stand beside the address, as the columns of a table do.
    ///
    /// # Errors
    /// [`Code::Validation`].
    pub fn parse(sent: &Value) -> Result<Self> {
        let mut read = Reader { sent, wrong: Vec::new() };
        let email = read.text(&["email", "loginEmail"]).as_deref().and_then(Email::parse);
        if email.is_none() {
            read.refuse("email", "an email address is expected");
        }
        let hash = read.text(&["passwordHash", "password_hash"]);
        if hash.as_deref().is_some_and(|it| !can_import(it)) {
            read.refuse("passwordHash", "the hash has an unknown form or costs too much");
        }
        let id = read.text_or_number(&["id", "_id"]);
        if id.as_deref().is_some_and(|it| !is_id(it)) {
            read.refuse("id", "an id has at most 100 characters, none of which an address has a use for");
        }
        let (status, created, profile) = (read.status(), read.created(), read.profile());
        let (is_verified, must_reset) = (read.flag("emailVerified"), read.flag("passwordReset"));
        match email {
            Some(email) if read.wrong.is_empty() => {
                Ok(Self { id: id.map(MemberId::from), email, is_verified, hash, must_reset, status, profile, created })
            }
            _ => Err(Fault::invalid(read.wrong)),
        }
    }
}

/// Reads members of an object, and keeps in mind what is wrong with them. Null and empty text count as absent.
struct Reader<'s> {
    sent: &'s Value,
    wrong: Vec<Violation>,
}

impl<'s> Reader<'s> {
    /// The first of some names that is there.
    fn find(&self, names: &[&'static str]) -> Option<(&'static str, &'s Value)> {
        let is_there = |it: &Value| !it.is_null() && it.as_str().is_none_or(|it| !it.trim().is_empty());
        names.iter().map(|it| (*it, &self.sent[*it])).find(|it| is_there(it.1))
    }

    fn refuse(&mut self, name: &str, why: &str) {
        self.wrong.push(Violation::new(name, "FORMAT", why));
    }

    fn text(&mut self, names: &[&'static str]) -> Option<String> {
        let (name, value) = self.find(names)?;
        let text = value.as_str().map(|it| it.trim().to_owned());
        if text.is_none() {
            self.refuse(name, "text is expected");
        }
        text
    }

    fn text_or_number(&mut self, names: &[&'static str]) -> Option<String> {
        match self.find(names)?.1 {
            Value::Number(number) if number.is_i64() || number.is_u64() => Some(number.to_string()),
            _ => self.text(names),
        }
    }

    fn flag(&mut self, name: &'static str) -> bool {
        let Some((_, value)) = self.find(&[name]) else { return false };
        let flag = as_flag(value);
        if flag.is_none() {
            self.refuse(name, "true or false is expected");
        }
        flag.unwrap_or_default()
    }

    fn status(&mut self) -> Status {
        match self.text(&["status"]).as_deref() {
            None | Some("ACTIVE" | "APPROVED") => Status::Active,
            Some("BLOCKED") => Status::Blocked,
            Some("OFFLINE") => Status::Offline,
            Some(_) => {
                let why = "ACTIVE, BLOCKED or OFFLINE is expected";
                self.wrong.push(Violation::new("status", "INVALID_ENUM_VALUE", why));
                Status::Active
            }
        }
    }

    fn created(&mut self) -> Option<Millis> {
        let (name, value) = self.find(&["createdDate"])?;
        let millis = match value {
            Value::String(text) => date::parse(text.trim()),
            value => value.as_i64().filter(|it| it.abs() <= LAST_MILLI),
        };
        if millis.is_none() {
            self.refuse(name, "a date like 2024-03-05T06:07:08.009Z or milliseconds are expected");
        }
        millis
    }

    fn profile(&mut self) -> Profile {
        let mut object = self.sent.get("profile").cloned().unwrap_or_else(|| Value::Object(Default::default()));
        if let Value::Object(object) = &mut object {
            for (name, value_type) in profile::MEMBERS {
                if let Some((_, value)) = self.find(&[*name]) {
                    object.entry(*name).or_insert_with(|| cell(*value_type, value));
                }
            }
        }
        Profile::parse(&object, "profile").unwrap_or_else(|violations| {
            self.wrong.extend(violations);
            Profile::default()
        })
    }
}

/// What stands in a column of a table: what isn't text is written as JSON there.
fn cell(value_type: ValueType, value: &Value) -> Value {
    let Value::String(text) = value else { return value.clone() };
    match value_type {
        ValueType::Text(_) | ValueType::WebAddress(_) | ValueType::Slug | ValueType::OneOf(_) | ValueType::Date => {
            text.trim().into()
        }
        ValueType::Flag => as_flag(value).map_or_else(|| value.clone(), Value::Bool),
        _ => serde_json::from_str(text).unwrap_or_else(|_| value.clone()),
    }
}

fn as_flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => number.as_u64().filter(|it| *it <= 1).map(|it| it == 1),
        Value::String(text) => match text.trim() {
            "0" => Some(false),
            "1" => Some(true),
            text if text.eq_ignore_ascii_case("true") => Some(true),
            text if text.eq_ignore_ascii_case("false") => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a member can have this id: it stands in addresses of calls, where some words mean others.
fn is_id(id: &str) -> bool {
    let is_fit = |it: char| it.is_alphanumeric() || "-._~|:@+=".contains(it);
    id.chars().count() <= 100 && id.chars().all(is_fit) && !["my", "query", ".", ".."].contains(&id)
}

/// What became of an imported member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportOutcome {
    New,
    /// A member with this address or id is there already, and stays as they are.
    Known,
    /// Another member has the slug.
    SlugTaken,
    /// No member has the address, but one had it and can take it back (decision 58): the member was not taken over.
    AddressKept,
}

impl Identity {
    /// Takes members over, at most [`AT_ONCE`] in one transaction. An import that was broken off may be
    /// started again: who is there already stays.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app or owner; [`Code::TooMany`].
    pub async fn member_import(
        &self,
        site: &Site,
        caller: &Caller,
        members: Vec<ImportedMember>,
    ) -> Result<Vec<ImportOutcome>> {
        let core = &self.core;
        let write = MemberWrite::privileged(caller)?;
        if members.len() > AT_ONCE {
            return Err(Fault::new(Code::TooMany));
        }
        site.write_with(
            (core.clone(), write, site.id.clone(), caller.clone(), members),
            |tx, (core, write, site, caller, members)| {
                boxed!({
                    let (mut outcomes, mut made) = (Vec::with_capacity(members.len()), Vec::new());
                    let privacy = Privacy::read(tx, site).await?;
                    for imported in members {
                        let mut member = imported.member(core);
                        let is_known = imported.id.is_some() && row::get(tx, site, &member.id).await?.is_some();
                        privacy.begin(&mut member);
                        let outcome = match is_known {
                            true => ImportOutcome::Known,
                            false => insert(tx, write, site, &mut member, &imported.email).await?,
                        };
                        if outcome == ImportOutcome::New {
                            let entry = audit::Entry::by(caller, audit::Event::Imported, &member.id);
                            audit::record(core, tx, site, entry).await?;
                            made.push(member);
                        }
                        outcomes.push(outcome);
                    }
                    row::tell_created(tx, write, site, &made.iter().collect::<Vec<_>>()).await?;
                    Ok(outcomes)
                })
            },
        )
        .await
    }
}

impl ImportedMember {
    fn member(&self, core: &Core) -> Member {
        let id = self.id.clone().unwrap_or_else(|| MemberId::from(core.world().uuid()));
        let mut member = Member::new(id, self.email.as_str(), self.profile.clone(), core.now());
        member.created = self.created.unwrap_or(member.created);
        member.email_verified = self.is_verified;
        (member.status, member.password_hash) = (self.status, self.hash.clone());
        member.must_reset = self.must_reset;
        member
    }
}

async fn insert(
    tx: &mut Tx<'_>,
    write: &MemberWrite,
    site: &SiteId,
    member: &mut Member,
    email: &Email,
) -> Result<ImportOutcome> {
    match row::insert_untold(tx, write, site, member, email).await {
        Ok(true) => Ok(ImportOutcome::New),
        Ok(false) => match row::by_email(tx, site, email).await? {
            Some(_) => Ok(ImportOutcome::Known),
            None => Ok(ImportOutcome::AddressKept),
        },
        Err(fault) if fault.code() == Code::SlugTaken => match row::by_email(tx, site, email).await? {
            // Their own slug, from an import before.
            Some(_) => Ok(ImportOutcome::Known),
            None => Ok(ImportOutcome::SlugTaken),
        },
        Err(fault) => Err(fault),
    }
}
