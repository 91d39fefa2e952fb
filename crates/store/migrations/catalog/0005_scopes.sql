-- What keys and clients are held to (docs/scopes.md). Those that have none written down have full rights; a client of
-- others has none of its own.
alter table stoa.api_key add column scopes {text};
alter table stoa.client add column scopes {text};
alter table stoa.client add column third_party bigint not null default 0;
