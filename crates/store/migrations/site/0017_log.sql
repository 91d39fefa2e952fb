-- What is known of a site's log as a whole (crates/store/src/outbox).
create table stoa.log (
    site {text} primary key,
    -- Random, and another one after each restore: a place of one epoch means nothing in another.
    epoch {text} not null,
    -- Where the data were when the epoch began; a copy of them is elsewhere.
    origin {text} not null,
    -- The last row that was deleted, in the order of reading.
    floor_tx bigint not null,
    floor_seq bigint not null,
    -- The last row whose bytes were counted, and the bytes of those between the floor and it.
    counted_tx bigint not null,
    counted_seq bigint not null,
    bytes bigint not null
);

-- Why rows stay for a time although all consumers have read them: readers may resume.
create table stoa.log_reason (
    site {text} not null,
    reason {text} not null,
    primary key (site, reason)
);

-- The number of a lease goes up with each holder, and only its holder moves the place. The beat goes up for as long as
-- the holder lives; other nodes judge by it, each with a clock of its own.
alter table stoa.outbox_consumer add column lease bigint not null default 0;
alter table stoa.outbox_consumer add column beat bigint not null default 0;
alter table stoa.outbox_consumer drop column held_until;
