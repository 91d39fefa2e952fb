-- Second factors of those who run sites (decision 60). A program without this would sign in by the password alone whom
-- this one asks for more, so it refuses the data.
--
-- They stand in tables of the same names and columns as those of members (site/0023_factor.sql, site/0034_passkey.sql, site/0039_push.sql, site/0040_provider.sql),
-- with no site and the person in the place of the member, so that the same statements serve both. On PostgreSQL the tables
-- of members are these; on SQLite the catalogue is a file of its own. What changes there changes here.
{sqlite} create table stoa.factor (
{sqlite}     site {text} not null,
{sqlite}     id {text} not null,
{sqlite}     member {text} not null,
{sqlite}     name {text} not null,
{sqlite}     sealed {bytes} not null,
{sqlite}     created bigint not null,
{sqlite}     confirmed bigint,
{sqlite}     used bigint,
{sqlite}     last_step bigint not null default 0,
{sqlite}     ended bigint,
{sqlite}     primary key (site, id)
{sqlite} );
{sqlite} create index factor_member on stoa.factor (site, member);
{sqlite} create index factor_created on stoa.factor (site, created);
{sqlite} create table stoa.factor_guard (
{sqlite}     site {text} not null,
{sqlite}     member {text} not null,
{sqlite}     generation bigint not null default 0,
{sqlite}     wrong_codes bigint not null default 0,
{sqlite}     codes_after bigint not null default 0,
{sqlite}     password_set bigint,
{sqlite}     push_asked bigint not null default 0,
{sqlite}     push_after bigint not null default 0,
{sqlite}     push_denied bigint,
{sqlite}     push_paused bigint not null default 0,
{sqlite}     password_factor bigint,
{sqlite}     push_hour bigint not null default 0,
{sqlite}     push_in_hour bigint not null default 0,
{sqlite}     primary key (site, member)
{sqlite} );
{sqlite} create table stoa.recovery_code (
{sqlite}     site {text} not null,
{sqlite}     hash {bytes} not null,
{sqlite}     member {text} not null,
{sqlite}     used bigint,
{sqlite}     primary key (site, hash)
{sqlite} );
{sqlite} create index recovery_code_member on stoa.recovery_code (site, member);
{sqlite} create table stoa.passkey (
{sqlite}     site {text} not null,
{sqlite}     id {text} not null,
{sqlite}     member {text} not null,
{sqlite}     credential {bytes} not null,
{sqlite}     relying_party {text} not null,
{sqlite}     name {text} not null,
{sqlite}     public_key {bytes} not null,
{sqlite}     counter bigint not null,
{sqlite}     backup_eligible bigint not null,
{sqlite}     backed_up bigint not null,
{sqlite}     transports {text} not null,
{sqlite}     created bigint not null,
{sqlite}     used bigint,
{sqlite}     primary key (site, id)
{sqlite} );
{sqlite} create unique index passkey_credential on stoa.passkey (site, credential);
{sqlite} create index passkey_member on stoa.passkey (site, member);
{sqlite} create table stoa.passkey_challenge (
{sqlite}     site {text} not null,
{sqlite}     hash {bytes} not null,
{sqlite}     expires bigint not null,
{sqlite}     primary key (site, hash)
{sqlite} );
{sqlite} create index passkey_challenge_expires on stoa.passkey_challenge (site, expires);

-- When the person showed last, in this session, who they are.
alter table stoa.person_session add column proved bigint;
