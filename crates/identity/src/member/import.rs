//! Moving in: members of another system with the password hashes they have there. Each is hashed anew
//! at its first sign-in.

use super::{Member, Status, row};
use crate::{Identity, audit, password::can_import, profile::Profile};
use serde_json::Value;
use stoa_kernel::{Caller, Code, Email, Fault, MemberId, Millis, Result, Violation, clock::millis_from_iso};
use stoa_store::{Site, boxed};

/// Members that one transaction takes.
pub const AT_ONCE: usize = 500;

/// A member on the way in, checked.
#[derive(Debug, Clone)]
pub struct Arrival {
    id: Option<MemberId>,
    email: Email,
    is_verified: bool,
    hash: Option<String>,
    must_reset: bool,
    status: Status,
    profile: Profile,
    created: Option<Millis>,
}

impl Arrival {
    /// Reads `{email, id?, emailVerified?, passwordHash?, passwordReset?, status?, createdDate?, profile?}`. Members of
    /// the profile may also stand beside the address, as the columns of a table do.
    ///
    /// # Errors
    /// [`Code::Validation`].
    pub fn parse(sent: &Value) -> Result<Self> {
        let mut wrong = Vec::new();
        let text = |name: &str| sent[name].as_str().map(str::trim).filter(|it| !it.is_empty());
        let email = text("email").or(text("loginEmail")).and_then(Email::parse);
        if email.is_none() {
            wrong.push(Violation::new("email", "FORMAT", "an email address is expected"));
        }
        let hash = text("passwordHash").or(text("password_hash"));
        if hash.is_some_and(|it| !can_import(it)) {
            wrong.push(Violation::new("passwordHash", "FORMAT", "the hash has an unknown form or costs too much"));
        }
        let id = text("id").or(text("_id"));
        if id.is_some_and(|it| it.len() > 100 || it.contains('\0') || it.contains('/')) {
            wrong.push(Violation::new("id", "FORMAT", "an id has at most 100 characters and no slash"));
        }
        let status = match text("status") {
            None | Some("ACTIVE" | "APPROVED") => Status::Active,
            Some("BLOCKED") => Status::Blocked,
            Some("OFFLINE") => Status::Offline,
            Some(_) => {
                wrong.push(Violation::new("status", "INVALID_ENUM_VALUE", "ACTIVE, BLOCKED or OFFLINE is expected"));
                Status::Active
            }
        };
        let created = text("createdDate").map(millis_from_iso);
        if created == Some(None) {
            wrong.push(Violation::new("createdDate", "FORMAT", "a date like 2024-03-05T06:07:08.009Z is expected"));
        }
        let mut object = sent.get("profile").cloned().unwrap_or_else(|| Value::Object(Default::default()));
        if let Value::Object(object) = &mut object {
            for name in ["firstName", "lastName", "nickname", "slug", "language", "company", "picture", "privacyStatus"]
            {
                if let Some(value) = text(name) {
                    object.entry(name).or_insert_with(|| value.into());
                }
            }
        }
        let profile = Profile::parse(&object, "profile").unwrap_or_else(|it| {
            wrong.extend(it);
            Profile::default()
        });
        let flag = |name: &str| sent[name] == true || text(name).is_some_and(|it| it == "true" || it == "1");
        let is_verified = flag("emailVerified");
        match email {
            Some(email) if wrong.is_empty() => Ok(Self {
                id: id.map(MemberId::from),
                email,
                is_verified,
                hash: hash.map(str::to_owned),
                must_reset: flag("passwordReset"),
                status,
                profile,
                created: created.flatten(),
            }),
            _ => Err(Fault::invalid(wrong)),
        }
    }
}

/// What became of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrived {
    New,
    /// A member with this address or id is there already, and stays as they are.
    Known,
    /// Somebody else has the slug.
    SlugTaken,
}

impl Identity {
    /// Takes members over, at most [`AT_ONCE`] in one transaction. An import that was broken off may be
    /// started again: who is there already stays.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app or owner; [`Code::TooMany`].
    pub async fn member_import(&self, site: &Site, caller: &Caller, arrivals: Vec<Arrival>) -> Result<Vec<Arrived>> {
        if !caller.is_privileged() {
            return Err(Fault::new(Code::Forbidden));
        }
        if arrivals.len() > AT_ONCE {
            return Err(Fault::new(Code::TooMany));
        }
        let (me, site_id, caller) = (self.clone(), site.id.clone(), caller.clone());
        let arrivals = std::sync::Arc::new(arrivals);
        site.write(move |tx| {
            let (me, site, caller, arrivals) = (me.clone(), site_id.clone(), caller.clone(), arrivals.clone());
            boxed!({
                let mut outcomes = Vec::with_capacity(arrivals.len());
                for it in arrivals.iter() {
                    let id = it.id.clone().unwrap_or_else(|| MemberId::from(me.world().uuid()));
                    if it.id.is_some() && row::get(tx, &site, &id).await?.is_some() {
                        outcomes.push(Arrived::Known);
                        continue;
                    }
                    let mut member = Member::new(id, it.email.as_str(), it.profile.clone(), me.now());
                    member.created = it.created.unwrap_or(member.created);
                    member.email_verified = it.is_verified;
                    (member.status, member.password_hash) = (it.status, it.hash.clone());
                    member.must_reset = it.must_reset;
                    outcomes.push(match row::insert(tx, &site, &mut member, &it.email).await {
                        Ok(true) => {
                            let event = audit::Event::Imported;
                            audit::note(&me, tx, &site, event, &caller, Some(&member.id), None).await?;
                            Arrived::New
                        }
                        Ok(false) => Arrived::Known,
                        Err(fault) if fault.code() == Code::SlugTaken => {
                            match row::by_email(tx, &site, &it.email).await? {
                                // Their own slug, from an import before.
                                Some(_) => Arrived::Known,
                                None => Arrived::SlugTaken,
                            }
                        }
                        Err(fault) => return Err(fault),
                    });
                }
                Ok(outcomes)
            })
        })
        .await
    }
}
