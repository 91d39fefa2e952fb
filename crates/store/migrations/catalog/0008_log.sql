-- What the catalogue remembers of each site's log: a file of a site that was copied back falls behind it, and sites
-- whose log has consumers are known before they are open.
create table stoa.site_log (
    site {text} primary key,
    epoch {text} not null,
    -- The highest number that was seen.
    sequence bigint not null,
    -- 1 where there may be consumers; on PostgreSQL, where these can be asked for, always 0.
    has_consumers bigint not null default 0
);

-- 1 for a node that works for consumers which are shared out among nodes.
alter table stoa.node add column works bigint not null default 0;
