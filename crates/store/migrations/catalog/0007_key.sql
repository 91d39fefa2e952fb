-- RSA keys of applications: with one of them is signed what is sent to an application (decision 26).
create table stoa.app_key (
    -- The thumbprint of its public half (RFC 7638). No two applications have one key: what is signed for one would
    -- pass at the other.
    id {text} primary key,
    client {text} not null,
    site {text} not null,
    -- NEXT, then ACTIVE, then RETIRED.
    state {text} not null,
    -- MADE here, or IMPORTED.
    origin {text} not null,
    -- The public half: big-endian numbers without leading zeros.
    modulus {bytes} not null,
    exponent {bytes} not null,
    -- The private half, sealed with a key of purpose `app key`. Null once it is retired: it signs never again.
    sealed {bytes},
    created bigint not null,
    activated bigint,
    retired bigint
);
create index app_key_client on stoa.app_key (client, created);
create index app_key_retired on stoa.app_key (retired);
-- One that signs, and one that is to follow it.
create unique index app_key_role on stoa.app_key (client, state) where state <> 'RETIRED';

-- Rotations of sealing keys. What is under an older key is sealed again until the rotation has finished.
create table stoa.seal_rotation (
    id {text} primary key,
    started bigint not null,
    finished bigint
);
