-- Values of items in other languages (crates/content/src/collection/translation.rs). They go with their items.
create table stoa.item_translation (
    site {text} not null,
    -- The number of the collection, and of the item's row in its table.
    collection bigint not null,
    item bigint not null,
    -- A tag of BCP 47 in small letters, and the key of the field.
    language {text} not null,
    field {text} not null,
    -- Canonical JSON.
    value {text} not null,
    primary key (site, collection, item, language, field)
);
