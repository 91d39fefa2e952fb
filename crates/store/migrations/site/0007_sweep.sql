-- Work on all items of a collection, in chunks, that a restart doesn't lose: emptying a collection
-- (TRUNCATE) and taking the values of a deleted field out of its items (FIELD).
create table stoa.sweep (
    site {text} not null,
    -- The number of the collection.
    collection bigint not null,
    id {text} not null,
    kind {text} not null,
    field {text},
    -- Rows up to this one, made up to this time, were there when it began.
    upto bigint not null,
    started bigint not null,
    -- Rows up to this one are done, since when.
    done bigint not null,
    touched bigint not null,
    -- What the outbox hears of at the end.
    event {text},
    primary key (site, collection, id)
);
