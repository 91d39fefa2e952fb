-- Rights of single people in a collection, beside what its levels give.
create table stoa.special_permission (
    site {text} not null,
    id {text} not null,
    collection bigint not null,
    -- USER or POLICY, and which.
    kind {text} not null,
    subject {text} not null,
    -- What is granted, as JSON.
    granted {text} not null,
    created bigint not null,
    primary key (site, id),
    unique (site, collection, kind, subject)
);

-- Indexes on collections that people or the server itself made. `number` names the index in the
-- database, so that a name is never part of SQL; system indexes have no row.
create table stoa.content_index (
    site {text} not null,
    collection bigint not null,
    number bigint not null,
    id {text} not null,
    name {text} not null,
    -- Fields, unique and caseInsensitive as JSON.
    definition {text} not null,
    source {text} not null,
    status {text} not null,
    -- Why a build failed, as JSON.
    failure {text},
    -- Why the server made it, as JSON.
    why {text},
    -- Builds that were begun.
    attempts bigint not null,
    -- When a query was last seen to use it.
    used bigint not null,
    created bigint not null,
    updated bigint not null,
    primary key (site, collection, number)
);
create unique index content_index_name on stoa.content_index (site, collection, name) where status <> 'DROPPING';
create index content_index_work on stoa.content_index (status) where status in ('BUILDING', 'DROPPING');
