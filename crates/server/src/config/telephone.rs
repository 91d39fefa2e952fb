//! The table `[telephone]`: the provider that sends codes to telephones, by text message and by call (decision 49).

use clap::{Args, ValueEnum};
use serde::Deserialize;
use stoa_identity::telephone::{Channel, TelephoneConfig, is_number, prefix};
use stoa_kernel::{Secret, World};
use stoa_outbound::{Reach, ReachConfig, TelephoneGateway, TelephoneLimits, TelephoneProvider};

/// The keys as they were written.
#[derive(Debug, Clone, Default, Args, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TelephoneOptions {
    /// Provider of text messages and calls with the HTTP interface of Twilio: what stands before /Accounts
    #[arg(id = "telephone_url", long = "telephone-url", env = "STOA_TELEPHONE_URL", value_name = "URL")]
    pub url: Option<String>,
    /// Account at the provider
    #[arg(id = "telephone_account", long = "telephone-account", env = "STOA_TELEPHONE_ACCOUNT", value_name = "NAME")]
    pub account: Option<String>,
    /// Name that goes with the secret [default: the account]
    #[arg(id = "telephone_user", long = "telephone-user", env = "STOA_TELEPHONE_USER", value_name = "NAME")]
    pub user: Option<String>,
    /// Secret at the provider; better in the file or the environment than on the command line
    #[arg(id = "telephone_secret", long = "telephone-secret", env = "STOA_TELEPHONE_SECRET", hide_env_values = true)]
    pub secret: Option<String>,
    /// Number that messages and calls come from: +15005550006
    #[arg(id = "telephone_from", long = "telephone-from", env = "STOA_TELEPHONE_FROM", value_name = "NUMBER")]
    pub from: Option<String>,
    /// Calling codes of the countries whose numbers may be sent codes, or longer beginnings of numbers
    #[arg(id = "telephone_countries", long = "telephone-countries", env = "STOA_TELEPHONE_COUNTRIES",
        value_delimiter = ',', num_args = 1.., value_name = "CODE")]
    pub countries: Vec<String>,
    /// Beginnings of numbers of these countries that are sent no codes all the same, because they cost more
    #[arg(id = "telephone_except", long = "telephone-except", env = "STOA_TELEPHONE_EXCEPT",
        value_delimiter = ',', num_args = 1.., value_name = "DIGITS")]
    pub except: Vec<String>,
    /// What is sent: sms, call or both [default: both]
    #[arg(id = "telephone_kinds", long = "telephone-kinds", env = "STOA_TELEPHONE_KINDS", value_enum,
        value_delimiter = ',', num_args = 1..)]
    pub kinds: Vec<TelephoneKind>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TelephoneKind {
    Sms,
    Call,
}

impl TelephoneOptions {
    /// These keys, and from a file what they don't have.
    pub(super) fn over(self, file: Self) -> Self {
        Self {
            url: self.url.or(file.url),
            account: self.account.or(file.account),
            user: self.user.or(file.user),
            secret: self.secret.or(file.secret),
            from: self.from.or(file.from),
            countries: if self.countries.is_empty() { file.countries } else { self.countries },
            except: if self.except.is_empty() { file.except } else { self.except },
            kinds: if self.kinds.is_empty() { file.kinds } else { self.kinds },
        }
    }

    /// What the keys mean; `None` without an address, and where they can't be meant. What is wrong with `reach` itself is
    /// told there.
    pub(super) fn meant(self, reach: &ReachConfig, mistakes: &mut Vec<String>) -> Option<TelephoneConfig> {
        let before = mistakes.len();
        let mut wrong = |text: &str| mistakes.push(format!("telephone.{text}"));
        let Self { url, account, user, secret, from, countries, except, kinds } = self;
        let Some(url) = url else {
            let is_set = [&account, &user, &secret, &from].into_iter().any(Option::is_some);
            if is_set || !(countries.is_empty() && except.is_empty() && kinds.is_empty()) {
                wrong("url is missing, but other keys of telephone are set");
            }
            return None;
        };
        for (key, value) in [("account", &account), ("secret", &secret), ("from", &from)] {
            if value.is_none() {
                wrong(&format!("{key} is missing"));
            }
        }
        if from.as_deref().is_some_and(|it| !is_number(it)) {
            wrong("from: + and the digits of a number are expected");
        }
        if countries.is_empty() {
            wrong("countries is missing: the calling codes of numbers that may be sent codes, for example 49");
        }
        let mut beginnings = |key: &str, all: &[String]| -> Vec<String> {
            let meant = |it: &String| {
                prefix(it).or_else(|| {
                    wrong(&format!("{key}: {it:?} is no calling code, and no longer beginning of numbers"));
                    None
                })
            };
            all.iter().filter_map(meant).collect()
        };
        let (prefixes, except) = (beginnings("countries", &countries), beginnings("except", &except));
        let is_meant = mistakes.len() == before;
        let (account, secret, from) = (account?, Secret::new(secret?), from?);
        let provider = TelephoneProvider { url, account, user, secret, from };
        let limits = TelephoneLimits::default();
        let reach = Reach::new(reach, World::real()).ok()?;
        if let Err(why) = TelephoneGateway::new(reach, &provider, limits.clone()) {
            mistakes.push(format!("telephone.{why}"));
            return None;
        }
        let channel = |it: &TelephoneKind| match it {
            TelephoneKind::Sms => Channel::Sms,
            TelephoneKind::Call => Channel::Call,
        };
        let kinds = if kinds.is_empty() { TelephoneKind::value_variants() } else { kinds.as_slice() };
        let channels = kinds.iter().map(channel).collect();
        is_meant.then_some(TelephoneConfig { provider, limits, channels, prefixes, except })
    }
}
