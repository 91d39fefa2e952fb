-- Endpoints of webhooks (crates/webhooks, decision 29). Each is a consumer of the log: `webhook:` and its id, and
-- `webhook-off:` while nothing is sent to it.
create table stoa.webhook_endpoint (
    site {text} not null,
    id {text} not null,
    -- The application that it is of.
    app {text} not null,
    url {text} not null,
    -- Lists as JSON; without collections, all of them.
    types {text} not null,
    collections {text},
    -- `jwt` or `standard`.
    format {text} not null,
    max_bytes bigint not null,
    -- In milliseconds.
    timeout bigint not null,
    -- ACTIVE, OPEN, PAUSED or DISABLED, and why it isn't ACTIVE.
    state {text} not null,
    reason {text},
    -- What who made it was held to; null for all rights.
    scopes {text},
    created bigint not null,
    updated bigint not null,
    -- Since when nothing has arrived, though something was sent; how often was probed since, and when next.
    failing_since bigint,
    probes bigint not null default 0,
    next_probe bigint,
    -- As far as it was noted: not each one is.
    last_success bigint,
    last_failure bigint,
    last_error {text},
    -- When rows of the log were missed, the last time.
    gap bigint,
    primary key (site, id)
);

-- Secrets of endpoints, with which their messages are signed (Standard Webhooks); two while one follows another.
create table stoa.webhook_secret (
    site {text} not null,
    id {text} not null,
    endpoint {text} not null,
    -- Sealed with a key of purpose `webhook secret`.
    sealed {bytes} not null,
    created bigint not null,
    -- When it signs no longer; null for the current one.
    expires bigint,
    primary key (site, id)
);
create index webhook_secret_endpoint on stoa.webhook_secret (site, endpoint);

-- Events that wait apart from the log: those that alone failed, those of the same entity behind them, those that are sent
-- once more, and those that were given up.
create table stoa.webhook_event (
    site {text} not null,
    -- That of the endpoint, the number of the row and the place in it.
    id {text} not null,
    endpoint {text} not null,
    -- The number of the row of the log, and the place of the event in it.
    sequence bigint not null,
    place bigint not null,
    -- What it tells of: one event of an entity is on its way at a time.
    entity {text} not null,
    type {text} not null,
    -- PARKED, HELD or DEAD.
    state {text} not null,
    -- The row of the log as far as it tells of this event; of one that died without documents.
    kind {text} not null,
    payload {text} not null,
    happened bigint not null,
    -- How often it was tried since it is here; when next, of one that is parked.
    attempts bigint not null,
    due bigint,
    -- Since when it is here, and since when it is dead.
    created bigint not null,
    died bigint,
    error {text},
    primary key (site, id)
);
create index webhook_event_due on stoa.webhook_event (site, endpoint, state, due);
create index webhook_event_entity on stoa.webhook_event (site, endpoint, entity, sequence, place);
create index webhook_event_died on stoa.webhook_event (site, died);
