-- The language of a segment's words, in small letters; empty for the primary text. Segments of a language have the items
-- that are translated into it, as they are read there.
alter table stoa.search_segment add column language {text} not null default '';
