//! Connections of a site to providers: which client the site is there, and what its members may do by it.

use super::secret;
use crate::{
    Core, Identity, audit, factor,
    member::{self, access::MemberWrite},
};
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, MemberId, Millis, Result, Secret, SiteId, Violation};
use stoa_sql::params;
use stoa_store::{ReaderPool, Row, Site, Tx, boxed};

/// Connections of a site.
const MOST: usize = 10;
const LONGEST_NAME: usize = 50;
const LONGEST_ISSUER: usize = 255;
const LONGEST_CLIENT: usize = 255;
const LONGEST_LABEL: usize = 50;
const LONGEST_SECRET: usize = 1_000;
/// Links that one transaction removes.
const CHUNK: i64 = 200;

/// A connection to a provider, without the secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IdpConnection {
    /// A GUID.
    pub id: String,
    /// By which the operator of the site knows it.
    pub name: String,
    /// As OpenID Connect Discovery has it.
    pub issuer: String,
    pub client_id: String,
    /// What members call the provider.
    pub label: String,
    /// Whether people who are unknown get an account.
    pub creates_members: bool,
    /// Whether an account whose member has shown the address is linked by the provider's word alone.
    pub links_by_email: bool,
    pub is_enabled: bool,
    #[serde(skip)]
    pub created: Millis,
}

/// What is to be written of one. What isn't named stays.
#[derive(Debug, Clone, Default)]
pub struct ConnectionChange {
    name: Option<String>,
    issuer: Option<String>,
    client_id: Option<String>,
    client_secret: Option<Secret>,
    label: Option<String>,
    creates_members: Option<bool>,
    links_by_email: Option<bool>,
    is_enabled: Option<bool>,
}

impl ConnectionChange {
    /// Reads `{idpConnection: {…}}`.
    ///
    /// # Errors
    /// [`Code::Validation`] with a violation for each member that is of another form, too long or unknown.
    pub fn parse(body: &Value) -> Result<Self> {
        let mut wrong = Vec::new();
        let nothing = Map::new();
        let object = match &body["idpConnection"] {
            Value::Object(object) => object,
            Value::Null => {
                wrong.push(Violation::new("idpConnection", "REQUIRED_FIELD", "is required"));
                &nothing
            }
            _ => {
                wrong.push(Violation::new("idpConnection", "FORMAT", "an object is expected"));
                &nothing
            }
        };
        let mut change = Self::default();
        for (name, value) in object {
            let field = format!("idpConnection.{name}");
            let flag = |wrong: &mut Vec<Violation>| match value {
                Value::Null => None,
                Value::Bool(flag) => Some(*flag),
                _ => {
                    wrong.push(Violation::new(field.as_str(), "FORMAT", "true or false is expected"));
                    None
                }
            };
            let word = |wrong: &mut Vec<Violation>, most: usize, is_fine: fn(char) -> bool| match value {
                Value::Null => None,
                Value::String(text) if text.trim().is_empty() => {
                    wrong.push(Violation::new(field.as_str(), "MIN_LENGTH", "must have a character"));
                    None
                }
                Value::String(text) if text.chars().count() > most => {
                    let why = format!("must be at most {most} characters");
                    wrong.push(Violation::new(field.as_str(), "MAX_LENGTH", why).with("threshold", most));
                    None
                }
                Value::String(text) if text.chars().all(is_fine) => Some(text.trim().to_owned()),
                _ => {
                    wrong.push(Violation::new(field.as_str(), "FORMAT", "has characters that it may not have"));
                    None
                }
            };
            let graphic = |it: char| it.is_ascii_graphic();
            match name.as_str() {
                "name" => change.name = word(&mut wrong, LONGEST_NAME, is_name),
                "issuer" => change.issuer = word(&mut wrong, LONGEST_ISSUER, graphic),
                "clientId" => change.client_id = word(&mut wrong, LONGEST_CLIENT, graphic),
                "clientSecret" => change.client_secret = word(&mut wrong, LONGEST_SECRET, graphic).map(Secret::new),
                "label" => change.label = word(&mut wrong, LONGEST_LABEL, |it| !it.is_control()),
                "createsMembers" => change.creates_members = flag(&mut wrong),
                "linksByEmail" => change.links_by_email = flag(&mut wrong),
                "isEnabled" => change.is_enabled = flag(&mut wrong),
                _ => wrong.push(Violation::new(field, "FIELD_NOT_ALLOWED", "there is no such member")),
            }
        }
        if wrong.is_empty() { Ok(change) } else { Err(Fault::invalid(wrong)) }
    }

    fn require(&self, core: &Core) -> Result<()> {
        let missing = [
            ("name", self.name.is_none()),
            ("issuer", self.issuer.is_none()),
            ("clientId", self.client_id.is_none()),
            ("clientSecret", self.client_secret.is_none()),
        ];
        let violation = |(name, _)| Violation::new(format!("idpConnection.{name}"), "REQUIRED_FIELD", "is required");
        let mut wrong: Vec<Violation> = missing.into_iter().filter(|it| it.1).map(violation).collect();
        if let Some(issuer) = &self.issuer
            && let Err(why) = check_issuer(core, issuer)
        {
            wrong.push(Violation::new("idpConnection.issuer", "FORMAT", why));
        }
        if wrong.is_empty() { Ok(()) } else { Err(Fault::invalid(wrong)) }
    }
}

/// Words of small letters, for commands.
fn is_name(it: char) -> bool {
    it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-'
}

fn check_issuer(core: &Core, issuer: &str) -> std::result::Result<(), String> {
    if issuer.contains(['?', '#']) {
        return Err("an issuer has neither query nor fragment".to_owned());
    }
    core.providers.check(issuer)
}

impl Identity {
    /// The connections of a site, the oldest first.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an owner or a full key.
    pub async fn idp_connection_list(&self, site: &Site, caller: &Caller) -> Result<Vec<IdpConnection>> {
        privileged(caller)?;
        all(site).await
    }

    /// One of them.
    ///
    /// # Errors
    /// As [`Identity::idp_connection_list`]; [`Code::NotFound`].
    pub async fn idp_connection_get(&self, site: &Site, caller: &Caller, id: &str) -> Result<IdpConnection> {
        privileged(caller)?;
        find(site, id).await?.ok_or_else(|| Fault::new(Code::NotFound))
    }
}

/// Adds a connection. The provider is not asked: it may be set up later.
///
/// # Errors
/// As [`Identity::idp_connection_list`]; [`Code::Validation`]; [`Code::TooMany`]; [`Code::AlreadyExists`] for the name.
pub(crate) async fn create(
    core: &Arc<Core>,
    site: &Arc<Site>,
    caller: &Caller,
    change: ConnectionChange,
) -> Result<IdpConnection> {
    privileged(caller)?;
    change.require(core)?;
    let name = change.name.unwrap_or_default();
    let connection = IdpConnection {
        id: core.world().uuid(),
        issuer: change.issuer.unwrap_or_default(),
        client_id: change.client_id.unwrap_or_default(),
        label: change.label.unwrap_or_else(|| name.clone()),
        name,
        creates_members: change.creates_members.unwrap_or(true),
        links_by_email: change.links_by_email.unwrap_or(false),
        is_enabled: change.is_enabled.unwrap_or(true),
        created: core.now(),
    };
    let client_secret = change.client_secret.unwrap_or_else(|| Secret::new(""));
    let sealed = secret::seal(core, &site.id, (&connection.id, &connection.issuer), &client_secret)?;
    let input = (core.clone(), site.id.clone(), caller.clone(), connection.clone(), sealed);
    let added = site.write_with(input, |tx, (core, site, caller, it, sealed)| {
        boxed!({
            let all = read_all(tx, site).await?;
            if all.len() >= MOST {
                return Err(Fault::new(Code::TooMany));
            }
            if all.iter().any(|other| other.name == it.name) {
                return Err(Fault::new(Code::AlreadyExists));
            }
            let sql = "insert into stoa.provider (site, id, name, issuer, client_id, label, sealed, creates_members, \
                       links_by_email, enabled, created) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
            let values = params![
                &*site,
                it.id.as_str(),
                it.name.as_str(),
                it.issuer.as_str(),
                it.client_id.as_str(),
                it.label.as_str(),
                sealed.clone(),
                i64::from(it.creates_members),
                i64::from(it.links_by_email),
                i64::from(it.is_enabled),
                it.created
            ];
            tx.send(sql, values).await?;
            noted(core, tx, site, caller, it).await
        })
    });
    added.await?;
    Ok(connection)
}

/// Changes a connection. The issuer stays: subjects are only unique there.
///
/// # Errors
/// As [`create`]; [`Code::NotFound`].
pub(crate) async fn update(
    core: &Arc<Core>,
    site: &Arc<Site>,
    caller: &Caller,
    id: &str,
    change: ConnectionChange,
) -> Result<IdpConnection> {
    privileged(caller)?;
    if change.issuer.is_some() {
        let why = "members are known by what this issuer calls them; add another connection";
        return Err(Fault::invalid(vec![Violation::new("idpConnection.issuer", "FIELD_NOT_ALLOWED", why)]));
    }
    let input = (core.clone(), site.id.clone(), caller.clone(), id.to_owned(), change);
    let changed = site.write_with(input, |tx, (core, site, caller, id, change)| {
        boxed!({
            let all = read_all(tx, site).await?;
            let mut it = all.iter().find(|it| it.id == *id).cloned().ok_or_else(|| Fault::new(Code::NotFound))?;
            if all.iter().any(|other| other.id != *id && Some(&other.name) == change.name.as_ref()) {
                return Err(Fault::new(Code::AlreadyExists));
            }
            it.name = change.name.clone().unwrap_or(it.name);
            it.client_id = change.client_id.clone().unwrap_or(it.client_id);
            it.label = change.label.clone().unwrap_or(it.label);
            it.creates_members = change.creates_members.unwrap_or(it.creates_members);
            it.links_by_email = change.links_by_email.unwrap_or(it.links_by_email);
            it.is_enabled = change.is_enabled.unwrap_or(it.is_enabled);
            let sql = "update stoa.provider set name = $1, client_id = $2, label = $3, creates_members = $4, \
                       links_by_email = $5, enabled = $6 where site = $7 and id = $8";
            let values = params![
                it.name.as_str(),
                it.client_id.as_str(),
                it.label.as_str(),
                i64::from(it.creates_members),
                i64::from(it.links_by_email),
                i64::from(it.is_enabled),
                &*site,
                id.as_str()
            ];
            tx.send(sql, values).await?;
            if let Some(new) = &change.client_secret {
                let sealed = secret::seal(core, site, (&it.id, &it.issuer), new)?;
                let sql = "update stoa.provider set sealed = $1 where site = $2 and id = $3";
                tx.send(sql, params![sealed, &*site, id.as_str()]).await?;
            }
            noted(core, tx, site, caller, &it).await?;
            Ok(it)
        })
    });
    changed.await
}

/// Removes a connection, and what ties members to its provider. It signs no one in from the first moment; who calls it again
/// goes on where it was cut off.
///
/// # Errors
/// As [`Identity::idp_connection_get`].
pub(crate) async fn remove(core: &Arc<Core>, site: &Arc<Site>, caller: &Caller, id: &str) -> Result<()> {
    let write = MemberWrite::privileged(caller)?;
    let input = (core.clone(), site.id.clone(), caller.clone(), id.to_owned());
    let closed = site.write_with(input, |tx, (core, site, caller, id)| {
        boxed!({
            let it = get(tx, site, id).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
            let sql = "update stoa.provider set enabled = 0 where site = $1 and id = $2";
            tx.send(sql, params![&*site, id.as_str()]).await?;
            noted(core, tx, site, caller, &it).await
        })
    });
    closed.await?;
    while drop_some_links(site, &write, id).await? {}
    let gone = site.write_with((site.id.clone(), id.to_owned()), |tx, (site, id)| {
        boxed!({
            let sql = "delete from stoa.provider where site = $1 and id = $2";
            tx.send(sql, params![&*site, id.as_str()]).await?;
            Ok(())
        })
    });
    gone.await
}

/// Ends some links of a connection that goes: whether there may be more.
async fn drop_some_links(site: &Arc<Site>, write: &MemberWrite, provider: &str) -> Result<bool> {
    let dropped =
        site.write_with((site.id.clone(), write.clone(), provider.to_owned()), |tx, (site, write, provider)| {
            boxed!({
                let sql =
                    "select member from stoa.provider_link where site = $1 and provider = $2 order by subject limit $3";
                let id = |row: &Row<'_>| Ok(MemberId::from(row.text(0)?));
                let members = tx.rows(sql, &params![&*site, provider.as_str(), CHUNK], id).await?;
                for id in &members {
                    let sql = "delete from stoa.provider_link where site = $1 and provider = $2 and member = $3";
                    tx.send(sql, params![&*site, provider.as_str(), id]).await?;
                    let Some(mut member) = member::get(tx, site, id).await? else { continue };
                    member.connections.retain(|it| it.0 != *provider);
                    member::write_connections(tx, write, site, &member).await?;
                    if member.connections.is_empty() {
                        factor::drop_password(tx, site, id).await?;
                    }
                }
                Ok(!members.is_empty())
            })
        });
    dropped.await
}

fn privileged(caller: &Caller) -> Result<()> {
    if caller.is_privileged() { Ok(()) } else { Err(Fault::new(Code::Forbidden)) }
}

async fn noted(core: &Core, tx: &mut Tx<'_>, site: &SiteId, caller: &Caller, it: &IdpConnection) -> Result<()> {
    let actor = audit::Actor::Caller(caller);
    let (event, detail) = (audit::Event::ProviderChanged, Some(it.name.as_str()));
    audit::record(core, tx, site, audit::Entry { event, actor, member: None, address: None, detail }).await
}

const COLUMNS: &str =
    "id, name, issuer, client_id, label, creates_members, links_by_email, enabled, created from stoa.provider";

fn from_row(row: &Row<'_>) -> std::result::Result<IdpConnection, stoa_store::Error> {
    Ok(IdpConnection {
        id: row.get(0)?,
        name: row.get(1)?,
        issuer: row.get(2)?,
        client_id: row.get(3)?,
        label: row.get(4)?,
        creates_members: row.get::<i64>(5)? != 0,
        links_by_email: row.get::<i64>(6)? != 0,
        is_enabled: row.get::<i64>(7)? != 0,
        created: row.get(8)?,
    })
}

/// All of a site.
pub(crate) async fn read_all(tx: &mut Tx<'_>, site: &SiteId) -> Result<Vec<IdpConnection>> {
    let sql = format!("select {COLUMNS} where site = $1 order by created, id");
    Ok(tx.rows(&sql, &params![site], from_row).await?)
}

/// One of a site.
pub(crate) async fn get(tx: &mut Tx<'_>, site: &SiteId, id: &str) -> Result<Option<IdpConnection>> {
    // No id of ours holds U+0000, and one engine refuses to look for it.
    if id.contains('\0') {
        return Ok(None);
    }
    let sql = format!("select {COLUMNS} where site = $1 and id = $2");
    Ok(tx.row(&sql, &params![site, id], from_row).await?)
}

/// What [`Identity::idp_connection_list`] reads.
pub(crate) async fn all(site: &Site) -> Result<Vec<IdpConnection>> {
    let id = site.id.clone();
    site.read(ReaderPool::Point, move |tx| boxed!(read_all(tx, &id).await)).await
}

async fn find(site: &Site, id: &str) -> Result<Option<IdpConnection>> {
    let (site_id, id) = (site.id.clone(), id.to_owned());
    site.read(ReaderPool::Point, move |tx| boxed!(get(tx, &site_id, &id).await)).await
}

/// One that members may use now.
pub(crate) async fn enabled(site: &Site, id: &str) -> Result<Option<IdpConnection>> {
    Ok(find(site, id).await?.filter(|it| it.is_enabled))
}

/// What clients call Google and Facebook by (docs/protocol/identity.md §5.1): the connection with this name.
const WELL_KNOWN: [(&str, &str); 2] =
    [("0e6a50f5-b523-4e29-990d-f37fa2ffdd69", "google"), ("3ecad13f-52c3-483d-911f-31dbcf2a6d23", "facebook")];

/// One that members may use now, by its id or what clients call it.
pub(crate) async fn named(site: &Site, idp: &str) -> Result<Option<IdpConnection>> {
    let name = WELL_KNOWN.into_iter().find(|it| it.0.eq_ignore_ascii_case(idp)).map(|it| it.1);
    let all = all(site).await?.into_iter().filter(|it| it.is_enabled);
    Ok(all.into_iter().find(|it| it.id.eq_ignore_ascii_case(idp) || Some(it.name.as_str()) == name))
}
