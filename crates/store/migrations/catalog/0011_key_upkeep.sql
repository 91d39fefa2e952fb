-- Which node replaces keys that are too old (decision 56), by what it replaces.
create table stoa.key_upkeep (
    -- TOKENS or SEAL.
    task {text} primary key,
    -- Since when nodes look for keys that are too old without a pause.
    since bigint not null,
    -- When one looked last.
    seen bigint not null,
    -- Who is at it until when, by its own clock, unless it says so again.
    holder {text},
    held_until bigint
);
