-- Passkeys of members (crates/identity/src/factor/passkey, decision 50). A program without them would sign in by the password alone whom
-- this one asks for a passkey, so it refuses the data.
create table stoa.passkey (
    site {text} not null,
    id {text} not null,
    member {text} not null,
    -- By what its authenticator finds it. No two of a site have the same.
    credential {bytes} not null,
    -- The host of the account pages on which it was made, and the only one on which it can be shown.
    relying_party {text} not null,
    -- What the member calls it.
    name {text} not null,
    -- A COSE_Key (RFC 9052).
    public_key {bytes} not null,
    -- What the authenticator has counted up to; 0 of one that doesn't count.
    counter bigint not null,
    -- Whether it may be copied to other devices, which never changes, and whether it was.
    backup_eligible bigint not null,
    backed_up bigint not null,
    -- How browsers reach it, with spaces between.
    transports {text} not null,
    created bigint not null,
    used bigint,
    primary key (site, id)
);
create unique index passkey_credential on stoa.passkey (site, credential);
create index passkey_member on stoa.passkey (site, member);

-- Challenges that were answered, so that each counts once.
create table stoa.passkey_challenge (
    site {text} not null,
    hash {bytes} not null,
    expires bigint not null,
    primary key (site, hash)
);
create index passkey_challenge_expires on stoa.passkey_challenge (site, expires);
