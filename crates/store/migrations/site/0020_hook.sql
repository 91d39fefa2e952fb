-- Code of a site that is asked before and after what is done with its items (crates/content/src/hook, decision 34).
create table stoa.hook_version (
    site {text} not null,
    -- Counted from 1.
    number bigint not null,
    sha256 {bytes} not null,
    source {text} not null,
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
