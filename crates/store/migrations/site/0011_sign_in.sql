-- A pending member has yet to tell what the site requires.
alter table stoa.member add column pending_fields bigint not null default 0;
-- The password is not good for signing in any more: it must be set anew by a recovery link.
alter table stoa.member add column must_reset bigint not null default 0;

-- 1 when a sign-in waits for the code; others prove the address and sign nobody in.
alter table stoa.verification add column signs_in bigint not null default 1;

-- Captcha answers that were used, until they would not count any more anyway.
create table stoa.captcha (
    site {text} not null,
    hash {bytes} not null,
    expires bigint not null,
    primary key (site, hash)
);
create index captcha_expires on stoa.captcha (site, expires);

-- Codes with which an application learns that it was installed.
create table stoa.install_code (
    site {text} not null,
    hash {bytes} not null,
    client {text} not null,
    expires bigint not null,
    used bigint,
    primary key (site, hash)
);
create index install_code_expires on stoa.install_code (site, expires);
