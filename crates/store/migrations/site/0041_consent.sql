-- What members have agreed to: the clients of others that may act for them, and how far (crates/identity/src/oauth/consent.rs,
-- decision 62). A program without it would give such a client a code unasked, so it refuses the data.
create table stoa.consent (
    site {text} not null,
    member {text} not null,
    client {text} not null,
    -- All that was agreed to so far, with spaces between.
    scopes {text} not null,
    -- When it was agreed to first, and last.
    created bigint not null,
    agreed bigint not null,
    primary key (site, member, client)
);
create index consent_client on stoa.consent (site, client);
