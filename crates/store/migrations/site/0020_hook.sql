-- Code of a site that is asked before and after what is done with its items (crates/content/src/hook, decision 34).
create table stoa.hook_version (
    site {text} not null,
    -- Counted from 1.
    number bigint not null,
    sha256 {bytes} not null,
    -- Empty where an application is asked instead.
    source {text} not null,
    -- Which application is asked, and where, as JSON; null for code.
    plugin {text},
    -- The functions that it has, a list as JSON.
    exports {text} not null,
    -- The id of who deployed it.
    author {text} not null,
    created bigint not null,
    primary key (site, number)
);

-- Which of the versions runs; no row where none does.
create table stoa.hook_active (
    site {text} not null primary key,
    number bigint not null
);

-- Calls of hooks that failed or said something.
create table stoa.hook_log (
    site {text} not null,
    -- Later ones have greater ids.
    id {text} not null,
    created bigint not null,
    collection {text} not null,
    hook {text} not null,
    version bigint not null,
    milliseconds bigint not null,
    outcome {text} not null,
    -- What it said to the console.
    console {text} not null,
    -- The request that it was asked in; null for what a command on the machine did.
    request_id {text},
    primary key (site, id)
);
create index hook_log_created on stoa.hook_log (site, created);
