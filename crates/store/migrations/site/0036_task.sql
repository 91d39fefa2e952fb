-- Tasks of the data client are jobs by filter with another face (crates/content/src/async_job, decision 55).
alter table stoa.async_job add column task {text};
-- COPY, EDIT and STATUS are further kinds. The pass through the items that it is in: 0 does what was asked for, or marks what
-- is to be published or taken back at a time; 1 does that when the time has come; 2 takes the marks away.
alter table stoa.async_job add column pass bigint not null default 0;
-- Not before this time is it taken up.
alter table stoa.async_job add column due bigint;
-- The ids that were marked, as JSON, while they are few.
alter table stoa.async_job add column marked {text};
-- How many were marked.
alter table stoa.async_job add column estimated bigint not null default 0;
alter table stoa.async_job add column started bigint;
