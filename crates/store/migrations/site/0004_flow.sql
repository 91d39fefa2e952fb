-- Sign-ins under way. Tokens and codes are here as SHA-256 hashes only, and everything expires.

-- `fullUrl` of a redirect session: what it is for, as JSON.
create table stoa.redirect_session (
    site {text} not null,
    hash {bytes} not null,
    plan {text} not null,
    -- The member who had just signed in when it was made; taken once.
    member {text},
    expires bigint not null,
    used bigint,
    primary key (site, hash)
);
create index redirect_session_member on stoa.redirect_session (site, member);

-- Flows of the account pages, each bound to the browser that began it (hash of its cookie).
create table stoa.flow (
    site {text} not null,
    hash {bytes} not null,
    browser {bytes} not null,
    kind {text} not null,
    state {text} not null,
    context {text} not null,
    revision bigint not null,
    expires bigint not null,
    primary key (site, hash)
);

-- E-mailed codes. The hash is that of the state token, or of the flow that asked for the code.
create table stoa.verification (
    site {text} not null,
    hash {bytes} not null,
    member {text} not null,
    email_folded {text} not null,
    visitor {text},
    code_hash {bytes} not null,
    code_expires bigint not null,
    -- Wrong codes and messages since it was made.
    attempts bigint not null,
    messages bigint not null,
    created bigint not null,
    expires bigint not null,
    primary key (site, hash)
);
create index verification_member on stoa.verification (site, member, created);

-- Links in messages: recovery.
create table stoa.link (
    site {text} not null,
    hash {bytes} not null,
    purpose {text} not null,
    member {text} not null,
    return_url {text},
    created bigint not null,
    expires bigint not null,
    used bigint,
    primary key (site, hash)
);
create index link_member on stoa.link (site, member, created);
