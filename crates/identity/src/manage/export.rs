//! What is known of a member, for themselves (decision 47): profile, contact, what they are to others, sessions, second factors
//! without their secrets, addresses that they can take back, and what the audit log says of them. Everything that is listed has a bound.

use crate::{
    Identity, audit,
    defence::{device, throttle::AttemptKind},
    factor,
    manage::email_change,
    member::{self, Member},
    provider::MemberConnection,
    session::{ListedImpersonation, SignedIn},
};
use serde_json::{Value, json};
use std::net::{IpAddr, Ipv4Addr};
use stoa_kernel::{Caller, Code, Fault, MemberId, Millis, Result, SiteId, date::iso_from_millis};
use stoa_sql::params;
use stoa_store::{ReaderPool, Row, Site, Tx, boxed};

/// Rows of a list.
const MOST: i64 = 5_000;
/// Copies that are made at a time, in the whole process: each holds its lists whole.
pub(crate) const AT_ONCE: usize = 2;
/// What the member has written about themselves, which is bounded where it is written.
const ABOUT: &str = "select doc from stoa.member_noun where site = $1 and kind = 'about' and id = $2";
const TIES: &str = "select kind, target, created from stoa.member_tie where site = $1 and kind = $2 and holder = $3 \
                    order by created desc, target limit $4";
/// What joins a member to others and to what the site hands out.
const KINDS: [&str; 5] = ["role", "badge", "follow", "block", "report"];
/// Addresses of others who tried the account are theirs.
const AUDIT: &str = "select created, event, actor_kind, case when actor = member then address end from stoa.audit \
                     where site = $1 and member = $2 order by created desc, id desc limit $3";
/// Which clients of others may act for the member.
const CONSENTS: &str = "select client, scopes, created, agreed from stoa.consent where site = $1 and member = $2 \
                        order by agreed desc, client limit $3";

impl Identity {
    /// What is known of the calling member, who has lately shown in this session who they are
    /// ([`Identity::member_prove`]). `from` is the network address that asks. The lists have at most 5,000 rows each, the newest.
    /// Two copies are made at a time, others are refused.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member with their whole right; [`Code::ProofNeeded`];
    /// [`Code::Throttled`].
    pub async fn member_export(&self, site: &Site, caller: &Caller, from: IpAddr) -> Result<Value> {
        let core = &self.core;
        let (id, session) = factor::oneself(caller)?;
        factor::require_proved(core, site, &session).await?;
        let busy = |_| Fault::new(Code::Throttled).with("retryAfterSeconds", 1);
        let _turn = core.exports.try_acquire().map_err(busy)?;
        let (anywhere, now) = (Ipv4Addr::UNSPECIFIED.into(), core.now());
        let _counted = core.throttle.attempt(AttemptKind::Export, now, &site.id, anywhere, id.as_str())?;
        let noted = site.append_with((core.clone(), site.id.clone(), id.clone()), move |tx, (core, site, id)| {
            boxed!({
                let entry = audit::Entry::by_oneself(id, audit::Event::DataExported).at_address(Some(from));
                audit::record(core, tx, site, entry).await
            })
        });
        noted.await?;
        let kept = Kept::of(site, &id, now).await?;
        let member = member::find(site, &id).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
        let sessions = self.session_list(site, caller, None).await?;
        let factors = self.factor_list(site, caller).await?;
        let connections = self.member_connection_list(site, caller).await?;
        let connected = |it: &MemberConnection| {
            member::without_nulls(json!({
                "idpConnectionId": it.id,
                "label": it.label,
                "idpUserId": it.subject,
                "email": it.email,
                "createdDate": iso_from_millis(it.created),
                "lastUsedDate": it.used.map(iso_from_millis),
            }))
        };
        let named = |it: &factor::MemberFactor| {
            member::without_nulls(json!({
                "type": it.factor.name(),
                "name": it.name,
                "createdDate": iso_from_millis(it.created),
                "lastUsedDate": it.used.map(iso_from_millis),
            }))
        };
        Ok(member::without_nulls(json!({
            "createdDate": iso_from_millis(now),
            "member": shown(&member),
            "about": kept.about,
            "ties": kept.ties,
            "sessions": sessions.iter().map(session_shown).collect::<Vec<_>>(),
            "factors": factors.factors.iter().map(named).collect::<Vec<_>>(),
            "connections": connections.iter().map(connected).collect::<Vec<_>>(),
            "recoveryCodesLeft": factors.recovery_codes_left,
            "keptAddresses": kept.addresses,
            "rememberedBrowsers": factors.remembered_browsers,
            "knownDevices": kept.devices,
            "consents": kept.consents,
            "audit": kept.audit,
        })))
    }
}

fn shown(member: &Member) -> Value {
    let mut shown = member.to_json();
    shown["contact"] = member.contact();
    shown["card"] = Value::Object(member.card.clone());
    shown["isPublic"] = json!(member.is_public);
    shown["isMuted"] = json!(member.muted);
    shown["vouchedEmail"] = json!(member.vouched_email);
    shown["lastLoginDate"] = json!(member.last_login.map(iso_from_millis));
    shown
}

fn session_shown(session: &SignedIn) -> Value {
    member::without_nulls(json!({
        "createdDate": iso_from_millis(session.created),
        "lastUsedDate": iso_from_millis(session.used),
        "clientIds": session.clients,
        "device": session.device,
        "address": session.address,
        "isCurrent": session.is_current,
        "impersonation": session.impersonation.as_ref().map(ListedImpersonation::to_json),
    }))
}

/// What has no list of its own elsewhere.
struct Kept {
    about: Value,
    ties: Vec<Value>,
    consents: Vec<Value>,
    devices: i64,
    addresses: Vec<Value>,
    audit: Vec<Value>,
}

impl Kept {
    async fn of(site: &Site, id: &MemberId, now: Millis) -> Result<Self> {
        let (site_id, id) = (site.id.clone(), id.clone());
        site.read(ReaderPool::Scan, move |tx| boxed!(Self::read(tx, &site_id, &id, now).await)).await
    }

    async fn read(tx: &mut Tx<'_>, site: &SiteId, id: &MemberId, now: Millis) -> Result<Self> {
        let about: Option<String> = tx.row(ABOUT, &params![site, id], |row| row.get(0)).await?;
        let mut ties = Vec::new();
        for kind in KINDS {
            let tie = |row: &Row<'_>| {
                Ok(json!({ "kind": row.text(0)?, "target": row.text(1)?, "createdDate": iso_from_millis(row.get(2)?) }))
            };
            ties.extend(tx.rows(TIES, &params![site, kind, id, MOST], tie).await?);
        }
        let consent = |row: &Row<'_>| {
            let scopes: Vec<&str> = row.text(1)?.split_whitespace().collect();
            Ok(json!({ "clientId": row.text(0)?, "scopes": scopes, "createdDate": iso_from_millis(row.get(2)?),
                "lastAgreedDate": iso_from_millis(row.get(3)?) }))
        };
        let consents = tx.rows(CONSENTS, &params![site, id, MOST], consent).await?;
        let devices = device::count(tx, site, id, now).await?;
        let entry = |row: &Row<'_>| {
            let address: Option<String> = row.get(3)?;
            Ok(json!({ "createdDate": iso_from_millis(row.get(0)?), "event": row.text(1)?, "actorKind": row.text(2)?,
                "address": address }))
        };
        let audit = tx.rows(AUDIT, &params![site, id, MOST], entry).await?;
        let about = about.and_then(|it| serde_json::from_str(&it).ok()).unwrap_or_default();
        let addresses = email_change::kept(tx, site, id, now).await?;
        let audit = audit.into_iter().map(member::without_nulls).collect();
        Ok(Self { about, ties, consents, devices, addresses, audit })
    }
}
