//! How often something may be attempted and how long things live, as the operator of the server sets it. What the code
//! works with is made from it: [`crate::Config`], [`crate::defence::throttle::ThrottleLimits`].

use stoa_kernel::{
    Millis,
    limit::{DAY, HOUR, MINUTE, SECOND},
};

/// How long an access token may be accepted at most, whatever is configured, on whichever node: what refuses
/// one is kept for this long, so that no change of the two lives brings a revoked token back.
pub(crate) const LONGEST_ACCESS: Millis = ACCESS_LIFE + 2 * ACCESS_GRACE;
const ACCESS_LIFE: Millis = DAY;
const ACCESS_GRACE: Millis = 10 * MINUTE;
/// How long keys of tokens that live shortly verify once they are retired: what they signed has ended by then.
pub(crate) const PAST_KEYS: Millis = LONGEST_ACCESS + DAY;
/// No visitor's refresh token lives longer, those included that don't say when they end.
pub(crate) const LONGEST_VISITOR: Millis = 3_650 * DAY;
/// How long an owner may act as a member, with one token that nothing renews.
pub(crate) const IMPERSONATION_LIFE: Millis = 30 * MINUTE;
/// How long keys of visitors' refresh tokens verify once they are retired.
pub(crate) const PAST_VISITOR_KEYS: Millis = LONGEST_VISITOR + DAY;
/// Keys are replaced by age no sooner than this: those of refresh tokens are kept for years, and each costs those who
/// refresh a look.
pub const SHORTEST_KEY_AGE: Millis = 7 * DAY;

stoa_kernel::limits! {
    /// The table `identity` of the configuration. A `…_burst` is how many at once, its `…_per_hour` how many
    /// more as time passes.
    #[derive(Debug, Clone)]
    pub struct IdentityLimits {
        /// Life of an access token. Whoever is blocked or signed out elsewhere loses theirs at once all the same.
        access_life: Millis = 4 * HOUR, MINUTE..=ACCESS_LIFE;
        /// How long after that it is still accepted, since clients have no safety margin.
        access_grace: Millis = MINUTE, 0..=ACCESS_GRACE;
        /// Life of a session whatever happens, of those that begin from now on.
        session_life: Millis = 365 * DAY, HOUR..=3_650 * DAY;
        /// A session that is not used for this long ends; its use is noted once an hour.
        session_idle: Millis = 60 * DAY, 2 * HOUR..=365 * DAY;
        /// A session of somebody who runs sites that is not used for this long ends for good, with its access tokens; its
        /// use is noted once a minute. Whatever happens it ends after 14 days.
        operator_idle: Millis = 12 * HOUR, 15 * MINUTE..=14 * DAY;
        /// Life of a visitor's refresh token, from when it was made. A client that takes the new one that a refresh
        /// answers keeps its visitor as long as it calls; `@wix/sdk` keeps the first one, so this is how long its visitors
        /// are the same.
        visitor_life: Millis = LONGEST_VISITOR, DAY..=LONGEST_VISITOR;
        /// How old a key that signs tokens gets before the server makes another, by which no member is signed out. At least
        /// `7d`, or `0s` to leave it to `stoa tokens rotate`.
        signing_key_age: Millis = 90 * DAY, 0..=3_650 * DAY;
        /// The same for keys with which is sealed what must be read again; everything under older ones is sealed again then,
        /// as by `stoa seal rotate`. At least `7d`, or `0s` to leave it to that command.
        sealing_key_age: Millis = 0, 0..=3_650 * DAY;
        /// Life of a `sessionToken`: from signing in to the redirect that makes a session of it.
        session_token_life: Millis = 10 * MINUTE, 10 * SECOND..=HOUR;
        /// Life of an authorization code.
        code_life: Millis = MINUTE, 10 * SECOND..=10 * MINUTE;
        /// Tries at one account of a site from one address.
        account_burst: usize = 20, 1..=1_000_000;
        /// So many more as each hour passes.
        account_per_hour: usize = 240, 1..=10_000_000;
        /// Sign-ins at one account, from anywhere but the browsers that it knows, before each further one has to wait.
        lockout_free: usize = 20, 1..=1_000;
        /// The first wait; each after it is twice as long.
        lockout_first: Millis = SECOND, SECOND..=HOUR;
        /// No wait is longer.
        lockout_longest: Millis = 15 * MINUTE, SECOND..=DAY;
        /// One try is forgotten each time that this has passed.
        lockout_forgotten: Millis = 15 * MINUTE, SECOND..=DAY;
        /// Sign-ins from one browser that the account knows, once others have used up the rest.
        device_burst: usize = 20, 1..=1_000_000;
        /// So many more as each hour passes.
        device_per_hour: usize = 60, 1..=10_000_000;
        /// Sign-ins at all accounts of a site from one address; those that succeed don't count.
        address_burst: usize = 300, 1..=1_000_000;
        /// So many more as each hour passes.
        address_per_hour: usize = 7_200, 1..=10_000_000;
        /// Registrations at a site from one address.
        registration_burst: usize = 100, 1..=1_000_000;
        /// So many more as each hour passes.
        registration_per_hour: usize = 720, 1..=10_000_000;
        /// New passwords of one account, wherever they come from; changes of its second factors as many, by themselves.
        password_burst: usize = 20, 1..=1_000_000;
        /// So many more as each hour passes.
        password_per_hour: usize = 60, 1..=10_000_000;
        /// Copies that one member takes of their data.
        export_burst: usize = 5, 1..=1_000_000;
        /// So many more as each hour passes.
        export_per_hour: usize = 5, 1..=10_000_000;
        /// Passwords that wait for a hash, in the whole process (429).
        hash_waiting: usize = 256, 1..=100_000;
        /// From one network: an IPv4 address or 64 bits of an IPv6 one; twice as many from 48 bits.
        hash_waiting_network: usize = 64, 1..=100_000;
        /// For one account, from one network.
        hash_waiting_account: usize = 8, 1..=100_000;
        /// No password waits longer for its hash.
        hash_wait: Millis = 10 * SECOND, SECOND..=2 * MINUTE;
        /// Recovery links asked for at a site from one address.
        recovery_burst: usize = 60, 1..=1_000_000;
        /// So many more as each hour passes.
        recovery_per_hour: usize = 360, 1..=10_000_000;
        /// Captcha tokens that a site's provider is asked about, from one address; good ones don't count.
        captcha_burst: usize = 300, 1..=1_000_000;
        /// So many more as each hour passes.
        captcha_per_hour: usize = 7_200, 1..=10_000_000;
        /// Codes by telephone that are asked for at a site from one address.
        telephone_burst: usize = 10, 1..=1_000_000;
        /// So many more as each hour passes.
        telephone_per_hour: usize = 10, 1..=10_000_000;
        /// Codes by telephone that a site sends to one number in a day; half of them while it is added, at most.
        telephone_number_daily: usize = 15, 1..=1_000_000;
        /// The same for one member; half of them for proofs in sessions, at most.
        telephone_member_daily: usize = 15, 1..=1_000_000;
        /// The same to numbers that begin alike, as `telephone.countries` has them; half of them for numbers that are
        /// added, at most.
        telephone_country_daily: usize = 300, 1..=10_000_000;
        /// The same in all; half of them for numbers that are added, at most.
        telephone_site_daily: usize = 500, 1..=10_000_000;
        /// Flows and redirect sessions begun at a site from one address.
        flow_burst: usize = 1_000, 1..=1_000_000;
        /// So many more as each hour passes.
        flow_per_hour: usize = 36_000, 1..=10_000_000;
        /// Sign-ins at a whole site, from everywhere; those that succeed don't count.
        site_sign_in_burst: usize = 1_000, 1..=1_000_000;
        /// So many more as each hour passes.
        site_sign_in_per_hour: usize = 18_000, 1..=10_000_000;
        /// Registrations at a whole site.
        site_registration_burst: usize = 1_000, 1..=1_000_000;
        /// So many more as each hour passes.
        site_registration_per_hour: usize = 18_000, 1..=10_000_000;
        /// Recovery links asked for at a whole site.
        site_recovery_burst: usize = 1_000, 1..=1_000_000;
        /// So many more as each hour passes.
        site_recovery_per_hour: usize = 18_000, 1..=10_000_000;
        /// Flows and redirect sessions begun at a whole site.
        site_flow_burst: usize = 5_000, 1..=1_000_000;
        /// So many more as each hour passes.
        site_flow_per_hour: usize = 180_000, 1..=10_000_000;
    }
}
