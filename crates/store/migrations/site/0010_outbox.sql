-- Readers of the outbox. A reader passes a row only when no transaction that is still running can
-- put another before it, so each row tells which transaction wrote it; SQLite has one writer, and there
-- the number says nothing.
alter table stoa.outbox add column tx {transaction};
{postgres} create index outbox_order on stoa.outbox (site, tx, seq);

-- How far each reader has come, and which process works for it until when.
create table stoa.outbox_consumer (
    site {text} not null,
    name {text} not null,
    tx bigint not null,
    seq bigint not null,
    holder {text},
    held_until bigint not null,
    primary key (site, name)
);
