-- Sign-in through identity providers (crates/identity/src/provider, decision 61). A program without it would leave behind what ties a
-- member to a provider when the member is erased or takes the account back, so it refuses the data.
create table stoa.provider (
    site {text} not null,
    id {text} not null,
    -- By which the operator of the site knows it.
    name {text} not null,
    -- As OpenID Connect Discovery has it; what members are told by is only unique there, so it never changes.
    issuer {text} not null,
    client_id {text} not null,
    -- What the button says.
    label {text} not null,
    -- The client's secret, sealed with a key of purpose `provider`.
    sealed {bytes} not null,
    -- Whether people who are unknown get an account, and whether an account with a shown address is linked without its password.
    creates_members bigint not null,
    links_by_email bigint not null,
    enabled bigint not null,
    created bigint not null,
    primary key (site, id)
);
create unique index provider_name on stoa.provider (site, name);

-- Whom a provider knows as whom.
create table stoa.provider_link (
    site {text} not null,
    provider {text} not null,
    subject {text} not null,
    member {text} not null,
    -- The address that the provider named when the link was made.
    email {text},
    created bigint not null,
    used bigint,
    primary key (site, provider, subject)
);
create unique index provider_link_member on stoa.provider_link (site, member, provider);

-- Answers of providers that have counted, so that each counts once.
create table stoa.provider_answer (
    site {text} not null,
    hash {bytes} not null,
    expires bigint not null,
    primary key (site, hash)
);
create index provider_answer_expires on stoa.provider_answer (site, expires);

-- The links of a member as identities show them: a list of pairs, connection and subject. Null for none.
alter table stoa.member add column connections {text};

-- Since when the password is a second factor of sign-ins through a provider.
alter table stoa.factor_guard add column password_factor bigint;

-- Who has come from a provider and shown the password of an account: linked with it when the flow ends.
alter table stoa.flow add column link {text};
