-- Collections: what their makers define. Items live in a table of their own each, made with the
-- collection and named by its number, so that a name is never part of SQL.
-- A deleted collection keeps its row and its table; its id may be used again.
create table stoa.collection (
    site {text} not null,
    number bigint not null,
    id {text} not null,
    definition {text} not null,
    revision bigint not null,
    created bigint not null,
    updated bigint not null,
    deleted bigint,
    primary key (site, number)
);
create unique index collection_id on stoa.collection (site, id) where deleted is null;
