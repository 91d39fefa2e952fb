create table stoa.site (
    id {text} primary key,
    number bigint not null unique,
    name {text} not null,
    created bigint not null
);

-- Which site a host name shows.
create table stoa.host (
    host {text} primary key,
    site {text} not null
);

-- Public OAuth clients: front ends. A secret makes one confidential. Lists are JSON arrays of texts.
create table stoa.client (
    id {text} primary key,
    site {text} not null,
    name {text} not null,
    redirect_uris {text} not null,
    origins {text} not null,
    secret_hash {bytes},
    created bigint not null,
    revoked bigint
);
create index client_site on stoa.client (site, created);

-- API keys: App callers. Only the hash of the key is here.
create table stoa.api_key (
    id {text} primary key,
    hash {bytes} not null unique,
    site {text} not null,
    name {text} not null,
    created bigint not null,
    revoked bigint
);
create index api_key_site on stoa.api_key (site, created);

-- Keys that sign tokens; retired ones still verify what they signed.
create table stoa.signing_key (
    id {text} primary key,
    purpose {text} not null,
    private {bytes} not null,
    public {bytes} not null,
    created bigint not null,
    retired bigint
);

-- Ids of sessions, keys and clients whose signed tokens are refused before they expire by themselves.
-- A row is needed only as long as such a token could still be alive.
create table stoa.revocation (
    subject {text} primary key,
    created bigint not null,
    expires bigint not null
);
create index revocation_created on stoa.revocation (created);

-- The people who run sites, and what they may do where.
create table stoa.person (
    id {text} primary key,
    email {text} not null,
    email_folded {text} not null unique,
    name {text},
    password_hash {text},
    created bigint not null
);
create table stoa.person_role (
    person {text} not null,
    site {text} not null,
    role {text} not null,
    primary key (person, site)
);
-- Invitations to run a site. Without an address the first to open the link says who they are.
create table stoa.invite (
    hash {bytes} primary key,
    site {text} not null,
    email {text},
    role {text} not null,
    expires bigint not null,
    used bigint
);

-- Browsers in which a person who runs sites is signed in.
create table stoa.person_session (
    id {text} primary key,
    hash {bytes} not null unique,
    person {text} not null,
    site {text} not null,
    created bigint not null,
    expires bigint not null,
    ended bigint
);
create index person_session_person on stoa.person_session (person, site);
