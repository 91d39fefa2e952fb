-- When a site was deleted. It can be restored for a time; then all of it goes.
alter table stoa.site add column deleted bigint;
-- 1 for the site that answers where nothing names one.
alter table stoa.site add column is_default bigint not null default 0;
-- 1 for the example site that `serve --demo` made.
alter table stoa.site add column is_demo bigint not null default 0;
-- When name or deletion last changed, by which other processes notice.
alter table stoa.site add column changed bigint not null default 0;
create unique index site_default on stoa.site (is_default) where is_default = 1;
create index site_changed on stoa.site (changed);
