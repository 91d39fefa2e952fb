-- Web Push as second factor (crates/identity/src/factor/push, decision 59). Enrolled browsers stand among the factors under ids
-- `push-…`, whose sealed secret is the subscription: a program without them would take those for authenticators, so it refuses the
-- data. When the push service said that a subscription is no more; nothing while it stands, and of other factors.
alter table stoa.factor add column ended bigint;

-- What the browsers of a member are asked: about one sign-in, or one proof in a session, at a time.
create table stoa.push_question (
    site {text} not null,
    member {text} not null,
    -- Of the token that the browsers got.
    hash {bytes} not null,
    -- The transaction, as the sign-in names it.
    id {text} not null,
    -- What it was asked for: a sign-in or a session, by the name that its codes have.
    name {text} not null,
    -- That of the member's factors; the question ends when it counts up.
    generation bigint not null,
    -- `sign_in`, or `change` of a proof in a session.
    kind {text} not null,
    -- What is shown where the person signs in.
    number bigint not null,
    -- Where that is: the browser in the server's own words, and the network address.
    device {text},
    address {text} not null,
    created bigint not null,
    expires bigint not null,
    -- `approved` or `denied`, `unsent` when no browser could be sent it; nothing before.
    answer {text},
    primary key (site, member)
);
create unique index push_question_hash on stoa.push_question (site, hash);
create index push_question_expires on stoa.push_question (site, expires);

-- Questions of a member since a factor was right, and until when no other is asked; when one was denied last, and until when
-- browsers are asked nothing; since when the questions of an hour are counted, and how many they are.
alter table stoa.factor_guard add column push_asked bigint not null default 0;
alter table stoa.factor_guard add column push_after bigint not null default 0;
alter table stoa.factor_guard add column push_denied bigint;
alter table stoa.factor_guard add column push_paused bigint not null default 0;
alter table stoa.factor_guard add column push_hour bigint not null default 0;
alter table stoa.factor_guard add column push_in_hour bigint not null default 0;
