-- As site/0015_address.sql.
update stoa.person set email_folded = lower(email) where email_folded <> lower(email);

-- Links with which those who run sites choose another password: used once, for one hour.
create table stoa.person_link (
    hash {bytes} primary key,
    person {text} not null,
    site {text} not null,
    created bigint not null,
    expires bigint not null,
    used bigint
);
create index person_link_person on stoa.person_link (person, created);
