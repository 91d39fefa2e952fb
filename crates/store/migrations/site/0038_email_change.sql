-- The address that a member takes back with a link of purpose `email_change` (decision 58), as it was written and as addresses
-- are compared. While the link is good the address is kept for them. Links for anything else have none.
alter table stoa.link add column email {text};
alter table stoa.link add column email_folded {text};
create index link_email on stoa.link (site, email_folded) where email_folded is not null;
{sqlite}insert into sqlite_stat1 (tbl, idx, stat) values ('link', 'link_email', '1000 1000 1');
