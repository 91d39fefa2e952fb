-- What copies between environments make and replace here (crates/content/src/environment, decision 40). Tables of items
-- that aren't those of a collection at the moment have a row of stoa.collection that is deleted and has an id of its own.
create table stoa.environment_swap (
    site {text} not null,
    copy {text} not null,
    -- The collection's id.
    collection {text} not null,
    -- STAGED while the table is filled, DONE once the collection has it; UNDONE when it was taken back, GOING while it is
    -- removed.
    state {text} not null,
    -- The number of the table, and that of the one which the collection had before.
    staged bigint not null,
    replaced bigint,
    changed bigint not null,
    primary key (site, copy, collection)
);
