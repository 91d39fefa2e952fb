-- Codes that go to telephones: how many of a number, of a member, of numbers that begin alike and of the whole site. Beside
-- it factors have ids of two kinds more, `sms-…` and `call-…`, whose sealed secret is a number: a program without them would
-- take those for authenticators.
create table stoa.phone_count (
    site {text} not null,
    -- Of what is counted, by a key of the catalogue: no number stands here, and none is found by trying.
    hash {bytes} not null,
    -- When the first of them was sent: a day later the count begins anew.
    since bigint not null,
    sent bigint not null,
    primary key (site, hash)
);
create index phone_count_since on stoa.phone_count (site, since);
