-- Since when a password is doubted (crates/identity/src/factor/password_state.rs, decision 61): a link to the member's address has
-- set it, or it is of before the first factor, which was set up in a sign-in that did not show it. The doubt ends where the
-- password is shown with something more than the mailbox. It stood below zero in password_set before. A program without this
-- would take such a password for the member's, so it refuses the data.
alter table stoa.factor_guard add column password_doubted bigint;
update stoa.factor_guard set password_doubted = -password_set, password_set = null where password_set < 0;
