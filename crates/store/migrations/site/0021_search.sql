-- The index of words of collections (crates/search, crates/content/src/search), made of what the log tells.

-- How far the index of a collection is. Without a row it is to be built; with `version` 0 it is to be built anew.
create table stoa.search_collection (
    site {text} not null,
    collection bigint not null,
    -- Off: nothing is kept of its words.
    is_on bigint not null default 1,
    -- Of the words in its segments (stoa_search::words::VERSION).
    version bigint not null,
    -- The fields whose words are in it, a JSON list (stoa_content::search::Layout).
    fields {text} not null,
    -- Rows of items up to this one were read; 2^63 - 1 once all were. From then on the log tells of the others.
    built bigint not null,
    primary key (site, collection)
);

create table stoa.search_segment (
    site {text} not null,
    collection bigint not null,
    segment bigint not null,
    -- WRITING until all its lists are there, LIVE, and REMOVED while they are deleted in pieces.
    state {text} not null,
    -- 0 for what was made of items; one more than those that a merged one was made of.
    level bigint not null,
    -- Of the words in it (stoa_search::words::VERSION).
    version bigint not null,
    -- How many items it was made of, the first and the last of their rows, and the rows of those that were written again
    -- or removed since.
    items bigint not null,
    first_row bigint not null,
    last_row bigint not null,
    dead {bytes} not null,
    -- When the first of those was: words of removed items leave the disk within a day.
    died bigint,
    primary key (site, collection, segment)
);

-- Which items hold a word. The list of the empty term is that of all items of the segment.
create table stoa.search_list (
    site {text} not null,
    collection bigint not null,
    segment bigint not null,
    term {text} not null,
    -- Its number in the list, from 0.
    part bigint not null,
    postings bigint not null,
    list {bytes} not null,
    primary key (site, collection, segment, term, part)
{sqlite}) without rowid;
{postgres});
-- Lists are as small as they get.
{postgres}alter table stoa.search_list alter column list set storage external;
