//! Where a member is signed in, and ending it: one browser, the others, or all.

use crate::{
    Core, Identity, Impersonation, audit,
    mail::{self, notice},
    session::{self, SessionSelector},
};
use serde_json::{Value, json};
use std::net::IpAddr;
use stoa_kernel::{
    Caller, ClientId, Code, Fault, MemberId, Millis, Result, Scopes, SessionId, SiteId, Violation,
    date::iso_from_millis,
};
use stoa_sql::params;
use stoa_store::{ReaderPool, Row, Site, Tx, boxed};

/// Sessions that are read: the one that asks and the newest ones.
const MOST: i64 = 1_000;

/// A family of sessions: a browser, and the clients that got tokens through it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedIn {
    /// Id of the family's first session.
    pub id: SessionId,
    pub created: Millis,
    /// Written down once an hour.
    pub used: Millis,
    pub clients: Vec<ClientId>,
    /// The browser in which it began, for example `Firefox · Linux`, and its network address; nothing where no browser on the
    /// account pages began it.
    pub device: Option<String>,
    pub address: Option<String>,
    /// It is the caller's own.
    pub is_current: bool,
    /// An owner of the site acts as the member in it.
    pub impersonation: Option<ListedImpersonation>,
}

/// An owner of the site who acts as a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedImpersonation {
    pub access: Impersonation,
    pub expires: Millis,
}

impl ListedImpersonation {
    /// `{access, expiresDate}`.
    pub fn to_json(&self) -> Value {
        json!({ "access": self.access.name(), "expiresDate": iso_from_millis(self.expires) })
    }
}

/// What is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending<'a> {
    /// The family with this id.
    One(&'a str),
    /// All, but not the caller's own.
    Others,
}

impl Identity {
    /// Where a member is signed in: the session that asks and then the newest ones. Members ask about themselves,
    /// apps and owners about anyone.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::Validation`] when an app names no member.
    pub async fn session_list(&self, site: &Site, caller: &Caller, member: Option<&str>) -> Result<Vec<SignedIn>> {
        list(&self.core, site, caller, member).await
    }

    /// Ends one family of a member's sessions, or all but the caller's own: their tokens are refused from
    /// now on. No browser counts as one any more in which the member is not asked for a second factor, and sign-ins that
    /// are not finished end. Members who did it themselves are told. Where it is an owner's who acts as the member, no browser
    /// is concerned, and neither happens. `address` is the network address that asks.
    ///
    /// # Errors
    /// As [`Identity::session_list`]; [`Code::NotFound`] for a family that is not the member's.
    pub async fn session_list_end(
        &self,
        site: &Site,
        caller: &Caller,
        member: Option<&str>,
        ending: Ending<'_>,
        address: IpAddr,
    ) -> Result<()> {
        let core = &self.core;
        let id = subject(caller, member)?;
        let mut is_browser = true;
        let which = match (ending, caller) {
            (Ending::One(family), _) => {
                let known = list(core, site, caller, member).await?;
                let one = known.into_iter().find(|it| it.id.as_str() == family);
                let one = one.ok_or_else(|| Fault::new(Code::NotFound))?;
                is_browser = one.impersonation.is_none();
                SessionSelector::Family(one.id)
            }
            (Ending::Others, Caller::Member { session, .. }) => {
                SessionSelector::MemberExcept(id.clone(), session::root(site, session).await?)
            }
            (Ending::Others, _) => SessionSelector::Member(id.clone()),
        };
        let input = (core.clone(), site.id.clone(), caller.clone(), id, which.clone());
        session::end_in(core, site, Some(which), input, move |tx, (core, site, caller, id, which)| {
            boxed!({
                let was_shown = is_any_shown(core, tx, site, which).await?;
                let ended = which.end(tx, site, core.now()).await?;
                // The browser that is signed out must not come back by the password alone, if it was spared the factor.
                if is_browser {
                    session::end_sign_ins(tx, site, id, core.now()).await?;
                }
                let entry = audit::Entry::by(caller, audit::Event::SessionsEnded, id).at_address(Some(address));
                audit::record(core, tx, site, entry).await?;
                if was_shown && is_browser && matches!(caller, Caller::Member { .. }) {
                    notice::sessions_ended(core, tx, site, id).await?;
                }
                Ok(((), ended))
            })
        })
        .await?;
        mail::deliver_soon(core, &site.id).await;
        Ok(())
    }
}

/// What [`Identity::session_list`] does.
pub(crate) async fn list(core: &Core, site: &Site, caller: &Caller, member: Option<&str>) -> Result<Vec<SignedIn>> {
    let (id, member, now) = (site.id.clone(), subject(caller, member)?, core.now());
    let own = match caller {
        Caller::Member { session, .. } => session.as_str().to_owned(),
        _ => String::new(),
    };
    let asking = own.clone();
    let idle_since = now - core.config().session_idle;
    let rows: Vec<Listed> = site
        .read(ReaderPool::Point, move |tx| {
            boxed!({
                let sql = "select id, root, client, created, used, device, address, expires, scopes, \
                           impersonator is not null from stoa.session \
                           where site = $1 and member = $2 and ended is null and expires > $3 and used > $4 \
                           order by case when id = $5 then 0 else 1 end, created desc limit $6";
                let values = params![&id, &member, now, idle_since, &asking, MOST];
                Ok(tx.rows(sql, &values, Listed::read).await?)
            })
        })
        .await?;
    let mut families: Vec<SignedIn> = Vec::new();
    for Listed { session, root, client, created, used, device, address, impersonation } in rows {
        let at = families.iter().position(|it| it.id.as_str() == root).unwrap_or_else(|| {
            let (id, clients) = (SessionId::from(root), Vec::new());
            let (device, address, impersonation) = (None, None, None);
            families.push(SignedIn { id, created, used, clients, device, address, is_current: false, impersonation });
            families.len() - 1
        });
        if let Some(family) = families.get_mut(at) {
            family.created = family.created.min(created);
            family.used = family.used.max(used);
            family.is_current |= own == session;
            // Only the session of the browser has them.
            family.device = family.device.take().or(device);
            family.address = family.address.take().or(address);
            family.impersonation = family.impersonation.take().or(impersonation);
            family.clients.extend(client.map(ClientId::from).filter(|it| !family.clients.contains(it)));
        }
    }
    Ok(families)
}

/// Whether there is one among these sessions that [`list`] would show.
async fn is_any_shown(core: &Core, tx: &mut Tx<'_>, site: &SiteId, which: &SessionSelector) -> Result<bool> {
    let (condition, mut values) = which.condition(site, 3);
    let now = core.now();
    values.splice(0..0, [now.into(), (now - core.config().session_idle).into()]);
    let sql = format!(
        "select 1 from stoa.session where expires > $1 and used > $2 and {condition} and ended is null limit 1"
    );
    Ok(tx.row(&sql, &values, |_| Ok(())).await?.is_some())
}

/// A session as it is read.
struct Listed {
    session: String,
    root: String,
    client: Option<String>,
    created: Millis,
    used: Millis,
    device: Option<String>,
    address: Option<String>,
    impersonation: Option<ListedImpersonation>,
}

impl Listed {
    fn read(row: &Row<'_>) -> std::result::Result<Self, stoa_store::Error> {
        let (expires, scopes, is_impersonated) = (row.get(7)?, row.get::<Option<String>>(8)?, row.get(9)?);
        let access = Impersonation::of(&Scopes::among(&scopes.unwrap_or_default()));
        let impersonation = if is_impersonated { Some(ListedImpersonation { access, expires }) } else { None };
        Ok(Self {
            session: row.get(0)?,
            root: row.get(1)?,
            client: row.get(2)?,
            created: row.get(3)?,
            used: row.get(4)?,
            device: row.get(5)?,
            address: row.get(6)?,
            impersonation,
        })
    }
}

/// Whose sessions these are.
fn subject(caller: &Caller, member: Option<&str>) -> Result<MemberId> {
    match (caller, member) {
        (Caller::Member { id, .. }, None) => Ok(id.clone()),
        (Caller::Member { id, .. }, Some(named)) if id.as_str() == named => Ok(id.clone()),
        _ if !caller.is_privileged() => Err(Fault::new(Code::Forbidden)),
        (_, Some(named)) => Ok(MemberId::from(named)),
        (_, None) => {
            let missing = Violation::new("memberId", "REQUIRED_FIELD", "whose sessions is not said");
            Err(Fault::invalid(vec![missing]))
        }
    }
}
