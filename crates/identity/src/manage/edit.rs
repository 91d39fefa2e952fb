//! What the members API makes and changes: accounts without a password, profiles, slugs, silence.

use crate::{
    Core, Identity, audit,
    community::setting::Privacy,
    factor,
    mail::{self, notice},
    member::{
        Member, Status,
        access::MemberWrite,
        contact,
        profile::{PICTURE, Profile},
        row,
        validator::{Validator, has_nul},
    },
    sign_in::{link, recovery},
};
use serde_json::{Map, Value};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Email, Fault, Faults, MemberId, Result, Violation};
use stoa_store::{Site, boxed};

/// A change of what a member shows; null removes.
#[derive(Debug, Clone, Default)]
pub struct MemberChange {
    /// By the names of IdentityProfile (docs/protocol/identity.md §10.3).
    pub profile: Map<String, Value>,
    /// Phones, emails, addresses and custom fields of the contact, as [`Member::contact`] shows them.
    pub contact: Map<String, Value>,
    /// Photo, cover, title.
    pub card: Map<String, Value>,
    /// What is wrong with the form of the request, told with everything else.
    pub violations: Vec<Violation>,
}

impl MemberChange {
    /// # Errors
    /// [`Code::Validation`], with paths in a `member` of the members API.
    fn check(self) -> Result<Checked> {
        let mut wrong = self.violations.clone();
        wrong.extend(contact::violations(&self.contact, "member.contact"));
        for (name, value) in &self.card {
            let (fits, expected) = match name.as_str() {
                "title" => (value.is_string(), "text is expected"),
                _ => (value.is_object(), "an object is expected"),
            };
            let why = match value {
                Value::Null => continue,
                _ if !fits => expected,
                _ if has_nul(value) => "text can't hold U+0000",
                _ => continue,
            };
            wrong.push(Violation::new(format!("member.profile.{name}"), "FORMAT", why));
        }
        // The photo's address is the picture of the profile, which is checked below.
        if let Some(url) = self.card.get("cover").and_then(|it| it.get("url")).filter(|it| !it.is_null()) {
            let mut validator = Validator(Vec::new());
            validator.web_address(url, "member.profile.cover.url", PICTURE);
            wrong.extend(validator.0);
        }
        if Value::Object(self.card.clone()).to_string().len() > 16 * 1024 {
            wrong.push(Violation::new("member.profile", "MAX_LENGTH", "the profile is too large"));
        }
        let profile = Profile::parse(&Value::Object(self.profile.clone()), "").unwrap_or_else(|violations| {
            wrong.extend(violations.into_iter().map(|violation| {
                let path = violation.field.strip_prefix('.').map(|it| format!(".{}", contact::path(it)));
                Violation { field: format!("member{}", path.unwrap_or_default()), ..violation }
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

    /// Makes the change. Writing back what was read changes nothing: what is shown in place of something
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
        let write = MemberWrite::privileged(caller)?;
        let (email, change) = Faults::both(parse_email(email, "member.loginEmail"), change.check())?;
        site.write_with(
            (core.clone(), write, site.id.clone(), caller.clone(), email, change),
            |tx, (core, write, site, caller, email, change)| {
                boxed!({
                    let id = MemberId::from(core.world().uuid());
                    let mut member = Member::new(id, email.as_str(), Profile::default(), core.now());
                    member.status = Status::Active;
                    let privacy = Privacy::read(tx, site).await?;
                    privacy.begin(&mut member);
                    change.apply(&mut member, || core.world().uuid());
                    if change.goes_public() && !privacy.may_be_public {
                        return Err(Fault::new(Code::CommunityClosed));
                    }
                    member.fits_beside(&Profile::default(), "member")?;
                    if !row::insert(tx, write, site, &mut member, email).await? {
                        return Err(Fault::new(Code::EmailTaken));
                    }
                    audit::record(core, tx, site, audit::Entry::by(caller, audit::Event::Created, &member.id)).await?;
                    Ok(member)
                })
            },
        )
        .await
    }

    /// Changes what a member shows.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is the member, an app or owner; [`Code::NotFound`];
    /// [`Code::Validation`]; [`Code::SlugTaken`]; [`Code::CommunityClosed`] when the site lets no member
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
        let write = MemberWrite::of(caller, id)?;
        let (world, goes_public) = (core.world().clone(), change.goes_public());
        let apply = move |member: &mut Member| change.apply(member, || world.uuid());
        edit(core, site, Edit { write, caller, id, goes_public }, apply).await
    }

    /// Silences a member, or lets the member speak again.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app or owner; [`Code::NotFound`].
    pub async fn member_mute(&self, site: &Site, caller: &Caller, id: &MemberId, muted: bool) -> Result<Member> {
        let core = &self.core;
        let edited = Edit { write: MemberWrite::privileged(caller)?, caller, id, goes_public: false };
        edit(core, site, edited, move |member| member.muted = muted).await
    }

    /// Shows the calling member to others (`join-community`), or hides them.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member; [`Code::CommunityClosed`].
    pub async fn member_show(&self, site: &Site, caller: &Caller, shown: bool) -> Result<Member> {
        let core = &self.core;
        let (write, id) = MemberWrite::oneself(caller)?;
        edit(core, site, Edit { write, caller, id, goes_public: shown }, move |member| {
            let value = if shown { "PUBLIC" } else { "PRIVATE" };
            member.profile.0.insert("privacyStatus".to_owned(), value.into());
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
        let edited = Edit { write: MemberWrite::of(caller, id)?, caller, id, goes_public: false };
        edit(core, site, edited, move |member| {
            lists.iter().for_each(|it| drop(member.profile.0.remove(*it)));
        })
        .await
    }
}

/// What [`Identity::member_change_email`] does.
pub(super) async fn change_email(
    core: &Arc<Core>,
    site: &Site,
    caller: &Caller,
    id: &MemberId,
    email: &str,
) -> Result<Member> {
    let edited = Edit { write: MemberWrite::privileged(caller)?, caller, id, goes_public: false };
    let email = parse_email(email, "newEmail")?;
    if row::find_by_email(site, &email).await?.is_some_and(|it| it.id != *id) {
        return Err(Fault::new(Code::EmailTaken));
    }
    edit(core, site, edited, move |member| {
        member.email_verified &= Email::parse(&member.email).is_some_and(|it| it == email);
        contact::set_login(member, &email);
    })
    .await
}

pub(super) fn parse_email(email: &str, field: &str) -> Result<Email> {
    Email::parse(email).ok_or_else(|| {
        let why = "the email address is not valid";
        Fault::invalid(vec![Violation::new(field, "FORMAT", why).with("type", "EMAIL")])
    })
}

/// Who edits whom.
struct Edit<'a> {
    write: MemberWrite,
    caller: &'a Caller,
    id: &'a MemberId,
    /// The member asks to be shown, which the site may not let them.
    goes_public: bool,
}

async fn edit(
    core: &Arc<Core>,
    site: &Site,
    edited: Edit<'_>,
    change: impl Fn(&mut Member) + Send + Sync + 'static,
) -> Result<Member> {
    let Edit { write, caller, id, goes_public } = edited;
    let edited = site
        .write_with(
            (core.clone(), write, site.id.clone(), caller.clone(), id.clone(), change),
            move |tx, (core, write, site, caller, id, change)| {
                boxed!({
                    let member = row::get(tx, site, id).await?.filter(Member::is_there);
                    let mut member = member.ok_or_else(|| Fault::new(Code::NotFound))?;
                    if goes_public && !member.is_public && !Privacy::read(tx, site).await?.may_be_public {
                        return Err(Fault::new(Code::CommunityClosed));
                    }
                    let (before, profile) = (member.email.clone(), member.profile.clone());
                    change(&mut member);
                    member.fits_beside(&profile, "member")?;
                    let (email, now) = (Email::parse(&member.email), core.now());
                    let is_moved = email != Email::parse(&before);
                    if is_moved
                        && let Some(email) = &email
                        && row::is_reserved(tx, site, email, Some(&member.id), now).await?
                    {
                        return Err(Fault::new(Code::EmailTaken));
                    }
                    row::update(tx, write, site, &mut member, now).await?;
                    if is_moved {
                        recovery::links_end(tx, site, &member.id, now).await?;
                        // What waits may rest on a code that was sent to the address before.
                        factor::count_up(tx, site, &member.id).await?;
                        // It was sent to the address before, whose reader learns nothing of the one that follows.
                        link::end(tx, site, &member.id, link::DELETION, now).await?;
                        // Those who run the site have decided whose the account is.
                        link::end(tx, site, &member.id, link::EMAIL_CHANGE, now).await?;
                        notice::email_changed(core, tx, site, &member, &before).await?;
                    }
                    audit::record(core, tx, site, audit::Entry::by(caller, audit::Event::Changed, &member.id)).await?;
                    Ok(member)
                })
            },
        )
        .await;
    mail::deliver_soon(core, &site.id).await;
    edited
}
