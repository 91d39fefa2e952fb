//! What the members API makes and changes: accounts without a password, profiles, slugs, silence.

use crate::{
    Core, Identity, audit,
    community::privacy,
    mail::{self, notice},
    member::{
        self, Member, Status, contact, is_there,
        profile::{Profile, has_nul},
        row,
        show::Privacy,
    },
    sign_in::recovery,
};
use serde_json::{Map, Value};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Email, Fault, MemberId, Result, Violation};
use stoa_store::{Site, boxed};

/// A change of what a member shows; null removes.
#[derive(Debug, Clone, Default)]
pub struct MemberChange {
    /// By the names of IdentityProfile (identity.md 10.3).
    pub profile: Map<String, Value>,
    /// Phones, emails, addresses and custom fields of the contact, as [`Member::contact`] shows them.
    pub contact: Map<String, Value>,
    /// Photo, cover, title.
    pub card: Map<String, Value>,
}

impl MemberChange {
    /// # Errors
    /// [`Code::Validation`], with paths in a `member` of the members API.
    fn check(self) -> Result<Checked> {
        let mut wrong = contact::violations(&self.contact, "member.contact");
        for (name, value) in &self.card {
            if has_nul(value) {
                let path = format!("member.profile.{name}");
                wrong.push(Violation::new(path, "FORMAT", "text can't hold U+0000"));
            }
        }
        if Value::Object(self.card.clone()).to_string().len() > 16 * 1024 {
            wrong.push(Violation::new("member.profile", "MAX_LENGTH", "the profile is too large"));
        }
        let profile = Profile::parse(&Value::Object(self.profile.clone()), "").unwrap_or_else(|it| {
            wrong.extend(it.into_iter().map(|it| {
                let path = it.field.strip_prefix('.').map(|it| format!(".{}", contact::path(it)));
                Violation { field: format!("member{}", path.unwrap_or_default()), ..it }
            }));
            Profile::default()
        });
        match wrong.is_empty() {
            true => Ok(Checked { profile, change: self }),
            false => Err(Fault::invalid(wrong)),
        }
    }
}

/// A change that can be made.
#[derive(Debug, Clone)]
struct Checked {
    /// What the change sets of the profile.
    profile: Profile,
    change: MemberChange,
}

impl Checked {
    fn goes_public(&self) -> bool {
        self.profile.text("privacyStatus") == Some("PUBLIC")
    }

    /// Makes the change. Whoever writes back what was read changes nothing: what is shown in place of something
    /// that is not there does not come to be there.
    fn apply(&self, member: &mut Member, id: impl FnMut() -> String) {
        let (name, photo) = (member.shown_name(), member.shown_photo());
        let privacy = if member.is_public { "PUBLIC" } else { "PRIVATE" };
        let is_photo_shown = self.change.card.get("photo").is_some_and(|it| Some(it) == photo.as_ref());
        for (key, value) in &self.change.profile {
            let is_shown = match key.as_str() {
                "nickname" => value.as_str() == name.as_deref(),
                "privacyStatus" => value == privacy,
                "picture" => is_photo_shown,
                _ => false,
            };
            match self.profile.0.get(key) {
                _ if is_shown => {}
                Some(value) => drop(member.profile.0.insert(key.clone(), value.clone())),
                None => drop(member.profile.0.remove(key)),
            }
        }
        for (key, value) in &self.change.card {
            match value {
                _ if key == "photo" && is_photo_shown => {}
                Value::Null => drop(member.card.remove(key)),
                value => drop(member.card.insert(key.clone(), value.clone())),
            }
        }
        contact::merge(member, &self.change.contact, id);
    }
}

/// Whether a text can stand in an address as a member's slug.
pub fn slug_fits(slug: &str) -> bool {
    let is_fit = |it: char| it.is_alphanumeric() || "-_.".contains(it);
    !slug.is_empty() && slug.chars().count() <= 255 && slug.chars().all(is_fit) && ![".", ".."].contains(&slug)
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
        change: MemberChange,
    ) -> Result<Member> {
        let core = &self.core;
        if !caller.is_privileged() {
            return Err(Fault::new(Code::Forbidden));
        }
        let email = Email::parse(email).ok_or_else(|| {
            let why = "the email address is not valid";
            Fault::invalid(vec![Violation::new("member.loginEmail", "FORMAT", why).with("type", "EMAIL")])
        })?;
        let change = change.check()?;
        let (me, site_id, caller) = (core.clone(), site.id.clone(), caller.clone());
        site.write(move |tx| {
            let (me, site, caller) = (me.clone(), site_id.clone(), caller.clone());
            let (email, change) = (email.clone(), change.clone());
            boxed!({
                let id = MemberId::from(me.world().uuid());
                let mut member = Member::new(id, email.as_str(), Profile::default(), me.now());
                member.status = Status::Active;
                Privacy::read(tx, &site).await?.begin(&mut member);
                change.apply(&mut member, || me.world().uuid());
                if change.goes_public() && !privacy::may_be_public(tx, &site).await? {
                    return Err(Fault::new(Code::CommunityClosed));
                }
                member.fits_beside(&Profile::default(), "member")?;
                if !row::insert(tx, &site, &mut member, &email).await? {
                    return Err(Fault::new(Code::EmailTaken));
                }
                audit::note(&me, tx, &site, audit::Entry::by(&caller, audit::Event::Created, &member.id)).await?;
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
        change: MemberChange,
    ) -> Result<Member> {
        let core = &self.core;
        let change = change.check()?;
        let (me, goes_public) = (core.clone(), change.goes_public());
        edit(core, site, caller, id, goes_public, move |member| change.apply(member, || me.world().uuid())).await
    }

    /// Silences a member, or lets the member speak again.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app or owner; [`Code::NotFound`].
    pub async fn member_mute(&self, site: &Site, caller: &Caller, id: &MemberId, muted: bool) -> Result<Member> {
        let core = &self.core;
        if !caller.is_privileged() {
            return Err(Fault::new(Code::Forbidden));
        }
        edit(core, site, caller, id, false, move |member| member.muted = muted).await
    }

    /// Shows the calling member to others (`join-community`), or to nobody any more.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member; [`Code::CommunityClosed`].
    pub async fn member_show(&self, site: &Site, caller: &Caller, shown: bool) -> Result<Member> {
        let core = &self.core;
        let Caller::Member { id, .. } = caller else { return Err(Fault::new(Code::Forbidden)) };
        edit(core, site, caller, id, shown, move |member| {
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
        let core = &self.core;
        edit(core, site, caller, id, false, move |member| {
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
        let core = &self.core;
        if !caller.is_privileged() {
            return Err(Fault::new(Code::Forbidden));
        }
        let email = Email::parse(email).ok_or_else(|| {
            Fault::invalid(vec![
                Violation::new("newEmail", "FORMAT", "the email address is not valid").with("type", "EMAIL"),
            ])
        })?;
        if member::find_by_email(site, &email).await?.is_some_and(|it| it.id != *id) {
            return Err(Fault::new(Code::EmailTaken));
        }
        edit(core, site, caller, id, false, move |member| {
            member.email_verified &= Email::parse(&member.email).is_some_and(|it| it == email);
            member.email = email.as_str().to_owned();
        })
        .await
    }
}

async fn edit(
    core: &Arc<Core>,
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
    let (me, site_id, id, caller) = (core.clone(), site.id.clone(), id.clone(), caller.clone());
    let edit = Arc::new(edit);
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
                let (before, profile) = (member.email.clone(), member.profile.clone());
                edit(&mut member);
                member.fits_beside(&profile, "member")?;
                row::update(tx, &site, &mut member, me.now()).await?;
                if Email::parse(&before).is_some_and(|it| Email::parse(&member.email) != Some(it)) {
                    recovery::links_end(tx, &site, &member.id, me.now()).await?;
                    notice::email_changed(&me, tx, &site, &member, &before).await?;
                }
                audit::note(&me, tx, &site, audit::Entry::by(&caller, audit::Event::Changed, &member.id)).await?;
                Ok(member)
            })
        })
        .await;
    mail::soon(core, &site.id).await;
    edited
}
