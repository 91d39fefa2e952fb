-- What browser a session of a person who runs sites is in, in our own words, for example `Firefox · Linux`.
alter table stoa.person_session add column device {text};
