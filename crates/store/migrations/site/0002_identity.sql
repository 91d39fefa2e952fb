-- Members and their sessions. Tokens, cookies and codes are here as SHA-256 hashes only.

-- An account of the site. PENDING members wait for what the two pending flags say.
create table stoa.member (
    site {text} not null,
    id {text} not null,
    email {text} not null,
    -- What is unique in a site; null once the member is deleted, so that the address is free again.
    email_folded {text},
    email_verified bigint not null,
    status {text} not null,
    pending_email bigint not null,
    pending_approval bigint not null,
    password_hash {text},
    -- IdentityProfile (protocol/identity.md 10.3) as JSON.
    profile {text} not null,
    revision bigint not null,
    created bigint not null,
    updated bigint not null,
    last_login bigint,
    primary key (site, id),
    unique (site, email_folded)
);
create index member_created on stoa.member (site, created);

-- A sign-in. The root of a family is the browser's session (hash of its cookie) or a session of its
-- own; a client that gets tokens through it has a session with the same root (hash of its refresh token).
create table stoa.session (
    site {text} not null,
    id {text} not null,
    root {text} not null,
    member {text} not null,
    client {text},
    hash {bytes} not null,
    visitor {text},
    created bigint not null,
    used bigint not null,
    expires bigint not null,
    ended bigint,
    primary key (site, id),
    unique (site, hash)
);
create index session_root on stoa.session (site, root);
create index session_member on stoa.session (site, member, created);

-- `sessionToken` of a finished sign-in: shows once, within minutes, who signed in.
create table stoa.session_token (
    site {text} not null,
    hash {bytes} not null,
    member {text} not null,
    visitor {text},
    expires bigint not null,
    primary key (site, hash)
);
create index session_token_member on stoa.session_token (site, member);

-- Authorization codes. A used one stays until it would be long forgotten, so that a second use is seen.
create table stoa.code (
    site {text} not null,
    hash {bytes} not null,
    client {text} not null,
    member {text} not null,
    root {text} not null,
    visitor {text},
    redirect_uri {text},
    challenge {text},
    expires bigint not null,
    -- The session that the code was exchanged for.
    session {text},
    primary key (site, hash)
);
