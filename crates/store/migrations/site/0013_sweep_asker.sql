-- Who asked for work on all items of a collection: the work goes on for as long as they have the right to it.
-- Work that was begun before has none written down, and goes on.
alter table stoa.sweep add column asker {text};
