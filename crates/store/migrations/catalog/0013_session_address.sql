-- From which network address a session of a person who runs sites began. Those that an earlier version made have none.
alter table stoa.person_session add column address {text};
