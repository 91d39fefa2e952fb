-- Second factors of members (crates/identity/src/factor, decision 41). A program without this would sign in by the password
-- alone whom this one asks for more, so it refuses the data.
create table stoa.factor (
    site {text} not null,
    id {text} not null,
    member {text} not null,
    -- What the member calls it.
    name {text} not null,
    -- The secret of an authenticator, sealed with a key of purpose `factor`.
    sealed {bytes} not null,
    created bigint not null,
    -- When a code of it was shown first; until then it is asked for by nothing.
    confirmed bigint,
    used bigint,
    -- The step of time (RFC 6238) of the last code that counted.
    last_step bigint not null default 0,
    primary key (site, id)
);
create index factor_member on stoa.factor (site, member);
create index factor_created on stoa.factor (site, created);

-- One row for each member who has, or begins to have, a second factor. Its lock puts attempts in a line.
create table stoa.factor_guard (
    site {text} not null,
    member {text} not null,
    -- Sign-ins that wait for a factor name it, and end when it counts up.
    generation bigint not null default 0,
    -- Wrong codes of authenticators since the last right one, and until when no other counts.
    wrong_codes bigint not null default 0,
    codes_after bigint not null default 0,
    -- When a session set the password without showing the one before.
    password_set bigint,
    primary key (site, member)
);

create table stoa.recovery_code (
    site {text} not null,
    hash {bytes} not null,
    member {text} not null,
    used bigint,
    primary key (site, hash)
);
create index recovery_code_member on stoa.recovery_code (site, member);

-- Browsers in which a member is not asked again for a while.
create table stoa.remembered_browser (
    site {text} not null,
    -- Of the member and the cookie by which the browser is known.
    hash {bytes} not null,
    member {text} not null,
    created bigint not null,
    expires bigint not null,
    primary key (site, hash)
);
create index remembered_browser_member on stoa.remembered_browser (site, member);
create index remembered_browser_expires on stoa.remembered_browser (site, expires);

-- Whether the browser in which the sign-in ends is one of those.
alter table stoa.session_token add column remembers bigint not null default 0;
alter table stoa.redirect_session add column remembers bigint not null default 0;
-- When the member showed last, in this session, who they are.
alter table stoa.session add column proved bigint;
