//! Who people are: visitors, members, those who run a site, and the tokens that say so.
//!
//! What other crates call are methods of [`Identity`], entity then verb; all else are functions of the folder
//! they belong to, which take [`Core`]. HTTP, cookies and content are not here.

mod address;
pub mod app_key;
pub mod audit;
pub mod authorize;
pub mod browser;
pub mod client;
pub mod community;
pub mod defence;
mod encryption;
pub mod event;
pub mod face;
pub mod factor;
pub mod flow;
mod limits;
mod log;
pub mod mail;
pub mod manage;
pub mod member;
pub mod oauth;
pub mod operator;
pub mod password;
pub mod policy;
pub mod provider;
pub mod redirect;
pub(crate) mod retention;
pub mod seal;
pub mod session;
pub mod sign_in;
pub mod telephone;
pub mod token;
mod webhook;

pub use address::form as address_form;
pub use defence::device::DeviceHints;
pub use limits::{IdentityLimits, SHORTEST_KEY_AGE};
pub use session::Impersonation;
pub use token::authenticate::Authenticated;

use defence::{captcha_provider, throttle};
use token::{authenticate, operator_use, revocation, signing, site_names};

use quick_cache::sync::Cache;
use std::sync::{Arc, OnceLock};
use stoa_kernel::{Code, Fault, Millis, Result, SiteId, World};
use stoa_outbound::{HashRangeCounts, HashRangeLimits, HashRanges, Reach, SiteverifyLimits};
use stoa_store::{Area, Ownership, Store};
use tokio::sync::Semaphore;

/// What other crates hold of identity. Cheap to clone.
#[derive(Clone)]
pub struct Identity {
    pub(crate) core: Arc<Core>,
}

/// What functions of rooms work with: they take `&Arc<Core>` where they begin a transaction or a task, else
/// `&Core`, before the transaction that they are a part of.
pub(crate) struct Core {
    pub(crate) store: Arc<Store>,
    pub(crate) world: World,
    pub(crate) mail: Arc<dyn stoa_outbound::Mailer>,
    pub(crate) config: Config,
    pub(crate) keys: signing::Keys,
    pub(crate) ciphers: encryption::Ciphers,
    pub(crate) app_keys: app_key::Signers,
    pub(crate) verified: authenticate::VerifiedCache,
    pub(crate) clients: client::Clients,
    pub(crate) revocations: revocation::Revocations,
    pub(crate) passwords: password::Passwords,
    pub(crate) throttle: throttle::Throttle,
    pub(crate) mail_queue: mail::MailQueue,
    pub(crate) captcha: captcha_provider::ProviderClient,
    pub(crate) providers: provider::Providers,
    /// The service that is asked about new passwords, where there is one.
    pub(crate) leaked_passwords: Option<HashRanges>,
    /// What sends codes to telephones, where the server has it.
    pub(crate) telephone: Option<telephone::Telephone>,
    /// What sends to members' browsers.
    pub(crate) push: factor::push::PushSender,
    pub(crate) sites: Cache<i64, SiteId>,
    pub(crate) site_names: Cache<SiteId, Arc<site_names::SiteNames>>,
    /// Sites whose log may tell of redirect sessions: until when it is known, and whether it does.
    pub(crate) redirect_logs: Cache<SiteId, (Millis, bool)>,
    /// Turns of copies of what is known of members.
    pub(crate) exports: Semaphore,
    /// Passes on what visitors own.
    pub(crate) ownership: OnceLock<Arc<dyn Ownership>>,
}

impl Core {
    pub(crate) fn store(&self) -> &Arc<Store> {
        &self.store
    }

    pub(crate) fn world(&self) -> &World {
        &self.world
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn now(&self) -> i64 {
        self.world.now()
    }
}

impl Identity {
    /// Loads the signing keys (or makes the first ones) and the list of what is revoked. What leads out of the
    /// process goes through `mail` and `reach`.
    ///
    /// # Errors
    /// Whatever the catalogue answers, and [`Code::Unavailable`] when the password threads can't start, and for an
    /// address of leaked passwords or a telephone provider that may not be called.
    pub async fn open(
        store: Arc<Store>,
        world: World,
        mail: Arc<dyn stoa_outbound::Mailer>,
        reach: Reach,
        config: Config,
    ) -> Result<Self> {
        let revocations = revocation::Revocations::load(store.catalog(), &world).await?;
        // After the revocations, by which is told that there are new ones.
        let keys = signing::Keys::load(store.catalog(), &world).await?;
        let passwords = password::Passwords::start(&config.password, config.hash_line, &world).await?;
        let ciphers = encryption::Ciphers::load(store.catalog(), &world).await?;
        operator_use::count_from_now(&store, world.now()).await?;
        let leaked_passwords = config.leaked_passwords_url.as_deref().map(|url| {
            HashRanges::new(reach.clone(), url, config.leaked_passwords.clone())
                .map_err(|it| Fault::because(Code::Unavailable, format!("leaked_passwords_url: {it}")))
        });
        let telephone = config.telephone.as_ref().map(|it| telephone::Telephone::new(reach.clone(), it)).transpose()?;
        let core = Core {
            providers: provider::Providers::new(reach.clone()),
            verified: authenticate::VerifiedCache::new(config.verified_tokens),
            clients: client::Clients::new(),
            throttle: throttle::Throttle::new(config.throttle.clone()),
            mail_queue: mail::MailQueue::new(ciphers.mail.clone()),
            push: factor::push::PushSender::new(reach.clone()),
            captcha: captcha_provider::ProviderClient::new(ciphers.captcha.clone(), reach, config.siteverify.clone()),
            leaked_passwords: leaked_passwords.transpose()?,
            telephone,
            app_keys: app_key::Signers::new(),
            sites: Cache::new(4096),
            site_names: Cache::new(4096),
            redirect_logs: Cache::new(4096),
            exports: Semaphore::new(manage::EXPORTS),
            ownership: OnceLock::new(),
            store,
            world,
            mail,
            config,
            keys,
            ciphers,
            revocations,
            passwords,
        };
        let core = Arc::new(core);
        core.store.withdrawals().remember(Area::Identity, &core).await?;
        revocation::keep_fresh(&core);
        core.mail_queue.answer_with(sign_in::answerer(&core));
        mail::keep_delivering(&core);
        Ok(Self { core })
    }

    /// Names who keeps what visitors own, once, before requests are answered. Without it a visitor who
    /// becomes a member brings nothing along.
    pub fn set_ownership(&self, ownership: Arc<dyn Ownership>) {
        if self.core.ownership.set(ownership).is_err() {
            tracing::warn!("who keeps what visitors own was named before");
        }
    }

    pub fn store(&self) -> &Arc<Store> {
        &self.core.store
    }

    pub fn world(&self) -> &World {
        &self.core.world
    }

    pub fn config(&self) -> &Config {
        &self.core.config
    }

    /// How many passwords wait to be hashed.
    pub fn hashes_waiting(&self) -> usize {
        self.core.passwords.waiting()
    }

    /// How often the service of leaked passwords was asked; nothing but zeros where there is none.
    pub fn leaked_passwords_counts(&self) -> HashRangeCounts {
        self.core.leaked_passwords.as_ref().map(HashRanges::counts).unwrap_or_default()
    }
}

/// Settings of identity: how long things live and what they cost, never read from a global. The defaults are the
/// product's.
#[derive(Debug, Clone)]
pub struct Config {
    /// Life of an access token as the client sees it.
    pub access_life: Millis,
    /// How long after that it is still accepted: clients have no safety margin (docs/protocol/identity.md §4.4).
    pub access_grace: Millis,
    /// Life of a session whatever happens.
    pub session_life: Millis,
    /// A session that is not used for this long ends.
    pub session_idle: Millis,
    /// A session of an operator that is not used for this long ends for good.
    pub operator_idle: Millis,
    /// Life of a visitor's refresh token, from when it is made.
    pub visitor_life: Millis,
    /// After how long a key that signs tokens is followed by another; never by itself where it is 0.
    pub signing_key_age: Millis,
    /// The same for keys that seal.
    pub sealing_key_age: Millis,
    /// Life of a `sessionToken`.
    pub session_token_life: Millis,
    /// Life of an authorization code.
    pub code_life: Millis,
    /// Signed tokens whose check is remembered.
    pub verified_tokens: usize,
    pub password: password::Cost,
    pub hash_line: password::LineLimits,
    /// Passwords that are refused beside those of the program's own list.
    pub refused_passwords: password::PasswordList,
    /// Where new passwords are asked for by the first digits of their SHA-1, `GET URL/PREFIX`; nowhere without.
    pub leaked_passwords_url: Option<String>,
    pub leaked_passwords: HashRangeLimits,
    pub throttle: throttle::ThrottleLimits,
    pub siteverify: SiteverifyLimits,
    /// What sends codes to telephones; nothing does without.
    pub telephone: Option<telephone::TelephoneConfig>,
    pub telephone_daily: telephone::DayLimits,
    /// What tells where network addresses are; nothing does without.
    pub places: Option<session::Places>,
}

impl Default for Config {
    fn default() -> Self {
        Self::from(&IdentityLimits::default())
    }
}

impl From<&IdentityLimits> for Config {
    fn from(limits: &IdentityLimits) -> Self {
        Self {
            access_life: limits.access_life,
            access_grace: limits.access_grace,
            session_life: limits.session_life,
            session_idle: limits.session_idle,
            operator_idle: limits.operator_idle,
            visitor_life: limits.visitor_life,
            signing_key_age: limits.signing_key_age,
            sealing_key_age: limits.sealing_key_age,
            session_token_life: limits.session_token_life,
            code_life: limits.code_life,
            verified_tokens: 25_000,
            password: password::Cost::default(),
            hash_line: password::LineLimits {
                all: limits.hash_waiting,
                network: limits.hash_waiting_network,
                account: limits.hash_waiting_account,
                wait: limits.hash_wait,
            },
            refused_passwords: password::PasswordList::default(),
            leaked_passwords_url: None,
            leaked_passwords: HashRangeLimits::default(),
            throttle: throttle::ThrottleLimits::from(limits),
            siteverify: SiteverifyLimits::default(),
            telephone: None,
            telephone_daily: telephone::DayLimits::from(limits),
            places: None,
        }
    }
}
