-- The owner who acts as the member in this session (decision 54); nothing in sessions of members themselves.
alter table stoa.session add column impersonator {text};
create index session_impersonator on stoa.session (site, impersonator) where impersonator is not null;
-- Why something was done, or which call did it. It goes with the member whom it is about.
alter table stoa.audit add column detail {text};
