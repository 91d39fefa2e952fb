-- A relation is a pair of multi-reference fields: one that somebody declared and the one that came with
-- it on the other collection. Collections stand here by number, so that an id that is used again
-- doesn't inherit links. The number of a relation is never used again, so its row stays.
create table stoa.relation (
    site {text} not null,
    number bigint not null,
    referring bigint not null,
    referring_field {text} not null,
    referenced bigint not null,
    referenced_field {text} not null,
    deleted bigint,
    primary key (site, number)
);
create unique index relation_referring on stoa.relation (site, referring, referring_field) where deleted is null;
create unique index relation_referenced on stoa.relation (site, referenced, referenced_field) where deleted is null;

-- Links of all relations of all collections. Both fields of a relation read the same rows; `seq` is the
-- order in which links were made.
create table stoa.item_link (
    seq {key},
    site {text} not null,
    relation bigint not null,
    referring {text} not null,
    referenced {text} not null
);
create unique index item_link_pair on stoa.item_link (site, relation, referring, referenced);
create index item_link_referring on stoa.item_link (site, relation, referring, seq);
create index item_link_referenced on stoa.item_link (site, relation, referenced, seq);
