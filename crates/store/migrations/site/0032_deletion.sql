-- When the account of a member goes who wants it deleted (decision 47). Until then its status says DELETED, and all that the
-- member had is there; an account that is gone has no time here.
alter table stoa.member add column deletion_due bigint;
-- The status of a member who is kept: another than ACTIVE where those who run the site made it so meanwhile.
alter table stoa.member add column deletion_kept_as text;
create index member_deletion on stoa.member (site, deletion_due) where deletion_due is not null;

-- The list of those who are there has those in it who are to go.
drop index stoa.member_listed;
create index member_listed on stoa.member (site, created desc, id desc) where status <> 'DELETED' or deletion_due is not null;
-- As 0012 has it; what was said of the index went with it.
{sqlite}insert into sqlite_stat1 (tbl, idx, stat) values ('member', 'member_listed', '1000000 1000000 2 1');
{sqlite}insert into sqlite_stat1 (tbl, idx, stat) values ('member', 'member_deletion', '1000 1000 2');
