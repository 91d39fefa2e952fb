-- What each grant is held to (docs/scopes.md); null where it has all that its caller may do.
alter table stoa.session add column scopes {text};
alter table stoa.session_token add column scopes {text};
alter table stoa.code add column scopes {text};
alter table stoa.install_code add column scopes {text};

-- What an owner has agreed to for an application.
create table stoa.installation (
    site {text} not null,
    client {text} not null,
    scopes {text},
    person {text} not null,
    created bigint not null,
    primary key (site, client)
);
