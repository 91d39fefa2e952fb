-- When a session of a person who runs sites was last used, to a minute. Those that an earlier version made have none until
-- a node starts; meanwhile they count from when they began.
alter table stoa.person_session add column used bigint;
