//! Members as rows.

use crate::{
    Identity,
    log::PeopleEntry,
    member::{Deletion, Member, Status, access::MemberWrite, profile::Profile},
};
use serde_json::Value;
use stoa_kernel::{Code, Email, EntryKind, Fault, MemberId, Millis, Result, SiteId, fold::fold};
use stoa_sql::params;
use stoa_store::{Error, ReaderPool, Row, Site, Tx, boxed};

pub(crate) const SELECT: &str = "select id, email, email_verified, status, pending_email, pending_approval, password_hash, \
                      profile, revision, created, updated, last_login, muted, privacy, card, pending_fields, must_reset, \
                      vouched_email, deletion_due, deletion_kept_as, connections \
                      from stoa.member";

pub(crate) fn from_row(row: &Row<'_>) -> Result<Member, Error> {
    let known = |it: Option<Status>| it.ok_or_else(|| Error::Other("a member has an unknown status".to_owned()));
    Ok(Member {
        id: MemberId::from(row.text(0)?),
        email: row.get(1)?,
        email_verified: row.get(2)?,
        status: known(Status::named(row.text(3)?))?,
        pending_email: row.get(4)?,
        pending_approval: row.get(5)?,
        password_hash: row.get(6)?,
        profile: Profile::from_stored(row.text(7)?),
        revision: row.get(8)?,
        created: row.get(9)?,
        updated: row.get(10)?,
        last_login: row.get(11)?,
        muted: row.get(12)?,
        is_public: row.text(13)? == "PUBLIC",
        card: serde_json::from_str(row.text(14)?).unwrap_or_default(),
        pending_fields: row.get(15)?,
        must_reset: row.get(16)?,
        vouched_email: row.get(17)?,
        deletion: match row.get(18)? {
            Some(due) => Some(Deletion { due, kept_as: known(Status::named(row.text(19)?))? }),
            None => None,
        },
        connections: row.get::<Option<String>>(20)?.and_then(|it| serde_json::from_str(&it).ok()).unwrap_or_default(),
    })
}

impl Identity {
    /// A member by id, whatever the status.
    pub async fn member_get(&self, site: &Site, id: &MemberId) -> Result<Option<Member>> {
        find(site, id).await
    }

    /// A member by address. Deleted members have none.
    pub async fn member_by_email(&self, site: &Site, email: &Email) -> Result<Option<Member>> {
        find_by_email(site, email).await
    }
}

/// What [`Identity::member_get`] does.
pub(crate) async fn find(site: &Site, id: &MemberId) -> Result<Option<Member>> {
    let (site_id, id) = (site.id.clone(), id.clone());
    site.read(ReaderPool::Point, move |tx| boxed!(get(tx, &site_id, &id).await)).await
}

/// Members with these ids, whatever the status.
pub(crate) async fn find_some(site: &Site, ids: Vec<String>) -> Result<Vec<Member>> {
    let site_id = site.id.clone();
    let found = site.read(ReaderPool::Point, move |tx| {
        boxed!({
            let is_one = tx.dialect().any_of("id", "$2");
            let sql = format!("{SELECT} where site = $1 and {is_one}");
            Ok(tx.rows(&sql, &params![&site_id, ids], from_row).await?)
        })
    });
    found.await
}

/// What [`Identity::member_by_email`] does.
pub(crate) async fn find_by_email(site: &Site, email: &Email) -> Result<Option<Member>> {
    let (site_id, email) = (site.id.clone(), email.clone());
    site.read(ReaderPool::Point, move |tx| boxed!(by_email(tx, &site_id, &email).await)).await
}

pub(crate) async fn get(tx: &mut Tx<'_>, site: &SiteId, id: &MemberId) -> Result<Option<Member>> {
    // No id of ours holds U+0000, and one engine refuses to look for it.
    if id.as_str().contains('\0') {
        return Ok(None);
    }
    let sql = format!("{SELECT} where site = $1 and id = $2");
    Ok(tx.row(&sql, &params![site, id], from_row).await?)
}

pub(crate) async fn by_email(tx: &mut Tx<'_>, site: &SiteId, email: &Email) -> Result<Option<Member>> {
    let sql = format!("{SELECT} where site = $1 and email_folded = $2");
    Ok(tx.row(&sql, &params![site, email.folded()], from_row).await?)
}

/// Whether an address is kept for another member, who can take it back (decision 58). `except` is the member who asks for it.
pub(crate) async fn is_reserved(
    tx: &mut Tx<'_>,
    site: &SiteId,
    email: &Email,
    except: Option<&MemberId>,
    now: Millis,
) -> Result<bool> {
    let sql = "select 1 from stoa.link where site = $1 and email_folded = $2 and used is null and expires > $3 \
               and member <> $4";
    let values = params![site, email.folded(), now, except.map_or("", MemberId::as_str)];
    Ok(tx.row(sql, &values, |_| Ok(())).await?.is_some())
}

/// # Errors
/// [`Code::MemberBlocked`] when the member may not sign in or doesn't exist.
pub(crate) async fn require_active(tx: &mut Tx<'_>, site: &SiteId, id: &MemberId) -> Result<()> {
    let found = get(tx, site, id).await?.filter(|it| it.status == Status::Active);
    found.map(|_| ()).ok_or_else(|| Fault::new(Code::MemberBlocked))
}

/// Inserts a member, and tells the log; `false` when the address is taken, or kept for another member.
///
/// # Errors
/// [`Code::SlugTaken`].
pub(crate) async fn insert(
    tx: &mut Tx<'_>,
    write: &MemberWrite,
    site: &SiteId,
    member: &mut Member,
    email: &Email,
) -> Result<bool> {
    let is_new = insert_untold(tx, write, site, member, email).await?;
    if is_new {
        tell_created(tx, write, site, &[&*member]).await?;
    }
    Ok(is_new)
}

/// Tells the log of new members in one row.
pub(crate) async fn tell_created(
    tx: &mut Tx<'_>,
    write: &MemberWrite,
    site: &SiteId,
    members: &[&Member],
) -> Result<()> {
    let Some(first) = members.first() else { return Ok(()) };
    let entry = PeopleEntry { kind: EntryKind::MemberCreated, actor: write.actor(&first.id), now: first.updated };
    entry.put_ids(tx, site, members.iter().map(|it| it.id.to_string()).collect()).await
}

/// [`insert`] for who tells of several at once.
pub(crate) async fn insert_untold(
    tx: &mut Tx<'_>,
    write: &MemberWrite,
    site: &SiteId,
    member: &mut Member,
    email: &Email,
) -> Result<bool> {
    write.check_new()?;
    // Before the slug: who has an address that is there already is told that.
    if is_reserved(tx, site, email, None, member.updated).await? {
        return Ok(false);
    }
    let slug = prepare(tx, site, member).await?;
    let sql = "insert into stoa.member (site, id, email, email_folded, email_verified, status, pending_email, \
               pending_approval, password_hash, profile, revision, created, updated, muted, slug_folded, \
               nickname_folded, privacy, card, pending_fields, must_reset) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20) \
               on conflict (site, email_folded) do nothing";
    let values = params![
        site,
        &member.id,
        &member.email,
        email.folded(),
        member.email_verified,
        member.status.name(),
        member.pending_email,
        member.pending_approval,
        member.password_hash.clone(),
        member.profile.to_stored(),
        member.revision,
        member.created,
        member.updated,
        member.muted,
        slug,
        folded_name(member),
        privacy(member),
        card(member),
        member.pending_fields,
        member.must_reset
    ];
    match tx.execute(sql, &values).await {
        Err(Error::Unique(_)) => Err(Fault::new(Code::SlugTaken)),
        done => Ok(done? == 1),
    }
}

/// Writes everything but the password, and tells the log; the revision goes up.
///
/// # Errors
/// [`Code::SlugTaken`]; [`Code::EmailTaken`].
pub(crate) async fn update(
    tx: &mut Tx<'_>,
    write: &MemberWrite,
    site: &SiteId,
    member: &mut Member,
    now: Millis,
) -> Result<()> {
    write.check(&member.id)?;
    let slug = prepare(tx, site, member).await?;
    member.revision += 1;
    member.updated = now;
    let folded = Email::parse(&member.email).map(|it| it.folded().to_owned());
    let sql = "update stoa.member set email = $1, email_folded = $2, email_verified = $3, status = $4, \
               pending_email = $5, pending_approval = $6, profile = $7, revision = $8, updated = $9, muted = $10, \
               slug_folded = $11, nickname_folded = $12, privacy = $13, card = $14, pending_fields = $15, \
               deletion_due = $16, deletion_kept_as = $17 where site = $18 and id = $19";
    let values = params![
        &member.email,
        folded,
        member.email_verified,
        member.status.name(),
        member.pending_email,
        member.pending_approval,
        member.profile.to_stored(),
        member.revision,
        member.updated,
        member.muted,
        slug,
        folded_name(member),
        privacy(member),
        card(member),
        member.pending_fields,
        member.deletion.map(|it| it.due),
        member.deletion.map(|it| it.kept_as.name()),
        site,
        &member.id
    ];
    match tx.execute(sql, &values).await {
        Err(Error::Unique(which)) if which.contains("slug") => Err(Fault::new(Code::SlugTaken)),
        Err(Error::Unique(_)) => Err(Fault::new(Code::EmailTaken)),
        done => done.map(drop).map_err(Fault::from),
    }?;
    let kind = if member.is_there() { EntryKind::MemberUpdated } else { EntryKind::MemberDeleted };
    let entry = PeopleEntry { kind, actor: write.actor(&member.id), now };
    entry.put_ids(tx, site, vec![member.id.to_string()]).await
}

/// Makes what is stored twice agree, and answers the slug as it is compared.
async fn prepare(tx: &mut Tx<'_>, site: &SiteId, member: &mut Member) -> Result<Option<String>> {
    match member.profile.text("privacyStatus") {
        Some("PUBLIC") => member.is_public = true,
        Some("PRIVATE") => member.is_public = false,
        _ => {}
    }
    let slug = member.profile.text("slug").filter(|it| !it.is_empty()).map(|it| fold(it).into_owned());
    let Some(slug) = slug else { return Ok(None) };
    let sql = "select 1 from stoa.member where site = $1 and slug_folded = $2 and id <> $3";
    match tx.row(sql, &params![site, &slug, &member.id], |_| Ok(())).await? {
        Some(()) => Err(Fault::new(Code::SlugTaken)),
        None => Ok(Some(slug)),
    }
}

fn folded_name(member: &Member) -> String {
    fold(member.shown_name().unwrap_or_default().trim()).into_owned()
}

fn privacy(member: &Member) -> &'static str {
    if member.is_public { "PUBLIC" } else { "PRIVATE" }
}

fn card(member: &Member) -> String {
    Value::Object(member.card.clone()).to_string()
}

/// Forgets a person inside a transaction: what is left is an id that no other member gets.
pub(crate) async fn forget(tx: &mut Tx<'_>, write: &MemberWrite, site: &SiteId, member: &mut Member) -> Result<()> {
    write.check(&member.id)?;
    member.email = String::new();
    member.email_verified = false;
    (member.password_hash, member.profile, member.is_public) = (None, Profile::default(), false);
    member.card.clear();
    member.vouched_email = None;
    member.connections.clear();
    for sql in [
        "update stoa.member set vouched_email = null, connections = null where site = $1 and id = $2",
        "delete from stoa.member_tie where site = $1 and holder = $2",
        "delete from stoa.member_tie where site = $1 and target = $2",
        "delete from stoa.member_noun where site = $1 and kind = 'about' and id = $2",
        "delete from stoa.device where site = $1 and member = $2",
        "delete from stoa.verification where site = $1 and member = $2",
        "delete from stoa.link where site = $1 and member = $2",
        "delete from stoa.factor where site = $1 and member = $2",
        "delete from stoa.passkey where site = $1 and member = $2",
        "delete from stoa.provider_link where site = $1 and member = $2",
        "delete from stoa.push_question where site = $1 and member = $2",
        "delete from stoa.factor_guard where site = $1 and member = $2",
        "delete from stoa.recovery_code where site = $1 and member = $2",
        "delete from stoa.remembered_browser where site = $1 and member = $2",
        "delete from stoa.consent where site = $1 and member = $2",
        // What was still to be sent, and of what couldn't be, why: a mail server names the address.
        "delete from stoa.mail where site = $1 and member = $2",
    ] {
        tx.send(sql, params![site, &member.id]).await?;
    }
    Ok(())
}

/// Writes the member's password hash as it stands in `member`, and whether it must be reset.
pub(crate) async fn write_password(tx: &mut Tx<'_>, write: &MemberWrite, site: &SiteId, member: &Member) -> Result<()> {
    write.check(&member.id)?;
    let sql = "update stoa.member set password_hash = $1, must_reset = $2 where site = $3 and id = $4";
    tx.send(sql, params![member.password_hash.clone(), member.must_reset, site, &member.id]).await?;
    Ok(())
}

/// Writes by what the member is known to providers, as it stands in `member`; the links themselves are `crate::provider`.
pub(crate) async fn write_connections(
    tx: &mut Tx<'_>,
    write: &MemberWrite,
    site: &SiteId,
    member: &Member,
) -> Result<()> {
    write.check(&member.id)?;
    let text = serde_json::to_string(&member.connections).map_err(Fault::internal)?;
    let text = Some(text).filter(|_| !member.connections.is_empty());
    let sql = "update stoa.member set connections = $1 where site = $2 and id = $3";
    tx.send(sql, params![text, site, &member.id]).await?;
    Ok(())
}

/// Writes down that an app has vouched for the member under this address.
pub(crate) async fn record_vouched(
    tx: &mut Tx<'_>,
    write: &MemberWrite,
    site: &SiteId,
    member: &mut Member,
    email: &Email,
) -> Result<()> {
    write.check(&member.id)?;
    member.vouched_email = Some(email.folded().to_owned());
    let sql = "update stoa.member set vouched_email = $1 where site = $2 and id = $3";
    tx.send(sql, params![email.folded(), site, &member.id]).await?;
    Ok(())
}

pub(crate) async fn record_login(
    tx: &mut Tx<'_>,
    write: &MemberWrite,
    site: &SiteId,
    member: &mut Member,
    now: Millis,
) -> Result<()> {
    write.check(&member.id)?;
    member.last_login = Some(now);
    let sql = "update stoa.member set last_login = $1 where site = $2 and id = $3";
    tx.send(sql, params![now, site, &member.id]).await?;
    Ok(())
}
