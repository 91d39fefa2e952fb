-- Messages that are to be sent, written in the transaction that causes them. What a message says is
-- sealed with a key of the catalogue, and the row is deleted as soon as somebody has accepted it.
create table stoa.mail (
    site {text} not null,
    -- Also the left part of the Message-ID.
    id {text} not null,
    kind {text} not null,
    -- Whom it is about, for the log of what could not be sent.
    member {text},
    -- Null once it was given up.
    sealed {bytes},
    created bigint not null,
    -- Not to be tried before; while somebody tries, the end of their lease. Null once it was given up.
    due bigint,
    -- Of no use to anybody after this.
    expires bigint not null,
    attempts bigint not null,
    -- Why the last attempt failed.
    error {text},
    primary key (site, id)
);
create index mail_due on stoa.mail (site, due);

-- Who may use a link, when that is somebody who runs the site.
alter table stoa.link add column person {text};
create index link_purpose on stoa.link (site, purpose, created);
