//! What a site asks of new members before they may sign in (identity.md 9).

use crate::Identity;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stoa_kernel::{Caller, Code, Fault, Result, Violation};
use stoa_sql::params;
use stoa_store::{Lane, Site, Tx, boxed, outbox};

const SETTING: &str = "sign_on_policy";

/// The sign-on policy. Verification comes first, then approval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SignOnPolicy {
    pub require_owner_approval: bool,
    pub require_email_verification: bool,
}

/// What an update changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PolicyChange {
    pub require_owner_approval: Option<bool>,
    pub require_email_verification: Option<bool>,
}

impl PolicyChange {
    /// Reads the body `{signOnPolicy: {…partial…}}`.
    ///
    /// # Errors
    /// [`Code::Validation`] when a member isn't true or false.
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
        let change = Self {
            require_owner_approval: flag("requireOwnerApproval"),
            require_email_verification: flag("requireEmailVerification"),
        };
        match body.get("signOnPolicy") {
            Some(Value::Object(_)) => {}
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
    /// [`Code::Forbidden`] for everybody else.
    pub async fn policy_get(&self, site: &Site, caller: &Caller) -> Result<SignOnPolicy> {
        allow(caller)?;
        self.policy(site).await
    }

    /// Changes what `change` names and answers the whole policy. Members who wait already keep waiting
    /// for what was asked of them.
    ///
    /// # Errors
    /// [`Code::Forbidden`] for callers who are neither app nor owner.
    pub async fn policy_update(&self, site: &Site, caller: &Caller, change: PolicyChange) -> Result<SignOnPolicy> {
        allow(caller)?;
        let (id, now) = (site.id.clone(), self.now());
        site.write(move |tx| {
            let id = id.clone();
            boxed!({
                let mut policy = read(tx, id.as_str()).await?;
                let before = policy;
                if let Some(flag) = change.require_owner_approval {
                    policy.require_owner_approval = flag;
                }
                if let Some(flag) = change.require_email_verification {
                    policy.require_email_verification = flag;
                }
                if policy == before {
                    return Ok(policy);
                }
                let value = serde_json::to_string(&policy).map_err(Fault::internal)?;
                let sql = "insert into stoa.setting (site, name, value) values ($1, $2, $3) \
                           on conflict (site, name) do update set value = excluded.value";
                tx.execute(sql, &params![&id, SETTING, value]).await?;
                let payload = json!({ "signOnPolicy": policy }).to_string();
                outbox::put(tx, &id, "wix.iam.signon.v1.sign_on_policy_updated", payload, now).await?;
                Ok(policy)
            })
        })
        .await
    }

    /// The policy as the product itself needs it.
    pub async fn policy(&self, site: &Site) -> Result<SignOnPolicy> {
        let id = site.id.clone();
        site.read(Lane::Point, move |tx| boxed!(read(tx, id.as_str()).await)).await
    }
}

/// The policy inside a transaction.
pub(crate) async fn read(tx: &mut Tx<'_>, site: &str) -> Result<SignOnPolicy> {
    let sql = "select value from stoa.setting where site = $1 and name = $2";
    let stored: Option<String> = tx.row(sql, &params![site, SETTING], |row| row.get(0)).await?;
    stored.map_or(Ok(SignOnPolicy::default()), |it| serde_json::from_str(&it).map_err(Fault::internal))
}

fn allow(caller: &Caller) -> Result<()> {
    if caller.is_privileged() { Ok(()) } else { Err(Fault::new(Code::Forbidden)) }
}
