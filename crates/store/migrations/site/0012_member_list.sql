-- Lists of members by name: in the default order, too.
drop index stoa.member_nickname;
create index member_name on stoa.member (site, nickname_folded, created desc, id desc);

-- What SQLite takes an index to be worth. Left to itself it believes that a site has ten members, and reads
-- all of a million in the order that was asked for rather than to sort the fifty of one name. These are
-- the numbers of a large site: rows, and rows that have the first one, two … columns in common.
{sqlite}pragma analysis_limit = 1;
{sqlite}analyze stoa.member;
{sqlite}delete from sqlite_stat1 where tbl = 'member';
{sqlite}insert into sqlite_stat1 (tbl, idx, stat) values ('member', 'sqlite_autoindex_member_1', '1000000 1000000 1');
{sqlite}insert into sqlite_stat1 (tbl, idx, stat) values ('member', 'sqlite_autoindex_member_2', '1000000 1000000 1');
{sqlite}insert into sqlite_stat1 (tbl, idx, stat) values ('member', 'member_slug', '500000 500000 1');
{sqlite}insert into sqlite_stat1 (tbl, idx, stat) values ('member', 'member_created', '1000000 1000000 2');
{sqlite}insert into sqlite_stat1 (tbl, idx, stat) values ('member', 'member_listed', '1000000 1000000 2 1');
{sqlite}insert into sqlite_stat1 (tbl, idx, stat) values ('member', 'member_status', '1000000 1000000 300000 2 1');
{sqlite}insert into sqlite_stat1 (tbl, idx, stat) values ('member', 'member_public', '1000000 1000000 950000 900000 2 1');
{sqlite}insert into sqlite_stat1 (tbl, idx, stat) values ('member', 'member_name', '1000000 1000000 50 2 1');
{sqlite}insert into sqlite_stat1 (tbl, idx, stat) values ('member', 'member_login', '1000000 1000000 2 1');
