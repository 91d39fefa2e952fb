//! Members as rows.

use super::{Member, Status};
use crate::profile::Profile;
use stoa_kernel::{Code, Email, Fault, MemberId, Millis, Result, SiteId};
use stoa_sql::params;
use stoa_store::{Row, Tx};

pub(super) const SELECT: &str = "select id, email, email_verified, status, pending_email, pending_approval, password_hash, \
                      profile, revision, created, updated, last_login from stoa.member";

pub(super) fn from_row(row: &Row<'_>) -> Result<Member, stoa_store::Error> {
    let status = row.text(3)?;
    let status = Status::ALL.into_iter().find(|it| it.name() == status);
    Ok(Member {
        id: MemberId::from(row.text(0)?),
        email: row.get(1)?,
        email_verified: row.get(2)?,
        status: status.ok_or_else(|| stoa_store::Error::Other("a member has an unknown status".to_owned()))?,
        pending_email: row.get(4)?,
        pending_approval: row.get(5)?,
        password_hash: row.get(6)?,
        profile: Profile::from_stored(row.text(7)?),
        revision: row.get(8)?,
        created: row.get(9)?,
        updated: row.get(10)?,
        last_login: row.get(11)?,
    })
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

/// # Errors
/// [`Code::MemberBlocked`] when the member may not sign in or doesn't exist.
pub(crate) async fn require_active(tx: &mut Tx<'_>, site: &SiteId, id: &MemberId) -> Result<()> {
    let found = get(tx, site, id).await?.filter(|it| it.status == Status::Active);
    found.map(|_| ()).ok_or_else(|| Fault::new(Code::MemberBlocked))
}

/// Inserts a member; `false` when the address is taken.
pub(super) async fn insert(tx: &mut Tx<'_>, site: &SiteId, member: &Member, email: &Email) -> Result<bool> {
    let sql = "insert into stoa.member (site, id, email, email_folded, email_verified, status, pending_email, \
               pending_approval, password_hash, profile, revision, created, updated) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
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
        member.updated
    ];
    Ok(tx.execute(sql, &values).await? == 1)
}

/// Writes everything but the password; the revision goes up.
pub(crate) async fn update(tx: &mut Tx<'_>, site: &SiteId, member: &mut Member, now: Millis) -> Result<()> {
    member.revision += 1;
    member.updated = now;
    let folded = Email::parse(&member.email).map(|it| it.folded().to_owned());
    let sql = "update stoa.member set email = $1, email_folded = $2, email_verified = $3, status = $4, \
               pending_email = $5, pending_approval = $6, profile = $7, revision = $8, updated = $9 \
               where site = $10 and id = $11";
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
        site,
        &member.id
    ];
    tx.execute(sql, &values).await?;
    Ok(())
}

/// Writes the member's password hash as it stands in `member`.
pub(crate) async fn write_password(tx: &mut Tx<'_>, site: &SiteId, member: &Member) -> Result<()> {
    let sql = "update stoa.member set password_hash = $1 where site = $2 and id = $3";
    tx.execute(sql, &params![member.password_hash.clone(), site, &member.id]).await?;
    Ok(())
}

pub(crate) async fn note_login(tx: &mut Tx<'_>, site: &SiteId, member: &mut Member, now: Millis) -> Result<()> {
    member.last_login = Some(now);
    let sql = "update stoa.member set last_login = $1 where site = $2 and id = $3";
    tx.execute(sql, &params![now, site, &member.id]).await?;
    Ok(())
}
