-- What every site has whatever it is used for. On PostgreSQL these tables are shared by all sites,
-- so every one begins with the site; on SQLite the column is there as well and the text is one.

-- Settings of the site, one JSON value a name.
create table stoa.setting (
    site {text} not null,
    name {text} not null,
    value {text} not null,
    primary key (site, name)
);

-- Jobs and events, written in the same transaction as what caused them.
create table stoa.outbox (
    seq {key},
    site {text} not null,
    kind {text} not null,
    payload {text} not null,
    created bigint not null
);

-- Counts the transactions that follow a commit of unknown outcome (store: the writer's fence).
create table stoa.fence (count bigint not null);
insert into stoa.fence (count) values (0);
