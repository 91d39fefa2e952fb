//! What a site asks of members before they may sign in (docs/protocol/identity.md §9): of new ones, and about second factors
//! (decisions 41, 44).

use crate::{
    Core, Identity, Impersonation, audit,
    community::{entity, kind::ROLE, relation},
    member::{Member, profile::Profile},
    session::{self, SessionSelector, impersonation},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use stoa_kernel::{
    Caller, Code, EntryKind, EventActor, Fault, Millis, Result, SiteId, Violation,
    date::{self, iso_from_millis},
    nearest::hint,
};
use stoa_store::{ReaderPool, Site, Tx, boxed, outbox, setting};

const SETTING: &str = "sign_on_policy";
/// What an update may change.
const NAMES: [&str; 13] = [
    "requireOwnerApproval",
    "requireEmailVerification",
    "requiredFields",
    "requireCaptcha",
    "secondFactor",
    "secondFactorByTelephone",
    "secondFactorGraceDays",
    "secondFactorRoles",
    "operatorSecondFactor",
    "operatorSecondFactorGraceDays",
    "accountDeletionDays",
    "impersonation",
    "impersonationWithoutNotice",
];
/// What comes back on a round trip and is ignored.
const READ_ONLY: [&str; 7] = [
    "id",
    "revision",
    "createdDate",
    "updatedDate",
    "secondFactorRequiredDate",
    "secondFactorRoleDates",
    "operatorSecondFactorRequiredDate",
];

/// Days where none are named.
const GRACE_DAYS: u32 = 14;
const MOST_DAYS: u32 = 365;
const MOST_ROLES: usize = 50;
const DAY: Millis = 24 * 60 * 60_000;
const DAYS_FIELD: &str = "signOnPolicy.secondFactorGraceDays";
const OPERATOR_DAYS_FIELD: &str = "signOnPolicy.operatorSecondFactorGraceDays";
/// Days for which the deletion of an account waits where none are named, and at most.
const DELETION_DAYS: u32 = 14;
const MOST_DELETION_DAYS: u32 = 90;
const TELEPHONE_FIELD: &str = "signOnPolicy.secondFactorByTelephone";
const ROLES_FIELD: &str = "signOnPolicy.secondFactorRoles";

/// The sign-on policy. Verification comes first, then approval.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SignOnPolicy {
    pub require_owner_approval: bool,
    pub require_email_verification: bool,
    /// What a new member must give about themselves. Ours: clients know only the two above, so this and
    /// those that follow are not shown while they ask for nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_fields: Vec<Field>,
    /// Whether registration and login need a captcha answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub require_captcha: bool,
    /// Whether members can, or have to, add second factors. Those that they have are asked for in any case.
    #[serde(skip_serializing_if = "SecondFactorPolicy::is_off")]
    pub second_factor: SecondFactorPolicy,
    /// Whether a number is one of those that they can add (decision 49).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub second_factor_by_telephone: bool,
    /// For how many days members may put off what is required of them; there while it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_factor_grace_days: Option<u32>,
    /// The keys of the roles of whose members it is required; of all members where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub second_factor_roles: Vec<String>,
    /// Since when it has been required of these members, as ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_factor_required_date: Option<String>,
    /// The same of those roles of whose members it has been required for longer, by key. It outlives the list of roles where
    /// it becomes required of all members.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub second_factor_role_dates: BTreeMap<String, String>,
    /// Whether those who run the site need a second factor for it (decision 60). Those that they have are asked for in any case.
    #[serde(skip_serializing_if = "OperatorFactorPolicy::is_optional")]
    pub operator_second_factor: OperatorFactorPolicy,
    /// For how many days they may put it off; there while it is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator_second_factor_grace_days: Option<u32>,
    /// Since when it has been required, as ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator_second_factor_required_date: Option<String>,
    /// For how many days an account stays that its member wants to be deleted, who can keep it meanwhile; there once it was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_deletion_days: Option<u32>,
    /// What owners may do as members (decision 54).
    #[serde(skip_serializing_if = "Impersonation::is_off")]
    pub impersonation: Impersonation,
    /// Whether members get no message when an owner begins to act as them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub impersonation_without_notice: bool,
}

/// What a site says of second factors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SecondFactorPolicy {
    /// Members add none.
    #[default]
    Off,
    /// Members add one if they like.
    Optional,
    /// Members add one, or those with some roles do; after some days none of them signs in without.
    Required,
}

impl SecondFactorPolicy {
    pub const ALL: [Self; 3] = [Self::Off, Self::Optional, Self::Required];

    /// Its name in requests and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "OFF",
            Self::Optional => "OPTIONAL",
            Self::Required => "REQUIRED",
        }
    }

    fn is_off(&self) -> bool {
        *self == Self::Off
    }
}

/// What a site says of second factors of those who run it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OperatorFactorPolicy {
    /// They add one if they like.
    #[default]
    Optional,
    /// After some days none of them is signed in to the site without.
    Required,
}

impl OperatorFactorPolicy {
    pub const ALL: [Self; 2] = [Self::Optional, Self::Required];

    /// Its name in requests and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Optional => "OPTIONAL",
            Self::Required => "REQUIRED",
        }
    }

    fn is_optional(&self) -> bool {
        *self == Self::Optional
    }
}

/// A member of the profile that a site can require.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Field {
    FirstName,
    LastName,
    Nickname,
}

impl Field {
    pub const ALL: [Self; 3] = [Self::FirstName, Self::LastName, Self::Nickname];

    /// Its name in the profile.
    pub fn name(self) -> &'static str {
        match self {
            Self::FirstName => "firstName",
            Self::LastName => "lastName",
            Self::Nickname => "nickname",
        }
    }
}

impl SignOnPolicy {
    /// What the profile lacks.
    pub(crate) fn missing_fields(&self, profile: &Profile) -> Vec<Field> {
        let is_there = |it: &&Field| profile.text(it.name()).is_some_and(|text| !text.trim().is_empty());
        self.required_fields.iter().filter(|it| !is_there(it)).copied().collect()
    }

    /// For how many days an account stays that its member wants to be deleted.
    pub fn deletion_days(&self) -> u32 {
        self.account_deletion_days.unwrap_or(DELETION_DAYS)
    }

    /// How long an account stays that its member wants to be deleted.
    pub(crate) fn deletion_wait(&self) -> Millis {
        Millis::from(self.deletion_days()) * DAY
    }

    /// When a second factor is due of a member: until then they may put it off. Nothing for members of whom none is
    /// required.
    pub(crate) async fn factor_due(&self, tx: &mut Tx<'_>, site: &SiteId, member: &Member) -> Result<Option<Millis>> {
        if self.second_factor != SecondFactorPolicy::Required {
            return Ok(None);
        }
        let is_of_all = self.second_factor_roles.is_empty();
        let asked: Vec<String> = match is_of_all {
            true => self.second_factor_role_dates.keys().cloned().collect(),
            false => self.second_factor_roles.clone(),
        };
        let held = match asked.is_empty() {
            true => Vec::new(),
            false => relation::held_of(tx, site, ROLE.name, member.id.as_str(), asked).await?,
        };
        let of_roles = held.iter().filter_map(|it| self.required_of_role(it));
        let Some(since) = of_roles.chain(self.second_factor_required_date.as_deref().filter(|_| is_of_all)).min()
        else {
            return Ok(None);
        };
        let days = Millis::from(self.second_factor_grace_days.unwrap_or_default());
        Ok(Some(date::parse(since).unwrap_or_default().max(member.created) + days * DAY))
    }

    /// When a second factor is due of a person who runs the site, whose account was made then. Nothing where none is required.
    pub(crate) fn operator_factor_due(&self, created: Millis) -> Option<Millis> {
        if self.operator_second_factor.is_optional() {
            return None;
        }
        let since = self.operator_second_factor_required_date.as_deref().and_then(date::parse).unwrap_or_default();
        let days = Millis::from(self.operator_second_factor_grace_days.unwrap_or_default());
        Some(since.max(created) + days * DAY)
    }

    /// Since when a second factor is required of members with a role, if it is.
    fn required_of_role(&self, key: &str) -> Option<&str> {
        if self.second_factor != SecondFactorPolicy::Required {
            return None;
        }
        let is_meant = self.second_factor_roles.is_empty() || self.second_factor_roles.iter().any(|it| it == key);
        let date = self.second_factor_role_dates.get(key).or(self.second_factor_required_date.as_ref());
        date.filter(|_| is_meant).map(String::as_str)
    }

    /// How owners may act as members by now and how before, for the audit log: `from OFF to WRITE without notice`. Nothing where that is
    /// the same.
    fn impersonation_changed(&self, before: &Self) -> Option<String> {
        let told = |it: &Self| {
            let notice = if it.impersonation_without_notice { " without notice" } else { "" };
            format!("{}{notice}", it.impersonation.name())
        };
        let (from, to) = (told(before), told(self));
        (from != to).then(|| format!("from {from} to {to}"))
    }

    /// What it says of second factors by now and what before, for the audit log: `operatorSecondFactor from OPTIONAL to REQUIRED after 14
    /// days`. Nothing where that is the same.
    fn factors_changed(&self, before: &Self) -> Option<String> {
        let after = |days: Option<u32>| days.map(|it| format!(" after {it} days")).unwrap_or_default();
        let of_members = |it: &Self| {
            let roles = match it.second_factor_roles.is_empty() {
                true => String::new(),
                false => format!(" of {}", it.second_factor_roles.join(", ")),
            };
            let numbers = if it.second_factor_by_telephone { " with numbers" } else { "" };
            format!("{}{roles}{}{numbers}", it.second_factor.name(), after(it.second_factor_grace_days))
        };
        let of_operators =
            |it: &Self| format!("{}{}", it.operator_second_factor.name(), after(it.operator_second_factor_grace_days));
        let told = [
            ("secondFactor", of_members(before), of_members(self)),
            ("operatorSecondFactor", of_operators(before), of_operators(self)),
        ];
        let changed = told.into_iter().filter(|(_, from, to)| from != to);
        let changed: Vec<_> = changed.map(|(name, from, to)| format!("{name} from {from} to {to}")).collect();
        (!changed.is_empty()).then(|| changed.join("; "))
    }

    /// Takes the dates from the policy before: only of those of whom it was not required is it required since now.
    fn date_factors(&mut self, before: &Self, now: &str) {
        let was_required = before.second_factor == SecondFactorPolicy::Required;
        let dates: BTreeMap<String, String> = match self.second_factor_roles.is_empty() {
            true if was_required && before.second_factor_roles.is_empty() => return,
            true => {
                let known = |key: &String| Some((key.clone(), before.required_of_role(key)?.to_owned()));
                before.second_factor_roles.iter().filter_map(known).collect()
            }
            false => {
                let dated = |key: &String| (key.clone(), before.required_of_role(key).unwrap_or(now).to_owned());
                self.second_factor_roles.iter().map(dated).collect()
            }
        };
        let latest = match self.second_factor_roles.is_empty() {
            true => now.to_owned(),
            false => dates.values().max().cloned().unwrap_or_else(|| now.to_owned()),
        };
        self.second_factor_role_dates = dates.into_iter().filter(|it| it.1 < latest).collect();
        self.second_factor_required_date = Some(latest);
    }
}

/// What an update changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyChange {
    pub require_owner_approval: Option<bool>,
    pub require_email_verification: Option<bool>,
    pub required_fields: Option<Vec<Field>>,
    pub require_captcha: Option<bool>,
    pub second_factor: Option<SecondFactorPolicy>,
    pub second_factor_by_telephone: Option<bool>,
    pub second_factor_grace_days: Option<u32>,
    pub second_factor_roles: Option<Vec<String>>,
    pub operator_second_factor: Option<OperatorFactorPolicy>,
    pub operator_second_factor_grace_days: Option<u32>,
    pub account_deletion_days: Option<u32>,
    pub impersonation: Option<Impersonation>,
    pub impersonation_without_notice: Option<bool>,
}

impl PolicyChange {
    /// Reads the body `{signOnPolicy: {…partial…}}`.
    ///
    /// # Errors
    /// [`Code::Validation`] when a flag isn't true or false, a required field is not one of [`Field`], second factors are
    /// none of [`SecondFactorPolicy`], their days or roles are none, or a member is none of the policy's: then the nearest
    /// is named.
    pub fn parse(body: &Value) -> Result<Self> {
        let mut violations = Vec::new();
        let mut flag = |name: &str| match body.get("signOnPolicy").and_then(|it| it.get(name)) {
            None | Some(Value::Null) => None,
            Some(Value::Bool(flag)) => Some(*flag),
            Some(_) => {
                let field = format!("signOnPolicy.{name}");
                violations.push(Violation::new(field, "FORMAT", "true or false is expected"));
                None
            }
        };
        let mut change = Self {
            require_owner_approval: flag("requireOwnerApproval"),
            require_email_verification: flag("requireEmailVerification"),
            require_captcha: flag("requireCaptcha"),
            second_factor_by_telephone: flag("secondFactorByTelephone"),
            impersonation_without_notice: flag("impersonationWithoutNotice"),
            ..Self::default()
        };
        if let Some(policy) = body.get("signOnPolicy") {
            parse_factors(policy, &mut change, &mut violations);
            let why = "OFF, READ or WRITE is expected";
            let names = Impersonation::ALL.map(|it| (it.name(), it));
            change.impersonation = one_of(policy, "impersonation", &names, why, &mut violations);
            change.account_deletion_days = days(policy, "accountDeletionDays", MOST_DELETION_DAYS, &mut violations);
        }
        match body.get("signOnPolicy").and_then(|it| it.get("requiredFields")) {
            None | Some(Value::Null) => {}
            Some(list) => match serde_json::from_value::<Vec<Field>>(list.clone()) {
                Ok(mut fields) => {
                    fields.sort_unstable();
                    fields.dedup();
                    change.required_fields = Some(fields);
                }
                Err(_) => {
                    let names = Field::ALL.map(Field::name).join(", ");
                    let why = format!("a list of {names} is expected");
                    violations.push(Violation::new("signOnPolicy.requiredFields", "FORMAT", why));
                }
            },
        }
        match body.get("signOnPolicy") {
            Some(Value::Object(members)) => {
                for name in
                    members.keys().filter(|it| !NAMES.contains(&it.as_str()) && !READ_ONLY.contains(&it.as_str()))
                {
                    let why = format!("the policy has no such member{}", hint(name, NAMES));
                    violations.push(Violation::new(format!("signOnPolicy.{name}"), "UNKNOWN_FIELD", why));
                }
            }
            Some(_) => violations.push(Violation::new("signOnPolicy", "FORMAT", "an object is expected")),
            None => violations.push(Violation::new("signOnPolicy", "REQUIRED_FIELD", "the policy is missing")),
        }
        if violations.is_empty() { Ok(change) } else { Err(Fault::invalid(violations)) }
    }
}

impl Identity {
    /// The site's policy, for those who run it and for apps.
    ///
    /// # Errors
    /// [`Code::Forbidden`] for all others.
    pub async fn policy_get(&self, site: &Site, caller: &Caller) -> Result<SignOnPolicy> {
        allow(caller)?;
        of_site(site).await
    }

    /// The policy as the product itself needs it.
    pub async fn policy(&self, site: &Site) -> Result<SignOnPolicy> {
        of_site(site).await
    }
}

/// Changes what `change` names and answers the whole policy. Members who wait already keep waiting
/// for what was asked of them. Where owners may do less as members from now on, none of them acts as one any more. `check` compares
/// the change with the policy that it meets.
///
/// # Errors
/// [`Code::Forbidden`] for callers who are neither app nor owner; what `check` answers; [`Code::Validation`] for roles that there
/// are not, for days and roles where no second factor is required, and for numbers where the server sends no codes to any.
pub(crate) async fn update(
    core: &Arc<Core>,
    site: &Site,
    caller: &Caller,
    change: PolicyChange,
    check: impl Fn(&PolicyChange, &SignOnPolicy) -> Result<()> + Copy + Send + Sync + 'static,
) -> Result<SignOnPolicy> {
    allow(caller)?;
    let actor = EventActor::of(caller);
    let has_telephone = core.telephone.is_some();
    let lowers = match change.impersonation {
        Some(to) => to < of_site(site).await?.impersonation,
        None => false,
    };
    let expected = lowers.then_some(SessionSelector::Impersonations);
    let input = (core.clone(), site.id.clone(), change, actor, caller.clone(), core.now());
    session::end_in(core, site, expected, input, move |tx, (core, site, change, actor, caller, now)| {
        boxed!({
            let mut policy = read(tx, site).await?;
            // Here, where nobody changes meanwhile what it is compared with.
            check(change, &policy)?;
            let before = policy.clone();
            if let Some(flag) = change.second_factor_by_telephone {
                // What is sent as it stands is never refused.
                if flag && !before.second_factor_by_telephone && !has_telephone {
                    let why = "this server sends no codes to telephones";
                    return Err(Fault::invalid(vec![Violation::new(TELEPHONE_FIELD, "FIELD_NOT_ALLOWED", why)]));
                }
                policy.second_factor_by_telephone = flag;
            }
            if let Some(flag) = change.require_owner_approval {
                policy.require_owner_approval = flag;
            }
            if let Some(flag) = change.require_email_verification {
                policy.require_email_verification = flag;
            }
            if let Some(fields) = &change.required_fields {
                policy.required_fields = fields.clone();
            }
            if let Some(flag) = change.require_captcha {
                policy.require_captcha = flag;
            }
            apply_factors(tx, site, change, &mut policy, *now).await?;
            apply_operator_factors(change, &mut policy, *now)?;
            policy.account_deletion_days = change.account_deletion_days.or(policy.account_deletion_days);
            policy.impersonation = change.impersonation.unwrap_or(policy.impersonation);
            if let Some(flag) = change.impersonation_without_notice {
                policy.impersonation_without_notice = flag;
            }
            if policy == before {
                return Ok((policy, Vec::new()));
            }
            let value = serde_json::to_string(&policy).map_err(Fault::internal)?;
            setting::put(tx, site, SETTING, value).await?;
            let payload = json!({ "identity": actor, "signOnPolicy": policy }).to_string();
            outbox::put(tx, site, EntryKind::PolicyUpdated.name(), payload, *now).await?;
            for (event, detail) in [
                (audit::Event::FactorPolicyChanged, policy.factors_changed(&before)),
                (audit::Event::ImpersonationPolicyChanged, policy.impersonation_changed(&before)),
            ] {
                let Some(detail) = detail else { continue };
                let actor = audit::Actor::Caller(caller);
                let entry = audit::Entry { event, actor, member: None, address: None, detail: Some(&detail) };
                audit::record(core, tx, site, entry).await?;
            }
            let ended = match policy.impersonation < before.impersonation {
                true => {
                    let (which, by) = (SessionSelector::Impersonations, audit::Actor::Caller(caller));
                    impersonation::end(core, tx, site, &which, by, None).await?.1
                }
                false => Vec::new(),
            };
            Ok((policy, ended))
        })
    })
    .await
}

/// What [`Identity::policy`] does.
pub(crate) async fn of_site(site: &Site) -> Result<SignOnPolicy> {
    let id = site.id.clone();
    site.read(ReaderPool::Point, move |tx| boxed!(read(tx, &id).await)).await
}

/// The policy inside a transaction.
pub(crate) async fn read(tx: &mut Tx<'_>, site: &SiteId) -> Result<SignOnPolicy> {
    let stored = setting::get(tx, site, SETTING).await?;
    stored.map_or(Ok(SignOnPolicy::default()), |it| serde_json::from_str(&it).map_err(Fault::internal))
}

/// Reads what an update says of second factors.
fn parse_factors(policy: &Value, change: &mut PolicyChange, violations: &mut Vec<Violation>) {
    let (names, why) = (SecondFactorPolicy::ALL.map(|it| (it.name(), it)), "OFF, OPTIONAL or REQUIRED is expected");
    change.second_factor = one_of(policy, "secondFactor", &names, why, violations);
    change.second_factor_grace_days = days(policy, "secondFactorGraceDays", MOST_DAYS, violations);
    let names = OperatorFactorPolicy::ALL.map(|it| (it.name(), it));
    let why = "OPTIONAL or REQUIRED is expected";
    change.operator_second_factor = one_of(policy, "operatorSecondFactor", &names, why, violations);
    change.operator_second_factor_grace_days = days(policy, "operatorSecondFactorGraceDays", MOST_DAYS, violations);
    if let Some(sent) = policy.get("secondFactorRoles").filter(|it| !it.is_null()) {
        match serde_json::from_value::<Vec<String>>(sent.clone()) {
            Ok(roles) if roles.len() > MOST_ROLES => {
                violations.push(Violation::new(ROLES_FIELD, "MAX_SIZE", format!("at most {MOST_ROLES} roles")));
            }
            // In the order that was sent: refusals count in it.
            Ok(roles) => change.second_factor_roles = Some(roles),
            Err(_) => {
                let why = "a list of the keys of members' roles is expected; of those who run the site \
                           operatorSecondFactor says it";
                violations.push(Violation::new(ROLES_FIELD, "FORMAT", why));
            }
        }
    }
}

/// One of these that an update names.
fn one_of<T: Copy>(
    policy: &Value,
    name: &str,
    names: &[(&str, T)],
    why: &str,
    violations: &mut Vec<Violation>,
) -> Option<T> {
    let sent = policy.get(name).filter(|it| !it.is_null())?;
    let found = names.iter().find(|it| sent.as_str() == Some(it.0)).map(|it| it.1);
    if found.is_none() {
        let rule = if sent.is_string() { "INVALID_ENUM_VALUE" } else { "FORMAT" };
        violations.push(Violation::new(format!("signOnPolicy.{name}"), rule, why));
    }
    found
}

/// Days that an update names.
fn days(policy: &Value, name: &str, most: u32, violations: &mut Vec<Violation>) -> Option<u32> {
    let sent = policy.get(name).filter(|it| !it.is_null())?;
    let days = sent.as_u64().and_then(|it| u32::try_from(it).ok()).filter(|it| *it <= most);
    if days.is_none() {
        let why = format!("a whole number of days is expected, {most} at most");
        violations.push(Violation::new(format!("signOnPolicy.{name}"), "FORMAT", why));
    }
    days
}

/// Whether the policy names a role, inside a transaction: deleted, it would take the requirement with it without a word.
pub(crate) async fn names_role(tx: &mut Tx<'_>, site: &SiteId, key: &str) -> Result<bool> {
    Ok(read(tx, site).await?.second_factor_roles.iter().any(|it| it == key))
}

/// Changes inside a transaction what a policy says of second factors. The days begin again for those who were not meant before.
/// What is sent as it stands in the policy is never refused: a policy that was read can be written back.
///
/// # Errors
/// [`Code::Validation`] for roles that the site doesn't have, and for days and roles where none is required.
async fn apply_factors(
    tx: &mut Tx<'_>,
    site: &SiteId,
    change: &PolicyChange,
    policy: &mut SignOnPolicy,
    now: Millis,
) -> Result<()> {
    let before = policy.clone();
    if let Some(second_factor) = change.second_factor {
        policy.second_factor = second_factor;
    }
    if policy.second_factor != SecondFactorPolicy::Required {
        let (days, roles) = (change.second_factor_grace_days, change.second_factor_roles.as_ref());
        let meant = [
            (DAYS_FIELD, days.is_some() && days != before.second_factor_grace_days),
            (ROLES_FIELD, roles.is_some_and(|it| !it.is_empty() && sorted(it) != before.second_factor_roles)),
        ];
        let wrong = meant.into_iter().filter(|it| it.1);
        let violation =
            |(field, _)| Violation::new(field, "FIELD_NOT_ALLOWED", "it goes with secondFactor REQUIRED only");
        let violations: Vec<_> = wrong.map(violation).collect();
        if !violations.is_empty() {
            return Err(Fault::invalid(violations));
        }
        (policy.second_factor_grace_days, policy.second_factor_required_date) = (None, None);
        policy.second_factor_roles.clear();
        policy.second_factor_role_dates.clear();
        return Ok(());
    }
    if let Some(roles) = &change.second_factor_roles {
        check_roles(tx, site, roles, &before.second_factor_roles).await?;
        policy.second_factor_roles = sorted(roles);
    }
    let days = change.second_factor_grace_days.or(policy.second_factor_grace_days);
    policy.second_factor_grace_days = Some(days.unwrap_or(GRACE_DAYS));
    policy.date_factors(&before, &iso_from_millis(now));
    Ok(())
}

/// The same of what it says of those who run the site. The days begin when it becomes required.
///
/// # Errors
/// [`Code::Validation`] for days where none is required.
fn apply_operator_factors(change: &PolicyChange, policy: &mut SignOnPolicy, now: Millis) -> Result<()> {
    let was_required = !policy.operator_second_factor.is_optional();
    policy.operator_second_factor = change.operator_second_factor.unwrap_or(policy.operator_second_factor);
    let days = change.operator_second_factor_grace_days;
    if policy.operator_second_factor.is_optional() {
        if days.is_some() && days != policy.operator_second_factor_grace_days {
            let why = "it goes with operatorSecondFactor REQUIRED only";
            return Err(Fault::invalid(vec![Violation::new(OPERATOR_DAYS_FIELD, "FIELD_NOT_ALLOWED", why)]));
        }
        (policy.operator_second_factor_grace_days, policy.operator_second_factor_required_date) = (None, None);
        return Ok(());
    }
    let days = days.or(policy.operator_second_factor_grace_days);
    policy.operator_second_factor_grace_days = Some(days.unwrap_or(GRACE_DAYS));
    if !was_required {
        policy.operator_second_factor_required_date = Some(iso_from_millis(now));
    }
    Ok(())
}

/// Roles as a policy has them.
pub(crate) fn sorted(roles: &[String]) -> Vec<String> {
    roles.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect()
}

/// Refuses roles that the site doesn't have, by their place in the list as it was sent; those in the policy already stay.
async fn check_roles(tx: &mut Tx<'_>, site: &SiteId, roles: &[String], known: &[String]) -> Result<()> {
    let mut violations = Vec::new();
    for (at, key) in roles.iter().enumerate().filter(|it| !known.contains(it.1)) {
        if entity::get(tx, site, &ROLE, key).await?.is_none() {
            let why = "members of this site have no such role";
            violations.push(Violation::new(format!("{ROLES_FIELD}[{at}]"), "INVALID_ENUM_VALUE", why));
        }
    }
    if violations.is_empty() { Ok(()) } else { Err(Fault::invalid(violations)) }
}

fn allow(caller: &Caller) -> Result<()> {
    if caller.is_privileged() { Ok(()) } else { Err(Fault::new(Code::Forbidden)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(policy: Value) -> Result<PolicyChange> {
        PolicyChange::parse(&json!({ "signOnPolicy": policy }))
    }

    #[test]
    fn policy_of_second_factors_is_refused_by_name() {
        let change = parsed(
            json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 0, "secondFactorRoles": ["b", "a", "b"] }),
        );
        let change = change.unwrap();
        assert_eq!(change.second_factor, Some(SecondFactorPolicy::Required));
        assert_eq!(
            (change.second_factor_grace_days, change.second_factor_roles),
            (Some(0), Some(["b", "a", "b"].map(str::to_owned).to_vec()))
        );
        let nothing = parsed(json!({ "secondFactor": null, "secondFactorGraceDays": null, "secondFactorRoles": null }));
        assert_eq!(nothing.unwrap(), PolicyChange::default());
        let days = "a whole number of days is expected, 365 at most";
        let roles =
            "a list of the keys of members' roles is expected; of those who run the site operatorSecondFactor says it";
        for (name, sent, why) in [
            ("secondFactor", json!("optional"), "OFF, OPTIONAL or REQUIRED is expected"),
            ("secondFactor", json!({ "roles": ["admin"] }), "OFF, OPTIONAL or REQUIRED is expected"),
            ("operatorSecondFactor", json!("OFF"), "OPTIONAL or REQUIRED is expected"),
            ("operatorSecondFactor", json!(true), "OPTIONAL or REQUIRED is expected"),
            ("operatorSecondFactorGraceDays", json!(366), days),
            ("impersonation", json!("read"), "OFF, READ or WRITE is expected"),
            ("impersonation", json!(true), "OFF, READ or WRITE is expected"),
            ("impersonationWithoutNotice", json!("no"), "true or false is expected"),
            ("secondFactorGraceDays", json!(366), days),
            ("secondFactorGraceDays", json!(-1), days),
            ("secondFactorGraceDays", json!(1.5), days),
            ("secondFactorGraceDays", json!("14"), days),
            ("accountDeletionDays", json!(91), "a whole number of days is expected, 90 at most"),
            ("accountDeletionDays", json!("14"), "a whole number of days is expected, 90 at most"),
            ("secondFactorRoles", json!("OWNER"), roles),
            ("secondFactorRoles", json!([1]), roles),
            ("secondFactorRoles", json!(vec!["r"; 51]), "at most 50 roles"),
        ] {
            let fault = parsed(json!({ name: sent })).unwrap_err();
            let told: Vec<_> =
                fault.violations().iter().map(|it| (it.field.as_str(), it.description.as_str())).collect();
            assert_eq!(told, [(format!("signOnPolicy.{name}").as_str(), why)], "{sent}");
        }
    }

    #[test]
    fn only_those_who_were_not_meant_before_get_days() {
        let roles = |keys: &[&str]| keys.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let after = |before: &SignOnPolicy, keys: &[&str], now: &str| {
            let (second_factor, second_factor_roles) = (SecondFactorPolicy::Required, roles(keys));
            let mut policy = SignOnPolicy { second_factor, second_factor_roles, ..before.clone() };
            policy.date_factors(before, now);
            policy
        };
        let dates = |policy: &SignOnPolicy| {
            let of_roles: Vec<_> =
                policy.second_factor_role_dates.iter().map(|(key, date)| format!("{key}={date}")).collect();
            (policy.second_factor_required_date.clone().unwrap_or_default(), of_roles.join(" "))
        };
        let told = |date: &str, of_roles: &str| (date.to_owned(), of_roles.to_owned());
        let first = after(&SignOnPolicy::default(), &["mod"], "1");
        assert_eq!(dates(&first), told("1", ""));
        assert_eq!(after(&first, &["mod"], "2"), first);
        let wider = after(&first, &["editor", "mod"], "2");
        assert_eq!(dates(&wider), told("2", "mod=1"));
        assert_eq!(dates(&after(&wider, &["mod"], "3")), told("1", ""), "narrower");
        assert_eq!(dates(&after(&wider, &["editor"], "3")), told("2", ""));
        let all = after(&wider, &[], "3");
        assert_eq!(dates(&all), told("3", "editor=2 mod=1"));
        assert_eq!(after(&all, &[], "4"), all);
        assert_eq!(dates(&after(&all, &["editor", "new"], "4")), told("3", "editor=2"), "all were meant");
        assert_eq!(dates(&after(&first, &["other"], "4")), told("4", ""));
    }

    #[test]
    fn factors_of_operators_are_due_some_days_after_they_become_required() {
        let change = |policy: Value| parsed(policy).unwrap();
        let mut policy = SignOnPolicy::default();
        let required = change(json!({ "operatorSecondFactor": "REQUIRED" }));
        apply_operator_factors(&required, &mut policy, 5 * DAY).unwrap();
        assert_eq!(policy.operator_factor_due(0), Some(19 * DAY));
        assert_eq!(policy.operator_factor_due(6 * DAY), Some(20 * DAY), "of one who came later");
        // Said again it begins no new days; other days count from when it began.
        apply_operator_factors(&required, &mut policy, 9 * DAY).unwrap();
        assert_eq!(policy.operator_factor_due(0), Some(19 * DAY));
        apply_operator_factors(&change(json!({ "operatorSecondFactorGraceDays": 0 })), &mut policy, 9 * DAY).unwrap();
        assert_eq!(policy.operator_factor_due(0), Some(5 * DAY));
        let optional = change(json!({ "operatorSecondFactor": "OPTIONAL" }));
        apply_operator_factors(&optional, &mut policy, 10 * DAY).unwrap();
        assert_eq!((policy.operator_factor_due(0), &policy), (None, &SignOnPolicy::default()));
        let days = change(json!({ "operatorSecondFactorGraceDays": 3 }));
        let refused = apply_operator_factors(&days, &mut policy, 10 * DAY).unwrap_err();
        assert_eq!(refused.violations()[0].field, OPERATOR_DAYS_FIELD);
    }

    #[test]
    fn log_tells_what_a_policy_says_of_second_factors() {
        let before = SignOnPolicy::default();
        let now = SignOnPolicy {
            second_factor: SecondFactorPolicy::Required,
            second_factor_grace_days: Some(3),
            second_factor_roles: vec!["a".to_owned(), "b".to_owned()],
            operator_second_factor: OperatorFactorPolicy::Required,
            operator_second_factor_grace_days: Some(0),
            ..before.clone()
        };
        let told = "secondFactor from OFF to REQUIRED of a, b after 3 days; \
                    operatorSecondFactor from OPTIONAL to REQUIRED after 0 days";
        assert_eq!((now.factors_changed(&before).as_deref(), now.factors_changed(&now)), (Some(told), None));
    }

    #[test]
    fn policy_shows_what_it_asks_for_only() {
        let shown = |policy: SignOnPolicy| json!(policy)["secondFactor"].clone();
        let optional = SignOnPolicy { second_factor: SecondFactorPolicy::Optional, ..SignOnPolicy::default() };
        assert_eq!((shown(SignOnPolicy::default()), shown(optional)), (Value::Null, json!("OPTIONAL")));
    }

    #[test]
    fn policy_refuses_unknown_members_with_the_nearest() {
        let change = |policy: Value| PolicyChange::parse(&json!({ "signOnPolicy": policy }));
        let good = change(json!({ "requireCaptcha": true, "revision": "1", "createdDate": null })).unwrap();
        assert_eq!(good.require_captcha, Some(true));
        let fault = change(json!({ "requireCapcha": true, "zzz": 1 })).unwrap_err();
        let told: Vec<_> = fault.violations().iter().map(|it| (it.field.as_str(), it.description.as_str())).collect();
        let expected = [
            ("signOnPolicy.requireCapcha", "the policy has no such member; did you mean requireCaptcha?"),
            ("signOnPolicy.zzz", "the policy has no such member"),
        ];
        assert_eq!(told, expected);
    }
}
