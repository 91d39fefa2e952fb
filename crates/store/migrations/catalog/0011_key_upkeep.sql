-- Which node replaces keys that are too old (decision 56), by what it replaces.
create table stoa.key_upkeep (
    -- TOKENS or SEAL.
    task {text} primary key,
    -- When a node first found one that is too old.
    since bigint not null,
    -- Who is at it until when, by its own clock, unless it says so again.
    holder {text},
    held_until bigint
);
