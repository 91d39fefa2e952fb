-- Addresses are compared without regard to the case of A to Z alone. Two that were different before stay so, because
-- what these letters don't tell apart no folding did: the index of addresses holds through the whole statement.
update stoa.member set email_folded = lower(email) where email_folded <> lower(email);
-- The address, as it is compared, for which an app has vouched though nobody had proven it: what was set of the account
-- since then is its owner's. With another address it says nothing any more.
alter table stoa.member add column vouched_email {text};
