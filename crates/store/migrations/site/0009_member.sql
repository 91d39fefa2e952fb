-- Members beyond their account: from visitor to member, what the members API keeps, what happened.

-- A visitor's first item in a collection notes the pair, so that what a visitor owns is found by it.
create table stoa.visitor_collection (
    site {text} not null,
    visitor {text} not null,
    -- The collection's number.
    collection bigint not null,
    primary key (site, visitor, collection)
);

-- Visitors who became a member. From then on such a visitor owns nothing new.
create table stoa.visitor_member (
    site {text} not null,
    visitor {text} not null,
    member {text} not null,
    created bigint not null,
    -- 1 while some of what the visitor owned is still to be passed on.
    unfinished bigint not null,
    primary key (site, visitor)
);
create index visitor_member_unfinished on stoa.visitor_member (site, created) where unfinished = 1;

-- When the member's first session was issued; null until then.
alter table stoa.member add column joined bigint;
update stoa.member set joined = last_login where last_login is not null;

-- 1 for a member whom those who run the site have silenced.
alter table stoa.member add column muted bigint not null default 0;
-- What the members API filters and sorts by, folded; the texts as written are in the profile.
alter table stoa.member add column slug_folded {text};
alter table stoa.member add column nickname_folded {text} not null default '';
alter table stoa.member add column privacy {text} not null default 'PRIVATE';
-- What the members API shows beside the profile: photo, cover, title.
alter table stoa.member add column card {text} not null default '{}';
create unique index member_slug on stoa.member (site, slug_folded) where slug_folded is not null;
create index member_listed on stoa.member (site, created desc, id desc) where status <> 'DELETED';
create index member_status on stoa.member (site, status, created desc, id desc);
create index member_public on stoa.member (site, privacy, status, created desc, id desc);
create index member_nickname on stoa.member (site, nickname_folded, id);
create index member_login on stoa.member (site, coalesce(last_login, 0) desc, id desc);

-- Nouns around members that are read whole by id: role definitions, badges, custom fields and the like.
-- `kind` says which; `doc` is the object as clients know it, without what the other columns say.
create table stoa.member_noun (
    site {text} not null,
    kind {text} not null,
    id {text} not null,
    doc {text} not null,
    -- Order among its kind.
    position bigint not null,
    revision bigint not null,
    created bigint not null,
    updated bigint not null,
    primary key (site, kind, id)
);
create index member_noun_position on stoa.member_noun (site, kind, position, id);

-- What joins a member to another member or to a noun: follows, blocks, roles, badges, reports.
create table stoa.member_tie (
    site {text} not null,
    kind {text} not null,
    -- Who has it: the follower, the one who blocks, the member with the role or badge.
    holder {text} not null,
    -- What is had: the followed, the blocked, the role's key, the badge's id.
    target {text} not null,
    id {text} not null,
    doc {text} not null,
    created bigint not null,
    primary key (site, kind, holder, target)
);
create unique index member_tie_id on stoa.member_tie (site, kind, id);
create index member_tie_target on stoa.member_tie (site, kind, target, holder);

-- What happened to accounts, and by whom.
create table stoa.audit (
    site {text} not null,
    id {text} not null,
    created bigint not null,
    event {text} not null,
    -- Kind and id of who did it.
    actor_kind {text} not null,
    actor {text} not null,
    -- Whom it was done to.
    member {text},
    -- Where it came from, when that is known.
    address {text},
    primary key (site, id)
);
create index audit_created on stoa.audit (site, created desc, id desc);
create index audit_member on stoa.audit (site, member, created desc, id desc) where member is not null;

-- Refresh tokens of clients whose tokens rotate: those that came after a session's first one, and that
-- one once it was used. Kept after use, so that a second use is seen.
create table stoa.refresh_token (
    site {text} not null,
    hash {bytes} not null,
    session {text} not null,
    -- When it was first exchanged.
    used bigint,
    -- How often it was exchanged.
    children bigint not null,
    expires bigint not null,
    primary key (site, hash)
);
create index refresh_token_expires on stoa.refresh_token (site, expires);
create index refresh_token_session on stoa.refresh_token (site, session);
alter table stoa.session add column rotates bigint not null default 0;
alter table stoa.code add column rotates bigint not null default 0;

-- Browsers in which a member has signed in before: attackers elsewhere can't lock them out.
create table stoa.device (
    site {text} not null,
    hash {bytes} not null,
    member {text} not null,
    created bigint not null,
    expires bigint not null,
    primary key (site, hash)
);
create index device_member on stoa.device (site, member, created);
create index device_expires on stoa.device (site, expires);

-- Pruning by age.
create index flow_expires on stoa.flow (site, expires);
create index redirect_session_expires on stoa.redirect_session (site, expires);
create index session_token_expires on stoa.session_token (site, expires);
create index code_expires on stoa.code (site, expires);
create index verification_expires on stoa.verification (site, expires);
create index link_expires on stoa.link (site, expires);
