-- Changes of all items that a filter finds, done in pieces after their request (crates/content/src/async_job).
create table stoa.async_job (
    site {text} not null,
    id {text} not null,
    -- The number of the collection, and its id.
    collection bigint not null,
    collection_id {text} not null,
    -- PATCH or REMOVE.
    kind {text} not null,
    -- INITIALIZED, PROCESSING, SUCCEEDED or FAILED.
    status {text} not null,
    -- Who asks, with session and scopes, as JSON; what their token was given for; and by whom jobs are counted.
    asker {text} not null,
    asker_grant {text},
    asker_kind {text} not null,
    asker_id {text} not null,
    -- The filter and the modifications as JSON; null once it has ended.
    request {text},
    created bigint not null,
    -- Items up to this id are done: so many were changed, so many could not be, and the first of those as JSON.
    done {text} not null,
    succeeded bigint not null,
    failed bigint not null,
    failures {text} not null,
    -- Who works on it since when, and how often it was taken up since the last piece.
    runner {text},
    touched bigint not null,
    attempts bigint not null,
    ended bigint,
    -- The code that it failed with.
    fault {text},
    primary key (site, id)
);
create index async_job_open on stoa.async_job (site, ended, created);
