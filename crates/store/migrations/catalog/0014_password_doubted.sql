-- The column of site/0042_password_doubted.sql, for those who run sites: the same statements serve both (catalog/0012).
{sqlite} alter table stoa.factor_guard add column password_doubted bigint;
