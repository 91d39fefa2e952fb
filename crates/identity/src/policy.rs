//! What a site asks of new members before they may sign in (docs/protocol/identity.md §9).

use crate::{Identity, member::profile::Profile};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stoa_kernel::{Caller, Code, EntryKind, EventActor, Fault, Result, SiteId, Violation, nearest::hint};
use stoa_store::{ReaderPool, Site, Tx, boxed, outbox, setting};

const SETTING: &str = "sign_on_policy";
/// What an update may change.
const NAMES: [&str; 5] =
    ["requireOwnerApproval", "requireEmailVerification", "requiredFields", "requireCaptcha", "secondFactor"];
/// What comes back on a round trip and is ignored.
const READ_ONLY: [&str; 4] = ["id", "revision", "createdDate", "updatedDate"];

/// The sign-on policy. Verification comes first, then approval.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SignOnPolicy {
    pub require_owner_approval: bool,
    pub require_email_verification: bool,
    /// What a new member must give about themselves. Ours: clients know only the two above, so this and
    /// the next two are not shown while they ask for nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_fields: Vec<Field>,
    /// Whether registration and login need a captcha answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub require_captcha: bool,
    /// Whether members can add second factors. Those that they have are asked for in any case.
    #[serde(skip_serializing_if = "SecondFactorPolicy::is_off")]
    pub second_factor: SecondFactorPolicy,
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
}

impl SecondFactorPolicy {
    pub const ALL: [Self; 2] = [Self::Off, Self::Optional];

    /// Its name in requests and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "OFF",
            Self::Optional => "OPTIONAL",
        }
    }

    fn is_off(&self) -> bool {
        *self == Self::Off
    }

    /// Reads the policy's member, when there is one.
    fn parse(sent: Option<&Value>, violations: &mut Vec<Violation>) -> Option<Self> {
        let (rule, why) = match sent {
            None | Some(Value::Null) => return None,
            Some(Value::String(name)) => match Self::ALL.into_iter().find(|it| it.name() == name) {
                Some(known) => return Some(known),
                None if name == "REQUIRED" => {
                    ("INVALID_ENUM_VALUE", "REQUIRED is not built; OFF or OPTIONAL is expected")
                }
                None => ("INVALID_ENUM_VALUE", "OFF or OPTIONAL is expected"),
            },
            Some(_) => ("FORMAT", "OFF or OPTIONAL is expected, for all members alike"),
        };
        violations.push(Violation::new("signOnPolicy.secondFactor", rule, why));
        None
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
}

/// What an update changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyChange {
    pub require_owner_approval: Option<bool>,
    pub require_email_verification: Option<bool>,
    pub required_fields: Option<Vec<Field>>,
    pub require_captcha: Option<bool>,
    pub second_factor: Option<SecondFactorPolicy>,
}

impl PolicyChange {
    /// Reads the body `{signOnPolicy: {…partial…}}`.
    ///
    /// # Errors
    /// [`Code::Validation`] when a flag isn't true or false, a required field is not one of [`Field`], second factors are
    /// none of [`SecondFactorPolicy`], or a member is
    /// none of the policy's: then the nearest is named.
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
            required_fields: None,
            second_factor: None,
        };
        let second_factor = body.get("signOnPolicy").and_then(|it| it.get("secondFactor"));
        change.second_factor = SecondFactorPolicy::parse(second_factor, &mut violations);
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

    /// Changes what `change` names and answers the whole policy. Members who wait already keep waiting
    /// for what was asked of them.
    ///
    /// # Errors
    /// [`Code::Forbidden`] for callers who are neither app nor owner.
    pub async fn policy_update(&self, site: &Site, caller: &Caller, change: PolicyChange) -> Result<SignOnPolicy> {
        let core = &self.core;
        allow(caller)?;
        let actor = EventActor::of(caller);
        site.write_with((site.id.clone(), change, actor, core.now()), |tx, (site, change, actor, now)| {
            boxed!({
                let mut policy = read(tx, site).await?;
                let before = policy.clone();
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
                if let Some(second_factor) = change.second_factor {
                    policy.second_factor = second_factor;
                }
                if policy == before {
                    return Ok(policy);
                }
                let value = serde_json::to_string(&policy).map_err(Fault::internal)?;
                setting::put(tx, site, SETTING, value).await?;
                let payload = json!({ "identity": actor, "signOnPolicy": policy }).to_string();
                outbox::put(tx, site, EntryKind::PolicyUpdated.name(), payload, *now).await?;
                Ok(policy)
            })
        })
        .await
    }

    /// The policy as the product itself needs it.
    pub async fn policy(&self, site: &Site) -> Result<SignOnPolicy> {
        of_site(site).await
    }
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

fn allow(caller: &Caller) -> Result<()> {
    if caller.is_privileged() { Ok(()) } else { Err(Fault::new(Code::Forbidden)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_of_second_factors_is_refused_by_name() {
        let change = |it: Value| PolicyChange::parse(&json!({ "signOnPolicy": { "secondFactor": it } }));
        assert_eq!(change(json!("OPTIONAL")).unwrap().second_factor, Some(SecondFactorPolicy::Optional));
        assert_eq!(change(Value::Null).unwrap().second_factor, None);
        for (sent, why) in [
            (json!("REQUIRED"), "REQUIRED is not built; OFF or OPTIONAL is expected"),
            (json!("optional"), "OFF or OPTIONAL is expected"),
            (json!(true), "OFF or OPTIONAL is expected, for all members alike"),
            (json!({ "roles": ["admin"], "policy": "REQUIRED" }), "OFF or OPTIONAL is expected, for all members alike"),
        ] {
            let fault = change(sent.clone()).unwrap_err();
            let told: Vec<_> =
                fault.violations().iter().map(|it| (it.field.as_str(), it.description.as_str())).collect();
            assert_eq!(told, [("signOnPolicy.secondFactor", why)], "{sent}");
        }
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
