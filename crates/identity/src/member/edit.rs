//! What the members API makes and changes: accounts without a password, profiles, slugs, silence.

use super::{Member, MemberFilter, Move, Status, is_there, row};
use crate::{Identity, audit, community::privacy, notice, profile::Profile, recovery};
use serde_json::{Map, Value};
use stoa_kernel::{Caller, Code, Email, Fault, MemberId, Result, Violation};
use stoa_store::{Site, boxed};

/// Members that one call by filter reaches.
const BY_FILTER: u32 = 1_000;

/// A change of what a member shows; null removes.
#[derive(Debug, Clone, Default)]
pub struct MemberChange {
    /// By the names of IdentityProfile (identity.md 10.3).
    pub profile: Map<String, Value>,
    /// Photo, cover, title.
    pub card: Map<String, Value>,
}

impl MemberChange {
    /// # Errors
    /// [`Code::Validation`].
    fn check(&self) -> Result<(Profile, Vec<String>)> {
        let profile = Profile::parse(&Value::Object(self.profile.clone()), "member").map_err(Fault::invalid)?;
        if Value::Object(self.card.clone()).to_string().len() > 16 * 1024 {
            return Err(Fault::invalid(vec![Violation::new(
                "member.profile",
                "MAX_LENGTH",
                "the profile is too large",
            )]));
        }
        let gone = self.profile.iter().filter(|it| it.1.is_null()).map(|it| it.0.clone()).collect();
        Ok((profile, gone))
    }
}

/// Whether a text can stand in an address as a member's slug.
pub fn slug_fits(slug: &str) -> bool {
    let is_fit = |it: char| it.is_alphanumeric() || "-_.".contains(it);
    !slug.is_empty() && slug.chars().count() <= 255 && slug.chars().all(is_fit)
}

impl Identity {
    /// Makes an account without a password, open at once: its owner sets one by a link.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app or owner; [`Code::Validation`];
    /// [`Code::EmailTaken`]; [`Code::SlugTaken`]; [`Code::CommunityClosed`] as in [`Identity::member_change`].
    pub async fn member_create(
        &self,
        site: &Site,
        caller: &Caller,
        email: &str,
        change: &MemberChange,
    ) -> Result<Member> {
        if !caller.is_privileged() {
            return Err(Fault::new(Code::Forbidden));
        }
        let email = Email::parse(email).ok_or_else(|| {
            let why = "the email address is not valid";
            Fault::invalid(vec![Violation::new("member.loginEmail", "FORMAT", why).with("type", "EMAIL")])
        })?;
        let (profile, _) = change.check()?;
        let goes_public = profile.text("privacyStatus") == Some("PUBLIC");
        let (me, site_id, caller, card) = (self.clone(), site.id.clone(), caller.clone(), change.card.clone());
        site.write(move |tx| {
            let (me, site, caller, card) = (me.clone(), site_id.clone(), caller.clone(), card.clone());
            let (email, profile) = (email.clone(), profile.clone());
            boxed!({
                let id = MemberId::from(me.world().uuid());
                let mut member = Member::new(id, email.as_str(), profile, me.now());
                member.card = card;
                member.status = Status::Active;
                member.is_public = privacy::is_public_by_default(tx, &site).await?;
                if goes_public && !privacy::may_be_public(tx, &site).await? {
                    return Err(Fault::new(Code::CommunityClosed));
                }
                if !row::insert(tx, &site, &mut member, &email).await? {
                    return Err(Fault::new(Code::EmailTaken));
                }
                audit::note(&me, tx, &site, audit::Event::Created, &caller, Some(&member.id), None).await?;
                Ok(member)
            })
        })
        .await
    }

    /// Changes what a member shows.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is the member, an app or owner; [`Code::NotFound`];
    /// [`Code::Validation`]; [`Code::SlugTaken`]; [`Code::CommunityClosed`] when the site lets nobody
    /// show themselves.
    pub async fn member_change(
        &self,
        site: &Site,
        caller: &Caller,
        id: &MemberId,
        change: &MemberChange,
    ) -> Result<Member> {
        let (profile, gone) = change.check()?;
        let card = change.card.clone();
        let goes_public = profile.text("privacyStatus") == Some("PUBLIC");
        self.member_edit(site, caller, id, goes_public, move |member| {
            for name in &gone {
                member.profile.0.remove(name);
            }
            member.profile.merge(profile.clone());
            for (name, value) in &card {
                match value {
                    Value::Null => member.card.remove(name),
                    value => member.card.insert(name.clone(), value.clone()),
                };
            }
        })
        .await
    }

    /// Silences a member, or lets the member speak again.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app or owner; [`Code::NotFound`].
    pub async fn member_mute(&self, site: &Site, caller: &Caller, id: &MemberId, muted: bool) -> Result<Member> {
        if !caller.is_privileged() {
            return Err(Fault::new(Code::Forbidden));
        }
        self.member_edit(site, caller, id, false, move |member| member.muted = muted).await
    }

    /// Shows the calling member to others (`join-community`), or to nobody any more.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member; [`Code::CommunityClosed`].
    pub async fn member_show(&self, site: &Site, caller: &Caller, shown: bool) -> Result<Member> {
        let Caller::Member { id, .. } = caller else { return Err(Fault::new(Code::Forbidden)) };
        self.member_edit(site, caller, id, shown, move |member| {
            let word = if shown { "PUBLIC" } else { "PRIVATE" };
            member.profile.0.insert("privacyStatus".to_owned(), word.into());
        })
        .await
    }

    /// Removes lists of the profile, for example all phones.
    ///
    /// # Errors
    /// As [`Identity::member_change`].
    pub async fn member_clear(
        &self,
        site: &Site,
        caller: &Caller,
        id: &MemberId,
        lists: &'static [&'static str],
    ) -> Result<Member> {
        self.member_edit(site, caller, id, false, move |member| {
            lists.iter().for_each(|it| drop(member.profile.0.remove(*it)));
        })
        .await
    }

    /// Gives a member another address to sign in with. It counts as not verified.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app or owner; [`Code::NotFound`]; [`Code::Validation`];
    /// [`Code::EmailTaken`].
    pub async fn member_change_email(
        &self,
        site: &Site,
        caller: &Caller,
        id: &MemberId,
        email: &str,
    ) -> Result<Member> {
        if !caller.is_privileged() {
            return Err(Fault::new(Code::Forbidden));
        }
        let email = Email::parse(email).ok_or_else(|| {
            Fault::invalid(vec![
                Violation::new("newEmail", "FORMAT", "the email address is not valid").with("type", "EMAIL"),
            ])
        })?;
        if self.member_by_email(site, &email).await?.is_some_and(|it| it.id != *id) {
            return Err(Fault::new(Code::EmailTaken));
        }
        self.member_edit(site, caller, id, false, move |member| {
            member.email_verified &= Email::parse(&member.email).is_some_and(|it| it == email);
            member.email = email.as_str().to_owned();
        })
        .await
    }

    /// Makes a move with every member that a filter finds, at most [`BY_FILTER`] in one call; those whose
    /// status does not know it stay as they are. Answers how many moved.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app or owner.
    pub async fn members_move(&self, site: &Site, caller: &Caller, filter: &MemberFilter, step: Move) -> Result<usize> {
        if !caller.is_privileged() {
            return Err(Fault::new(Code::Forbidden));
        }
        let mut moved = 0;
        for id in self.member_ids(site, filter, BY_FILTER).await? {
            match self.member_move(site, caller, &id, step).await {
                Ok(_) => moved += 1,
                Err(fault) if matches!(fault.code(), Code::NotFound | Code::AlreadyExists) => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(moved)
    }

    async fn member_edit(
        &self,
        site: &Site,
        caller: &Caller,
        id: &MemberId,
        goes_public: bool,
        edit: impl Fn(&mut Member) + Send + Sync + 'static,
    ) -> Result<Member> {
        let is_self = matches!(caller, Caller::Member { id: it, .. } if it == id);
        if !is_self && !caller.is_privileged() {
            return Err(Fault::new(Code::Forbidden));
        }
        let (me, site_id, id, caller) = (self.clone(), site.id.clone(), id.clone(), caller.clone());
        let edit = std::sync::Arc::new(edit);
        let edited = site
            .write(move |tx| {
                let (me, site, id, caller) = (me.clone(), site_id.clone(), id.clone(), caller.clone());
                let edit = edit.clone();
                boxed!({
                    let member = row::get(tx, &site, &id).await?.filter(is_there);
                    let mut member = member.ok_or_else(|| Fault::new(Code::NotFound))?;
                    if goes_public && !member.is_public && !privacy::may_be_public(tx, &site).await? {
                        return Err(Fault::new(Code::CommunityClosed));
                    }
                    let before = member.email.clone();
                    edit(&mut member);
                    row::update(tx, &site, &mut member, me.now()).await?;
                    if Email::parse(&before).is_some_and(|it| Email::parse(&member.email) != Some(it)) {
                        recovery::links_end(tx, &site, &member.id, me.now()).await?;
                        notice::email_changed(&me, tx, &site, &member, &before).await?;
                    }
                    audit::note(&me, tx, &site, audit::Event::Changed, &caller, Some(&member.id), None).await?;
                    Ok(member)
                })
            })
            .await;
        self.mail_soon(&site.id).await;
        edited
    }
}
