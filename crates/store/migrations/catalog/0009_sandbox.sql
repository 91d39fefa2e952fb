-- The site whose SANDBOX a site is (decision 40). Only by way of the other is it reached.
alter table stoa.site add column sandbox_of {text};
create unique index site_sandbox on stoa.site (sandbox_of) where sandbox_of is not null and deleted is null;

-- Copies between the environments of a site (crates/content/src/environment).
create table stoa.environment_copy (
    id {text} primary key,
    site {text} not null,
    -- LIVE or SANDBOX: what is copied. The other is what it is copied to.
    source {text} not null,
    -- RUNNING, then SUCCEEDED or FAILED; UNDOING, then UNDONE.
    status {text} not null,
    -- The ids of the collections, a list as JSON.
    collections {text} not null,
    -- Items that were written.
    items bigint not null,
    started bigint not null,
    -- Which node works on it since when, and how often it was taken up.
    runner {text} not null,
    touched bigint not null,
    attempts bigint not null,
    ended bigint,
    -- Why it failed: a code and a sentence.
    fault_code {text},
    fault_text {text}
);
-- One of a site at a time.
create unique index environment_copy_open on stoa.environment_copy (site) where ended is null;
create index environment_copy_site on stoa.environment_copy (site, started);
