-- Nodes that answer requests on this database, and how much of what was withdrawn each has heard of
-- (crates/store/src/withdrawal.rs). One node has a SQLite directory to itself, so there the table stays empty.
create table stoa.node (
    id {text} primary key,
    -- Goes up with each renewal of the node's lease.
    beat bigint not null,
    seen_identity bigint not null,
    seen_content bigint not null
);
{postgres} create sequence stoa.withdrawal_identity; select nextval('stoa.withdrawal_identity');
{postgres} create sequence stoa.withdrawal_content; select nextval('stoa.withdrawal_content');
